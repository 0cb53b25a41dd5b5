// Consent: what the suppression list costs every email, how fast people can refuse while mail goes out, imports, and web push.
import { createECDH, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { builtAt } from '../harness/earlier.ts'
import { type HttpSink, startHttpSink } from '../harness/http-sink.ts'
import { sendMany, sendSteadily } from '../harness/load.ts'
import { type Service, startService } from '../harness/service.ts'
import { type Figure, median, type Options, type Outcome, percentile } from '../report/figures.ts'

const perRequest = 100
const longestMs = 300_000
/** Whose figures of emails were the last before there was a list. */
const before = '26eafb7'
/** The service allows 50 a second from one address. */
const clicksPerSecond = 20

interface Sizes {
  rounds: number
  /** Emails or push messages of a round. */
  count: number
  listed: number
  /** Of a round, idle and busy each. */
  clicks: number
  clickRounds: number
  imported: number
}

export async function benchConsent({ quick }: Options): Promise<Outcome> {
  const sizes: Sizes = quick
    ? { rounds: 1, count: 300, listed: 10_000, clicks: 20, clickRounds: 1, imported: 2_000 }
    : { rounds: 9, count: 5_000, listed: 1_000_000, clicks: 400, clickRounds: 3, imported: 100_000 }
  const figures = [
    ...(await besideEachOther(before, sizes)),
    await withService((service) => clicking(service, sizes)),
    await withService((service) => importing(service, sizes)),
    await withService((service) => pushing(service, sizes)),
  ]
  return { figures, notes: { ...sizes, clicksPerSecond, value: 'medians of the rounds, taken in turns' } }
}

/** Without a list, with one, and before there was one: three services that send in turns, so that what slows the machine slows all. */
async function besideEachOther(commit: string, sizes: Sizes): Promise<Figure[]> {
  const earlier = sizes.rounds === 1 ? undefined : builtAt(commit)
  const services = [await startService(), await startService()]
  if (earlier !== undefined) services.push(await startService({}, earlier))
  try {
    return await emails(services, sizes)
  } finally {
    for (const service of services) await service.stop()
  }
}

async function withService<T>(work: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService()
  try {
    return await work(service)
  } finally {
    await service.stop()
  }
}

const loadOn = ({ url, apiKey }: Service) => ({ url, apiKey, connections: 4 })

/** Triggers per second, until the sink has as many requests. */
async function through(
  service: Service,
  { taken }: Counter,
  { name, count, to }: { name: string; count: number; to: (number: number) => object },
): Promise<number> {
  const [before, began] = [taken(), performance.now()]
  const requests = Math.ceil(count / perRequest)
  await sendMany(loadOn(service), '/v1/events/trigger/bulk', requests, (request) => ({
    events: Array.from({ length: perRequest }, (_, place) => ({
      name,
      to: to(request * perRequest + place),
      payload: {},
    })),
  }))
  while (taken() < before + requests * perRequest) {
    if (performance.now() - began > longestMs) throw new Error('not everything was delivered in time')
    await sleep(5)
  }
  return (requests * perRequest) / ((performance.now() - began) / 1000)
}

interface Counter extends HttpSink {
  taken(): number
  /** The links to unsubscribe in the mails. */
  links: string[]
}

async function startCounter(): Promise<Counter> {
  let taken = 0
  const links: string[] = []
  const sink = await startHttpSink((text) => {
    taken += 1
    const link = /"List-Unsubscribe":"<([^>]+)>/.exec(text)?.[1]
    if (link !== undefined) links.push(new URL(link).pathname)
    return { status: 201, body: '{}' }
  })
  return { ...sink, taken: () => taken, links }
}

async function emails([empty, full, earlier]: Service[], sizes: Sizes): Promise<Figure[]> {
  if (!empty || !full) throw new Error('two services are needed')
  const { rounds, count, listed } = sizes
  const sink = await startCounter()
  try {
    const services = [empty, full, ...(earlier ? [earlier] : [])]
    for (const service of services) await prepare(service, sink.url, 'mail', 'transactional')
    const rates = new Map(services.map((service) => [service, [] as number[]]))
    await fill(full, listed)
    for (let round = 0; round <= rounds; round += 1)
      for (const service of round % 2 === 0 ? services : services.toReversed()) {
        const perSecond = await through(service, sink, { name: 'mail', count, to: reader })
        if (round > 0 || rounds === 1) rates.get(service)?.push(perSecond)
      }
    const of = (service: Service) => median(rates.get(service) ?? [])
    return [
      {
        ...{ id: 'mail', name: 'emails to a webhook', unit: '/s', ours: of(empty) },
        ...{ reference: earlier ? of(earlier) : Number.NaN, against: `\`${before}\`, before there was a list` },
        target: { atLeast: 0.93 },
      },
      {
        ...{ id: 'listed', name: `emails with ${listed.toLocaleString('en')} entries on the list`, unit: '/s' },
        ...{ ours: of(full), reference: of(empty), against: 'with none', target: { atLeast: 0.95 } },
      },
    ]
  } finally {
    sink.stop()
  }
}

async function prepare({ send }: Service, webhookUrl: string, workflowId: string, messageClass: string): Promise<void> {
  if (messageClass === 'transactional') {
    const { _id } = await send<{ _id: string }>('POST', '/v1/integrations', {
      ...{ providerId: 'email-webhook', channel: 'email', active: true, check: false },
      credentials: { webhookUrl, secretKey: 'secret', from: 'belfry@example.com', senderName: 'Belfry' },
    })
    await send('POST', `/v1/integrations/${_id}/set-primary`)
  }
  const controlValues = { subject: 'News', body: '<p>Hello {{subscriber.subscriberId}}</p>' }
  await send('POST', '/v2/workflows', {
    ...{ name: workflowId, workflowId, active: true },
    // The earlier service knows no classes.
    ...(messageClass === 'commercial' ? { messageClass } : {}),
    steps: [{ name: 'Email', type: 'email', controlValues }],
  })
}

const clear = ({ database }: Service) => database.query('TRUNCATE suppressions')

const reader = (number: number) => ({
  subscriberId: `reader-${number % 1_000}`,
  email: `reader-${number % 1_000}@example.com`,
})

/** Of other people, as it is in a service that has run for years. */
async function fill({ database, environmentId }: Service, count: number): Promise<void> {
  await database.query(
    `INSERT INTO suppressions (environment_id, id, channel, address_hash, address, reason, scope, source, created_at, updated_at)
     SELECT $1, lpad(to_hex(n), 24, '0'), 'email', sha256(convert_to('gone-' || n || '@example.com', 'UTF8')),
       'gone-' || n || '@example.com', 'hard_bounce', 'all', 'provider', now(), now()
     FROM generate_series(1, $2::int) n`,
    [environmentId, count],
  )
  // As autovacuum would, some time later: not in the middle of a measurement.
  await database.query('VACUUM ANALYZE suppressions')
  await database.query('CHECKPOINT')
}

/** Clicks while nothing is sent and beside emails, in turns. */
async function clicking(service: Service, { count, clicks, clickRounds }: Sizes): Promise<Figure> {
  const sink = await startCounter()
  try {
    await prepare(service, sink.url, 'mail', 'transactional')
    await prepare(service, sink.url, 'news', 'commercial')
    await through(service, sink, { name: 'mail', count, to: reader })
    const most = await through(service, sink, { name: 'mail', count, to: reader })
    const rounds: Array<{ idle: number; busy: number }> = []
    while (rounds.length < clickRounds) {
      const links = await linksFor(service, sink, { count: clicks * 2, round: rounds.length })
      const idle = percentile(await click(service, links.slice(0, clicks)), 0.99)
      const busy = percentile(await clickBesideMails(service, sink, links.slice(clicks), most / 2), 0.99)
      rounds.push({ idle, busy })
    }
    return {
      ...{ id: 'click-p99', name: 'p99 of a click to unsubscribe while emails are sent at half of the maximum' },
      ...{ unit: 'ms', ours: median(rounds.map(({ busy }) => busy)), target: { atMost: 5 } },
      ...{ reference: median(rounds.map(({ idle }) => idle)), against: 'while nothing is sent' },
    }
  } finally {
    sink.stop()
  }
}

/** Each of somebody who has not clicked yet. */
async function linksFor(
  service: Service,
  sink: Counter,
  { count, round }: { count: number; round: number },
): Promise<string[]> {
  sink.links.length = 0
  const to = (number: number) => ({
    subscriberId: `clicker-${round}-${number}`,
    email: `clicker-${round}-${number}@example.com`,
  })
  await through(service, sink, { name: 'news', count, to })
  return sink.links.slice(0, count)
}

async function clickBesideMails(
  service: Service,
  sink: Counter,
  links: string[],
  perSecond: number,
): Promise<number[]> {
  const seconds = Math.ceil(links.length / clicksPerSecond) + 1
  const before = sink.taken()
  const load = { url: service.url, apiKey: service.apiKey, connections: 32 }
  const batch = 10
  const sending = sendSteadily(
    load,
    '/v1/events/trigger/bulk',
    { perSecond: perSecond / batch, seconds },
    (number) => ({
      events: Array.from({ length: batch }, (_, place) => ({
        name: 'mail',
        to: reader(number * batch + place),
        payload: {},
      })),
    }),
  )
  const took = await click(service, links)
  await sending
  if (sink.taken() === before) throw new Error('no mail was sent beside the clicks')
  return took
}

async function click({ url }: Service, links: string[]): Promise<number[]> {
  const began = performance.now()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return Promise.all(
    links.map(async (path, number) => {
      await sleep(Math.max(0, began + (number * 1000) / clicksPerSecond - performance.now()))
      const start = performance.now()
      const answer = await fetch(url + path, { method: 'POST', headers, body: 'List-Unsubscribe=One-Click' })
      await answer.text()
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
      return performance.now() - start
    }),
  )
}

/** Rows per second, beside the same rows copied into a table and inserted from there. */
async function importing(service: Service, { rounds, imported }: Sizes): Promise<Figure> {
  const addressOf = (round: number, row: number) => `left-${round}-${row}@example.com`
  const [ours, plain]: [number[], number[]] = [[], []]
  for (let round = 0; round <= rounds; round += 1) {
    await clear(service)
    const rows = Array.from({ length: imported }, (_, row) => `email,${addressOf(round, row)},unsubscribe,commercial`)
    const csv = `channel,address,reason,scope\r\n${rows.join('\r\n')}\r\n`
    const began = performance.now()
    const answer = await fetch(`${service.url}/v1/suppressions/import`, {
      ...{ method: 'POST', body: csv },
      headers: { authorization: `ApiKey ${service.apiKey}`, 'content-type': 'text/csv' },
    })
    const report = (await answer.json()) as { imported?: number }
    if (report.imported !== imported) throw new Error(`imported: ${JSON.stringify(report)}`)
    if (round > 0) ours.push(imported / ((performance.now() - began) / 1000))
    await clear(service)
    const start = performance.now()
    await copied(service, rows)
    if (round > 0) plain.push(imported / ((performance.now() - start) / 1000))
  }
  return {
    ...{ id: 'import', name: `rows of an import of ${imported.toLocaleString('en')}`, unit: '/s' },
    ...{ ours: median(ours), reference: median(plain), against: 'the same rows by plain COPY and INSERT' },
    target: { atLeast: 0.3 },
  }
}

async function copied({ databaseUrl, environmentId }: Service, rows: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query('BEGIN')
    await client.query('CREATE TEMP TABLE given (channel text, address text, reason text, scope text) ON COMMIT DROP')
    await copyIn(client, 'COPY given FROM STDIN WITH (FORMAT csv)', `${rows.join('\n')}\n`)
    await client.query(
      `INSERT INTO suppressions (environment_id, id, channel, address_hash, address, reason, scope, source, created_at, updated_at)
       SELECT $1, new_row_id(now()), channel, sha256(convert_to(lower(address), 'UTF8')), lower(address), reason, scope,
         'import', now(), now() FROM given`,
      [environmentId],
    )
    await client.query('COMMIT')
  } finally {
    await client.end()
  }
}

