// The inbox of one subscriber among millions of messages, the cost of a connected browser, and the time from a message's
// commit to its event in the browser.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, WebSocket } from 'undici'
import { freePort } from '../../../server/test/free-port.ts'
import { residentKb } from '../harness/processes.ts'
import { type Service, startService } from '../harness/service.ts'
import { addSubscribers, openSocket, type Received, rowId, subscriberRow, tokenOf } from '../harness/sockets.ts'
import { type Figure, median, type Options, type Outcome, percentile } from '../report/figures.ts'

const ownMessages = 10_000
const perInsert = 500_000
const warmUps = 10
const perSecond = 200

interface Sizes {
  messages: number
  sockets: number
  seconds: number
  repetitions: number
}

export async function benchInbox({ quick }: Options): Promise<Outcome> {
  const sizes: Sizes = quick
    ? { messages: 20_000, sockets: 200, seconds: 1, repetitions: 10 }
    : { messages: 10_000_000, sockets: 5_000, seconds: 60, repetitions: 300 }
  const memory = await benchMemory(sizes)
  const service = await startService()
  try {
    await addSubscribers(service, sizes.sockets)
    const figures = [...(await benchPages(service, sizes)), memory, ...(await benchEvents(service, sizes))]
    return { figures, notes: { ...sizes, ownMessages, perSecond, value: 'median of the whole request' } }
  } finally {
    await service.stop()
  }
}

// ---- Pages and counts ----

async function benchPages(service: Service, { messages, repetitions }: Sizes): Promise<Figure[]> {
  await addMessages(service, { from: 0, to: ownMessages, subscribers: 1 })
  const before = await measurePages(service, repetitions)
  await addMessages(service, { from: ownMessages, to: messages, subscribers: 100_000 })
  const after = await measurePages(service, repetitions)
  return [...after].map(([name, ours]) => ({
    ...{
      id: name.replaceAll(' ', '-'),
      name: `inbox: ${name}`,
      unit: 'ms',
      ours,
      reference: before.get(name) ?? Number.NaN,
    },
    against: `at ${ownMessages.toLocaleString('en')} messages`,
    target: { atMost: 2 },
  }))
}

/**
 * Adds messages of the last weeks, every hundredth unread. The first belong to subscriber 0, the others rotate over
 * `subscribers`, who need not exist.
 */
async function addMessages(
  { database, environmentId }: Service,
  { from, to, subscribers }: { from: number; to: number; subscribers: number },
): Promise<void> {
  const newest = Math.floor(Date.now() / 1000)
  const id = rowId('60060060', 'n', `(${newest} - n % 1200000)`)
  for (let begin = from; begin < to; begin += perInsert) {
    const end = Math.min(to, begin + perInsert)
    process.stderr.write(`  messages: ${end.toLocaleString('en')}\n`)
    await database.query(
      `INSERT INTO messages (environment_id, id, notification_id, event_id, transaction_id, job_id, workflow_id, workflow,
         step_row_id, step_id, subscriber_row_id, subscriber_id, channel, subject, content, tags, severity, context_keys, status,
         seen, read, delivered_at, created_at, updated_at)
       SELECT $1, ${id}, ${id}, ${id}, 'txn_' || n, ${id}, 'workflow', 'bench', 'step', 'tell',
         ${subscriberRow(`(CASE WHEN $4::int = 1 THEN 0 ELSE 1 + n % $4::int END)`)}, 'somebody', 'in_app', 'News',
         'Hello, this is number ' || n, '{}', (ARRAY['none', 'none', 'low', 'high'])[1 + n % 4], '{}', 'sent',
         n % 100 <> 0, n % 100 <> 0, NULL, to_timestamp(${newest} - n % 1200000), now()
       FROM generate_series($2::int, $3::int - 1) n`,
      [environmentId, begin, end, subscribers],
    )
  }
  // As autovacuum does in the minutes after a large import.
  await database.query('VACUUM (ANALYZE) messages')
  await database.query('CHECKPOINT')
}

