// The in-app step: a message in the subscriber's inbox.
import { renderInApp } from '../render/messages.ts'
import { type ControlValues, objectSchema, type StepKind, skip, skipUi, urlPattern, withoutNulls } from './kind.ts'

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
/** So that a step with neither is told about both. */
const withBoth = objectSchema(properties, ['subject', 'body'])
const missingText = 'Subject or body is required'

export const inApp: StepKind = {
  type: 'in_app',
  channel: 'in_app',
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

/** A button without a label is no button. */
function normalAction(value: unknown): ControlValues | undefined {
  if (!isObject(value) || typeof value.label !== 'string' || value.label === '') return undefined
  const link = normalRedirect(value.redirect)
  return { label: value.label, ...(link ? { redirect: link } : {}) }
}

/** Paths stay in the reader's window, other addresses open a new one, unless said otherwise. */
function normalRedirect(value: unknown): ControlValues | undefined {
  if (!isObject(value) || typeof value.url !== 'string' || value.url === '') return undefined
  return { url: value.url, target: value.target || (value.url.startsWith('/') ? '_self' : '_blank') }
}

const isObject = (value: unknown): value is ControlValues =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