/** The driver's protocol has COPY, and its API does not. */
function copyIn(client: pg.Client, statement: string, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query({
      submit(connection: pg.Connection) {
        connection.query(statement)
      },
      handleCopyInResponse(connection: CopyConnection) {
        connection.sendCopyFromChunk(Buffer.from(text))
        connection.endCopyFrom()
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(),
      handleCommandComplete: () => undefined,
    } as unknown as pg.Submittable)
  })
}

interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

const pushers = 100

async function pushing(service: Service, { rounds, count }: Sizes): Promise<Figure> {
  const sink = await startCounter()
  try {
    await service.send('POST', '/v1/integrations', {
      ...{ providerId: 'push-webhook', channel: 'push', active: true, check: false },
      credentials: { webhookUrl: `${sink.url}/hook`, secretKey: 'secret' },
    })
    await service.send('POST', '/v2/workflows', {
      ...{ name: 'Ping', workflowId: 'ping', active: true },
      steps: [{ name: 'Push', type: 'push', controlValues: { subject: 'Hello', body: 'It has arrived' } }],
    })
    await register(service, sink.url)
    const rate = (kind: 'web' | 'hook') =>
      through(service, sink, { name: 'ping', count, to: (number) => ({ subscriberId: `${kind}-${number % pushers}` }) })
    const [web, hook]: [number[], number[]] = [[], []]
    for (let round = 0; round <= rounds; round += 1) {
      const [one, other] = [await rate('web'), await rate('hook')]
      if (round === 0) continue
      web.push(one)
      hook.push(other)
    }
    return {
      ...{ id: 'web-push', name: 'web push messages, encrypted and signed', unit: '/s', ours: median(web) },
      ...{ reference: median(hook), against: 'push messages to a webhook', target: { atLeast: 0.5 } },
    }
  } finally {
    sink.stop()
  }
}

