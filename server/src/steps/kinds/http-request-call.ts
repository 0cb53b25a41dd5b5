// The call of an HTTP request step: its values become one request to a URL of the user's, and the answer becomes the step's
// result. The caller decides whether to try again, and whether the run goes on.
import { jsonrepair } from 'jsonrepair'
import { timedSignature } from '../../db/core/secrets.ts'
import { parseStorable } from '../../db/core/storable.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { type HttpAnswer, type HttpClient, type HttpMethod, httpMethods } from '../../providers/http-client.ts'
import { compileTemplate, hasLiquid, renderEmit, type Situation } from '../../render/liquid.ts'
import { renderValues } from '../../render/values.ts'
import type { ControlValues } from '../contract/kind.ts'
import { compileSchema } from '../json-schema/json-schema.ts'
import { type JsonSchema, SchemaCostError, SchemaError } from '../json-schema/run.ts'

export const defaultTimeoutMs = 5_000
export const shortestTimeoutMs = 100
export const longestTimeoutMs = 30_000
const mostRedirects = 5
const mostBytes = 1024 * 1024
/** Repair time grows with the square of the broken text: 0.4 s for 64 KB, 25 ms for this. */
const longestRepaired = 16 * 1024
const withoutBody: readonly HttpMethod[] = ['GET', 'DELETE', 'HEAD', 'OPTIONS']
/** HTTP sets these itself; other values would only break the request. */
const ownHeaders = new Set([
  ...['connection', 'content-length', 'expect', 'host', 'keep-alive', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
])

/** As it is sent. */
export interface ResolvedRequest {
  url: string
  method: HttpMethod
  headers: Record<string, string>
  /** An object or an array; absent if there is no body. */
  body?: unknown
}

/** Why there is nothing to send, in a sentence for the author of the step. */
export class RequestInvalid extends Error {}

export interface Signing {
  /** With the brand's word, such as `svc-signature`. */
  header: string
  /** The newest first. */
  keys: string[]
  now: Date
}

/** Throws a RequestInvalid, or a RenderError for a template that fails. */
export function resolveRequest(values: ControlValues, of: Situation, signing: Signing): ResolvedRequest {
  const request = fillIn(values, of, signing)
  if (!URL.canParse(request.url) || !/^https?:/i.test(request.url))
    throw new RequestInvalid('The URL is not an absolute http(s) address')
  return request
}

/** The same to show it: without a check of the URL and, as anybody may ask for any body, without a signature. */
export const showRequest = (values: ControlValues, of: Situation): ResolvedRequest => fillIn(values, of, undefined)

function fillIn(values: ControlValues, of: Situation, signing: Signing | undefined): ResolvedRequest {
  const { method = 'POST', url = '', headers = [] } = values
  const rendered = renderValues({ method, url, headers }, of)
  const upper = String(rendered.method).toUpperCase()
  const known = httpMethods.find((each) => each === upper)
  if (!known) throw new RequestInvalid(`The method must be one of ${httpMethods.join(', ')}`)
  const body = withoutBody.includes(known) ? undefined : resolveBody(values.body, of)
  return {
    url: String(rendered.url).trim(),
    method: known,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...Object.fromEntries(pairsOf(rendered.headers).filter(([name]) => !ownHeaders.has(name))),
      // Last, so that no header in the values can replace it.
      ...(signing ? { [signing.header]: timedSignature(signing.keys, JSON.stringify(body ?? {}), signing.now) } : {}),
    },
    ...(body === undefined ? {} : { body }),
  }
}

/** Names in lower case; entries without a name are left out. */
function pairsOf(list: unknown): Array<[string, string]> {
  const pairs = Array.isArray(list) ? (list as Array<{ key?: unknown; value?: unknown } | null>) : []
  return pairs.flatMap((pair) => {
    const name = String(pair?.key ?? '')
      .trim()
      .toLowerCase()
    return name === '' ? [] : [[name, String(pair?.value ?? '')] as [string, string]]
  })
}

function resolveBody(given: unknown, of: Situation): unknown {
  if (given === undefined || given === null) return undefined
  if (typeof given === 'string') return given.trim() === '' ? undefined : resolveText(given, of)
  if (!Array.isArray(given)) return renderInside(given, of)
  const members = (given as Array<{ key?: unknown; value?: unknown } | null>).map((pair) => [
    String(pair?.key ?? ''),
    pair?.value ?? '',
  ])
  return renderInside(Object.fromEntries(members.filter(([name]) => name !== '')), of)
}

