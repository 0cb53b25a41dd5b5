// The email step: its settings, and how an email is composed and sent.
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { isOneAddress } from '../../providers/email/mail.ts'
import { deliveryProvider } from '../../providers/index.ts'
import type { Attachment, EmailMessage } from '../../providers/provider.ts'
import { type Data, isPlain } from '../../providers/provider-data.ts'
import { documentToHtml } from '../../render/block-liquid.ts'
import { readDocument } from '../../render/blocks.ts'
import { brandingOf } from '../../render/branding.ts'
import { consentLanguage, consentTexts } from '../../render/consent-texts.ts'
import {
  type EmailLayout,
  headerText,
  type RenderedEmail,
  renderEmail,
  renderEmailHtml,
  renderHeader,
  withPreheader,
} from '../../render/email.ts'
import { footerText, withFooter } from '../../render/footer.ts'
import { RenderError } from '../../render/limits.ts'
import type { Situation } from '../../render/liquid.ts'
import { plainText } from '../../render/plain-text.ts'
import type { CallTools } from '../contract/call-tools.ts'
import {
  type ControlValues,
  closedObject,
  objectSchema,
  type StepKind,
  skip,
  skipUi,
  withoutNulls,
} from '../contract/kind.ts'
import { messageIdFor, type NewMessage } from '../contract/message.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import { type StepRun, subscriberVariablesOf } from '../contract/step-run.ts'
import {
  type Addressed,
  bounceAddressOf,
  idHeader,
  idHeaders,
  isCommercial,
  isOneClick,
  type LinkName,
  linkBaseOf,
  linkedSituation,
  linkNames,
  preferencesUrl,
  unsubscribeMailto,
  unsubscribeUrl,
  withUnsubscribeHeaders,
} from '../delivery/consent-links.ts'
import { dispatch, openingDetails } from '../delivery/dispatch.ts'
import {
  channelOverrides,
  integrationsFor,
  memberOf,
  noIntegration,
  objectIn,
  openIntegration,
  providerDataFor,
  selected,
  senderOf,
  stepOverrides,
  textIn,
  textsIn,
} from '../delivery/integration-choice.ts'
import { isKnown } from '../delivery/progress.ts'
import { addressesIn, withoutAddressees } from '../delivery/recipients.ts'
import { deliveredMessage, deliveryOutcome } from '../delivery/report.ts'
import { tracked } from '../delivery/tracking.ts'
import { replyAddress } from './reply-callback.ts'

/** The body of an email without one: an empty document of the block editor. */
const emptyDocument = JSON.stringify({ type: 'doc', content: [{ type: 'paragraph' }] })
const emailLinks = Object.keys(linkNames) as LinkName[]
const kept = ['skip', 'editorType', 'disableOutputSanitization', 'layoutId', 'from']

export const email: StepKind = {
  type: 'email',
  obeysSchedule: true,
  channel: 'email',
  dataSchema: objectSchema(
    {
      skip,
      body: { type: 'string', default: '' },
      editorType: { type: 'string', enum: ['block', 'html'], default: 'block' },
      subject: { type: 'string', minLength: 1 },
      disableOutputSanitization: { type: 'boolean', default: false },
      layoutId: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      from: objectSchema({ email: { type: 'string' }, name: { type: 'string' } }),
    },
    ['subject'],
  ),
  uiSchema: {
    group: 'EMAIL',
    properties: {
      ...skipUi,
      body: { component: 'EMAIL_BODY', placeholder: '' },
      subject: { component: 'TEXT_INLINE_LABEL', placeholder: '' },
      editorType: { component: 'EMAIL_EDITOR_SELECT', placeholder: 'block' },
      disableOutputSanitization: { component: 'DISABLE_SANITIZATION_SWITCH', placeholder: false },
      layoutId: { component: 'LAYOUT_SELECT' },
    },
  },

  normalise(values) {
    const given = withoutNulls(values)
    const normal: ControlValues = {}
    for (const name of kept) if (given[name] !== undefined) normal[name] = given[name]
    // Null means "no layout"; absent means the default.
    if (values.layoutId === null) normal.layoutId = null
    if (typeof given.subject === 'string' && given.subject !== '') normal.subject = given.subject
    normal.body = asText(given.body) || emptyDocument
    return normal
  },

  /** The two editors do not share documents: the body is converted to one that the chosen editor can open. */
  toStored(values) {
    if (values.body === undefined || values.body === null) return values
    const body = asText(values.body)
    if (values.editorType === 'html') return { ...values, body: asHtml(body, values.layoutId === null) }
    return { ...values, body: values.editorType === 'block' && !isDocument(body) ? '' : body }
  },
  usesLayout: true,
  links: emailLinks,

  preview({ subject, body, disableOutputSanitization }, { of, translator, layout, branding }) {
    const template = { subject: asText(subject), body: asText(body), layout, branding }
    const isRaw = disableOutputSanitization === true
    return {
      subject: renderHeader(template.subject, of, translator),
      body: renderEmailHtml({ ...template, disableOutputSanitization: isRaw }, of, translator),
    }
  },

  resultSchema: () => closedObject,
  call,
}

