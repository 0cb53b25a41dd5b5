// One connection to a mail server, reused for many mails. Nodemailer greets, encrypts and signs in; then the session takes
// over the socket and sends the mails, because nodemailer needs 0.47 ms and four round trips for each, and this 0.08 ms. With
// pipelining (RFC 2920, which nearly every server has) it is one round trip: a mail's commands follow the previous mail's text,
// before the server has answered that.
import { Socket } from 'node:net'
import type SmtpConnection from 'nodemailer/lib/smtp-connection/index.js'
import type { WholeMail } from './mime.ts'

export interface SessionOptions extends SmtpConnection.Options {
  connect(): Promise<Socket>
  /** For everything before the first mail: greeting, TLS, sign-in. */
  greetingTimeout: number
  auth?: SmtpConnection.Credentials
}

/** With nodemailer's error codes, so that its errors and ours are handled alike. */
export class SmtpFailure extends Error {
  readonly code: 'EENVELOPE' | 'EMESSAGE' | 'ECONNECTION' | 'ETIMEDOUT'
  readonly command: string
  /** The server's three-digit code, and its whole reply. */
  readonly responseCode: number | undefined
  readonly response: string
  /** Whether the server may have accepted the mail nevertheless. */
  readonly mayHaveArrived: boolean

  constructor(
    code: SmtpFailure['code'],
    reply: string,
    { command = 'CONN', responseCode, mayHaveArrived = false }: Partial<SmtpFailure> = {},
  ) {
    super(reply)
    this.code = code
    this.command = command
    this.responseCode = responseCode
    this.response = reply
    this.mayHaveArrived = mayHaveArrived
  }
}

interface Reply {
  code: number
  text: string
}

/** A server that sends a longer reply is cut off. */
const longestReply = 64 * 1024
/** How long QUIT may take. */
const quitTimeoutMs = 5_000
/** A large mail is written in chunks, at the speed the server reads. */
const chunkSize = 64 * 1024

/** A recipient that the server refused, and its words. */
export interface RefusedRecipient {
  address: string
  says: string
}

export class SmtpSession {
  readonly #socket: Socket
  readonly #extensions: ReadonlySet<string>
  readonly #replies: Reply[] = []
  #text = ''
  /** Replies still to come. */
  #owed = 0
  /** What goes out with one write, while that is being put together. */
  #together: string | undefined
  /** Who waits for how many replies. */
  #wanted: { count: number; resolve(replies: Reply[]): void; reject(reason: unknown): void } | undefined
  #failure: SmtpFailure | undefined
  #onEnd: () => void = () => undefined
  #onFree: () => void = () => undefined
  /** Whether the server still holds the commands of a mail it refused. */
  #needsReset = false
  /** The mail whose text was sent in full and not answered yet. */
  #sent: WholeMail | undefined
  /** How many mails the server has answered. */
  mails = 0

  static async open({ connect, auth, ...options }: SessionOptions): Promise<SmtpSession> {
    const { default: Connection } = await import('nodemailer/lib/smtp-connection/index.js')
    const socket = await connect().catch(refuseToOpen)
    const connection = new Connection({ ...options, connection: socket })
    const failure = new Promise<never>((_, reject) => {
      connection.on('error', reject)
      connection.on('end', () => reject(new Error(closed)))
    })
    const timer = setTimeout(() => socket.destroy(), options.greetingTimeout)
    try {
      const greeting = new Promise<string>((resolve) => {
        connection.connect(() => resolve(String(connection.lastServerResponse)))
      })
      const offered = offers(await Promise.race([greeting, failure]))
      if (auth && insidesOf(connection).allowsAuth) {
        const login = new Promise<void>((resolve, reject) => {
          connection.login(auth, (error) => (error ? reject(error) : resolve()))
        })
        await Promise.race([login, failure])
      }
      return new SmtpSession(insidesOf(connection).socket, offered)
    } catch (error) {
      connection.close()
      socket.destroy()
      return refuseToOpen(error)
    } finally {
      clearTimeout(timer)
    }
  }

