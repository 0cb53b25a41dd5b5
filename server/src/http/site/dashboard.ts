// The dashboard: its files, and its single page for every other path that a browser navigates to.
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
const ofPrograms = /^\/(v\d+|webhooks\/organizations|health|metrics|docs|inbox|socket\.io|assets)(\/|$)|^\/[^/]+\.\w+$/

/**
 * Scripts are the dashboard's own files only. Styles may be inline: the template editor, menus that lock scrolling and email
 * previews add style elements, and emails have no other styles. Images may come from anywhere, as those in emails and
 * avatars do.
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

/** Browsers revalidate each time, so that they see updates; mostly the answer is 304. */
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

/** Only a browser that navigates asks for HTML; programs accept anything. */
const wantsPage = ({ headers }: FastifyRequest) => headers.accept?.includes('text/html') ?? false
