// Every setting Belfry reads: its environment name, type, default and meaning. `readConfig` is called once, by main.ts or commands.ts.
import { isIP } from 'node:net'
import path from 'node:path'
import { StartError } from './errors.ts'

export const roles = ['all', 'api', 'worker'] as const
export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const traceProtocols = ['http/protobuf', 'http/json'] as const
export const serviceLevels = ['off', 'free', 'pro', 'team', 'enterprise'] as const

/** Providers beyond the closed set of ids that the public client libraries can read. */
const extraProviders = ['none', 'telegram'] as const

export interface Config {
  host: string
  port: number
  /** The address clients and browsers use; OAuth redirects and links start with it. */
  publicUrl: string
  /** Otherwise it is this process's own. */
  isPublicUrlGiven: boolean
  databaseUrl: string | undefined
  /** The same database without a pooler in between, for LISTEN and session locks; undefined: databaseUrl serves for both. */
  sessionDatabaseUrl: string | undefined
  /** For statements of this process; a few more connections listen, hold locks and look things up. */
  databaseConnections: number
  dataDir: string
  secretKey: string | undefined
  /** Keys that stored credentials or tokens in use may have been made with. */
  otherSecretKeys: string[]
  apiKey: string | undefined
  productionApiKey: string | undefined
  role: (typeof roles)[number]
  brand: string
  logLevel: (typeof logLevels)[number]
  rateLimit: (typeof serviceLevels)[number]
  wrapData: boolean
  hideCredentials: boolean
  allowPrivateAddresses: boolean
  allowLoopbackInDevelopment: boolean
  retention: {
    /** Days to keep triggers, runs and their steps; 0 is forever. */
    activityDays: number
    /** The same for messages. */
    messageDays: number
  }
  /** Entries in the history of a workflow or layout. */
  keepVersions: number
  extraProviders: readonly string[]
  /** Databases of applications whose calls of the SQL functions are carried out here, and for which environment. */
  outboxes: Array<{ url: string; environment: string }>
  /** Days to remember a transaction id. */
  dedupDays: number
  limits: ResourceLimits
  /** Requests in flight; more are refused. */
  mostRequests: number
  /** Open browser sockets per process. */
  mostSockets: number
  /** Those of one client address. */
  mostSocketsOfAddress: number
  /** A request that takes longer is answered with 503. */
  answerSeconds: number
  /** How long to keep serving after SIGTERM, until load balancers notice. */
  drainSeconds: number
  /** How long calls in flight may take to finish when the service stops. */
  stopSeconds: number
  /** How this machine introduces itself to mail servers. */
  mailName: string | undefined
  /** The service reports not ready when a due job has waited longer than this. */
  queuePatienceSeconds: number
  /** What a scraper of /metrics must show; undefined: nothing. */
  metricsToken: string | undefined
  /** Whether workers send themselves a test notification every minute. */
  hasCanary: boolean
  /** Whether messages keep their content. */
  storeContent: boolean
  oauth: OAuthUrls
  /** Reverse proxies trusted to name the client's address and protocol. */
  trustedProxies: string[]
  /** The identity provider, if there is one. */
  oidc: OidcSettings | undefined
  /** Whether everybody who signs in with a password needs a second factor. */
  requireSecondFactor: boolean
  /** The format of traces, if they are sent; the OpenTelemetry libraries read the address themselves. */
  traces: { protocol: (typeof traceProtocols)[number] } | undefined
  /** Where email replies arrive, if inbound mail is on. */
  inboundMail: InboundMailSettings | undefined
  /** Asked by the check of a domain; empty: those of the system. */
  dnsServers: string[]
  /** The built dashboard. No setting: it ships with the service; tests may serve another build. */
  dashboardDir?: string | undefined
}

/** How many of each kind may exist. */
export interface ResourceLimits {
  /** Per environment. */
  workflows: number
  /** Per workflow. */
  steps: number
  /** Per environment. */
  layouts: number
  /** Per organization. */
  environments: number
  /** Per organization. */
  variables: number
}

/** The identity provider, and who may sign in with it uninvited. */
export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string
  /** The only email domain allowed; undefined allows any. */
  allowedDomain: string | undefined
  /** The role of people without an invitation; undefined refuses them. */
  defaultRole: 'admin' | 'editor' | 'viewer' | undefined
}

