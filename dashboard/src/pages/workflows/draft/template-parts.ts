// What the templates for new workflows are made of.
import type { Body } from '../../../api/client.ts'

type NewWorkflow = Body<'POST /v2/workflows'>
type NewStep = NewWorkflow['steps'][number]

export interface Template {
  id: string
  name: string
  description: string
  /** The suggested name of the workflow. */
  suggestion: string
  workflow: Pick<NewWorkflow, 'steps'> & Partial<NewWorkflow>
}

export interface Block {
  type: string
  attrs?: Record<string, unknown>
  content?: Block[]
  text?: string
}

export const text = (value: string): Block => ({ type: 'text', text: value })
export const variable = (id: string, fallback?: string): Block => ({
  type: 'variable',
  attrs: { id, ...(fallback ? { fallback } : {}) },
})
export const paragraph = (...content: Block[]): Block => ({ type: 'paragraph', content })
export const heading = (level: number, ...content: Block[]): Block => ({ type: 'heading', attrs: { level }, content })
export const button = (label: string, url: string): Block => ({
  type: 'button',
  attrs: { text: label, url, isUrlVariable: true, alignment: 'left' },
})
export const document = (...content: Block[]) => JSON.stringify({ type: 'doc', content })

export const payloadSchema = (properties: Record<string, unknown>, required: string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: true,
})
export const string = (example: string) => ({ type: 'string', default: example })

/** A step named and identified alike. */
const step = (type: NewStep['type'], name: string, controlValues: Record<string, unknown>) =>
  ({ name, stepId: name.toLowerCase().replaceAll(' ', '-'), type, controlValues }) as NewStep

export const email = (subject: string, ...content: Block[]) =>
  step('email', 'Email', { editorType: 'block', subject, body: document(...content) })
export const inbox = (subject: string, body: string, more: Record<string, unknown> = {}) =>
  step('in_app', 'Inbox', { subject, body, ...more })
export const sms = (body: string, more: Record<string, unknown> = {}) => step('sms', 'Text message', { body, ...more })
export const push = (subject: string, body: string) => step('push', 'Push', { subject, body })
export const chat = (body: string) => step('chat', 'Chat', { body })
export const wait = (amount: number, unit: 'minutes' | 'hours' | 'days') =>
  step('delay', `Wait ${amount} ${unit}`, { type: 'regular', amount, unit })
export const collect = (amount: number, unit: 'minutes' | 'hours' | 'days') =>
  step('digest', 'Collect', { type: 'regular', amount, unit })
export const limit = (threshold: number, amount: number, unit: 'minutes' | 'hours' | 'days') =>
  step('throttle', 'Limit', { type: 'fixed', threshold, amount, unit })

/** A button that leads where the payload says. */
export const action = (label: string, url: string) => ({
  primaryAction: { label, redirect: { url: `{{payload.${url}}}`, target: '_self' } },
})

/** The payload's members, each with an example. */
export const payload = (examples: Record<string, string>) => ({
  payloadSchema: payloadSchema(
    Object.fromEntries(Object.entries(examples).map(([name, example]) => [name, string(example)])),
  ),
  validatePayload: false,
})

/** Nobody can turn it off. */
export const critical = {
  severity: 'high' as const,
  preferences: { workflow: { all: { enabled: true, readOnly: true } } },
}
