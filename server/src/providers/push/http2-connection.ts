// One HTTP/2 connection for many concurrent requests. It is opened on demand, and again after it closed: by the other side,
// after too long without traffic, or because a request timed out.
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { DeliveryError } from '../delivery-error.ts'
import { answerOf, type HttpAnswer, type HttpClient } from '../http-client.ts'

/** A NAT or firewall may silently drop a connection that is idle for longer. */
const idleTimeoutMs = 5 * 60_000
const mostBytes = 64 * 1024

interface Http2Request {
  path: string
  headers: Record<string, string>
  body: string
  /** Including the connection. */
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

  /** Returns any status; throws a `DeliveryError` if there is no answer. */
  async post(request: Http2Request): Promise<HttpAnswer> {
    const host = this.#host
    const timeout = new AbortController()
    const timer = setTimeout(() => timeout.abort(), request.timeoutMs)
    try {
      return await new Promise<HttpAnswer>((resolve, reject) => {
        timeout.signal.addEventListener('abort', () => reject(new DeliveryError('timeout', { host })))
        this.#try(request, timeout.signal).then(resolve, reject)
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
      // The other side did not process it: it lowered its limit of streams, or is closing the connection.
      const isUnprocessed = error instanceof DeliveryError && error.code === 'connection_lost' && !error.mayHaveArrived
      if (!isUnprocessed || triesLeft === 0 || signal.aborted) throw error
      return this.#try(request, signal, triesLeft - 1)
    }
  }

  /** Requests in flight are lost. */
  async close(): Promise<void> {
    const session = await this.#session?.catch(() => undefined)
    session?.destroy()
  }

  /** Requests in flight finish; new ones open another connection. */
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
      session.setTimeout(idleTimeoutMs, () => session.close())
      // Each request learns of the error from its own stream.
      session.on('error', onEnd)
      session.on('goaway', onEnd)
      session.on('close', onEnd)
      // Wait for the server's settings: they limit concurrent streams, possibly to one, and more would be refused.
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
    // The connection may have closed, or the request timed out, in the meantime.
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
    // Handled by 'close', which follows.
    stream.on('error', () => undefined)
    // A refused stream was not processed (RFC 9113, section 8.7). Has no effect after an answer.
    stream.on('close', () => lost(stream.rstCode !== constants.NGHTTP2_REFUSED_STREAM))
    stream.end(body)
  })
}