/**
 * If the template is valid JSON, its expressions are inside strings and stay there, whatever the data. Otherwise it is rendered
 * as text, with objects as JSON, and the result must be JSON or nearly so.
 */
function resolveText(text: string, of: Situation): unknown {
  const template = parsed(text)
  if (template !== undefined) return structured(renderInside(template, of))
  if (!hasLiquid(text)) return structured(repaired(text))
  return structured(repaired(renderEmit(compileTemplate(text), of, '"')))
}

/** Member names are templates too, as they are in `data`. */
const renderInside = (value: unknown, of: Situation) => renderValues({ data: value }, of).data

function structured(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) return value
  throw new RequestInvalid('The body must be a JSON object or array')
}

function repaired(text: string): unknown {
  const value = parsed(text)
  if (value !== undefined) return value
  try {
    if (text.length <= longestRepaired) return parseStorable(jsonrepair(text))
  } catch {
    // Beyond repair, or repaired into something we cannot store.
  }
  throw new RequestInvalid('The body is not valid JSON')
}

/** Undefined if it is not JSON that can be stored. */
function parsed(text: string): unknown {
  try {
    return parseStorable(text)
  } catch {
    return undefined
  }
}

export interface HttpRequestDone {
  outcome: 'done'
  statusCode: number
  headers: Record<string, string>
  /** Parsed if it is JSON, else text. */
  body: unknown
  /** Later steps read members of it; anything else gets a warning. */
  isObject: boolean
}

export interface HttpRequestFailed {
  outcome: 'failed'
  /** What happened, without anything that was sent. */
  error: string
  /** No answer came at all. */
  transport?: DeliveryError
  statusCode?: number
  headers?: Record<string, string>
  body?: unknown
  /** The answer does not match the step's schema. */
  schemaErrors?: Array<{ path: string; message: string }>
}

/** Sends the request and reads the answer. Every failure is an outcome. */
export async function callAddress(
  http: Pick<HttpClient, 'exchange'>,
  request: ResolvedRequest,
  values: ControlValues,
): Promise<HttpRequestDone | HttpRequestFailed> {
  const { url, method, headers, body } = request
  let answer: HttpAnswer
  try {
    const options = { timeoutMs: timeoutOf(values), mostRedirects, mostBytes }
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    answer = await http.exchange(url, { method, headers, ...content, ...options })
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error
    return { outcome: 'failed', error: error.message, transport: error }
  }
  const got = { statusCode: answer.status, headers: answer.headers, body: readBody(answer.text) }
  if (got.statusCode < 200 || got.statusCode > 299)
    return { outcome: 'failed', error: `HTTP status ${got.statusCode}`, ...got }
  const schemaErrors = values.enforceSchemaValidation === true ? mismatches(values.responseBodySchema, got.body) : []
  if (schemaErrors.length > 0)
    return { outcome: 'failed', error: 'The answer does not match the response body schema', ...got, schemaErrors }
  const isObject = typeof got.body === 'object' && got.body !== null && !Array.isArray(got.body)
  return { outcome: 'done', ...got, isObject }
}

function timeoutOf({ timeout }: ControlValues): number {
  const ms = typeof timeout === 'number' && Number.isFinite(timeout) ? timeout : defaultTimeoutMs
  return Math.min(Math.max(ms, shortestTimeoutMs), longestTimeoutMs)
}

/** Text that is not JSON is kept as far as it can be stored. */
function readBody(text: string): unknown {
  const value = parsed(text)
  return value === undefined ? text.replaceAll('\0', '').toWellFormed() : value
}

function mismatches(schema: unknown, body: unknown): Array<{ path: string; message: string }> {
  if (typeof schema !== 'object' || schema === null || Object.keys(schema).length === 0) return []
  try {
    // Validation writes defaults into the value.
    const problems = compileSchema(schema as JsonSchema)(structuredClone(body))
    return problems.map(({ path, message }) => ({ path: path.map((part) => `/${part}`).join(''), message }))
  } catch (error) {
    if (error instanceof SchemaError || error instanceof SchemaCostError)
      return [{ path: '', message: `cannot be checked with this schema: ${error.message}` }]
    throw error
  }
}
