// The connections to one mail server: as many as there is work for, up to its limit. A mail waits for a place, a connection on which
// it can begin at once, and only with one is it asked whether it may be sent: nothing waits between that answer and the first
// command. When a connection ends, a mail that the server cannot have accepted waits for a place, and is asked about, again.
import type { WholeMail } from './mime.ts'
import { type RefusedRecipient, SmtpFailure, type SmtpSession } from './smtp-session.ts'

interface Options {
  open(): Promise<SmtpSession>
  mostSessions: number
  /** Per connection; servers close one that has sent many. */
  mostMails: number
  idleMs: number
}

/** Decides whether a mail begins; then it calls this, once at most. */
type Begin = <T>(start: () => Promise<T>) => Promise<T>

/** It was not sent: it needs another place. */
type Outcome = RefusedRecipient[] | 'not sent'

interface Sending {
  mail: WholeMail
  isOver: boolean
  /** Where it is being sent, once it is that connection's turn. */
  session: SmtpSession | undefined
  end(outcome: Outcome): void
  fail(reason: unknown): void
}

interface Line {
  session: SmtpSession
  /** The one that is being sent, and the one that has begun behind its text. */
  mails: Sending[]
  /** Ends its wait for work. */
  wake: () => void
}

/** How long to open no more connections after the server refused one beside others. */
const limitMs = 60_000
/** RFC 5321: the server closes the connection. */
const closing = 421

const timedOut = (mayHaveArrived: boolean) =>
  new SmtpFailure('ETIMEDOUT', 'The mail server did not take the mail in time', { mayHaveArrived })

export class SmtpPool {
  readonly #options: Options
  /** Connections without work, the most recently used last. */
  readonly #idle: Line[] = []
  /** Those that have written a text and nothing behind it, the first to be answered first. */
  readonly #free: Line[] = []
  /** Open, or being opened. */
  #sessions = 0
  #opening = 0
  #limit: { sessions: number; until: number } | undefined
  /** Places given to mails that have not begun. */
  #given = 0
  readonly #waiting: Array<{ give(): void; fail(reason: unknown): void }> = []
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * The timeout is for getting a connection, and again for being sent, so that mails do not pile up for a server that hangs.
   * @param begin is asked when the mail can begin, and begins it: its first command is written, or its connection is being opened,
   * when `start` returns
   * @returns the recipients that the server refused, beside others that it accepted
   */
  async send(mail: WholeMail, timeoutMs: number, begin: Begin = (start) => start()): Promise<RefusedRecipient[]> {
    let patienceMs = timeoutMs
    for (;;) {
      const asked = performance.now()
      await this.#place(patienceMs)
      let hasPlace = true
      const leave = () => {
        if (hasPlace) this.#given -= 1
        hasPlace = false
      }
      try {
        const outcome = await begin(() => {
          leave()
          return this.#start(mail, timeoutMs)
        })
        if (outcome !== 'not sent') return outcome
      } finally {
        leave()
        this.#givePlaces()
      }
      patienceMs -= performance.now() - asked
      if (patienceMs <= 0) throw timedOut(false)
    }
  }

