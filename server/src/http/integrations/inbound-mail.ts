// Receives mail over SMTP: replies, and mail that comes back. Accepts only addresses of our messages, and relays nothing. A mail
// answered with 250 is committed; after any other answer the sender still has it.
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import type { SMTPServerDataStream, SMTPServerOptions, SMTPServerSession } from 'smtp-server'
import type { Config } from '../../config.ts'
import type { Engine } from '../../engine/engine.ts'
import type { ReplyOutcome } from '../../engine/feedback/replies.ts'
import { StartError } from '../../errors.ts'
import { parseMail, receivedMail } from './mail-parts.ts'
import { mailReport } from './mail-reports.ts'

export const mostBytes = 10 * 1024 * 1024
/** Each may hold one mail in memory. High enough for a mail server in front, which has one address. */
const mostConnections = 25
const mostPerAddress = 15
const mostRecipients = 10
/** Disconnects a client that guesses more addresses than this. */
export const mostUnknown = 5
/** Timeouts for the next command, and for a whole mail. */
const silenceMs = 60_000
const mailMs = 5 * 60_000

type Settings = NonNullable<Config['inboundMail']>

interface Surroundings {
  engine: Pick<Engine, 'awaitsReply' | 'takeReply' | 'isReportAddress' | 'awaitsReport' | 'takeMailReport'>
  log: Logger
  /** How long a mail in flight may take during shutdown. */
  patienceMs: number
}

/** An SMTP reply to the sender. */
class Refusal extends Error {
  readonly responseCode: number

  constructor(responseCode: number, message: string) {
    super(message)
    this.responseCode = responseCode
  }
}

const outcomes: Record<ReplyOutcome, Refusal | undefined> = {
  taken: undefined,
  unknown: new Refusal(550, '5.1.1 Nobody waits for an answer at this address'),
  ambiguous: new Refusal(550, '5.7.1 Please answer from the address that the message was sent to'),
}
const busy = new Refusal(421, '4.3.2 Too many connections, please try again later')
const guessing = new Refusal(421, '4.7.0 Too many unknown addresses')
const slow = new Refusal(421, '4.4.2 This takes too long')
const tooLarge = new Refusal(552, `5.3.4 A mail may have ${mostBytes} bytes`)
const noMail = new Refusal(554, '5.6.0 This mail cannot be read')
/** A failure of ours: the sender retries. */
const unavailable = new Refusal(451, '4.3.0 The service is not available at the moment')

interface InboundMail {
  port: number
  stop(): Promise<void>
}

export async function listenForMail(settings: Settings, surroundings: Surroundings): Promise<InboundMail> {
  const { SMTPServer } = await import('smtp-server')
  const { log, patienceMs } = surroundings
  const door = new Door(surroundings)
  const server = new SMTPServer({ ...limits, closeTimeout: patienceMs, ...door.handlers(), ...(await tlsOf(settings)) })
  // Connections break all the time; our own failures are logged where they happen.
  server.on('error', ({ message }) => log.debug({ reason: message }, 'a mail connection failed'))
  await new Promise<void>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(settings.port, settings.host, resolve)
  }).catch((cause: unknown) => {
    const place = `Port ${settings.port} of ${settings.host}`
    throw new StartError(`${place} cannot be used for mail; set BELFRY_INBOUND_MAIL_PORT or _HOST.`, { cause })
  })
  return {
    port: (server.server.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise<void>((resolve) => {
        server.close(resolve)
      })
      for (const connection of server.connections)
        if (!door.isReading(connection.session.id)) connection.send(421, '4.3.2 The service is stopping')
      await closed
      await door.isEmpty()
    },
  }
}

const limits: SMTPServerOptions = {
  size: mostBytes,
  rejectOversized: true,
  maxClients: mostConnections,
  socketTimeout: silenceMs,
  // There are no accounts.
  authOptional: true,
  disabledCommands: ['AUTH'],
  disableReverseLookup: true,
  banner: 'Belfry',
  logger: false,
}

/** Without a certificate the library would use its built-in one, whose key is public. */
async function tlsOf({ certificate, key }: Settings): Promise<SMTPServerOptions> {
  if (certificate === undefined || key === undefined)
    return { hideSTARTTLS: true, disabledCommands: ['AUTH', 'STARTTLS'] }
  const read = (file: string) =>
    readFile(file).catch((cause: unknown) => {
      throw new StartError(`${file}, which the settings for inbound mail name, cannot be read.`, { cause })
    })
  return { cert: await read(certificate), key: await read(key) }
}

