// A load balancer in front of several processes: requests go round-robin to those that are ready, and a missing answer is a
// failure. It never retries, so it hides no request that the service dropped.
import { Agent, createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const lookEveryMs = 100

interface Backend {
  url: string
  isReady: boolean
  watched: Promise<void>
  leave: AbortController
}

export class Balancer {
  url = ''
  readonly #agent = new Agent({ keepAlive: true })
  readonly #backends = new Map<string, Backend>()
  readonly #server = createServer((request, response) => {
    const ready = [...this.#backends.values()].filter(({ isReady }) => isReady)
    const backend = ready[this.#turn++ % ready.length]
    if (!backend) return void response.writeHead(502).end('nobody is ready')
    const { method, headers, url: path = '/' } = request
    const passed = send(new URL(path, backend.url), { method, headers, agent: this.#agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', (error) => (response.headersSent ? response.destroy() : response.writeHead(502).end(`${error}`)))
    request.pipe(passed)
  })
  #turn = 0

  async start(): Promise<void> {
    // Must not close a connection at the moment its caller sends on it.
    this.#server.keepAliveTimeout = 600_000
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Routes requests there as soon as it is ready. */
  add(url: string): void {
    const backend: Backend = { url, isReady: false, leave: new AbortController(), watched: Promise.resolve() }
    backend.watched = this.#watch(backend)
    this.#backends.set(url, backend)
  }

  isReady(url: string): boolean {
    return this.#backends.get(url)?.isReady ?? false
  }

  async stop(): Promise<void> {
    for (const { leave } of this.#backends.values()) leave.abort()
    await Promise.all([...this.#backends.values()].map(({ watched }) => watched))
    this.#agent.destroy()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #watch(backend: Backend): Promise<void> {
    const { signal } = backend.leave
    while (!signal.aborted) {
      backend.isReady = await fetch(`${backend.url}/health/ready`, { signal }).then(
        async (answer) => (await answer.text()) !== '' && answer.status === 200,
        () => false,
      )
      await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined)
    }
  }
}
