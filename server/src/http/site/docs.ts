// The API description, generated from the route schemas: /openapi.json for programs, /docs for people.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import swagger from '@fastify/swagger'
import type { App } from '../edge/resource.ts'
import { usualRole } from '../edge/roles.ts'
import { ownKeywords } from '../edge/validation.ts'

const introduction = `
Belfry keeps what notifications need: subscribers, topics, workflows, the integrations that deliver, and more.

**Keys.** Send the API key of an environment as \`Authorization: ApiKey <key>\`. What you read and write is in that
environment, and what you may do depends on the scopes of the key (\`x-scope\` says what an operation needs). A key of the
organization names the environment in a \`Belfry-Environment\` header. People who have signed in send a cookie instead, and name the environment in a \`Belfry-Environment\` header;
what they may do depends on their role.

**Lists.** Most come in pages: send the \`next\` of a page as \`after\` for the one that follows, its \`previous\` as
\`before\` to go back.

**Repeats.** A \`POST\` or \`PATCH\` with an \`idempotency-key\` is executed once. For 24 hours, repeating it gives the first
answer again.

**Errors.** They all look alike: \`statusCode\`, \`message\`, a \`code\` for programs and, on 422, what is wrong with which
field under \`errors\`.
`

/** The parts of the API, in the order people meet them. */
const tags = [
  { name: 'Events', description: 'Triggers: the only way to send notifications.' },
  { name: 'Questions', description: 'What steps ask people, who was asked, and the answers.' },
  { name: 'Rotas', description: 'Who is on duty when, for questions that escalate.' },
  { name: 'Subscribers', description: 'The people notifications go to, and how chat and push reach them.' },
  { name: 'Preferences', description: 'What a subscriber wants to receive, through which channels and when.' },
  { name: 'Activity', description: 'The runs of every trigger: how far they got, and why they stopped.' },
  { name: 'Messages', description: 'Sent messages of all channels.' },
  { name: 'Deliveries', description: 'Failed deliveries, to inspect and send again.' },
  {
    name: 'Sandbox',
    description: 'Messages that only the sandbox gets, to inspect; and simulated provider faults.',
  },
  { name: 'Inbox', description: 'The in-app messages of a subscriber: read, archived, snoozed.' },
  {
    name: 'Inbox in browsers',
    description: 'The same for a subscriber in the browser, with a session token.',
  },
  {
    name: 'Suppressions',
    description: 'Addresses that nothing is sent to: bounces, complaints, and people who said no.',
  },
  { name: 'Links', description: 'What links in messages lead to; the token in the link is the only key.' },
  { name: 'Topics', description: 'Groups that subscribers subscribe to; a trigger to a topic reaches all of them.' },
  { name: 'Contexts', description: 'What a notification is about beyond its recipient, such as a tenant or an app.' },
  { name: 'Tenants', description: 'The predecessor of contexts, kept for older clients.' },
  { name: 'Workflows', description: 'The steps of a notification: messages, delays, digests and conditions.' },
  { name: 'Layouts', description: 'What surrounds the content of an email.' },
  { name: 'Translations', description: 'The texts of workflows and layouts in other languages.' },
  { name: 'Definitions', description: 'Everything an environment defines, read and written as a whole, for files.' },
  { name: 'Import', description: 'Data from another service, in batches; nothing is sent, and nobody is told.' },
  {
    name: 'Shadow',
    description: 'An environment in front of another service: how both compare, and what is delivered here.',
  },
  {
    name: 'Simulations',
    description: 'Scenarios played in memory, and explanations of who gets what: nothing is stored or sent.',
  },
  { name: 'Clock', description: 'The clock of an environment for tests: read it, set it, advance it.' },
  { name: 'Bridge', description: 'Workflows written as code in your application.' },
  {
    name: 'Integrations',
    description: `
The providers an environment delivers through, and which of them is primary.

**Your own server** can be one, too: \`email-webhook\`, \`push-webhook\`, \`chat-webhook\` and \`generic-sms\` post each message
as JSON to an address you give. Email: \`to\`, \`from\`, \`subject\`, \`html\`, \`text\`, \`attachments\` and more. Push: \`target\`,
\`title\`, \`content\`, \`payload\`. Chat: \`content\`, \`channel\`, \`phoneNumber\`. SMS: \`to\`, \`from\`, \`content\`, \`id\`. All but
SMS are signed: \`x-<brand>-signature\` is the hexadecimal HMAC-SHA256 of the body with the secret key. Any 2xx accepts the
message, and an \`id\` in the answer is stored; 429 and 5xx are retried.`.trim(),
  },
  { name: 'Inbound webhooks', description: 'Where providers report delivery events.' },
  { name: 'Webhooks', description: 'Your endpoints for events, and the deliveries to them.' },
  { name: 'Channel connections', description: 'Authorized chat workspaces, of a subscriber or shared.' },
  { name: 'Channel endpoints', description: 'Chat channels, chat users, webhooks and phone numbers of subscribers.' },
  { name: 'Chat sign-in', description: 'How people connect a chat workspace, or link their chat user.' },
  {
    name: 'Environments',
    description: 'Isolated data sets, such as Development and Production, each with its own API key.',
  },
  {
    name: 'API keys',
    description: 'What programs sign in with: one environment or all of them, and what they may do.',
  },
  { name: 'Environment variables', description: 'Values for templates that differ between environments.' },
  { name: 'Organizations', description: 'What all environments share.' },
  { name: 'Signing in', description: 'Sign-in, and your own account.' },
  { name: 'Team', description: 'The people of an organization, their roles, invitations, and the audit log.' },
  { name: 'Operating', description: 'For operators; no key is needed.' },
]