  /** Connections in use close after their current mail. */
  close(): void {
    this.#isClosed = true
    for (const line of this.#idle.splice(0)) line.wake()
  }

  #place(timeoutMs: number): Promise<void> {
    if (this.#hasPlace) {
      this.#given += 1
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const waiting = {
        give: () => {
          clearTimeout(timer)
          this.#given += 1
          resolve()
        },
        fail(reason: unknown) {
          clearTimeout(timer)
          reject(reason as Error)
        },
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1)
        reject(timedOut(false))
      }, timeoutMs)
      this.#waiting.push(waiting)
    })
  }

  get #hasPlace(): boolean {
    return this.#given < this.#idle.length + this.#free.length + this.#openable
  }

  /** How many more connections may be opened now. */
  get #openable(): number {
    if (this.#limit && this.#limit.until < performance.now()) this.#limit = undefined
    // One connection goes first, to see whether the server is up and accepts the password.
    const most = this.#sessions === this.#opening ? 1 : (this.#limit?.sessions ?? this.#options.mostSessions)
    return Math.max(0, most - this.#sessions)
  }

  #givePlaces(): void {
    while (this.#waiting.length > 0 && this.#hasPlace) this.#waiting.shift()?.give()
  }

  #start(mail: WholeMail, timeoutMs: number): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const over = () => {
        clearTimeout(timer)
        sending.isOver = true
      }
      const sending: Sending = {
        mail,
        isOver: false,
        session: undefined,
        end(outcome) {
          over()
          resolve(outcome)
        },
        fail(reason) {
          over()
          reject(reason as Error)
        },
      }
      const timer = setTimeout(() => {
        const { session } = sending
        sending.fail(timedOut(session?.mayHave(mail) ?? false))
        session?.destroy()
      }, timeoutMs)
      const line = this.#idle.pop() ?? this.#free.shift()
      if (line) {
        begin(line, sending)
        line.wake()
      } else if (this.#openable > 0) void this.#work(sending)
      // The connection it was to have has ended.
      else sending.end('not sent')
    })
  }

  async #work(first: Sending): Promise<void> {
    this.#sessions += 1
    this.#opening += 1
    let session: SmtpSession
    try {
      session = await this.#options.open()
    } catch (error) {
      this.#refused(error, first)
      return
    } finally {
      this.#opening -= 1
      this.#givePlaces()
    }
    await this.#serve(session, first)
    this.#sessions -= 1
    this.#givePlaces()
  }

  #refused(error: unknown, first: Sending): void {
    const others = this.#sessions - this.#opening
    this.#sessions -= 1
    // Beside others it may be one too many; without others, no mail can be sent.
    if (others > 0) {
      this.#limit = { sessions: this.#sessions, until: performance.now() + limitMs }
      first.end('not sent')
    } else {
      first.fail(error)
      if (this.#sessions === 0) for (const waiting of this.#waiting.splice(0)) waiting.fail(error)
    }
  }

  async #serve(session: SmtpSession, first: Sending): Promise<void> {
    const { mostMails } = this.#options
    const line: Line = { session, mails: [], wake: () => undefined }
    session.onOver = () => {
      this.#withdraw(line)
      line.wake()
    }
    session.onFree = () => {
      if (session.mails + 1 >= mostMails) return
      this.#free.push(line)
      this.#givePlaces()
    }
    if (!first.isOver) begin(line, first)
    while (session.mails < mostMails && !session.isOver) {
      if (line.mails.length === 0) await this.#workFor(line)
      const [sending] = line.mails
      if (!sending) break
      await deliver(line, sending)
      this.#withdraw(line)
      line.mails.shift()
      // The next mail has timed out, and its commands are sent: only closing the connection stops it.
      if (line.mails[0]?.isOver) session.destroy()
      if (line.mails.length === 0) await session.reset()
    }
    for (const sending of line.mails) if (!sending.isOver) sending.end('not sent')
    session.quit()
  }

  #withdraw(line: Line): void {
    for (const list of [this.#idle, this.#free]) {
      const at = list.indexOf(line)
      if (at >= 0) list.splice(at, 1)
    }
  }

  /** Until a mail has begun; or for too long, or until the connection or the pool has ended. */
  async #workFor(line: Line): Promise<void> {
    if (this.#isClosed || line.session.isOver) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => line.wake(), this.#options.idleMs)
      line.wake = () => {
        clearTimeout(timer)
        resolve()
      }
      this.#idle.push(line)
      this.#givePlaces()
    })
    line.wake = () => undefined
    this.#withdraw(line)
  }
}

function begin({ session, mails }: Line, sending: Sending): void {
  mails.push(sending)
  session.begin(sending.mail)
}

async function deliver({ session }: Line, sending: Sending): Promise<void> {
  sending.session = session
  const before = session.mails
  try {
    sending.end(await session.deliver(sending.mail))
  } catch (error) {
    const { responseCode = closing } = error as SmtpFailure
    // A connection that has delivered before does not end because of this mail, unless the server refused the mail itself.
    const isLost = session.isOver && before > 0 && responseCode === closing
    if (isLost && session.mails === before && !session.mayHave(sending.mail)) sending.end('not sent')
    else sending.fail(error)
  }
}
