// Requests of a chat sign-in to its vendor: one attempt, limited in time and size, with no secrets in errors.
import { fail } from '../../errors.ts'
import { DeliveryError } from '../delivery-error.ts'
import type { HttpAnswer, HttpClient } from '../http-client.ts'

const longestTold = 200

export interface VendorRequest {
  http: HttpClient
  /** The vendor's display name. */
  vendor: string
  url: string
  form?: Record<string, string>
  json?: unknown
  bearer?: string
  timeoutMs?: number | undefined
}

export interface VendorAnswer {
  status: number
  /** Undefined without a body. */
  json: unknown
}

/**
 * POSTs the form or JSON, or else GETs. Returns any JSON below status 500 for the caller to read; throws on a timeout, a
 * vendor's error or anything but JSON. Never retries, because a sign-in code works once.
 */
export async function ask(asked: VendorRequest): Promise<VendorAnswer> {
  const { status, text } = await exchange(asked)
  if (status >= 500) throw unusable(asked, `HTTP ${status}`)
  if (text === '') return { status, json: undefined }
  try {
    return { status, json: JSON.parse(text) }
  } catch {
    throw unusable(asked, `HTTP ${status}, not JSON`)
  }
}

async function exchange(asked: VendorRequest): Promise<HttpAnswer> {
  const { http, url, form, json, bearer, timeoutMs } = asked
  try {
    return await http.exchange(url, {
      method: (form ?? json) ? 'POST' : 'GET',
      ...(bearer === undefined ? {} : { headers: { authorization: `Bearer ${bearer}` } }),
      ...(form ? { form } : json === undefined ? {} : { json }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      // The operator sets the vendors' addresses.
      allowPrivateAddresses: true,
    })
  } catch (error) {
    if (!(error instanceof DeliveryError)) throw error
    if (error.code === 'answer_too_large') throw unusable(asked, 'the answer is too long')
    throw unusable(asked, error.reason ?? error.code)
  }
}

export const unusable = ({ vendor }: Pick<VendorRequest, 'vendor'>, reason: string) =>
  fail('oauth_unavailable', { vendor, reason })

/** A vendor's words on one short line, with secrets masked. */
export function tellable(words: unknown, secrets: string[]): string | undefined {
  if (typeof words !== 'string' || words === '') return undefined
  const masked = secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '***'), words)
  return masked.split(/[\r\n]/, 1)[0]?.slice(0, longestTold)
}

/** A member of a parsed answer of any shape. */
export function member(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined,
    value,
  )
}

export function textMember(value: unknown, ...path: string[]): string | undefined {
  const found = member(value, ...path)
  return typeof found === 'string' && found !== '' ? found : undefined
}
