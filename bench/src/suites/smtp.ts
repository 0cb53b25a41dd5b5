// Mails per second to a local mail server, from the request until the server has accepted them.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createTransport } from 'nodemailer'
import { builtAt } from '../harness/earlier.ts'
import { sendMany } from '../harness/load.ts'
import { cpuMs, cpuMsOfAll, cpuOf, postmasterOf } from '../harness/processes.ts'
import { type Service, startService } from '../harness/service.ts'
import { perRequest } from '../harness/triggers.ts'
import { median, type Options, type Outcome } from '../report/figures.ts'

const longestMs = 120_000
/** The service's limit for one integration. */
const connections = 20
/** The last before each mail asked the suppression list. */
const before = '26eafb7'

export async function benchSmtp({ quick }: Options): Promise<Outcome> {
  const [rounds, count, warmUps] = quick ? [1, 300, 100] : [7, 10_000, 2_000]
  const folder = quick ? undefined : builtAt(before)
  const sink = await startSink()
  const service = await startService()
  const earlier = folder === undefined ? undefined : await startService({}, folder)
  try {
    const services = [service, ...(earlier ? [earlier] : [])]
    for (const each of services) {
      await prepare(each, sink.port)
      await through(each, sink, warmUps)
    }
    await directly(sink.port, warmUps)
    const postmaster = await postmasterOf(service)
    const rates: Array<{ ours: number; direct: number; earlier: number; service: number; database: number }> = []
    for (let round = 0; round < rounds; round += 1) {
      const direct = await directly(sink.port, count)
      let ours = 0
      const cpu = await cpuOf(
        { service: () => cpuMs(service.pid), database: () => cpuMsOfAll(postmaster) },
        async () => {
          ours = await through(service, sink, count)
        },
      )
      const was = earlier ? await through(earlier, sink, count) : Number.NaN
      rates.push({ ours, direct, earlier: was, service: cpu.service / count, database: cpu.database / count })
    }
    const of = (name: keyof (typeof rates)[number]) => median(rates.map((rate) => rate[name]))
    return {
      figures: [
        {
          id: 'smtp',
          name: 'mails to a mail server on this machine, through the engine',
          ...{
            unit: '/s',
            ours: of('ours'),
            reference: of('direct'),
            against: 'the same mails by Nodemailer directly',
          },
          target: { oursAtLeast: 1_500 },
        },
        {
          id: 'smtp-before',
          ...{ name: 'the same', unit: '/s', ours: of('ours'), reference: of('earlier') },
          ...{ against: `\`${before}\`, before each mail asked the suppression list`, target: { atLeast: 0.93 } },
        },
        {
          id: 'smtp-processor',
          name: "the service's processor time for each mail",
          ...{ unit: 'ms', ours: of('service'), reference: of('database'), against: "the database's" },
        },
      ],
      notes: { rounds, count, connections, value: 'median of the rounds, taken in turns' },
    }
  } finally {
    for (const each of [service, earlier]) await each?.stop()
    sink.stop()
  }
}

/** Mails per second. */
async function through({ url, apiKey }: Service, sink: Sink, number: number): Promise<number> {
  const [before, began] = [await sink.taken(), performance.now()]
  await sendMany({ url, apiKey, connections: 4 }, '/v1/events/trigger/bulk', number / perRequest, (request) => ({
    events: Array.from({ length: perRequest }, (_, place) => triggerOf(request * perRequest + place)),
  }))
  while ((await sink.taken()) < before + number) {
    if (performance.now() - began > longestMs) throw new Error('not every mail was sent in time')
    await sleep(5)
  }
  return number / ((performance.now() - began) / 1000)
}

const subject = 'News'
const body = '<p>Hello {{subscriber.firstName}}, this is number {{payload.number}}</p>'

async function prepare({ send }: Service, port: number): Promise<void> {
  const credentials = { host: '127.0.0.1', port: String(port), from: 'belfry@example.com', senderName: 'Belfry' }
  const integration = { providerId: 'nodemailer', channel: 'email', credentials, active: true, check: false }
  const { _id } = await send<{ _id: string }>('POST', '/v1/integrations', integration)
  await send('POST', `/v1/integrations/${_id}/set-primary`)
  const steps = [{ name: 'Mail', type: 'email', controlValues: { subject, body } }]
  await send('POST', '/v2/workflows', { name: 'Mail', workflowId: 'mail', active: true, steps })
}

const triggerOf = (number: number) => ({
  name: 'mail',
  to: { subscriberId: `reader-${number % 1_000}`, firstName: 'Ada', email: `reader-${number % 1_000}@example.com` },
  payload: { number },
})

/** The reference: the same mails through the same library, over as many connections, directly. */
async function directly(port: number, count: number): Promise<number> {
  const transport = createTransport({
    host: '127.0.0.1',
    port,
    pool: true,
    maxConnections: connections,
    ignoreTLS: true,
    // Without TCP_NODELAY the end of each mail waits 40 ms for the acknowledgement of its start.
    getSocket: (_, callback) => {
      const connection = connect({ host: '127.0.0.1', port, noDelay: true }, () => callback(null, { connection }))
    },
  })
  const began = performance.now()
  let next = 0
  const sender = async () => {
    while (next < count) {
      next += 1
      await transport.sendMail({
        ...{ from: 'Belfry <belfry@example.com>', to: `reader-${next % 1_000}@example.com`, subject },
        ...{ html: body, text: body },
      })
    }
  }
  await Promise.all(Array.from({ length: connections * 2 }, sender))
  const perSecond = count / ((performance.now() - began) / 1000)
  transport.close()
  return perSecond
}

interface Sink {
  port: number
  /** Mails accepted so far. */
  taken(): Promise<number>
  stop(): void
}

async function startSink(): Promise<Sink> {
  const child: ChildProcess = fork(fileURLToPath(new URL('../harness/smtp-sink.js', import.meta.url)))
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return {
    port,
    async taken() {
      const answer = once(child, 'message')
      child.send('taken?')
      const [{ taken }] = (await answer) as [{ taken: number }]
      return taken
    },
    stop: () => child.disconnect(),
  }
}
