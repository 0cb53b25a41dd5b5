// The dashboard: its files, and its single page for every other path that a browser navigates to.
import { createHash } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import { packageFolder } from '../../package-folder.ts'
import type { Resource } from '../edge/resource.ts'
import { StaticFiles } from './static-files.ts'

const built = new URL('../dashboard/dist/', packageFolder)

/**
 * Paths of the API, and of top-level files: a browser gets the plain 404 there, as a program does.
 * Further down a dot belongs to an id: `/subscribers/ada@example.com`.
 */
const ofPrograms =
  /^\/(v\d+|webhooks\/organizations|health|metrics|docs|socket\.io|assets)(\/|$)|^\/inbox\/|^\/[^/]+\.\w+$/

/** The page has one script of its own, which runs before the first paint. It is allowed by its hash. */
function inlineScript(page: string): string {
  const [, script] = /<script>([\s\S]*?)<\/script>/.exec(page) ?? []
  return script === undefined ? '' : ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`
}

/**
 * Scripts are the dashboard's own files only. Styles may be inline: the template editor, menus that lock scrolling and email
 * previews add style elements, and emails have no other styles. Images may come from anywhere, as those in emails and
 * avatars do.
 */
const policyOf = (page: string) =>
  [
    "default-src 'none'",
    `script-src 'self'${inlineScript(page)}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob: http: https:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Browsers revalidate each time, so that they see updates; mostly the answer is 304. */
const unhashed = { 'Cache-Control': 'no-cache' }
const pageHeaders = { ...unhashed, Vary: 'Accept, Accept-Encoding' }

const notBuilt =
  'The dashboard is not built. `npm start` builds it; the API works without it, and its reference is at /docs.\n'

export const dashboard: Resource = (app, { config }) => {
  const { dashboardDir } = config
  const files = new StaticFiles(dashboardDir === undefined ? built : pathToFileURL(`${dashboardDir}/`))
  const open = { config: { public: true }, schema: { hide: true } }
  const notFound = ({ method, url }: FastifyRequest) => fail('route_not_found', { method, path: url })

  app.get('/assets/*', open, async (request, reply) => {
    const { '*': name } = request.params as { '*': string }
    if (!(await files.send(request, reply, `assets/${name}`))) throw notFound(request)
    return reply
  })
  app.get('/favicon.svg', open, async (request, reply) => {
    if (!(await files.send(request, reply, 'favicon.svg', unhashed))) throw notFound(request)
    return reply
  })

  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (path !== '/' && (ofPrograms.test(path) || !wantsPage(request))) throw notFound(request)
    const html = await files.text('index.html')
    const headers = { ...pageHeaders, 'Content-Security-Policy': policyOf(html ?? '') }
    if (!(await files.send(request, reply, 'index.html', headers)))
      return reply.code(503).type('text/plain; charset=utf-8').send(notBuilt)
    return reply
  }
  app.get('/', open, page)
  app.get('/*', open, page)
}

/** Only a browser that navigates asks for HTML; programs accept anything. */
const wantsPage = ({ headers }: FastifyRequest) => headers.accept?.includes('text/html') ?? false