export async function registerDocs(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Belfry', version: '1', description: introduction.trim() },
      servers: [{ url: '/' }],
      tags,
      security: [{ apiKey: [] }, { person: [] }],
      components: {
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'Authorization',
            description: 'The word `ApiKey`, a space and the key.',
          },
          person: {
            type: 'apiKey',
            in: 'cookie',
            name: 'belfry_session',
            description: 'The cookie of a signed-in person; `__Host-belfry_session` over HTTPS.',
          },
          session: { type: 'http', scheme: 'bearer', description: 'The token of an inbox session.' },
        },
        schemas: { Error: errorSchema as never },
      },
    },
    transform: ({ schema, url, route }) => {
      const [method = 'GET'] = [route.method].flat()
      const { public: isPublic = false, inbox: isInbox = false, people: isForPeople = false } = route.config ?? {}
      const { role = usualRole(method), scope = '', refusals = [] } = route.config ?? {}
      const operation = { method, url, isPublic, isInbox, isForPeople, role, scope, refusals }
      return { schema: describeOperation(schema as RouteSchema, operation) as never, url }
    },
    transformObject: (made) => forReaders('openapiObject' in made ? made.openapiObject : made.swaggerObject) as never,
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

const require = createRequire(import.meta.url)
/** We only use this package's browser file; importing its plugin would take longer than all our routes. */
const viewer = path.join(path.dirname(require.resolve('@scalar/fastify-api-reference')), 'js/standalone.js')

const docsScript = `
  Scalar.createApiReference('#reference', {
    url: '/openapi.json',
    authentication: {
      securitySchemes: { apiKey: { value: 'ApiKey ', description: 'Paste your key after the word ApiKey.' } },
    },
    // Sends neither the API description nor any input to third parties.
    telemetry: false,
    withDefaultFonts: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
  })
`

const docsPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Belfry API</title>
    <link rel="icon" href="data:,">
  </head>
  <body>
    <div id="reference"></div>
    <script src="/docs/scalar.js"></script>
    <script>${docsScript}</script>
  </body>