interface InboundMailSettings {
  host: string
  port: number
  /** PEM files. Without them connections are not encrypted. */
  certificate: string | undefined
  key: string | undefined
}

/** The hosts of the two chat sign-in flows; tests point them at a local fake. */
export interface OAuthUrls {
  slack: string
  microsoftLogin: string
  microsoftGraph: string
}

interface Setting {
  name: string
  default: string
  meaning: string
}

/** A test compares this with the table in docs/operating.md. */
export const settings = [
  { name: 'PORT', default: '3000', meaning: 'One port for everything: API, its reference, health and metrics.' },
  { name: 'HOST', default: '127.0.0.1', meaning: 'The address to listen on; `0.0.0.0` for every interface.' },
  {
    name: 'DATABASE_URL',
    default: 'embedded PostgreSQL',
    meaning: 'Any PostgreSQL 15 or newer; no extensions needed.',
  },
  {
    name: 'BELFRY_DATABASE_SESSION_URL',
    default: 'DATABASE_URL',
    meaning:
      'A direct address, if `DATABASE_URL` leads to a pooler in transaction mode; for the few connections that listen or hold locks.',
  },
  {
    name: 'BELFRY_DATABASE_CONNECTIONS',
    default: '20',
    meaning:
      'The most connections this process uses for statements; it opens up to seven more for [other purposes](#connections).',
  },
  { name: 'BELFRY_DATA_DIR', default: '.belfry', meaning: 'Where the embedded database and generated secrets live.' },
  {
    name: 'BELFRY_SECRET_KEY',
    default: 'generated',
    meaning: '64 hex digits; encrypts credentials and signs tokens. Required with `DATABASE_URL`.',
  },
  {
    name: 'BELFRY_OTHER_SECRET_KEYS',
    default: 'none',
    meaning: 'Old or future secret keys, separated by commas, also accepted while you rotate `BELFRY_SECRET_KEY`.',
  },
  {
    name: 'BELFRY_API_KEY',
    default: 'generated',
    meaning: "The Development environment's key, set on the first start.",
  },
  {
    name: 'BELFRY_PRODUCTION_API_KEY',
    default: 'generated',
    meaning: "The Production environment's key, set on the first start.",
  },
  {
    name: 'BELFRY_ROLE',
    default: 'all',
    meaning: '`all`, `api` or `worker`. A worker serves only health and metrics.',
  },
  {
    name: 'BELFRY_BRAND',
    default: 'svc',
    meaning: 'The word in service-native identifiers such as `svc-email`; `novu` suits the public client libraries.',
  },
  {
    name: 'BELFRY_DRAIN_SECONDS',
    default: '5 with DATABASE_URL, else 0',
    meaning:
      'How long the service still takes requests after `SIGTERM`, while readiness tells load balancers to stop sending them.',
  },
  {
    name: 'BELFRY_STOP_SECONDS',
    default: '5',
    meaning:
      'How long messages that are being sent may take to finish when the service stops. After that they are sent again, and the activity says that they may have arrived twice.',
  },
  {
    name: 'BELFRY_SMTP_NAME',
    default: "the machine's host name",
    meaning:
      'How Belfry introduces itself to mail servers (`EHLO`); some want a name that resolves to the address they see.',
  },
  {
    name: 'BELFRY_MAX_REQUESTS',
    default: '1000',
    meaning: 'Requests in flight at a time; more are refused with 429 or 503, those of the busiest environment first.',
  },
  {
    name: 'BELFRY_MAX_SOCKETS',
    default: '10000',
    meaning: 'Browser sockets open at a time, per process; more are refused with 503, and the browser retries.',
  },
  {
    name: 'BELFRY_MAX_SOCKETS_PER_ADDRESS',
    default: 'a tenth of BELFRY_MAX_SOCKETS, at least 100',
    meaning:
      'Those of one address (of IPv6, one /64); more are refused with 503. Behind a proxy, see `BELFRY_TRUSTED_PROXIES`.',
  },
  {
    name: 'BELFRY_MAX_WORKFLOWS',
    default: '1000',
    meaning: 'Workflows in an environment, 1 to 1000; one more is refused with 400.',
  },
  {
    name: 'BELFRY_MAX_STEPS',
    default: '100',
    meaning: 'Steps in a workflow, 1 to 1000; a workflow with more is refused with 400.',
  },
  {
    name: 'BELFRY_MAX_LAYOUTS',
    default: '1000',
    meaning: 'Layouts in an environment, 1 to 1000; one more is refused with 400.',
  },
  {
    name: 'BELFRY_MAX_ENVIRONMENTS',
    default: '100',
    meaning: 'Environments in an organization, 2 to 1000; one more is refused with 400.',
  },
  {
    name: 'BELFRY_MAX_VARIABLES',
    default: '1000',
    meaning: 'Environment variables in an organization, 1 to 1000; one more is refused with 400.',
  },
  {
    name: 'BELFRY_ANSWER_SECONDS',
    default: '50',
    meaning: 'Requests that take longer are answered with 503.',
  },
  {
    name: 'BELFRY_QUEUE_PATIENCE_SECONDS',
    default: '60',
    meaning: 'The service reports not ready when a due job has waited longer than this.',
  },
  {
    name: 'BELFRY_METRICS_TOKEN',
    default: 'none',
    meaning: 'If set, `/metrics` is only for those who send it, as `Authorization: Bearer …`.',
  },
  {
    name: 'BELFRY_CANARY',
    default: 'true',
    meaning: 'Whether workers send a test notification to themselves every minute; metrics show whether it arrived.',
  },
  { name: 'BELFRY_LOG', default: 'info', meaning: 'Log level; pretty on a terminal, JSON otherwise.' },
  { name: 'BELFRY_PUBLIC_URL', default: 'http://HOST:PORT', meaning: 'The address callers and browsers use.' },
  {
    name: 'BELFRY_TRUSTED_PROXIES',
    default: 'none',
    meaning:
      'Addresses or networks of reverse proxies, separated by commas (`loopback` for this machine), whose `X-Forwarded-…` headers are trusted.',
  },
  {
    name: 'BELFRY_OIDC_ISSUER',
    default: 'none',
    meaning: 'The identity provider people may sign in with; needs a client id and secret too.',
  },
  {
    name: 'BELFRY_OIDC_CLIENT_ID',
    default: 'none',
    meaning: 'The client id of this service at the identity provider.',
  },
  { name: 'BELFRY_OIDC_CLIENT_SECRET', default: 'none', meaning: 'The secret of that client.' },
  {
    name: 'BELFRY_OIDC_ALLOWED_DOMAIN',
    default: 'any',
    meaning: 'The only email domain that may sign in with the identity provider.',
  },
  {
    name: 'BELFRY_OIDC_DEFAULT_ROLE',
    default: 'none',
    meaning:
      'The role of people who sign in without an invitation: `viewer`, `editor` or `admin`; `none` refuses them.',
  },
  {
    name: 'BELFRY_REQUIRE_SECOND_FACTOR',
    default: 'false',
    meaning:
      'Whether everybody who signs in with a password needs a second factor. An organization can ask for it itself.',
  },
  {
    name: 'BELFRY_RATE_LIMIT',
    default: 'off',
    meaning: '`off`, `free`, `pro`, `team` or `enterprise`: the service level whose request rates are enforced.',
  },
  {
    name: 'BELFRY_WRAP_DATA',
    default: 'false',
    meaning: 'Wrap success bodies in `{"data": …}`, for old raw-HTTP clients.',
  },
  {
    name: 'BELFRY_HIDE_CREDENTIALS',
    default: 'false',
    meaning: 'Answer `{}` instead of the stored credentials of integrations.',
  },
  {
    name: 'BELFRY_ALLOW_PRIVATE_ADDRESSES',
    default: 'development; false with DATABASE_URL',
    meaning:
      'Whether workflows may call private addresses: `development` lets development environments call this machine (`localhost`), `true` lets every environment call it and its network, `false` forbids both.',
  },
  {
    name: 'BELFRY_STORE_CONTENT',
    default: 'true',
    meaning: 'Keep the content of emails, SMS, chat and push messages; `false` keeps only that they were sent.',
  },
  {
    name: 'BELFRY_EXTRA_PROVIDERS',
    default: 'none',
    meaning: '`telegram` adds Telegram; the public client libraries cannot read answers that name it.',
  },
  {
    name: 'BELFRY_OUTBOX_URLS',
    default: 'none',
    meaning:
      'Databases of applications with an outbox, as `postgres://…/app#Production`: the address, and the environment it is for; several with commas between. See [SQL](sql.md#another-database).',
  },
  {
    name: 'BELFRY_DEDUP_DAYS',
    default: '30',
    meaning: 'How many days a `transactionId` is remembered; a second trigger with it is ignored.',
  },
  {
    name: 'BELFRY_RETENTION_DAYS',
    default: '90',
    meaning: 'Days to keep activity (triggers, runs and their steps), at least; `0` keeps it forever.',
  },
  {
    name: 'BELFRY_MESSAGE_RETENTION_DAYS',
    default: '365',
    meaning: 'Days to keep messages, and so what an inbox shows, at least; `0` keeps them forever.',
  },
  {
    name: 'BELFRY_KEEP_VERSIONS',
    default: '200',
    meaning: 'Entries to keep in the history of a workflow or layout; named ones and those of runs stay.',
  },
  {
    name: 'BELFRY_INBOUND_MAIL_PORT',
    default: 'none',
    meaning: 'The SMTP port that receives email replies; `none` turns this off.',
  },
  {
    name: 'BELFRY_INBOUND_MAIL_HOST',
    default: 'HOST',
    meaning: 'The address that port listens on; `0.0.0.0` for every interface.',
  },
  {
    name: 'BELFRY_INBOUND_MAIL_CERTIFICATE',
    default: 'none',
    meaning: 'A certificate file in PEM, so that mail servers can deliver encrypted; needs a key too.',
  },
  { name: 'BELFRY_INBOUND_MAIL_KEY', default: 'none', meaning: 'The file with the private key of that certificate.' },
  {
    name: 'BELFRY_DNS_SERVER',
    default: 'none',
    meaning:
      'The name servers that the check of a domain asks, as `host` or `host:port`, separated by commas; `none` for those of the system.',
  },
  { name: 'BELFRY_SLACK_URL', default: 'https://slack.com', meaning: 'Where Slack sign-in happens.' },
  {
    name: 'BELFRY_MICROSOFT_LOGIN_URL',
    default: 'https://login.microsoftonline.com',
    meaning: 'Where Microsoft Teams sign-in happens.',
  },
  {
    name: 'BELFRY_MICROSOFT_GRAPH_URL',
    default: 'https://graph.microsoft.com',
    meaning: 'Where the Teams app is installed for a user.',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    default: 'none',
    meaning: 'Where to send traces. Other OpenTelemetry variables then apply: [Tracing](#tracing).',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    default: 'http/protobuf',
    meaning: 'The format of traces: `http/protobuf` or `http/json`.',
  },
] as const satisfies readonly Setting[]

