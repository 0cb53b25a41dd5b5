// The API description, for tests that cover all of it.
import { expect } from 'vitest'
import type { Answer, Api } from './server.ts'

export interface JsonSchema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  propertyNames?: object
  additionalProperties?: boolean | JsonSchema
  patternProperties?: Record<string, JsonSchema>
  items?: JsonSchema
  minItems?: number
  maxItems?: number
  minimum?: number
  maximum?: number
  format?: string
  pattern?: string
}

export interface Operation {
  method: string
  path: string
  parameters: Array<{ name: string; in: string; schema: JsonSchema }>
  body: JsonSchema | undefined
  /** The same for uploads. */
  form: JsonSchema | undefined
  /** By status and content type; all errors share one schema. */
  responses: Record<string, { content?: Record<string, { schema?: JsonSchema }> }>
  /** Omitted for the default: an API key or a person. */
  security: Array<Record<string, unknown>> | undefined
  /** The lowest role a person needs; undefined if people cannot call it. */
  role: string | undefined
}

export async function operationsOf(api: Api): Promise<Operation[]> {
  const { body: description } = await api.get('/openapi.json')
  // biome-ignore lint/suspicious/noExplicitAny: documents of this kind have no type here
  return Object.entries<Record<string, any>>(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content['application/json']?.schema,
      form: operation.requestBody?.content['multipart/form-data']?.schema,
      responses: operation.responses,
      security: operation.security,
      role: operation['x-role'],
    })),
  )
}

/** The shape of every error. */
export function expectErrorShape(answer: Answer, now: Date, note: string): void {
  // The usual case: the assertions, which say what is wrong, take longer than the request.
  if (hasErrorShape(answer, now)) return
  expect({ note, type: answer.headers.get('content-type'), body: answer.body }).toMatchObject({
    note,
    type: 'application/json; charset=utf-8',
    body: {
      statusCode: answer.status,
      timestamp: now.toISOString(),
      path: expect.stringMatching(/^\//),
      message: expect.stringMatching(/./),
      code: expect.stringMatching(/^[a-z_]+$/),
      ctx: expect.any(Object),
    },
  })
  if (answer.status !== 422) return
  const entries = Object.values<{ messages: unknown[] }>(answer.body.errors)
  const messages = entries.map((entry) => entry.messages[0])
  expect([note, messages.length > 0, messages]).toEqual([note, true, messages.map(() => expect.any(String))])
}

function hasErrorShape({ status, headers, body }: Answer, now: Date): boolean {
  const isText = (value: unknown, pattern: RegExp) => typeof value === 'string' && pattern.test(value)
  const isCommon =
    headers.get('content-type') === 'application/json; charset=utf-8' &&
    body?.statusCode === status &&
    body.timestamp === now.toISOString() &&
    isText(body.path, /^\//) &&
    isText(body.message, /./) &&
    isText(body.code, /^[a-z_]+$/) &&
    typeof body.ctx === 'object' &&
    body.ctx !== null
  if (!isCommon || status !== 422) return isCommon
  const entries = Object.values<{ messages: unknown[] }>(body.errors ?? {})
  return entries.length > 0 && entries.every(({ messages }) => typeof messages?.[0] === 'string')
}
