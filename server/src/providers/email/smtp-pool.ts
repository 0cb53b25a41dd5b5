// The connections to one mail server: as many as there is work for, up to what it allows. Mails wait in line for them, and one
// that no server can have got yet goes back into the line when its connection ends.
import type { WholeMail } from './mime.ts'
import { SmtpFailure, type SmtpSession } from './smtp-session.ts'

interface Options {
  open(): Promise<SmtpSession>
  /** At a time. */
  mostSessions: number
  /** After which a server may be tired of a connection. */
  mostMails: number
  idleMs: number
}

interface Waiting {
  mail: WholeMail
  /** The one that sends it now. */
  session: SmtpSession | undefined
  isOver: boolean
  resolve(): void
  reject(reason: unknown): void
}

/** For so long a server that refused a connection beside others is not asked for more. */
const contentMs = 60_000
/** The server's number for the end of a connection. */
const goodBye = 421

export class SmtpPool {
  readonly #options: Options
  readonly #line: Waiting[] = []
  /** Connections without work, the last one to become so at the end. */
  readonly #idle: Array<(waiting?: Waiting) => void> = []
  /** Open, or being opened. */
  #sessions = 0
  #opening = 0
  #limit: { sessions: number; until: number } | undefined
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Waiting for a connection counts: a server that hangs must not gather those who wait for it. */
  send(mail: WholeMail, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const over = () => {
        clearTimeout(timer)
        waiting.isOver = true
      }
      const waiting: Waiting = {
        mail,
        session: undefined,
        isOver: false,
        resolve() {
          over()
          resolve()
        },
        reject(reason) {
          over()
          reject(reason as Error)
        },
      }
      const timer = setTimeout(() => this.#giveUp(waiting), timeoutMs)
      const idle = this.#idle.pop()
      if (idle) return idle(waiting)
      this.#line.push(waiting)
      this.#grow()
    })
  }

  /** Those in use end with what they are about. */
  close(): void {
    this.#isClosed = true
    for (const end of this.#idle.splice(0)) end()
  }

  #giveUp(waiting: Waiting): void {
    const { session, mail } = waiting
    const mayHaveArrived = session?.mayHave(mail) ?? false
    waiting.reject(new SmtpFailure('ETIMEDOUT', 'The mail server did not take the mail in time', { mayHaveArrived }))
    const place = this.#line.indexOf(waiting)
    if (place >= 0) this.#line.splice(place, 1)
    else session?.destroy()
  }

  #grow(): void {
    if (this.#limit && this.#limit.until < performance.now()) this.#limit = undefined
    // One tries whether the server is there at all, and takes the password.
    const most = this.#sessions === this.#opening ? 1 : (this.#limit?.sessions ?? this.#options.mostSessions)
    while (this.#line.length > this.#opening && this.#sessions < most) {
      this.#sessions += 1
      this.#opening += 1
      void this.#work()
    }
  }

  async #work(): Promise<void> {
    let session: SmtpSession
    try {
      session = await this.#options.open()
    } catch (error) {
      this.#refused(error)
      return
    } finally {
      this.#opening -= 1
    }
    this.#grow()
    await this.#serve(session)
    this.#sessions -= 1
    this.#grow()
  }

  #refused(error: unknown): void {
    const others = this.#sessions - this.#opening
    this.#sessions -= 1
    // With others open it may be one too many; without any, nobody's mail can be sent.
    if (others > 0) this.#limit = { sessions: this.#sessions, until: performance.now() + contentMs }
    else if (this.#sessions === 0) for (const waiting of this.#line.splice(0)) waiting.reject(error)
  }

  async #serve(session: SmtpSession): Promise<void> {
    const { mostMails } = this.#options
    /** Whose commands the server has already. */
    const begun: Waiting[] = []
    const following = () => {
      if (session.mails + 1 < mostMails) begun.push(...this.#line.splice(0, 1))
      return begun[0]?.mail
    }
    while (!session.isOver && session.mails < mostMails) {
      const current = begun.pop() ?? this.#line.shift() ?? (await this.#nextFor(session))
      if (!current) break
      current.session = session
      const mailsBefore = session.mails
      try {
        await session.deliver(current.mail, following)
        current.resolve()
      } catch (error) {
        const { responseCode = goodBye } = error as SmtpFailure
        // A connection that has taken mails before ends for reasons that are not this one's, unless it was refused itself.
        const isLost = session.isOver && mailsBefore > 0 && responseCode === goodBye
        if (isLost && session.mails === mailsBefore && !session.mayHave(current.mail)) this.#takeBack(current)
        else current.reject(error)
      }
      // Where it is too late for the next one, only the end of the connection stops it.
      if (begun[0]?.isOver) session.destroy()
    }
    for (const waiting of begun) this.#takeBack(waiting)
    session.quit()
  }

  #takeBack(waiting: Waiting): void {
    if (waiting.isOver) return
    waiting.session = undefined
    const idle = this.#idle.pop()
    if (idle) idle(waiting)
    else this.#line.unshift(waiting)
  }

  /** Undefined when there is nothing to do for too long. */
  #nextFor(session: SmtpSession): Promise<Waiting | undefined> {
    if (this.#isClosed || session.isOver) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const give = (waiting?: Waiting) => {
        clearTimeout(timer)
        const place = this.#idle.indexOf(give)
        if (place >= 0) this.#idle.splice(place, 1)
        resolve(waiting)
      }
      const timer = setTimeout(give, this.#options.idleMs)
      session.onOver = () => give()
      this.#idle.push(give)
    })
  }
}
