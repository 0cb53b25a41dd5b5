// The connections to one mail server: as many as there is work for, up to its limit. Mails queue for them. When a connection
// ends, a mail that the server cannot have accepted goes back into the queue.
import type { WholeMail } from './mime.ts'
import { type RefusedRecipient, SmtpFailure, type SmtpSession } from './smtp-session.ts'

interface Options {
  open(): Promise<SmtpSession>
  mostSessions: number
  /** Per connection; servers close one that has sent many. */
  mostMails: number
  idleMs: number
}

interface Waiting {
  mail: WholeMail
  /** Where it is being sent. */
  session: SmtpSession | undefined
  isOver: boolean
  resolve(refused: RefusedRecipient[]): void
  reject(reason: unknown): void
}

/** How long to open no more connections after the server refused one beside others. */
const limitMs = 60_000
/** RFC 5321: the server closes the connection. */
const closing = 421

export class SmtpPool {
  readonly #options: Options
  readonly #queue: Waiting[] = []
  /** Connections without work, the most recently used last. */
  readonly #idle: Array<(waiting?: Waiting) => void> = []
  /** Open, or being opened. */
  #sessions = 0
  #opening = 0
  #limit: { sessions: number; until: number } | undefined
  /** Places in the queue that were given to mails about to be sent. */
  #reserved = 0
  readonly #wantPlace: Array<() => void> = []
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * The timeout includes the wait for a connection, so that mails do not pile up for a server that hangs.
   * @returns the recipients that the server refused, beside others that it accepted
   */
  send(mail: WholeMail, timeoutMs: number): Promise<RefusedRecipient[]> {
    return new Promise((resolve, reject) => {
      const over = () => {
        clearTimeout(timer)
        waiting.isOver = true
      }
      const waiting: Waiting = {
        mail,
        session: undefined,
        isOver: false,
        resolve(refused) {
          over()
          resolve(refused)
        },
        reject(reason) {
          over()
          reject(reason as Error)
        },
      }
      const timer = setTimeout(() => this.#giveUp(waiting), timeoutMs)
      const idle = this.#idle.pop()
      if (idle) return idle(waiting)
      this.#queue.push(waiting)
      this.#grow()
    })
  }

  /**
   * Waits until a mail would be next on its connection: its commands follow the text of the mail before. Whoever decides then
   * whether to send it, decides at the last moment.
   * @returns gives the place back; to be called when the mail is sent, or is not sent after all
   */
  async place(timeoutMs: number): Promise<() => void> {
    if (!this.#hasPlace) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => {
          this.#wantPlace.splice(this.#wantPlace.indexOf(take), 1)
          reject(
            new SmtpFailure('ETIMEDOUT', 'The mail server did not take the mail in time', { mayHaveArrived: false }),
          )
        }, timeoutMs)
        const take = () => {
          clearTimeout(timer)
          this.#reserved += 1
          resolve()
        }
        this.#wantPlace.push(take)
      })
    } else this.#reserved += 1
    let isGiven = true
    return () => {
      if (!isGiven) return
      isGiven = false
      this.#reserved -= 1
      this.#offerPlaces()
    }
  }

  get #hasPlace(): boolean {
    return this.#queue.length + this.#reserved < this.#options.mostSessions
  }

  #offerPlaces(): void {
    while (this.#wantPlace.length > 0 && this.#hasPlace) this.#wantPlace.shift()?.()
  }

  /** Connections in use close after their current mail. */
  close(): void {
    this.#isClosed = true
    for (const end of this.#idle.splice(0)) end()
  }

  #giveUp(waiting: Waiting): void {
    const { session, mail } = waiting
    const mayHaveArrived = session?.mayHave(mail) ?? false
    waiting.reject(new SmtpFailure('ETIMEDOUT', 'The mail server did not take the mail in time', { mayHaveArrived }))
    const place = this.#queue.indexOf(waiting)
    if (place >= 0) {
      this.#queue.splice(place, 1)
      this.#offerPlaces()
    } else session?.destroy()
  }

  #grow(): void {
    if (this.#limit && this.#limit.until < performance.now()) this.#limit = undefined
    // One connection goes first, to see whether the server is up and accepts the password.
    const most = this.#sessions === this.#opening ? 1 : (this.#limit?.sessions ?? this.#options.mostSessions)
    while (this.#queue.length > this.#opening && this.#sessions < most) {
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
    // Beside others it may be one too many; without others, no mail can be sent.
    if (others > 0) this.#limit = { sessions: this.#sessions, until: performance.now() + limitMs }
    else if (this.#sessions === 0) {
      for (const waiting of this.#queue.splice(0)) waiting.reject(error)
      this.#offerPlaces()
    }
  }

  async #serve(session: SmtpSession): Promise<void> {
    const { mostMails } = this.#options
    /** The mail whose commands the server has already, if any. */
    const begun: Waiting[] = []
    const following = () => {
      if (session.mails + 1 < mostMails) begun.push(...this.#next())
      return begun[0]?.mail
    }
    while (!session.isOver && session.mails < mostMails) {
      const current = begun.pop() ?? this.#next()[0] ?? (await this.#nextFor(session))
      if (!current) break
      current.session = session
      const mailsBefore = session.mails
      try {
        current.resolve(await session.deliver(current.mail, following))
      } catch (error) {
        const { responseCode = closing } = error as SmtpFailure
        // A connection that has delivered before does not end because of this mail, unless the server refused the mail itself.
        const isLost = session.isOver && mailsBefore > 0 && responseCode === closing
        if (isLost && session.mails === mailsBefore && !session.mayHave(current.mail)) this.#takeBack(current)
        else current.reject(error)
      }
      // The next mail has timed out, and its commands are sent: only closing the connection stops it.
      if (begun[0]?.isOver) session.destroy()
    }
    for (const waiting of begun) this.#takeBack(waiting)
    session.quit()
  }

  /** The first in the queue, if any. */
  #next(): Waiting[] {
    const first = this.#queue.splice(0, 1)
    if (first.length > 0) this.#offerPlaces()
    return first
  }

  #takeBack(waiting: Waiting): void {
    if (waiting.isOver) return
    waiting.session = undefined
    const idle = this.#idle.pop()
    if (idle) idle(waiting)
    else this.#queue.unshift(waiting)
  }

  /** Undefined after too long without work. */
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