const channel = 'email'

async function call(of: StepRun, tools: CallTools): Promise<StepOutcome> {
  const integrations = integrationsFor(of, channel)
  const [first] = integrations
  if (!first) return noIntegration(of, channel)
  const id = messageIdFor(of.job.id, channel)
  const about = { providerId: first.provider_id, messageId: id }
  const wanted = recipientsOf(of)
  const isRefusable = isCommercial(of.run)
  // One mail, one person: a link to unsubscribe speaks for one address.
  const to = isRefusable ? wanted.slice(0, 1) : wanted
  const addressed = { channel, messageId: id, address: to[0] } as const
  const details: Detail[] = [...openingDetails(of), selected(first, of, tools.brand)]
  const row = (
    state: Pick<NewMessage, 'status'> & Partial<NewMessage>,
    content?: { subject: string; html: string },
  ): NewMessage => ({
    id,
    channel,
    email: to[0] ?? null,
    subject: tools.storesContent ? (content?.subject ?? null) : null,
    content: tools.storesContent ? (content?.html ?? null) : null,
    provider_id: first.provider_id,
    integration_id: first.id,
    ...(isRefusable ? { commercial: true } : {}),
    ...state,
  })
  const failed = (reason: 'layout_not_found' | 'content_failed', error: string, lines: Detail[]): StepOutcome => ({
    ...{ kind: 'fail', reason, error, stops: false, providerId: first.provider_id },
    details: [...details, ...lines],
    messages: [row({ status: 'error', error_id: unexpected, error_text: error })],
  })

  const layout = of.isRendered ? null : await layoutOf(of, tools)
  if (typeof layout === 'string') {
    const message = `Layout "${layout.slice(0, 100)}" was not found`
    const raw = { message, code: 'LayoutNotFound' }
    const lines = [detail('layout_missing', { layoutId: layout, error: message }), detail('bridge_failed', raw)]
    return failed('layout_not_found', message, lines)
  }
  if (layout) details.push(detail('layout_selected', { name: layout.name, layoutId: layout.layoutId }))
  const { replyTo, details: replyDetails } = replyAddress(of)
  details.push(...replyDetails)
  const situation = linkedSituation(of, tools, addressed, emailLinks)
  let content: RenderedEmail
  try {
    content = render(of, tools, layout, situation)
  } catch (error) {
    if (!(error instanceof RenderError)) throw error
    return failed('content_failed', error.message, [detail('content_failed', { error: error.message })])
  }
  const refusing = isRefusable ? refusingOf(of, tools, addressed) : undefined
  if (refusing) {
    content = refusing.footed(content)
    details.push(...refusing.details(first, wanted.length))
  }
  details.push(detail('message_created', undefined, about))
  if (to.length === 0)
    return {
      kind: 'skip',
      reason: 'missing_email',
      providerId: first.provider_id,
      details: [...details, detail('missing_email', undefined, about)],
      messages: [
        row(
          { status: 'warning', error_id: unexpected, error_text: 'Subscriber does not have an email address' },
          content,
        ),
      ],
    }
  const unfit = to.find((address) => !isOneAddress(address))
  if (unfit !== undefined) {
    const error = `${JSON.stringify(unfit.slice(0, 100))} is not one email address`
    return failed('content_failed', error, [detail('content_failed', { error })])
  }
  const attachments = await attachmentsOf(of, tools)
  if (!attachments) {
    const error = 'The files that came with the trigger are no longer kept'
    return failed('content_failed', error, [detail('content_failed', { error })])
  }
  if (attachments.length === 0 && isEmpty(of, content, situation)) {
    const error = 'The email is empty: the body of the step rendered to nothing'
    return failed('content_failed', error, [detail('content_failed', { error })])
  }
  const { brake } = of.run.workflow
  if (isRefusable && brake) {
    const { since, cause, percent } = brake
    return {
      ...{
        kind: 'fail',
        reason: 'braked',
        error: 'The workflow is braked',
        stops: false,
        providerId: first.provider_id,
      },
      details: [...(isKnown(of, channel) ? [] : details), detail('braked', { since, cause, percent }, about)],
      messages: [row({ status: 'error', error_id: unexpected, error_text: 'braked' }, content)],
    }
  }
  const report = await dispatch(of, tools, [
    {
      key: channel,
      messageId: id,
      integrations,
      ...(refusing ? { warnings: headersLeftOut } : {}),
      message: (integration, attempt) =>
        composed(of, tools, integration, { id, attempt, to, content, replyTo, attachments, refusing }),
    },
  ])
  return deliveryOutcome(report, {
    details: isKnown(of, channel) ? [] : details,
    messages: report.changed.has(channel) ? [row(deliveredMessage(report, [channel], unexpected), content)] : [],
  })
}