</html>
`

/** The page may talk to this service only, and runs no script but these two. */
const docsPolicy = [
  "default-src 'self'",
  `script-src 'self' 'sha256-${createHash('sha256').update(docsScript).digest('base64')}'`,
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "frame-ancestors 'none'",
].join('; ')

interface RouteSchema {
  operationId?: string
  headers?: unknown
  response?: Record<string, unknown>
  security?: unknown[]
}

interface Operation {
  method: string
  url: string
  isPublic: boolean
  isInbox: boolean
  isForPeople: boolean
  role: string
  scope: string
  refusals: number[]
}

const errorSchema = {
  type: 'object',
  required: ['statusCode', 'timestamp', 'path', 'message'],
  properties: {
    statusCode: { type: 'integer' },
    timestamp: { type: 'string', format: 'date-time' },
    path: { type: 'string' },
    message: { type: 'string' },
    code: { type: 'string', description: 'The error code, as listed in docs/errors.md' },
    error: { type: 'string', description: 'The name of the status' },
    ctx: { type: 'object', description: 'Further data about the error' },
    errors: { type: 'object', description: 'On 422: the problems, by field' },
    errorId: { type: 'string', description: 'On 500: the id to search for in the log' },
  },
}

const idempotencyHeader = {
  type: 'object',
  properties: {
    'idempotency-key': {
      type: 'string',
      maxLength: 255,
      description: 'Makes the request safe to retry: any text that is unique to it',
    },
  },
}

/** Adds what all operations have in common. */
function describeOperation(schema: RouteSchema, operation: Operation): RouteSchema {
  const { method, url, isPublic, isInbox, isForPeople, role, scope, refusals } = operation
  const statuses = [
    ...[400, 401, 404, 414, 422, 429, 503],
    ...(method === 'GET' ? [] : [409, 413, 415]),
    ...(isInbox && method === 'GET' ? [] : [403]),
    ...refusals,
  ]
  const response: Record<string, unknown> = { ...schema.response }
  for (const status of statuses) {
    response[status] ??= {
      description: STATUS_CODES[status],
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    }
  }
  const canRepeat = !isPublic && (method === 'POST' || method === 'PATCH')
  return {
    operationId: operationIdOf(method, url),
    ...schema,
    response,
    ...(canRepeat ? { headers: idempotencyHeader } : {}),
    ...(isInbox ? { security: [{ session: [] }] } : isPublic ? { security: [] } : {}),
    ...(isForPeople ? { security: [{ person: [] }] } : {}),
    ...(isPublic ? {} : { 'x-role': role }),
    ...(isPublic || isForPeople ? {} : { 'x-scope': scope }),
  }
}

/** `getV2SubscribersBySubscriberId`: unique, and stable as long as method and path are. */
function operationIdOf(method: string, url: string): string {
  const words = url
    .split('/')
    .flatMap((part) => (part.startsWith(':') ? ['by', part.slice(1)] : part.split(/[^A-Za-z0-9]+/)))
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

/**
 * The document without our own keywords, with undescribed responses named after their status, and with each body's example
 * back in its schema: the generator takes it out, but the viewer looks for it there.
 */
function forReaders(value: unknown, within = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => forReaders(item))
  if (typeof value !== 'object' || value === null) return value
  const { schema, example } = value as { schema?: object; example?: unknown }
  if (schema !== undefined && example !== undefined) return { schema: forReaders({ ...schema, examples: [example] }) }
  // Inside `properties` the name of a keyword is a property.
  const entries = Object.entries(value).filter(([name]) => within === 'properties' || !ownKeywords.includes(name))
  return Object.fromEntries(
    entries.map(([name, member]) => {
      const isUntold = within === 'responses' && member?.description === 'Default Response'
      const told = isUntold ? { ...member, description: STATUS_CODES[name] } : member
      return [name, forReaders(told, within === 'properties' ? '' : name)]
    }),
  )
}
