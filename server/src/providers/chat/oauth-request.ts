// The calls a chat sign-in makes to its vendor: one attempt, bounded in time and size, and nothing secret in what they report.
import { request } from 'undici'
import { fail, RequestError } from '../../errors.ts'

const timeoutMs = 10_000
const mostBytes = 1024 * 1024
const longestTold = 200

export interface VendorRequest {
  /** As it is named to people. */
  vendor: string
  url: string
  form?: Record<string, string>
  json?: unknown
  bearer?: string
  timeoutMs?: number | undefined
}

export interface VendorAnswer {
  status: number
  /** Undefined when there is no body. */
  json: unknown
}

/**
 * POSTs the form or JSON, or else GETs. Whatever a vendor says in JSON below status 500 is an answer, to be read by the
 * caller; silence, a fault of the vendor's or anything but JSON is not. A sign-in code works once, so nothing is repeated.
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

async function exchange(asked: VendorRequest): Promise<{ status: number; text: string }> {
  const signal = AbortSignal.timeout(asked.timeoutMs ?? timeoutMs)
  try {
    const { statusCode, body } = await request(asked.url, {
      method: (asked.form ?? asked.json) ? 'POST' : 'GET',
      headers: headersOf(asked),
      body: asked.form ? new URLSearchParams(asked.form).toString() : asked.json ? JSON.stringify(asked.json) : null,
      signal,
    })
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > mostBytes) throw unusable(asked, 'the answer is too long')
      chunks.push(chunk)
    }
    return { status: statusCode, text: Buffer.concat(chunks).toString('utf8') }
  } catch (error) {
    if (signal.aborted) throw unusable(asked, 'timeout')
    if (error instanceof RequestError) throw error
    // Only the code: the error itself may quote what was sent.
    throw unusable(asked, (error as NodeJS.ErrnoException).code ?? 'connection failed')
  }
}

function headersOf({ form, json, bearer }: VendorRequest): Record<string, string> {
  return {
    accept: 'application/json',
    ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    ...(json ? { 'content-type': 'application/json' } : {}),
    ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
  }
}

export const unusable = ({ vendor }: Pick<VendorRequest, 'vendor'>, reason: string) =>
  fail('oauth_unavailable', { vendor, reason })

/** A vendor's own words, fit to be shown: one line, not too long, and with none of the secrets it was sent. */
export function tellable(words: unknown, secrets: string[]): string | undefined {
  if (typeof words !== 'string' || words === '') return undefined
  const masked = secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '***'), words)
  return masked.split(/[\r\n]/, 1)[0]?.slice(0, longestTold)
}

/** A member of a parsed answer, whatever that turned out to be. */
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