const unexpected = 'mail_unexpected_error'

/** The subscriber's address, or the trigger's in its place, and those it adds; each once. */
function recipientsOf({ run }: StepRun): string[] {
  const overrides = objectIn(run.event.overrides.email)
  const added = textsIn(overrides.to)
  const isReplaced = overrides.replaceToRecipient === true && added.length > 0
  const own = isReplaced ? undefined : (textIn(overrides.toRecipient) ?? textIn(run.subscriber.email))
  return [...new Set([...(own === undefined ? [] : [own]), ...added])]
}

type ChosenLayout = EmailLayout & { name: string; layoutId: string }

/** Null means none; a string is the name of one that does not exist. */
async function layoutOf(of: StepRun, tools: CallTools): Promise<ChosenLayout | string | null> {
  const { overrides } = of.run.event
  const asked = [
    stepOverrides(overrides, of.step).layoutId,
    memberOf(memberOf(overrides.channels, channel), 'layoutId'),
    overrides.layoutIdentifier,
    of.values.layoutId,
  ].find((value) => value === null || textIn(value) !== undefined) as string | null | undefined
  const found = await tools.layout(asked, of.run.contentOf)
  if (found === 'missing') return String(asked)
  if (found === 'none' || !found.content?.email) return null
  const translator = await tools.layoutTranslator(found, of.run.subscriber.locale)
  return { name: found.name, layoutId: found.identifier, body: found.content.email.body, translator }
}

function render(of: StepRun, tools: CallTools, layout: EmailLayout | null, linked: Situation): RenderedEmail {
  const { values } = of
  const from = isPlain(values.from) ? (values.from as { email?: string; name?: string }) : undefined
  const template = { subject: asText(values.subject), body: asText(values.body), ...(from ? { from } : {}) }
  // The user's code has rendered it, and is trusted with its HTML.
  if (of.isRendered) return fromCode(values, template.subject, template.body)
  return renderEmail(
    {
      layout,
      branding: tools.hasBranding ? brandingOf(tools.brand) : null,
      disableOutputSanitization: values.disableOutputSanitization === true,
      ...template,
    },
    linked,
    of.run.translator,
  )
}

/**
 * Beside subject and body: sender (unless left to the integration), reply-to and preheader. The library escapes all of it as
 * HTML.
 */
function fromCode(values: ControlValues, subject: string, body: string): RenderedEmail {
  const { replyTo, preheader, useProviderDefaults } = values
  const { email: address, name } = useProviderDefaults === true ? {} : objectIn(values.from)
  const header = <Name extends string>(as: Name, value: unknown) =>
    textIn(value) === undefined ? {} : ({ [as]: headerText(String(value)) } as { [K in Name]: string })
  return {
    subject: headerText(subject),
    html: textIn(preheader) === undefined ? body : withPreheader(body, String(preheader)),
    text: plainText(body),
    from: { ...header('email', address), ...header('name', name) },
    ...header('replyTo', replyTo),
  }
}

