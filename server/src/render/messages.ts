// Renders in-app, SMS, chat and push messages from their control values.
import { RenderError } from './limits.ts'
import type { Situation } from './liquid.ts'
import { sanitizeValues } from './sanitize.ts'
import { noTranslations } from './translations.ts'
import { renderValues, type Values } from './values.ts'

export interface Redirect {
  url: string
  target: string
}

export interface Action {
  label: string
  redirect?: Redirect
}

export interface InAppMessage {
  subject?: string
  body?: string
  avatar?: string
  primaryAction?: Action
  secondaryAction?: Action
  redirect?: Redirect
  data?: Values
}

/** Picks the values that make up the message; conditions and switches are not templates. */
function picker(...names: string[]): (values: Values) => Values {
  const picked = new WeakMap<Values, Values>()
  return (values) => {
    const known = picked.get(values)
    if (known !== undefined) return known
    const parts = Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name)))
    picked.set(values, parts)
    return parts
  }
}

const inAppParts = picker('subject', 'body', 'avatar', 'primaryAction', 'secondaryAction', 'redirect', 'data')
const bodyPart = picker('body')
const pushParts = picker('subject', 'body')

export function renderInApp(values: Values, of: Situation, translator = noTranslations): InAppMessage {
  const rendered = renderValues(inAppParts(values), of, translator)
  const safe = values.disableOutputSanitization === true ? rendered : sanitizeValues(rendered)
  const message: InAppMessage = {}
  for (const name of ['subject', 'body', 'avatar'] as const) {
    const text = safe[name]
    if (typeof text === 'string' && text !== '') message[name] = text
  }
  if (message.subject === undefined && message.body === undefined) {
    throw new RenderError('empty_content', 'The in-app message has neither subject nor body')
  }
  for (const name of ['primaryAction', 'secondaryAction'] as const) {
    const action = toAction(safe[name])
    if (action !== undefined) message[name] = action
  }
  const redirect = toRedirect(safe.redirect)
  if (redirect !== undefined) message.redirect = redirect
  if (isObject(safe.data)) message.data = safe.data
  return message
}

const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function toAction(value: unknown): Action | undefined {
  if (!isObject(value) || typeof value.label !== 'string' || value.label === '') return undefined
  const redirect = toRedirect(value.redirect)
  return redirect === undefined ? { label: value.label } : { label: value.label, redirect }
}

/** A path opens in the same window, a URL in a new one. */
function toRedirect(value: unknown): Redirect | undefined {
  if (!isObject(value) || typeof value.url !== 'string' || value.url === '') return undefined
  const { url, target } = value
  if (typeof target === 'string' && target !== '') return { url, target }
  return { url, target: url.startsWith('/') ? '_self' : '_blank' }
}

export interface TextMessage {
  body: string
}

export interface PushMessage {
  subject: string
  body: string
}

export const renderSms = (values: Values, of: Situation, translator = noTranslations): TextMessage => ({
  body: required(renderValues(bodyPart(values), of, translator), 'body', 'SMS'),
})

export const renderChat = (values: Values, of: Situation, translator = noTranslations): TextMessage => ({
  body: required(renderValues(bodyPart(values), of, translator), 'body', 'chat message'),
})

export function renderPush(values: Values, of: Situation, translator = noTranslations): PushMessage {
  const rendered = renderValues(pushParts(values), of, translator)
  return {
    subject: required(rendered, 'subject', 'push message'),
    body: required(rendered, 'body', 'push message'),
  }
}

function required(rendered: Values, name: string, kind: string): string {
  const text = rendered[name]
  if (typeof text === 'string') return text
  throw new RenderError('empty_content', `The ${kind} has no ${name}`)
}
