import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

const oidc = {
  BELFRY_OIDC_ISSUER: 'https://id.example',
  BELFRY_OIDC_CLIENT_ID: 'belfry',
  BELFRY_OIDC_CLIENT_SECRET: 'secret',
}

test('without settings everything has a default', () => {
  const { config, warnings } = readConfig({})
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 3000,
    publicUrl: 'http://127.0.0.1:3000',
    databaseUrl: undefined,
    role: 'all',
    brand: 'svc',
    logLevel: 'info',
    rateLimit: 'off',
    wrapData: false,
    retention: { activityDays: 90, messageDays: 365 },
    keepVersions: 200,
    outboxes: [],
    dedupDays: 30,
    databaseConnections: 20,
    sessionDatabaseUrl: undefined,
    limits: { workflows: 1000, steps: 100, layouts: 1000, environments: 100, variables: 1000 },
    mostRequests: 1000,
    metricsToken: undefined,
    mostSockets: 10_000,
    mostSocketsOfAddress: 1_000,
    answerSeconds: 50,
    drainSeconds: 0,
    queuePatienceSeconds: 60,
    hasCanary: true,
    requireSecondFactor: false,
  })
  expect(config.dataDir).toMatch(/^\/.*\.belfry$/)
  expect(warnings).toEqual([])
})

test.each([
  [{ HOST: '0.0.0.0' }, 'http://localhost:3000'],
  [{ HOST: '::', PORT: '80' }, 'http://localhost:80'],
  [{ HOST: '::1' }, 'http://[::1]:3000'],
  [{ BELFRY_PUBLIC_URL: 'https://belfry.example.com/' }, 'https://belfry.example.com'],
])('%j is reached at %s', (env, publicUrl) => {
  expect(readConfig(env).config.publicUrl).toBe(publicUrl)
})

test('0 days keeps activity and messages forever', () => {
  const env = { BELFRY_RETENTION_DAYS: '0', BELFRY_MESSAGE_RETENTION_DAYS: '0' }
  expect(readConfig(env).config.retention).toEqual({ activityDays: 0, messageDays: 0 })
})

test('with DATABASE_URL a stopping process gives load balancers time to notice', () => {
  const own = { DATABASE_URL: 'postgres://x', BELFRY_SECRET_KEY: 'ab'.repeat(32) }
  expect(readConfig(own).config.drainSeconds).toBe(5)
  expect(readConfig({ ...own, BELFRY_DRAIN_SECONDS: '0' }).config.drainSeconds).toBe(0)
})

test('limits of resources are read', () => {
  const env = {
    BELFRY_MAX_WORKFLOWS: '5',
    BELFRY_MAX_STEPS: '4',
    BELFRY_MAX_LAYOUTS: '3',
    BELFRY_MAX_ENVIRONMENTS: '2',
  }
  expect(readConfig({ ...env, BELFRY_MAX_VARIABLES: '1' }).config.limits).toEqual({
    ...{ workflows: 5, steps: 4, layouts: 3, environments: 2, variables: 1 },
  })
})

test('databases with an outbox are listed with commas, each with its environment behind the #', () => {
  const urls =
    'postgres://drain:p%23w@host/app#Production, postgresql://drain@other:5433/shop?sslmode=require#Our tests '
  expect(readConfig({ BELFRY_OUTBOX_URLS: urls }).config.outboxes).toEqual([
    { url: 'postgres://drain:p%23w@host/app', environment: 'Production' },
    { url: 'postgresql://drain@other:5433/shop?sslmode=require', environment: 'Our tests' },
  ])
})

test('an empty setting is no setting', () => {
  expect(readConfig({ PORT: '', BELFRY_ROLE: ' ' }).config).toMatchObject({ port: 3000, role: 'all' })
})