/** Longer texts contain more than a layout and the branding. */
const mostWithoutBody = 2_000

/** No text or images of its own, apart from the layout, and neither the trigger nor a provider template adds any. */
function isEmpty(of: StepRun, { text }: RenderedEmail, situation: Situation): boolean {
  const { values, run, step, providerData = {} } = of
  const { overrides } = run.event
  const email = objectIn(overrides.email)
  if (textIn(email.html) !== undefined || textIn(email.text) !== undefined || email.customData !== undefined)
    return false
  const added = [providerData, objectIn(overrides.providers), objectIn(stepOverrides(overrides, step).providers)]
  if (text.length > mostWithoutBody || added.some((members) => Object.keys(members).length > 0)) return false
  const body = asText(values.body)
  if (!of.isRendered && hasOwnWords(values, body)) return false
  const html = of.isRendered ? body : renderEmailHtml({ subject: '', body }, situation, run.translator)
  return !/<(img|svg|hr|table)\b/i.test(html) && plainText(html).trim() === ''
}

const ownWords = new WeakMap<object, boolean>()

/** Whether the body has text whatever the data. Determined once per step: rendering it again is expensive. */
function hasOwnWords(values: ControlValues, body: string): boolean {
  const known = ownWords.get(values)
  if (known !== undefined) return known
  const bare = body.replace(/\{\{[^{}]*\}\}/g, '')
  const found = !/\{[{%]/.test(bare) && !isDocument(body) && plainText(bare).trim() !== ''
  ownWords.set(values, found)
  return found
}

interface Parts {
  id: string
  attempt: number
  to: string[]
  content: RenderedEmail
  replyTo: string | undefined
  attachments: Attachment[]
  refusing: Refusing | undefined
}

/** What commercial mail gets. */
interface Refusing {
  /** Those given, with its own. */
  headers(given: Record<string, string>): Record<string, string>
  /** With the footer, unless it has a link of ours or the environment wants none. */
  footed<Content extends { html: string; text?: string }>(content: Content): Content
  details(first: IntegrationRow, wanted: number): Detail[]
}

function refusingOf(of: StepRun, tools: CallTools, addressed: Addressed): Refusing {
  const { run } = of
  const { brand, footer: hasFooter } = run.environment.consent
  const url = unsubscribeUrl(of, tools, addressed)
  const mailto = unsubscribeMailto(of, tools, addressed.messageId)
  const isLinked = new RegExp(`["']${escaped(linkBaseOf(of, tools))}/l/[up]/`)
  const texts = consentTexts[consentLanguage(run.subscriber.locale)]
  const footer = {
    ...brand,
    unsubscribe: { words: texts.unsubscribe, url },
    preferences: { words: texts.preferences, url: preferencesUrl(of, tools, addressed) },
  }
  return {
    headers: (given) => withUnsubscribeHeaders({ url, mailto }, given),
    footed(content) {
      if (!hasFooter || isLinked.test(content.html)) return content
      const text = content.text === undefined ? {} : { text: content.text + footerText(footer) }
      return { ...content, html: withFooter(content.html, footer), ...text }
    },
    details(first, wanted) {
      const overrides = objectIn(run.event.overrides.email)
      const added = addressesIn(channel, providerDataFor(of, first.provider_id, tools.brand))
      const others = wanted - 1 + textsIn(overrides.cc).length + textsIn(overrides.bcc).length + added.length
      return [
        ...(others > 0 ? [detail('one_person')] : []),
        ...(isOneClick(url) ? [] : [detail('one_click_needs_https')]),
        ...headersLeftOut(first),
      ]
    },
  }
}

const headersLeftOut = ({ provider_id: providerId }: IntegrationRow): Detail[] =>
  deliveryProvider(providerId)?.takesNoHeaders ? [detail('no_unsubscribe_header')] : []

/** The trigger comes first, then the step, then the integration. */
function composed(
  of: StepRun,
  tools: CallTools,
  integration: IntegrationRow,
  { content, replyTo: answerTo, refusing, ...parts }: Parts,
): EmailMessage {
  const { run } = of
  const { provider_id: providerId } = integration
  const { credentials } = openIntegration(integration, tools.secrets)
  const overrides = channelOverrides(of, channel, providerId, tools.brand)
  const senderName = textIn(overrides.senderName) ?? textIn(content.from?.name) ?? textIn(credentials.senderName)
  const replyTo = textIn(overrides.replyTo) ?? content.replyTo ?? answerTo
  const ipPoolName = textIn(overrides.ipPoolName) ?? textIn(credentials.ipPoolName)
  const said = textIn(overrides.html) ?? textIn(overrides.text)
  const own = said === undefined ? content : { html: said, text: textIn(overrides.text) ?? plainText(said) }
  const { html, text } = said === undefined ? own : (refusing?.footed(own) ?? own)
  const headers = headersIn(overrides.headers)
  const bounceAddress = bounceAddressOf(of, tools, integration, parts.id)
  const addressed = { channel, messageId: parts.id, address: parts.to[0] } as const
  const added = providerDataFor(of, providerId, tools.brand)
  return {
    channel,
    ...parts,
    from: senderOf(integration, textIn(overrides.from) ?? textIn(content.from?.email) ?? textIn(credentials.from)),
    ...(senderName === undefined ? {} : { senderName }),
    ...(replyTo === undefined ? {} : { replyTo }),
    cc: refusing ? [] : textsIn(overrides.cc),
    bcc: refusing ? [] : textsIn(overrides.bcc),
    subject: textIn(overrides.subject) ?? content.subject,
    html: tracked(html, of, tools, addressed),
    text,
    ...(bounceAddress === undefined ? {} : { bounceAddress }),
    headers: { ...(refusing?.headers(headers) ?? headers), ...idHeaders(of, tools, parts.id) },
    ...(ipPoolName === undefined ? {} : { ipPoolName }),
    details: {
      transactionId: run.transactionId,
      workflowId: run.workflow.identifier,
      subscriberId: run.subscriber.subscriber_id,
    },
    payload: Object.assign({}, run.event.payload, { subscriber: subscriberVariablesOf(run.subscriber) }),
    providerData: refusing ? withoutAddressees(added) : added,
    customData: objectIn(overrides.customData),
  }
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** Line breaks removed: values may come from anyone. The header that mail is recognized by is ours. */
const headersIn = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(objectIn(value)).flatMap(([name, inner]) =>
      ['string', 'number', 'boolean'].includes(typeof inner) && name.toLowerCase() !== idHeader.toLowerCase()
        ? [[name, String(inner).replace(/[\r\n]+/g, ' ')] as const]
        : [],
    ),
  )

/** The trigger's files; the payload says how to show them. Undefined if they have been deleted since. */
async function attachmentsOf({ run }: StepRun, { readFiles }: CallTools): Promise<Attachment[] | undefined> {
  const { attachments: described } = run.event.payload
  if (!Array.isArray(described) || described.length === 0) return []
  const rows = await readFiles({ environmentId: run.environment.id, id: run.event.id }, described.length)
  const files = described.filter((each): each is Data => isPlain(each) && each.position !== undefined)
  // An invoice mail without the invoice is worse than none.
  if (rows.length < files.length) return undefined
  const about = (position: number): Data => files.find((each) => each.position === position) ?? {}
  return rows.map(({ position, name, mime, content }): Attachment => {
    const { cid, disposition } = about(position)
    const isShown = disposition === 'inline' || disposition === 'attachment'
    return {
      ...{ name, mime, file: content },
      ...(textIn(cid) === undefined ? {} : { cid: String(cid) }),
      ...(isShown ? { disposition } : {}),
    }
  })
}

/** Keeps what cannot be read or rewritten: its author sees the error in the editor. */
function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RenderError) return otherwise
    throw error
  }
}

const isDocument = (body: string) => attempt(() => readDocument(body) !== undefined, true)

const asHtml = (body: string, isWhole: boolean) =>
  attempt(() => {
    const document = readDocument(body)
    return document ? documentToHtml(document, { isWhole }) : body
  }, body)

/** The block editor's document may come as an object or as its JSON. */
const asText = (body: unknown): string =>
  typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body)