/** A hundred browsers, and a hundred devices behind the webhook. */
async function register({ url, send, database, environmentId }: Service, sinkUrl: string): Promise<void> {
  const { rows } = await database.query<{ identifier: string }>('SELECT identifier FROM environments WHERE id = $1', [
    environmentId,
  ])
  for (let number = 0; number < pushers; number += 1) {
    await send('POST', '/v2/subscribers', { subscriberId: `hook-${number}` })
    await send('PUT', `/v1/subscribers/hook-${number}/credentials`, {
      ...{ providerId: 'push-webhook', credentials: { deviceTokens: [`device-${number}`] } },
    })
    const opened = await send<{ data: { token: string } }>('POST', '/v1/inbox/session', {
      ...{ applicationIdentifier: rows[0]?.identifier, subscriber: { subscriberId: `web-${number}` } },
    })
    const pair = createECDH('prime256v1')
    const keys = { p256dh: pair.generateKeys('base64url'), auth: randomBytes(16).toString('base64url') }
    const answer = await fetch(`${url}/v1/inbox/push/subscriptions`, {
      ...{ method: 'POST', body: JSON.stringify({ endpoint: `${sinkUrl}/browser/${number}`, keys }) },
      headers: { authorization: `Bearer ${opened.data.token}`, 'content-type': 'application/json' },
    })
    if (answer.status !== 201) throw new Error(`subscription: ${answer.status} ${await answer.text()}`)
  }
}