async function measurePages(service: Service, repetitions: number): Promise<Map<string, number>> {
  const authorization = `Bearer ${(await tokenOf(service))(0)}`
  const client = new Client(service.url)
  const get = async (path: string) => {
    for (;;) {
      const reply = await client.request({
        method: 'GET',
        path: `/v1/inbox/notifications${path}`,
        headers: { authorization },
      })
      const body = (await reply.body.json()) as { data: Array<{ id: string; count: number }> }
      if (reply.statusCode === 200) return body.data
      // The rate limit of a browser.
      if (reply.statusCode !== 429) throw new Error(`${path}: ${reply.statusCode} ${JSON.stringify(body)}`)
      await sleep(1_000)
    }
  }
  const list = '?limit=10&archived=false&snoozed=false'
  let cursor = ''
  for (let page = 1; page < 50; page += 1)
    cursor = (await get(`${list}${cursor && `&after=${cursor}`}`)).at(-1)?.id ?? ''
  const severities = ['high', 'medium', 'low', 'none']
  const filters = severities.map((severity) => ({ severity, read: false, archived: false, snoozed: false }))
  const paths = {
    'first page': list,
    'page 50': `${list}&after=${cursor}`,
    'unread counts': `/count?filters=${encodeURIComponent(JSON.stringify(filters))}`,
  }
  const times = new Map(Object.keys(paths).map((name) => [name, [] as number[]]))
  // In turns, so that other load affects all alike; within the rate limit of one subscriber.
  for (let repetition = -warmUps; repetition < repetitions; repetition += 1)
    for (const [name, path] of Object.entries(paths)) {
      const start = performance.now()
      const { length } = await get(path)
      const took = performance.now() - start
      if (length === 0) throw new Error(`${name} is empty`)
      // Ignore requests that waited for the rate limit.
      if (repetition >= 0 && took < 1_000) times.get(name)?.push(took)
      await sleep(Math.max(0, 17 - took))
    }
  await client.close()
  return new Map([...times].map(([name, values]) => [name, median(values)]))
}

// ---- Sockets ----

/**
 * On its own service: memory is read after a forced garbage collection. After one, V8 keeps collecting everything every few
 * seconds, as no real service does (p99 of events 69 ms instead of 18).
 */
async function benchMemory({ sockets }: Sizes): Promise<Figure> {
  const inspector = await freePort()
  const service = await startService({
    NODE_OPTIONS: `--inspect=127.0.0.1:${inspector}`,
  })
  try {
    await addSubscribers(service, sockets)
    // Load the library and trigger all one-time work.
    const opened = [await openSocket(service, (await tokenOf(service))(sockets), () => undefined)]
    await collectGarbage(inspector)
    const before = residentKb(service.pid)
    opened.push(...(await openSockets(service, sockets, () => undefined)))
    await sleep(1_000)
    await collectGarbage(inspector)
    const ours = (residentKb(service.pid) - before) / sockets
    for (const socket of opened) socket.close()
    return {
      ...{ id: 'browser', name: 'a connected browser', unit: 'KB', ours, reference: 20, against: 'what was promised' },
      target: { oursAtMost: 20 },
    }
  } finally {
    await service.stop()
  }
}

async function openSockets(service: Service, count: number, onMessage: Received): Promise<WebSocket[]> {
  const token = await tokenOf(service)
  const opened: WebSocket[] = []
  for (let begin = 0; begin < count; begin += 100)
    opened.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(100, count - begin) }, (_, n) =>
          openSocket(service, token(begin + n), onMessage),
        ),
      )),
    )
  return opened
}

