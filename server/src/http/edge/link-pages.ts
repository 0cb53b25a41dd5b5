// What the pages behind links in messages share: their headers, the language of their reader, and the forms they send. Nothing
// here sets or reads a cookie, or redirects.
import { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ConsentLanguage, consentLanguage } from '../../render/consent-texts.ts'
import { parseBody, parseForm, refuseUnstorableField } from './body.ts'
import type { App } from './resource.ts'

/** A text of 2,000 characters may take 24,000 bytes in a form. */
const largestForm = 32 * 1024

/** Of every answer. */
export const alwaysSent = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
}
/** @param brand whose logo may have an http address where the environment may call this machine */
export function pagePolicy(brand?: { logoUrl: string | null }): string {
  const images = brand?.logoUrl?.startsWith('http:') ? 'https: http: data:' : 'https: data:'
  return `default-src 'none'; style-src 'unsafe-inline'; img-src ${images}; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`
}

/** Browsers name pages first; whoever does not ask for one gets JSON. */
export const wantsPage = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') ?? false

export function asPage(reply: FastifyReply, html: string, policy = pagePolicy()) {
  return reply.header('Content-Security-Policy', policy).type('text/html; charset=utf-8').send(html)
}

/** `?lang=`, the subscriber's, the browser's, English. */
export function languageOf({ query, headers }: FastifyRequest, locale?: string | null): ConsentLanguage {
  const { lang } = query as { lang?: unknown }
  const accepted = (headers['accept-language'] ?? '').split(',').map((each) => each.split(';')[0]?.trim())
  return consentLanguage(typeof lang === 'string' ? lang : null, locale, ...accepted)
}

/** Before validation: who names two languages gets the page all the same. */
export async function ignoreTwoLanguages({ query }: FastifyRequest): Promise<void> {
  const named = query as { lang?: unknown }
  if (Array.isArray(named.lang)) delete named.lang
}

/** Forms of both kinds; anything else is an empty one, which the route refuses in its own words. */
export function takeForms(scope: App, { withJson = false, bodyLimit = largestForm } = {}): void {
  const limit = { parseAs: 'buffer', bodyLimit } as const
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', limit, async () => ({}))
  scope.addContentTypeParser('application/x-www-form-urlencoded', limit, async (_: unknown, bytes: Buffer) =>
    parseForm(bytes.toString()),
  )
  if (withJson)
    scope.addContentTypeParser('application/json', limit, async (_: unknown, bytes: Buffer) => parseBody(bytes))
  scope.addContentTypeParser('multipart/form-data', limit, async ({ headers }: FastifyRequest, bytes: Buffer) =>
    fieldsIn(headers['content-type'] ?? '', bytes),
  )
}

type Fields = Record<string, string | string[]>

/** Each name with its value, or with all its values when it occurs more than once. */
async function fieldsIn(contentType: string, bytes: Buffer): Promise<Fields> {
  const values = new Map<string, string[]>()
  await new Promise<void>((resolve) => {
    // A form that cannot be read says nothing.
    const giveUp = () => {
      values.clear()
      resolve()
    }
    try {
      // The limit of the body is that of the fields, too.
      const limits = { fields: Infinity, parts: Infinity, files: 0 }
      const parser = new Busboy({ headers: { 'content-type': contentType }, limits })
      parser.on('field', (name, value) => {
        const all = values.get(name)
        if (all) all.push(value)
        else values.set(name, [value])
      })
      parser.on('error', giveUp)
      parser.on('finish', resolve)
      Readable.from([bytes]).pipe(parser)
    } catch {
      giveUp()
    }
  })
  const fields: Fields = Object.create(null)
  for (const [name, [only = '', ...more]] of values) {
    for (const value of [only, ...more]) refuseUnstorableField(value)
    fields[name] = more.length === 0 ? only : [only, ...more]
  }
  return fields
}