/** A century, so that every date stays representable. */
const longestDays = 36_500
/** Some lists of workflows, environments and variables are answered whole, up to this length. */
const longestList = 1_000
/** Two always listen for jobs, and a worker's parallel transactions need a few more. */
const fewestConnections = 5

type SettingName = (typeof settings)[number]['name']

/** Reads all settings, or throws one error that lists everything wrong with them. */
export function readConfig(env: NodeJS.ProcessEnv): { config: Config; warnings: string[] } {
  const problems: string[] = []
  const warnings: string[] = []

  const given = (name: SettingName): string | undefined => env[name]?.trim() || undefined
  const text = (name: SettingName) => given(name) ?? defaultOf(name)
  function matching(name: SettingName, pattern: RegExp, expected: string): string | undefined {
    const value = given(name)
    if (value === undefined || pattern.test(value)) return value
    problems.push(`${name} must be ${expected}.`)
    return undefined
  }
  function oneOf<T extends string>(name: SettingName, values: readonly T[], fallback: string = defaultOf(name)): T {
    const value = given(name) ?? fallback
    const found = values.find((candidate) => candidate === value)
    if (found === undefined) problems.push(`${name} must be one of ${values.join(', ')}; it is "${value}".`)
    return found ?? (values[0] as T)
  }
  function whole(name: SettingName, least: number, most: number, value = text(name)): number {
    const count = Number(value)
    if (Number.isInteger(count) && count >= least && count <= most) return count
    problems.push(`${name} must be a whole number from ${least} to ${most}; it is "${value}".`)
    return least
  }
  const days = (name: SettingName, least: number) => whole(name, least, longestDays)
  function postgresUrl(name: 'DATABASE_URL' | 'BELFRY_DATABASE_SESSION_URL'): string | undefined {
    const value = given(name)
    if (value !== undefined && !/^postgres(ql)?:\/\//.test(value))
      problems.push(`${name} must start with postgres:// or postgresql://.`)
    return value
  }
  /** Their passwords are not repeated. */
  function outboxes(): Config['outboxes'] {
    const value = text('BELFRY_OUTBOX_URLS')
    if (value === 'none') return []
    return value.split(',').map((each, index) => {
      const [, url = '', environment = ''] = /^\s*(postgres(?:ql)?:\/\/[^#\s]+)#([^#]*)$/.exec(each) ?? []
      if (url === '' || environment.trim() === '')
        problems.push(
          `BELFRY_OUTBOX_URLS must list addresses such as postgres://host/app#Production; number ${index + 1} is none.`,
        )
      return { url, environment: environment.trim() }
    })
  }
  function flag(name: SettingName): boolean {
    return oneOf(name, ['false', 'true']) === 'true'
  }
  function url(name: SettingName, fallback = defaultOf(name)): string {
    const value = given(name)
    if (value !== undefined && (!URL.canParse(value) || !/^https?:/.test(value)))
      problems.push(`${name} must be an http(s) URL; it is "${value}".`)
    return (value ?? fallback).replace(/\/+$/, '')
  }

  function trustedProxies(): string[] {
    const value = text('BELFRY_TRUSTED_PROXIES')
    if (value === 'none') return []
    const list = value.split(',').map((each) => each.trim())
    const unknown = list.filter((each) => each !== 'loopback' && !isNetwork(each))
    if (unknown.length > 0)
      problems.push(
        `BELFRY_TRUSTED_PROXIES must list addresses, networks or \`loopback\`; it has "${unknown.join(', ')}".`,
      )
    return list
  }
  function oidc(): OidcSettings | undefined {
    const [clientId, clientSecret] = [given('BELFRY_OIDC_CLIENT_ID'), given('BELFRY_OIDC_CLIENT_SECRET')]
    const issuer = given('BELFRY_OIDC_ISSUER')
    const role = oneOf('BELFRY_OIDC_DEFAULT_ROLE', ['none', 'viewer', 'editor', 'admin'])
    const allowedDomain = given('BELFRY_OIDC_ALLOWED_DOMAIN')?.toLowerCase()
    if (issuer === undefined && clientId === undefined && clientSecret === undefined) return undefined
    if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
      problems.push(
        'BELFRY_OIDC_ISSUER, BELFRY_OIDC_CLIENT_ID and BELFRY_OIDC_CLIENT_SECRET must be set together or not at all.',
      )
      return undefined
    }
    // Over plain HTTP anyone on the path could impersonate the provider; on this machine there is no path.
    if (!URL.canParse(issuer) || !/^https:|^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(?=[:/]|$)/.test(issuer))
      problems.push(`BELFRY_OIDC_ISSUER must be an https URL; it is "${issuer}".`)
    if (role !== 'none' && allowedDomain === undefined)
      warnings.push(
        'BELFRY_OIDC_DEFAULT_ROLE without BELFRY_OIDC_ALLOWED_DOMAIN lets in anyone with an account at the issuer.',
      )
    return { issuer, clientId, clientSecret, allowedDomain, defaultRole: role === 'none' ? undefined : role }
  }

  function portNumber(name: SettingName): number {
    const value = text(name)
    const number = Number(value)
    if (Number.isInteger(number) && number >= 0 && number <= 65_535) return number
    problems.push(`${name} must be a number from 0 to 65535; it is "${value}".`)
    return 0
  }
  function dnsServers(): string[] {
    const value = text('BELFRY_DNS_SERVER')
    if (value === 'none') return []
    const list = value.split(',').map((each) => each.trim())
    const unfit = list.filter((each) => !isServer(each))
    if (unfit.length > 0)
      problems.push(`BELFRY_DNS_SERVER must list servers as \`host\` or \`host:port\`; it has "${unfit.join(', ')}".`)
    return list
  }
  function inboundMail(): InboundMailSettings | undefined {
    const [certificate, key] = [given('BELFRY_INBOUND_MAIL_CERTIFICATE'), given('BELFRY_INBOUND_MAIL_KEY')]
    if ((certificate === undefined) !== (key === undefined))
      problems.push('BELFRY_INBOUND_MAIL_CERTIFICATE and BELFRY_INBOUND_MAIL_KEY must be set together or not at all.')
    if (text('BELFRY_INBOUND_MAIL_PORT') === 'none') return undefined
    if (text('BELFRY_ROLE') === 'worker') warnings.push('BELFRY_INBOUND_MAIL_PORT is not used by a worker.')
    return {
      host: given('BELFRY_INBOUND_MAIL_HOST') ?? host,
      port: portNumber('BELFRY_INBOUND_MAIL_PORT'),
      certificate,
      key,
    }
  }

  const port = portNumber('PORT')
  const host = text('HOST')

  const databaseUrl = postgresUrl('DATABASE_URL')
  const sessionDatabaseUrl = postgresUrl('BELFRY_DATABASE_SESSION_URL')
  if (sessionDatabaseUrl !== undefined && databaseUrl === undefined)
    problems.push('BELFRY_DATABASE_SESSION_URL needs a DATABASE_URL for the same database.')
  const secretKey = matching('BELFRY_SECRET_KEY', /^[0-9a-f]{64}$/i, '64 hex digits (try: openssl rand -hex 32)')
  const otherSecretKeys = matching(
    'BELFRY_OTHER_SECRET_KEYS',
    /^(none|[0-9a-f]{64}(\s*,\s*[0-9a-f]{64})*)$/i,
    'keys of 64 hex digits, separated by commas',
  )
  if (databaseUrl !== undefined && given('BELFRY_SECRET_KEY') === undefined) {
    problems.push(
      'BELFRY_SECRET_KEY is required with DATABASE_URL, so that every process shares it (try: openssl rand -hex 32).',
    )
  }
  const keyForm = [/^[\x21-\x7e]{16,200}$/, '16 to 200 printable characters without spaces'] as const
  const apiKey = matching('BELFRY_API_KEY', ...keyForm)
  const productionApiKey = matching('BELFRY_PRODUCTION_API_KEY', ...keyForm)
  if (apiKey !== undefined && apiKey === productionApiKey)
    problems.push('BELFRY_PRODUCTION_API_KEY must be another key than BELFRY_API_KEY.')
  const brand = matching('BELFRY_BRAND', /^[a-z][a-z0-9]{1,30}$/, 'a lower-case word') ?? 'svc'

  // A database of one's own runs on the developer's machine; elsewhere, this machine belongs to others too.
  const privateAddresses = oneOf(
    'BELFRY_ALLOW_PRIVATE_ADDRESSES',
    ['development', 'true', 'false'],
    databaseUrl === undefined ? 'development' : 'false',
  )

  const mostSockets = whole('BELFRY_MAX_SOCKETS', 1, 1_000_000)

  const config: Config = {
    host,
    port,
    isPublicUrlGiven: given('BELFRY_PUBLIC_URL') !== undefined,
    publicUrl: url('BELFRY_PUBLIC_URL', `http://${reachable(host)}:${port}`),
    databaseUrl,
    sessionDatabaseUrl,
    databaseConnections: whole('BELFRY_DATABASE_CONNECTIONS', fewestConnections, 1_000),
    dataDir: path.resolve(text('BELFRY_DATA_DIR')),
    secretKey: secretKey?.toLowerCase(),
    otherSecretKeys: otherSecretKeys?.toLowerCase().match(/[0-9a-f]{64}/g) ?? [],
    apiKey,
    productionApiKey,
    role: oneOf('BELFRY_ROLE', roles),
    brand,
    logLevel: oneOf('BELFRY_LOG', logLevels),
    rateLimit: oneOf('BELFRY_RATE_LIMIT', serviceLevels),
    wrapData: flag('BELFRY_WRAP_DATA'),
    hideCredentials: flag('BELFRY_HIDE_CREDENTIALS'),
    allowPrivateAddresses: privateAddresses === 'true',
    allowLoopbackInDevelopment: privateAddresses === 'development',
    retention: {
      activityDays: days('BELFRY_RETENTION_DAYS', 0),
      messageDays: days('BELFRY_MESSAGE_RETENTION_DAYS', 0),
    },
    keepVersions: whole('BELFRY_KEEP_VERSIONS', 1, 10_000),
    extraProviders: [oneOf('BELFRY_EXTRA_PROVIDERS', extraProviders)].filter((id) => id !== 'none'),
    outboxes: outboxes(),
    dedupDays: days('BELFRY_DEDUP_DAYS', 1),
    limits: {
      workflows: whole('BELFRY_MAX_WORKFLOWS', 1, longestList),
      steps: whole('BELFRY_MAX_STEPS', 1, longestList),
      layouts: whole('BELFRY_MAX_LAYOUTS', 1, longestList),
      environments: whole('BELFRY_MAX_ENVIRONMENTS', 2, longestList),
      variables: whole('BELFRY_MAX_VARIABLES', 1, longestList),
    },
    mostRequests: whole('BELFRY_MAX_REQUESTS', 10, 1_000_000),
    mostSockets,
    mostSocketsOfAddress: whole(
      'BELFRY_MAX_SOCKETS_PER_ADDRESS',
      1,
      1_000_000,
      given('BELFRY_MAX_SOCKETS_PER_ADDRESS') ?? String(Math.max(100, Math.floor(mostSockets / 10))),
    ),
    answerSeconds: whole('BELFRY_ANSWER_SECONDS', 1, 3_600),
    drainSeconds: whole('BELFRY_DRAIN_SECONDS', 0, 600, given('BELFRY_DRAIN_SECONDS') ?? (databaseUrl ? '5' : '0')),
    stopSeconds: whole('BELFRY_STOP_SECONDS', 0, 600),
    mailName: matching('BELFRY_SMTP_NAME', /^[\w.:[\]-]{1,255}$/, 'a host name'),
    queuePatienceSeconds: whole('BELFRY_QUEUE_PATIENCE_SECONDS', 1, 86_400),
    metricsToken: matching(
      'BELFRY_METRICS_TOKEN',
      /^[\x21-\x7e]{16,200}$/,
      '16 to 200 printable characters without spaces',
    ),
    hasCanary: flag('BELFRY_CANARY'),
    storeContent: flag('BELFRY_STORE_CONTENT'),
    oauth: {
      slack: url('BELFRY_SLACK_URL'),
      microsoftLogin: url('BELFRY_MICROSOFT_LOGIN_URL'),
      microsoftGraph: url('BELFRY_MICROSOFT_GRAPH_URL'),
    },
    trustedProxies: trustedProxies(),
    oidc: oidc(),
    requireSecondFactor: flag('BELFRY_REQUIRE_SECOND_FACTOR'),
    inboundMail: inboundMail(),
    dnsServers: dnsServers(),
    traces: url('OTEL_EXPORTER_OTLP_ENDPOINT', '')
      ? { protocol: oneOf('OTEL_EXPORTER_OTLP_PROTOCOL', traceProtocols) }
      : undefined,
  }
  for (const name of Object.keys(env)) {
    if (name.startsWith('BELFRY_') && !settings.some((setting) => setting.name === name)) {
      warnings.push(`${name} is not a setting of Belfry; is it misspelt?`)
    }
  }
  if (databaseUrl !== undefined && given('BELFRY_DATA_DIR') !== undefined) {
    warnings.push('BELFRY_DATA_DIR is not used when DATABASE_URL is set.')
  }
  if (problems.length > 0)
    throw new StartError(`Belfry cannot start with these settings:\n${problems.map((p) => `  - ${p}`).join('\n')}`)
  return { config, warnings }
}

/** `host`, `host:port`, `[::1]:port`, or an address. */
function isServer(text: string): boolean {
  const [, bracketed, name = '', port] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? []
  if (bracketed === undefined && name === '') return isIP(text) === 6
  const isHost = bracketed === undefined ? /^[\w-]+(?:\.[\w-]+)*\.?$/.test(name) : isIP(bracketed) === 6
  return isHost && (port === undefined || (Number(port) > 0 && Number(port) <= 65_535))
}

function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

/** The address as a browser on the same machine would write it. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

function defaultOf(name: SettingName): string {
  return settings.find((setting) => setting.name === name)?.default ?? ''
}