  private constructor(socket: Socket, extensions: ReadonlySet<string>) {
    this.#socket = socket
    this.#extensions = extensions
    // Nodemailer's other listeners stay: they clean up after it when the socket ends.
    socket.removeAllListeners('data')
    socket.setTimeout(0)
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => this.#read(text))
    socket.on('error', (error) => this.#end(error.message))
    socket.on('close', () => this.#end())
    if (socket.destroyed) this.#end()
  }

  /** Whether the connection has ended. */
  get isOver(): boolean {
    return this.#failure !== undefined
  }

  /** Called once, when the connection ends; never if it has ended before. */
  set onOver(onEnd: () => void) {
    this.#onEnd = onEnd
  }

  /** Called when the text of a mail is written and another may begin behind it; never without pipelining. */
  set onFree(onFree: () => void) {
    this.#onFree = onFree
  }

  /** Whether the server may have accepted the mail. */
  mayHave(mail: WholeMail): boolean {
    return this.#sent === mail
  }

  /**
   * Writes the mail's commands; without pipelining, the first of them. To be called while no mail is being sent, or behind the text
   * of one (`onFree`). Then `deliver` sends the rest.
   */
  begin(mail: WholeMail): void {
    // `deliver` says why.
    if (this.#failure) return
    const commands = this.#commandsOf(mail)
    const first = this.#mayPipeline ? commands : commands.slice(0, 1)
    this.#write(first.join(''), first.length)
  }

  /**
   * @param mail has begun, and is the next
   * @returns the recipients that the server refused, beside others that it accepted
   * @throws SmtpFailure
   */
  async deliver(mail: WholeMail): Promise<RefusedRecipient[]> {
    const commands = this.#commandsOf(mail)
    const replies = this.#mayPipeline ? await this.#answers(commands.length) : await this.#askOneByOne(commands)
    await this.#checkEnvelope(replies, commands.length)
    const refused = mail.recipients.flatMap((address, at) => {
      const reply = replies[at + 1]
      return reply && !isFine(reply) ? [{ address, says: textOf(reply) }] : []
    })
    if (this.#failure) throw this.#failure
    const beginning = typeof mail.content === 'string' ? dotStuffed(mail.content) : await this.#writeMost(mail.content)
    this.#writeLast(mail, `${beginning}.\r\n`)
    const [reply = noReply] = await this.#answers(1)
    // Neither accepted nor refused: the mail's fate is unknown.
    if (!isFine(reply) && reply.code < 400) throw this.#end(textOf(reply))
    this.#sent = undefined
    this.mails += 1
    if (!isFine(reply)) throw refusal('EMESSAGE', 'DATA', reply)
    return refused
  }

  /** To be called after each mail, before another begins, unless that one has begun. */
  async reset(): Promise<void> {
    if (!this.#needsReset || this.#failure) return
    this.#needsReset = false
    await this.#ask('RSET\r\n').catch(() => undefined)
  }

  /**
   * The end of a mail's text, with the commands of the next in the same write: 1.3 instead of 2 writes a mail. But what is written
   * while the server does not read has not begun.
   */
  #writeLast(mail: WholeMail, text: string): void {
    const hasRoom = this.#socket.writableLength + text.length < this.#socket.writableHighWaterMark
    this.#together = ''
    this.#write(text, 1)
    this.#sent = mail
    if (this.#mayPipeline && hasRoom) this.#onFree()
    const together = this.#together
    this.#together = undefined
    this.#socket.write(together, 'latin1')
    if (!this.#mayPipeline || hasRoom) return
    void this.#drained().then(() => {
      if (this.#sent === mail && !this.#failure) this.#onFree()
    })
  }

  quit(): void {
    this.#end()
    if (this.#socket.destroyed) return
    this.#socket.end('QUIT\r\n')
    setTimeout(() => this.#socket.destroy(), quitTimeoutMs).unref()
  }

  destroy(): void {
    this.#end()
    this.#socket.destroy()
  }

  get #mayPipeline(): boolean {
    return this.#extensions.has('PIPELINING')
  }

  #commandsOf({ from, recipients, content }: WholeMail): string[] {
    const isAscii = [from, ...recipients].every((address) => /^[\x20-\x7e]*$/.test(address))
    const parameters = [
      ...(this.#extensions.has('SIZE') ? [` SIZE=${content.length}`] : []),
      ...(!isAscii && this.#extensions.has('SMTPUTF8') ? [' SMTPUTF8'] : []),
    ]
    const commands = [
      `MAIL FROM:<${from}>${parameters.join('')}\r\n`,
      ...recipients.map((address) => `RCPT TO:<${address}>\r\n`),
      'DATA\r\n',
    ]
    // Each character is a byte on the wire.
    return isAscii ? commands : commands.map((command) => Buffer.from(command, 'utf8').toString('latin1'))
  }

  /** The mail goes out if the server accepts at least one recipient. */
  async #checkEnvelope([mail = noReply, ...rest]: Reply[], expected: number): Promise<void> {
    const recipients = rest.slice(0, expected - 2)
    const data = rest[expected - 2]
    let refused: SmtpFailure | undefined
    if (!isFine(mail)) refused = refusal('EENVELOPE', 'MAIL FROM', mail)
    else if (!recipients.some(isFine)) refused = refusal('EENVELOPE', 'RCPT TO', recipients.at(-1) ?? noReply)
    else if (!data || !isReadyForText(data)) refused = refusal('EENVELOPE', 'DATA', data ?? noReply)
    if (!refused) return
    this.#needsReset = true
    // The server waits for the text nevertheless: send an empty one.
    if (data && isReadyForText(data)) await this.#ask('.\r\n')
    throw refused
  }

  /** The first has been written. */
  async #askOneByOne(commands: string[]): Promise<Reply[]> {
    const replies = await this.#answers(1)
    for (const [at, command] of commands.entries()) {
      if (at === 0) continue
      const isLast = at === commands.length - 1
      if ((at === 1 && !replies.every(isFine)) || (isLast && !replies.slice(1).some(isFine))) break
      replies.push(...(await this.#ask(command)))
    }
    return replies
  }

  #ask(text: string): Promise<Reply[]> {
    this.#write(text, 1)
    return this.#answers(1)
  }

  #write(text: string, replies: number): void {
    if (this.#failure) throw this.#failure
    this.#owed += replies
    if (this.#together === undefined) this.#socket.write(text, 'latin1')
    else this.#together += text
  }

  /** Writes all chunks but the last, each when the socket has room. @returns the last */
  async #writeMost(content: Buffer): Promise<string> {
    let from = 0
    while (content.length - from > chunkSize) {
      // A chunk ends with a line, so that dots at the start of a line can be doubled.
      const to = content.lastIndexOf('\n', from + chunkSize) + 1 || content.length
      if (to <= from) break
      if (this.#failure) throw this.#failure
      const hasRoom = this.#socket.write(dotStuffed(content.toString('latin1', from, to)), 'latin1')
      from = to
      if (!hasRoom) await this.#drained()
    }
    return dotStuffed(content.toString('latin1', from))
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#failure) return resolve()
      const done = () => {
        this.#socket.off('drain', done).off('close', done)
        resolve()
      }
      this.#socket.on('drain', done).on('close', done)
    })
  }

  #answers(count: number): Promise<Reply[]> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure)
      this.#wanted = { count, resolve, reject }
      this.#handOver()
    })
  }

  #handOver(): void {
    if (!this.#wanted || this.#replies.length < this.#wanted.count) return
    const { count, resolve } = this.#wanted
    this.#wanted = undefined
    resolve(this.#replies.splice(0, count))
  }

  #read(text: string): void {
    this.#text += text
    let from = 0
    for (;;) {
      const end = endOfReply(this.#text, from)
      if (end === undefined) break
      const line = this.#text.slice(from, end).trimEnd()
      from = end
      if (line !== '') this.#take({ code: Number(line.slice(0, 3)) || 0, text: line })
    }
    this.#text = this.#text.slice(from)
    if (this.#text.length > longestReply) this.destroy()
  }

  #take(reply: Reply): void {
    this.#owed -= 1
    this.#replies.push(reply)
    // First, because the replies before a 421 still count.
    this.#handOver()
    // "Closing transmission channel": too many mails, too many connections, or a shutdown.
    if (reply.code === 421) this.#end(textOf(reply), 421)
    // A reply to no command: the server refuses a text midway, or replies no longer line up with commands.
    else if (this.#owed < 0) {
      this.#end(textOf(reply), reply.code < 400 ? undefined : reply.code)
      this.#socket.destroy()
    }
  }

  /** @returns why the connection ended, now or earlier */
  #end(reason = closed, responseCode?: number): SmtpFailure {
    if (this.#failure) return this.#failure
    const mayHaveArrived = this.#sent !== undefined && responseCode === undefined
    const code = responseCode === undefined ? 'ECONNECTION' : 'EMESSAGE'
    const failure = new SmtpFailure(code, reason, { mayHaveArrived, responseCode })
    this.#failure = failure
    this.#wanted?.reject(failure)
    this.#wanted = undefined
    this.#onEnd()
    return failure
  }
}

const closed = 'The connection was closed'

/**
 * The only place that reads members of nodemailer which its documentation does not promise. STARTTLS replaces the socket we
 * passed in, and no option, event or method gives out the new one. The version is pinned, and a test fails when they go.
 */
export function insidesOf(connection: SmtpConnection): { socket: Socket; allowsAuth: boolean } {
  const { _socket: socket, allowsAuth } = connection as SmtpConnection & { allowsAuth: unknown }
  if (!(socket instanceof Socket) || typeof allowsAuth !== 'boolean')
    throw new Error('This version of nodemailer has no _socket or allowsAuth; take a session over in another way')
  return { socket, allowsAuth }
}

/** No mail was sent yet. */
function refuseToOpen(error: unknown): never {
  throw Object.assign(error as Error, { mayHaveArrived: false })
}

const noReply: Reply = { code: 0, text: 'The server gave no answer' }
const isFine = ({ code }: Reply) => code >= 200 && code < 300
/** Some servers answer 250 instead of 354. */
const isReadyForText = ({ code }: Reply) => code >= 200 && code < 400

const textOf = ({ text }: Reply) => Buffer.from(text, 'latin1').toString('utf8')

const refusal = (code: SmtpFailure['code'], command: string, reply: Reply) =>
  new SmtpFailure(code, textOf(reply), { command, responseCode: reply.code })

/** The extensions in the reply to EHLO, whose first line is the server's name. */
const offers = (greeting: string) =>
  new Set(
    greeting
      .split('\n')
      .slice(1)
      .map((line) => /^250[ -]([\w-]+)/.exec(line)?.[1]?.toUpperCase() ?? ''),
  )

/** The index after the reply's last line: the one without a hyphen after its code. */
function endOfReply(text: string, from: number): number | undefined {
  for (let start = from; ; ) {
    const end = text.indexOf('\n', start)
    if (end < 0) return undefined
    if (text[start + 3] !== '-') return end + 1
    start = end + 1
  }
}

/** A dot alone on its line ends a mail, so each line of the mail that starts with a dot gets a second one. */
const dotStuffed = (text: string) => {
  const inside = text.includes('\r\n.') ? text.replaceAll('\r\n.', '\r\n..') : text
  return inside.startsWith('.') ? `.${inside}` : inside
}