async function benchEvents(service: Service, { sockets, seconds }: Sizes): Promise<Figure[]> {
  await service.send('POST', '/v2/workflows', {
    ...{ name: 'Bench', workflowId: 'bench-inbox', active: true },
    steps: [
      {
        ...{ name: 'Tell', type: 'in_app' },
        controlValues: { subject: 'News', body: 'Number {{payload.number}}', data: { sentAt: '{{payload.sentAt}}' } },
      },
    ],
  })
  const ofMessages: number[] = []
  const ofRequests: number[] = []
  const onMessage: Received = ({ createdAt, data }) => {
    const now = Date.now()
    // The message's timestamp is older than its commit, so this overstates the time since the commit.
    ofMessages.push(now - Date.parse(createdAt))
    ofRequests.push(now - Number(data?.sentAt))
  }
  const opened = await openSockets(service, sockets, onMessage)

  // The first ones do not count: a fresh service still compiles its hot code.
  for (const counted of [perSecond * Math.min(10, seconds), perSecond * seconds]) {
    ofMessages.length = 0
    ofRequests.length = 0
    await triggerSteadily(service, { count: counted, sockets })
    for (let waited = 0; ofMessages.length < counted && waited < 30_000; waited += 50) await sleep(50)
    if (ofMessages.length < counted) throw new Error(`only ${ofMessages.length} of ${counted} messages arrived`)
  }
  for (const socket of opened) socket.close()
  const commits = await commitTimes(service)
  const reference = { reference: median(commits), against: 'one commit of the database' }
  return [
    {
      ...{
        id: 'event-p50',
        name: `from the message to the event at ${perSecond}/s, p50`,
        unit: 'ms',
        ours: median(ofMessages),
        ...reference,
      },
      target: { oursAtMost: 50 },
    },
    {
      ...{
        id: 'event-p99',
        name: `from the message to the event at ${perSecond}/s, p99`,
        unit: 'ms',
        ours: percentile(ofMessages, 0.99),
        ...reference,
      },
      target: { oursAtMost: 50 },
    },
    {
      ...{
        id: 'request-event-p50',
        name: 'from the request to the event, p50',
        unit: 'ms',
        ours: median(ofRequests),
        ...reference,
      },
      target: { oursAtMost: 100 },
    },
  ]
}

/** Each at its time, without waiting for earlier answers. */
async function triggerSteadily(
  service: Service,
  { count, sockets }: { count: number; sockets: number },
): Promise<void> {
  const clients = Array.from({ length: 64 }, () => new Client(service.url))
  const sent: Array<Promise<unknown>> = []
  const began = performance.now()
  for (let number = 0; number < count; number += 1) {
    const due = began + (number * 1000) / perSecond
    if (due > performance.now()) await sleep(due - performance.now())
    const body = {
      name: 'bench-inbox',
      to: `browser-${(number * 7_919) % sockets}`,
      payload: { number, sentAt: Date.now() },
    }
    const request = (clients[number % clients.length] as Client).request({
      ...{ method: 'POST', path: '/v1/events/trigger', body: JSON.stringify(body) },
      headers: { authorization: `ApiKey ${service.apiKey}`, 'content-type': 'application/json' },
    })
    sent.push(
      request.then(async (reply) => {
        const text = await reply.body.text()
        if (reply.statusCode !== 201) throw new Error(`a trigger was refused: ${text}`)
      }),
    )
  }
  await Promise.all(sent)
  for (const client of clients) await client.close()
}

async function commitTimes({ database }: Service): Promise<number[]> {
  await database.query('CREATE TABLE IF NOT EXISTS bench_commits (n int)')
  const times: number[] = []
  for (let n = 0; n < 200; n += 1) {
    const start = performance.now()
    await database.query('INSERT INTO bench_commits VALUES ($1)', [n])
    times.push(performance.now() - start)
  }
  return times
}

/** Through the inspector protocol. */
async function collectGarbage(port: number): Promise<void> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as Array<{
    webSocketDebuggerUrl: string
  }>
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '')
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => socket.send('{"id":1,"method":"HeapProfiler.collectGarbage"}'))
    socket.addEventListener('message', () => resolve())
    socket.addEventListener('error', () => reject(new Error('the inspector did not answer')))
  })
  socket.close()
}
