// The description of the API, made from the route schemas: /openapi.json for programs, /docs for people.
import { createReadStream } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import swagger from '@fastify/swagger'
import type { App } from './resource.ts'

export async function registerDocs(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Belfry',
        version: '1',
        description:
          'Notification delivery: subscribers, topics, integrations and everything else a notification needs. ' +
          'Every operation takes an API key in the `Authorization` header: `ApiKey <key>`.',
      },
      servers: [{ url: '/' }],
      security: [{ apiKey: [] }],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: 'The word `ApiKey`, a space and the key.',
          },
        },
        schemas: { Error: errorSchema as never },
      },
    },
    transform: ({ schema, url, route }) => ({
      schema: withErrors(schema as RouteSchema, route.config?.public === true) as never,
      url,
    }),
  })
  const open = { config: { public: true }, schema: { hide: true } }
  app.get('/openapi.json', open, async () => app.swagger())
  app.get('/docs', open, async (_request, reply) =>
    reply.header('Content-Security-Policy', docsPolicy).type('text/html; charset=utf-8').send(docsPage),
  )
  app.get('/docs/scalar.js', open, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').header('Cache-Control', 'max-age=3600').send(createReadStream(viewer)),
  )
}

/** Only the file that browsers load is used of this package; importing its plugin would take longer than all our routes. */
const viewer = new URL('js/standalone.js', import.meta.resolve('@scalar/fastify-api-reference'))

const docsPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Belfry API</title>
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/scalar.js"></script>
    <script>
      Scalar.createApiReference('#reference', {
        url: '/openapi.json',
        // Nothing that would send the API or what is typed here to somebody else.
        telemetry: false,
        withDefaultFonts: false,
        showDeveloperTools: 'never',
        hideClientButton: true,
        agent: { disabled: true },
        mcp: { disabled: true },
      })
    </script>
  </body>
</html>
`

/** The page may talk to this service only. */
const docsPolicy =
  "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'"

interface RouteSchema {
  response?: Record<string, unknown>
  security?: unknown[]
}

const errorSchema = {
  type: 'object',
  required: ['statusCode', 'timestamp', 'path', 'message'],
  properties: {
    statusCode: { type: 'integer' },
    timestamp: { type: 'string', format: 'date-time' },
    path: { type: 'string' },
    message: { type: 'string' },
    code: { type: 'string', description: 'Which of the errors listed in docs/errors.md this is' },
    error: { type: 'string', description: 'The status in words' },
    ctx: { type: 'object', description: 'What else is known about the error' },
    errors: { type: 'object', description: 'On 422: what is wrong, by field' },
    errorId: { type: 'string', description: 'On 500: what to look for in the log' },
  },
}

/** The answers that any operation may give; the handlers do not list them one by one. */
function withErrors(schema: RouteSchema, isPublic: boolean): RouteSchema {
  const statuses = isPublic ? [400] : [400, 401, 404, 409, 413, 422, 429, 503]
  const response: Record<string, unknown> = { ...schema.response }
  for (const status of statuses) {
    response[status] ??= {
      description: STATUS_CODES[status],
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    }
  }
  return { ...schema, response, ...(isPublic ? { security: [] } : {}) }
}
