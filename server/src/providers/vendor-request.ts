// Turns a provider's request into HTTP: merges provider data into the part that carries the message, drops undefined members,
// and encodes it.
import { File } from 'node:buffer'
import { FormData } from 'undici'
import { DeliveryError } from './delivery-error.ts'
import type { HttpRequest } from './http-client.ts'
import { FilePart, type VendorRequest } from './provider.ts'
import type { Data, Extended } from './provider-data.ts'

export async function httpRequestOf(
  address: string,
  request: VendorRequest,
  extend: (base: Data) => Extended,
): Promise<{ url: string; request: HttpRequest }> {
  const { method = 'POST', query = {}, json, form, multipart, timeoutMs } = request
  const base = json ?? form ?? multipart
  const { body, headers: added, query: addedQuery } = extend(base ?? query)
  const url = urlWith(address, { ...(base ? query : body), ...addedQuery })
  const headers = Object.assign(defined(request.headers ?? {}), added)
  const usual = timeoutMs === undefined ? {} : { timeoutMs }
  if (multipart) return { url, request: { method, headers, multipart: formDataOf(body), ...usual } }
  const encoded = encode(request, body)
  const signed = await request.sign?.({ method, url, body: encoded.body ?? '' })
  const sent = encoded.body === undefined ? usual : { body: encoded.body, ...usual }
  return { url, request: { method, headers: Object.assign(encoded.headers, headers, signed), ...sent } }
}

function encode({ json, form, wrap }: VendorRequest, body: Data): { body?: string; headers: Record<string, string> } {
  if (json)
    return {
      body: JSON.stringify(wrap ? wrap(body) : body),
      headers: { 'content-type': 'application/json' },
    }
  if (form)
    return {
      body: new URLSearchParams(pairs(wrap ? (wrap(body) as Data) : body)).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }
  return { headers: {} }
}

function urlWith(address: string, query: Data): string {
  const url = parsed(address)
  for (const [name, value] of pairs(query)) url.searchParams.append(name, value)
  return url.href
}

function parsed(address: string): URL {
  try {
    return new URL(address)
  } catch {
    throw new DeliveryError('invalid_url')
  }
}

function formDataOf(body: Data): FormData {
  const data = new FormData()
  for (const [name, value] of members(body)) {
    if (value instanceof FilePart) data.append(name, new File([value.file], value.name, { type: value.mime }))
    else data.append(name, textOf(value))
  }
  return data
}

const pairs = (body: Data): Array<[string, string]> => members(body).map(([name, value]) => [name, textOf(value)])

/** A list is one member per item. */
const members = (body: Data): Array<[string, unknown]> =>
  Object.entries(body).flatMap(([name, value]) =>
    [value]
      .flat()
      .flatMap((item): Array<[string, unknown]> => (item === undefined || item === null ? [] : [[name, item]])),
  )

const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : String(value as string | number | boolean)

function defined(headers: Record<string, string | undefined>): Record<string, string> {
  const all: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) all[name.toLowerCase()] = value
  return all
}