test.each([
  [{ PORT: '70000' }, 'PORT must be a number from 0 to 65535; it is "70000".'],
  [{ DATABASE_URL: 'mysql://x', BELFRY_SECRET_KEY: 'ab'.repeat(32) }, 'DATABASE_URL must start with postgres://'],
  [{ DATABASE_URL: 'postgres://x' }, 'BELFRY_SECRET_KEY is required with DATABASE_URL'],
  [{ BELFRY_SECRET_KEY: 'xyz' }, 'BELFRY_SECRET_KEY must be 64 hex digits'],
  [{ BELFRY_PRODUCTION_API_KEY: 'short' }, 'BELFRY_PRODUCTION_API_KEY must be 16 to 200 printable characters'],
  [
    { BELFRY_API_KEY: 'k'.repeat(16), BELFRY_PRODUCTION_API_KEY: 'k'.repeat(16) },
    'BELFRY_PRODUCTION_API_KEY must be another key than BELFRY_API_KEY.',
  ],
  [{ BELFRY_API_KEY: 'has spaces in it, sadly' }, 'BELFRY_API_KEY must be 16 to 200 printable characters'],
  [{ BELFRY_BRAND: 'Loud' }, 'BELFRY_BRAND must be a lower-case word.'],
  [{ BELFRY_LOG: 'chatty' }, 'BELFRY_LOG must be one of fatal, error,'],
  [{ BELFRY_RATE_LIMIT: 'on' }, 'BELFRY_RATE_LIMIT must be one of off, free, pro, team, enterprise; it is "on".'],
  [{ BELFRY_EXTRA_PROVIDERS: 'pigeon' }, 'BELFRY_EXTRA_PROVIDERS must be one of none, telegram; it is "pigeon".'],
  [{ BELFRY_WRAP_DATA: 'yes' }, 'BELFRY_WRAP_DATA must be one of false, true; it is "yes".'],
  [{ BELFRY_RETENTION_DAYS: '-1' }, 'BELFRY_RETENTION_DAYS must be a whole number from 0 to 36500; it is "-1".'],
  [{ BELFRY_MESSAGE_RETENTION_DAYS: '1.5' }, 'BELFRY_MESSAGE_RETENTION_DAYS must be a whole number from 0 to 36500;'],
  [{ BELFRY_KEEP_VERSIONS: '0' }, 'BELFRY_KEEP_VERSIONS must be a whole number from 1 to 10000; it is "0".'],
  [
    { BELFRY_OUTBOX_URLS: 'postgres://a:secret@b/c#Production,postgres://a:secret@b/c' },
    'BELFRY_OUTBOX_URLS must list addresses such as postgres://host/app#Production; number 2 is none.',
  ],
  [{ BELFRY_DEDUP_DAYS: '0' }, 'BELFRY_DEDUP_DAYS must be a whole number from 1 to 36500; it is "0".'],
  [{ BELFRY_DATABASE_CONNECTIONS: '4' }, 'BELFRY_DATABASE_CONNECTIONS must be a whole number from 5 to 1000;'],
  [{ BELFRY_DATABASE_SESSION_URL: 'postgres://x' }, 'BELFRY_DATABASE_SESSION_URL needs a DATABASE_URL'],
  [{ BELFRY_DATABASE_SESSION_URL: 'pooler' }, 'BELFRY_DATABASE_SESSION_URL must start with postgres:// or'],
  [{ BELFRY_DRAIN_SECONDS: 'long' }, 'BELFRY_DRAIN_SECONDS must be a whole number from 0 to 600; it is "long".'],
  [{ BELFRY_MAX_REQUESTS: '0' }, 'BELFRY_MAX_REQUESTS must be a whole number from 10 to 1000000; it is "0".'],
  [
    { BELFRY_MAX_SOCKETS_PER_ADDRESS: '0' },
    'BELFRY_MAX_SOCKETS_PER_ADDRESS must be a whole number from 1 to 1000000; it is "0".',
  ],
  [{ BELFRY_METRICS_TOKEN: 'short' }, 'BELFRY_METRICS_TOKEN must be 16 to 200 printable characters without spaces.'],
  [{ BELFRY_MAX_WORKFLOWS: '0' }, 'BELFRY_MAX_WORKFLOWS must be a whole number from 1 to 1000; it is "0".'],
  [{ BELFRY_MAX_STEPS: '1001' }, 'BELFRY_MAX_STEPS must be a whole number from 1 to 1000; it is "1001".'],
  [{ BELFRY_MAX_LAYOUTS: 'many' }, 'BELFRY_MAX_LAYOUTS must be a whole number from 1 to 1000; it is "many".'],
  [{ BELFRY_MAX_ENVIRONMENTS: '1' }, 'BELFRY_MAX_ENVIRONMENTS must be a whole number from 2 to 1000; it is "1".'],
  [{ BELFRY_MAX_VARIABLES: '-1' }, 'BELFRY_MAX_VARIABLES must be a whole number from 1 to 1000; it is "-1".'],
  [{ BELFRY_QUEUE_PATIENCE_SECONDS: '0' }, 'BELFRY_QUEUE_PATIENCE_SECONDS must be a whole number from 1 to 86400;'],
  [{ BELFRY_REQUIRE_SECOND_FACTOR: 'yes' }, 'BELFRY_REQUIRE_SECOND_FACTOR must be one of false, true; it is "yes".'],
  [{ BELFRY_CANARY: 'yes' }, 'BELFRY_CANARY must be one of false, true; it is "yes".'],
  [{ BELFRY_PUBLIC_URL: 'belfry.example.com' }, 'BELFRY_PUBLIC_URL must be an http(s) URL; it is'],
  [
    { BELFRY_TRUSTED_PROXIES: '10.0.0.0/8, proxy' },
    'BELFRY_TRUSTED_PROXIES must list addresses, networks or `loopback`',
  ],
  [{ BELFRY_TRUSTED_PROXIES: '10.0.0.0/33' }, 'it has "10.0.0.0/33".'],
  [{ BELFRY_OIDC_ISSUER: 'https://id.example' }, 'BELFRY_OIDC_CLIENT_SECRET must be set together or not at all.'],
  [{ ...oidc, BELFRY_OIDC_ISSUER: 'http://id.example' }, 'BELFRY_OIDC_ISSUER must be an https URL; it is'],
  [{ ...oidc, BELFRY_OIDC_ISSUER: 'http://localhost.evil.example' }, 'BELFRY_OIDC_ISSUER must be an https URL; it is'],
  [
    { ...oidc, BELFRY_OIDC_DEFAULT_ROLE: 'owner' },
    'BELFRY_OIDC_DEFAULT_ROLE must be one of none, viewer, editor, admin;',
  ],
  [{ BELFRY_INBOUND_MAIL_PORT: 'smtp' }, 'BELFRY_INBOUND_MAIL_PORT must be a number from 0 to 65535; it is "smtp".'],
  [{ BELFRY_DNS_SERVER: 'ns.example:53:1' }, 'BELFRY_DNS_SERVER must list servers as `host` or `host:port`; it has'],
  [{ BELFRY_DNS_SERVER: '10.0.0.53, ' }, 'BELFRY_DNS_SERVER must list servers as `host` or `host:port`; it has'],
  [{ BELFRY_DNS_SERVER: 'ns.example:70000' }, 'BELFRY_DNS_SERVER must list servers as `host` or `host:port`; it has'],
  [{ BELFRY_INBOUND_MAIL_KEY: '/key.pem' }, 'BELFRY_INBOUND_MAIL_KEY must be set together or not at all.'],
])('%j is refused', (env, message) => {
  expect(() => readConfig(env)).toThrow(message)
})

