// The connections to one mail server: as many as there is work for, up to its limit. A mail waits for a place: a connection on which
// it can begin at once. With a place it asks whether it may be sent; in the turn it then gets, it begins. Some ask without one, because
// connections become free while a turn lasts. A mail that has not begun in its turn, or whose connection has ended before its text
// was sent, waits for a place and asks again.
import { endlessTurn, type Turn } from '../provider.ts'
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
type Begin = <T>(start: (turn: Turn) => Promise<T>) => Promise<T>

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

interface Waiting {
  give(place: Place): void
  fail(reason: unknown): void
}

/** In the time between: from the question whether a mail may be sent to its beginning. */
interface Place {
  /** Gives it back; again, it does nothing. */
  leave(): void
}

interface InTurn {
  start(): void
  /** Its turn is over. */
  miss(): void
  fail(reason: unknown): void
}

/** How long to open no more connections after the server refused one beside others. */
const limitMs = 60_000
/**
 * Mails for each connection that may ask without a place, so that it begins with several in a turn: 800 → 1,350/s with two, 1,450 with
 * four, no more with eight.
 */
const mostEarly = 4
/** RFC 5321: the server closes the connection. */
const closing = 421

const timedOut = (mayHaveArrived: boolean) =>
  new SmtpFailure('ETIMEDOUT', 'The mail server did not take the mail in time', { mayHaveArrived })

const atOnce: Begin = (start) => start(endlessTurn)

function placeOf(giveBack: () => void): Place {
  let isLeft = false
  const leave = () => {
    if (!isLeft) giveBack()
    isLeft = true
  }
  return { leave }
}

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
  /** Mails that have asked without a place, and have not begun. */
  #early = 0
  /** Mails that have not asked yet. */
  readonly #waiting: Waiting[] = []
  /** Those that have missed a turn: they get a place before others, and never ask without one. */
  readonly #askAgain: Waiting[] = []
  /** In their turn, without a place. */
  readonly #inTurn: InTurn[] = []
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
  }

  /**
   * The timeout is for getting a connection, and again for being sent, so that mails do not pile up for a server that hangs.
   * @param begin gives the mail its turn, in which its first command is written or its connection is opened
   * @returns the recipients that the server refused, beside others that it accepted
   */
  async send(mail: WholeMail, timeoutMs: number, begin: Begin = atOnce): Promise<RefusedRecipient[]> {
    let patienceMs = timeoutMs
    for (let mayBeEarly = true; ; mayBeEarly = false) {
      const asked = performance.now()
      const place = await this.#place(patienceMs, mayBeEarly)
      try {
        const outcome = await begin((turn) => this.#start(mail, timeoutMs, turn, place))
        if (outcome !== 'not sent') return outcome
      } finally {
        place.leave()
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

  #place(timeoutMs: number, mayBeEarly: boolean): Promise<Place> {
    return new Promise((resolve, reject) => {
      const list = mayBeEarly ? this.#waiting : this.#askAgain
      const waiting: Waiting = {
        give(place) {
          clearTimeout(timer)
          resolve(place)
        },
        fail(reason) {
          clearTimeout(timer)
          reject(reason as Error)
        },
      }
      const timer = setTimeout(() => {
        list.splice(list.indexOf(waiting), 1)
        reject(timedOut(false))
      }, timeoutMs)
      list.push(waiting)
      this.#givePlaces()
    })
  }

  /** How many mails could begin now. */
  get #able(): number {
    return this.#idle.length + this.#free.length + this.#openable
  }

  /** How many more connections may be opened now. */
  get #openable(): number {
    if (this.#limit && this.#limit.until < performance.now()) this.#limit = undefined
    // One connection goes first, to see whether the server is up and accepts the password.
    const most = this.#sessions === this.#opening ? 1 : (this.#limit?.sessions ?? this.#options.mostSessions)
    return Math.max(0, most - this.#sessions)
  }

  #givePlaces(): void {
    // First, though places were given: who holds one has its turn still to come.
    while (this.#inTurn.length > 0 && this.#able > 0) this.#inTurn.shift()?.start()
    for (const list of [this.#askAgain, this.#waiting])
      while (list.length > 0 && this.#given < this.#able) {
        this.#given += 1
        list.shift()?.give(placeOf(() => (this.#given -= 1)))
      }
    // A new connection takes longer than a turn.
    while (this.#waiting.length > 0 && this.#early < mostEarly * (this.#sessions - this.#opening)) {
      this.#early += 1
      this.#waiting.shift()?.give(placeOf(() => (this.#early -= 1)))
    }
  }

  #start(mail: WholeMail, timeoutMs: number, turn: Turn, place: Place): Promise<Outcome> {
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
      const start = () => {
        place.leave()
        if (turn.isOver) sending.end('not sent')
        else if (!sending.isOver) this.#begin(sending)
      }
      if (this.#able > 0) start()
      else this.#wait({ start, fail: sending.fail, miss: () => sending.end('not sent') }, turn)
    })
  }

  /** For a connection, while its turn lasts. */
  #wait({ start, miss, fail }: InTurn, turn: Turn): void {
    const waiting: InTurn = {
      start() {
        start()
        handedOver()
      },
      miss,
      fail(reason) {
        fail(reason)
        handedOver()
      },
    }
    this.#inTurn.push(waiting)
    const handedOver = turn.whenOver(() => {
      const at = this.#inTurn.indexOf(waiting)
      if (at < 0) return
      this.#inTurn.splice(at, 1)
      waiting.miss()
    })
  }

  #begin(sending: Sending): void {
    const line = this.#idle.pop() ?? this.#free.shift()
    if (line) {
      begin(line, sending)
      line.wake()
    } else void this.#work(sending)
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
      if (this.#sessions > 0) return
      const all = [...this.#inTurn.splice(0), ...this.#askAgain.splice(0), ...this.#waiting.splice(0)]
      for (const waiting of all) waiting.fail(error)
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