/** Tracks connections and mails in flight. */
class Door {
  readonly #surroundings: Surroundings
  readonly #addresses = new Map<string, number>()
  readonly #unknown = new Map<string, number>()
  readonly #reading = new Map<string, Promise<void>>()

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings
  }

  isReading(sessionId: string): boolean {
    return this.#reading.has(sessionId)
  }

  async isEmpty(): Promise<void> {
    await Promise.all(this.#reading.values())
  }

  handlers(): Pick<SMTPServerOptions, 'onConnect' | 'onClose' | 'onRcptTo' | 'onData'> {
    return {
      onConnect: ({ remoteAddress }, done) => {
        const count = (this.#addresses.get(remoteAddress) ?? 0) + 1
        this.#addresses.set(remoteAddress, count)
        done(count > mostPerAddress ? busy : null)
      },
      onClose: ({ id, remoteAddress }) => {
        this.#unknown.delete(id)
        const count = (this.#addresses.get(remoteAddress) ?? 1) - 1
        if (count > 0) this.#addresses.set(remoteAddress, count)
        else this.#addresses.delete(remoteAddress)
      },
      onRcptTo: ({ address }, session, done) => {
        void this.#answer(() => this.#checkRecipient(address, session)).then(done)
      },
      onData: (stream, session, done) => {
        const reading = this.#answer(() => this.#read(stream, session)).then((refusal) => {
          this.#reading.delete(session.id)
          done(refusal)
        })
        this.#reading.set(session.id, reading)
      },
    }
  }

  /** The result of the work as an SMTP reply; never rejects. */
  async #answer(work: () => Promise<Refusal | undefined>): Promise<Refusal | undefined> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Refusal) return error
      this.#surroundings.log.error({ err: error }, 'could not accept a mail; its sender will retry')
      return unavailable
    }
  }

  async #checkRecipient(address: string, { id, envelope }: SMTPServerSession): Promise<Refusal | undefined> {
    if (envelope.rcptTo.length >= mostRecipients) return new Refusal(452, '4.5.3 Too many recipients')
    const { engine } = this.#surroundings
    const isReport = engine.isReportAddress(address)
    if (await (isReport ? engine.awaitsReport(address) : engine.awaitsReply(address))) return undefined
    const count = (this.#unknown.get(id) ?? 0) + 1
    this.#unknown.set(id, count)
    return count > mostUnknown ? guessing : outcomes.unknown
  }

  /** One reply for all recipients; on a retry, those already stored are not stored again. */
  async #read(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<Refusal | undefined> {
    const raw = await readAll(stream)
    const parsed = await parseMail(raw).catch(() => {
      throw noMail
    })
    const { envelope, remoteAddress, clientHostname, hostNameAppearsAs, secure } = session
    const connection = { remoteAddress, clientHostname, hostNameAppearsAs, secure }
    const from = envelope.mailFrom ? envelope.mailFrom.address : ''
    const results: ReplyOutcome[] = []
    const { engine } = this.#surroundings
    for (const { address: to } of envelope.rcptTo) {
      if (engine.isReportAddress(to)) {
        results.push(await engine.takeMailReport(to, await mailReport(raw, parsed)))
        continue
      }
      const mail = receivedMail(raw, parsed, { from, to, connection })
      results.push(await engine.takeReply(to, mail))
    }
    return results.map((result) => outcomes[result]).find((refusal) => refusal !== undefined)
  }
}

/** Always reads to the end, since the reply follows it. */
function readAll(stream: SMTPServerDataStream): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const timer = setTimeout(() => reject(slow), mailMs)
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= mostBytes) chunks.push(chunk)
      else chunks.length = 0
    })
    stream.once('end', () => {
      clearTimeout(timer)
      if (bytes > mostBytes) reject(tooLarge)
      else resolve(Buffer.concat(chunks))
    })
    const giveUp = () => {
      clearTimeout(timer)
      reject(slow)
    }
    stream.once('error', giveUp)
    stream.once('close', giveUp)
  })
}