test('an identity provider and proxies are read', () => {
  const env = { ...oidc, BELFRY_OIDC_ALLOWED_DOMAIN: 'Example.com', BELFRY_OIDC_DEFAULT_ROLE: 'editor' }
  const { config, warnings } = readConfig({ ...env, BELFRY_TRUSTED_PROXIES: 'loopback, 10.0.0.0/8,fd00::/8' })
  expect(config.trustedProxies).toEqual(['loopback', '10.0.0.0/8', 'fd00::/8'])
  expect(config.oidc).toEqual({
    issuer: 'https://id.example',
    clientId: 'belfry',
    clientSecret: 'secret',
    allowedDomain: 'example.com',
    defaultRole: 'editor',
  })
  expect(warnings).toEqual([])
  const open = readConfig({ ...oidc, BELFRY_OIDC_DEFAULT_ROLE: 'viewer' })
  expect(open.warnings).toEqual([expect.stringContaining('lets in anyone with an account at the issuer')])
  expect(readConfig({}).config).toMatchObject({ trustedProxies: [], oidc: undefined })
})

test('the name servers of the domain check are read', () => {
  expect(readConfig({}).config.dnsServers).toEqual([])
  const env = { BELFRY_DNS_SERVER: '10.0.0.53, ns.example:5353,[::1]:53,::1' }
  expect(readConfig(env).config.dnsServers).toEqual(['10.0.0.53', 'ns.example:5353', '[::1]:53', '::1'])
})

test('answers to e-mails are taken where a port is set, at the address of everything else unless another is', () => {
  expect(readConfig({ HOST: '::1' }).config.inboundMail).toBeUndefined()
  const port = { HOST: '::1', BELFRY_INBOUND_MAIL_PORT: '2525' }
  const plain = { host: '::1', port: 2525, certificate: undefined, key: undefined }
  expect(readConfig(port)).toMatchObject({ config: { inboundMail: plain }, warnings: [] })
  const more = { BELFRY_INBOUND_MAIL_CERTIFICATE: '/c.pem', BELFRY_INBOUND_MAIL_KEY: '/k.pem' }
  expect(readConfig({ ...port, BELFRY_INBOUND_MAIL_HOST: '0.0.0.0', ...more }).config.inboundMail).toEqual({
    ...{ host: '0.0.0.0', port: 2525, certificate: '/c.pem', key: '/k.pem' },
  })
  expect(readConfig({ ...port, BELFRY_ROLE: 'worker' }).warnings).toEqual([
    'BELFRY_INBOUND_MAIL_PORT is not used by a worker.',
  ])
})

test('what is legal but hardly meant is warned of', () => {
  const env = {
    BELFRY_DATADIR: '/data',
    BELFRY_DATA_DIR: '/data',
    DATABASE_URL: 'postgres://x',
    BELFRY_SECRET_KEY: 'ab'.repeat(32),
  }
  expect(readConfig(env).warnings).toEqual([
    'BELFRY_DATADIR is not a setting of Belfry; is it misspelt?',
    'BELFRY_DATA_DIR is not used when DATABASE_URL is set.',
  ])
})
