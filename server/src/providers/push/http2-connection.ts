// One connection over HTTP/2, for many requests at a time. It is opened when first needed, and again after it was closed: by
// the other side, by its own silence, or because a request over it got no answer.
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { DeliveryError } from '../delivery-error.ts'
import { answerOf, type HttpAnswer, type HttpClient } from '../http-client.ts'

/** A connection that was quiet for longer may have been forgotten by something in between, without a word. */
const longestSilenceMs = 5 * 60_000
const mostBytes = 64 * 1024

interface Http2Request {
  path: string
  headers: Record<string, string>
  body: string
  /** For everything, connecting included. */
  timeoutMs: number
}

export class Http2Connection {
  readonly #host: string
  readonly #http: Pick<HttpClient, 'connectSecurely'>
  #session: Promise<ClientHttp2Session> | undefined

  constructor(host: string, http: Pick<HttpClient, 'connectSecurely'>) {
    this.#host = host
    this.#http = http
  }

  /** Any status is an answer; no answer is a `DeliveryError`. */
  async post(request: Http2Request): Promise<HttpAnswer> {
    const host = this.#host
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), request.timeoutMs)
    try {
      return await new Promise<HttpAnswer>((resolve, reject) => {
        late.signal.addEventListener('abort', () => reject(new DeliveryError('timeout', { host })))
        this.#try(request, late.signal).then(resolve, reject)
      })
    } finally {
      clearTimeout(timer)
    }
  }

  async #try(request: Http2Request, signal: AbortSignal, triesLeft = 1): Promise<HttpAnswer> {
    const opened = this.#open()
    signal.addEventListener('abort', () => void this.#retire(opened))
    const session = await opened
    try {
      return await exchange(session, this.#host, request, signal)
    } catch (error) {
      // The other side has not looked at it: it takes fewer at a time now, or the connection is at its end.
      const isUnseen = error instanceof DeliveryError && error.code === 'connection_lost' && !error.mayHaveArrived
      if (!isUnseen || triesLeft === 0 || signal.aborted) throw error
      return this.#try(request, signal, triesLeft - 1)
    }
  }

  /** What is still under way is lost. */
  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined)
    session?.destroy()
  }

  /** Whoever waits for an answer over it still gets theirs; nobody else is sent the same way. */
  async #retire(opened: Promise<ClientHttp2Session>): Promise<void> {
    if (this.#session === opened) this.#session = undefined
    const session = await opened.catch(() => undefined)
    session?.close()
  }

  #open(): Promise<ClientHttp2Session> {
    if (this.#session) return this.#session
    const opened = this.#connect(() => {
      if (this.#session === opened) this.#session = undefined
    })
    this.#session = opened
    return opened
  }

  async #connect(onEnd: () => void): Promise<ClientHttp2Session> {
    const host = this.#host
    try {
      const socket = await this.#http.connectSecurely(host, 443, 'h2')
      const session = connect(`https://${host}`, { createConnection: () => socket })
      session.setTimeout(longestSilenceMs, () => session.close())
      // The requests it takes down are told by their own streams.
      session.on('error', onEnd)
      session.on('goaway', onEnd)
      session.on('close', onEnd)
      // They say how many requests it takes at a time, which can be one: more than that would be refused.
      await new Promise<void>((resolve, reject) => {
        session.once('remoteSettings', () => resolve())
        session.once('close', () => reject(new DeliveryError('connection_lost', { host, mayHaveArrived: false })))
      })
      return session
    } catch (error) {
      onEnd()
      throw error
    }
  }
}

function exchange(
  session: ClientHttp2Session,
  host: string,
  { path, headers, body }: Http2Request,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const lost = (mayHaveArrived: boolean) => reject(new DeliveryError('connection_lost', { host, mayHaveArrived }))
    // It may have ended since it was chosen, and the caller may have gone while it was being opened.
    if (session.closed || session.destroyed || signal.aborted) return lost(false)
    const stream = session.request({ ...headers, ':method': 'POST', ':authority': host, ':path': path })
    let answered: { status: number; headers: Record<string, string | string[] | undefined> } | undefined
    const chunks: Buffer[] = []
    let bytes = 0
    signal.addEventListener('abort', () => stream.close(constants.NGHTTP2_CANCEL))
    stream.on('response', ({ ':status': status = 0, ...fields }) => {
      const named = Object.entries(fields).filter(([name]) => !name.startsWith(':'))
      answered = { status, headers: Object.fromEntries(named) as Record<string, string | string[] | undefined> }
    })
    stream.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= mostBytes) return void chunks.push(chunk)
      reject(new DeliveryError('answer_too_large', { host }))
      stream.close(constants.NGHTTP2_CANCEL)
    })
    stream.on('end', () => {
      if (answered) resolve(answerOf(answered.status, answered.headers, Buffer.concat(chunks).toString('utf8'), host))
    })
    // Its closing, which follows, says all there is to know.
    stream.on('error', () => undefined)
    // Refused says that the other side has not looked at it; RFC 9113, section 8.7. Too late after the answer.
    stream.on('close', () => lost(stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM))
    stream.end(body)
  })
}
