// The in-app step: a message in the subscriber's inbox.
import { type InAppMessage, renderInApp } from '../../render/messages.ts'
import {
  type ControlValues,
  objectSchema,
  type StepKind,
  skip,
  skipUi,
  urlPattern,
  withoutNulls,
} from '../contract/kind.ts'
import { detail, type StepOutcome } from '../contract/outcome.ts'
import { type StepRun, situationOf } from '../contract/step-run.ts'

const targets = ['_self', '_blank', '_parent', '_top', '_unfencedTop']
const redirect = objectSchema(
  { url: { type: 'string', pattern: urlPattern }, target: { type: 'string', enum: targets, default: '_self' } },
  ['url', 'target'],
)
const action = objectSchema({ label: { type: 'string' }, redirect }, ['label'])
const text = { type: 'string', minLength: 1 }
const properties = {
  skip,
  subject: text,
  body: text,
  avatar: { type: 'string', pattern: urlPattern },
  primaryAction: action,
  secondaryAction: action,
  redirect,
  disableOutputSanitization: { type: 'boolean', default: false },
  data: { type: 'object', properties: {}, required: [], additionalProperties: true },
}
const redirectUi = {
  component: 'URL_TEXT_BOX',
  properties: {
    url: { component: 'URL_TEXT_BOX', placeholder: '' },
    target: { component: 'URL_TEXT_BOX', placeholder: '_self' },
  },
}

const withSubject = objectSchema(properties, ['subject'])
const withBody = objectSchema(properties, ['body'])
/** So that a step with neither gets both issues. */
const withBoth = objectSchema(properties, ['subject', 'body'])
const missingText = 'Subject or body is required'

export const inApp: StepKind = {
  type: 'in_app',
  channel: 'in_app',
  emptyResult: { seen: false, read: false, lastSeenDate: null, lastReadDate: null },

  begin(of) {
    const { run } = of
    const integration = run.environment.integrations.find(({ channel }) => channel === 'in_app')
    if (!integration) return noIntegration
    const message = of.isRendered
      ? (of.values as InAppMessage)
      : renderInApp(of.values, situationOf(of), run.translator)
    return deliver(of, message, integration.id)
  },

  dataSchema: { anyOf: [withSubject, withBody] },
  variantSchema: ({ subject, body }) =>
    subject !== undefined ? withSubject : body !== undefined ? withBody : withBoth,
  missingTexts: { subject: missingText, body: missingText },
  uiSchema: {
    group: 'IN_APP',
    properties: {
      ...skipUi,
      body: { component: 'IN_APP_BODY', placeholder: '' },
      avatar: { component: 'IN_APP_AVATAR', placeholder: '' },
      subject: { component: 'IN_APP_PRIMARY_SUBJECT', placeholder: '' },
      primaryAction: { component: 'IN_APP_BUTTON_DROPDOWN' },
      secondaryAction: { component: 'IN_APP_BUTTON_DROPDOWN' },
      redirect: redirectUi,
      disableOutputSanitization: { component: 'IN_APP_DISABLE_SANITIZATION_SWITCH', placeholder: false },
      data: { component: 'DATA' },
    },
  },

  normalise(values) {
    const given = withoutNulls(values)
    const normal: ControlValues = {}
    for (const name of ['subject', 'body', 'avatar'])
      if (given[name] !== undefined && given[name] !== '') normal[name] = given[name]
    for (const name of ['skip', 'disableOutputSanitization', 'data'])
      if (given[name] !== undefined) normal[name] = given[name]
    for (const name of ['primaryAction', 'secondaryAction']) {
      const found = normalAction(given[name])
      if (found) normal[name] = found
    }
    const link = normalRedirect(given.redirect)
    if (link) normal.redirect = link
    return normal
  },

  preview: (values, { of, translator }) => ({ ...renderInApp(values, of, translator) }),

  resultSchema: () =>
    objectSchema(
      {
        seen: { type: 'boolean' },
        read: { type: 'boolean' },
        lastSeenDate: { type: ['string', 'null'], format: 'date-time' },
        lastReadDate: { type: ['string', 'null'], format: 'date-time' },
      },
      ['seen', 'read', 'lastSeenDate', 'lastReadDate'],
    ),
}

/** A button needs a label. */
function normalAction(value: unknown): ControlValues | undefined {
  if (!isObject(value) || typeof value.label !== 'string' || value.label === '') return undefined
  const link = normalRedirect(value.redirect)
  return { label: value.label, ...(link ? { redirect: link } : {}) }
}

/** By default paths open in the same window, other URLs in a new one. */
function normalRedirect(value: unknown): ControlValues | undefined {
  if (!isObject(value) || typeof value.url !== 'string' || value.url === '') return undefined
  return { url: value.url, target: value.target || (value.url.startsWith('/') ? '_self' : '_blank') }
}

const isObject = (value: unknown): value is ControlValues =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const noIntegration: StepOutcome = {
  kind: 'fail',
  reason: 'no_integration',
  error: 'There is no active in-app integration',
  stops: false,
  details: [detail('no_integration')],
}

const provider = { providerId: 'svc' }

/** Storing the message delivers it. */
function deliver({ now, run }: StepRun, message: InAppMessage, integrationId: string): StepOutcome {
  const id = run.newId(now)
  const overridden = run.severity !== run.workflow.severity
  return {
    kind: 'done',
    providerId: provider.providerId,
    details: [
      ...(overridden ? [detail('severity_overridden', { from: run.workflow.severity, to: run.severity })] : []),
      detail('message_created', undefined, provider),
      detail('message_sent', undefined, provider),
    ],
    messages: [
      {
        id,
        channel: 'in_app',
        status: 'sent',
        provider_id: 'svc',
        integration_id: integrationId,
        identifier: null,
        subject: message.subject ?? null,
        content: message.body ?? '',
        avatar: message.avatar ?? null,
        cta: ctaOf(message),
        data: message.data ?? null,
        actor_row_id: run.event.actor?.id ?? null,
        delivered_at: [now],
      },
    ],
  }
}

/**
 * Where a browser may be sent: a web address, or a path of the same site. Payloads cannot be trusted, and older clients follow
 * any link, scripts included.
 */
const isPlace = (url: string) => /^https?:\/\/|^\/(?![/\\])/i.test(url)
const placeOf = (link: InAppMessage['redirect']) => (link && isPlace(link.url) ? link : undefined)

/** What a click does, in the shape that inbox clients read; null if nothing. */
export function ctaOf({
  redirect: given,
  primaryAction,
  secondaryAction,
}: Pick<InAppMessage, 'redirect' | 'primaryAction' | 'secondaryAction'>): Record<string, unknown> | null {
  const redirect = placeOf(given)
  if (!redirect && !primaryAction && !secondaryAction) return null
  const buttons = [
    { type: 'primary', action: primaryAction },
    { type: 'secondary', action: secondaryAction },
  ].flatMap(({ type, action }) => (action ? [{ type, content: action.label, ...placeOf(action.redirect) }] : []))
  return {
    type: 'redirect',
    data: redirect ? { url: redirect.url, target: redirect.target } : { url: '' },
    action: { ...(buttons.length > 0 ? { status: 'pending' } : {}), buttons, result: {} },
  }
}
