// The dashboard: its files, and its one page for every path that is nobody else's and that a browser wants to show.
import { pathToFileURL } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fail } from '../../errors.ts'
import { packageFolder } from '../../package-folder.ts'
import type { Resource } from '../edge/resource.ts'
import { StaticFiles } from './static-files.ts'

const built = new URL('../dashboard/dist/', packageFolder)

/**
 * Paths of programs, and of files at the top; a browser that asks there for what does not exist gets the answer a program would.
 * Deeper down, a dot is one of an id: `/subscribers/ada@example.com`.
 */
const ofPrograms = /^\/(v\d+|webhooks\/organizations|health|metrics|docs|inbox|socket\.io|assets)(\/|$)|^\/[^/]+\.\w+$/

/**
 * Scripts are the dashboard's own files and nothing else. Styles may be inline: the editor of templates, menus that lock
 * scrolling and previews of e-mails put style elements into the page, and an e-mail is styled by nothing else. Pictures may
 * come from anywhere, because those in e-mails and of subscribers do.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob: http: https:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Asked for anew each time, so that an update is seen; the answer to that is mostly that nothing has changed. */
const unhashed = { 'Cache-Control': 'no-cache' }
const pageHeaders = { ...unhashed, 'Content-Security-Policy': policy, Vary: 'Accept, Accept-Encoding' }

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
  for (const name of ['favicon.svg', 'theme.js'])
    app.get(`/${name}`, open, async (request, reply) => {
      if (!(await files.send(request, reply, name, unhashed))) throw notFound(request)
      return reply
    })

  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (path !== '/' && (ofPrograms.test(path) || !wantsPage(request))) throw notFound(request)
    if (!(await files.send(request, reply, 'index.html', pageHeaders)))
      return reply.code(503).type('text/plain; charset=utf-8').send(notBuilt)
    return reply
  }
  app.get('/', open, page)
  app.get('/*', open, page)
}

/** Programs take anything; only a browser that navigates says it wants HTML. */
const wantsPage = ({ headers }: FastifyRequest) => headers.accept?.includes('text/html') ?? false
