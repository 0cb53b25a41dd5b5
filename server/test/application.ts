// A user's application with code-first workflows, written with the public library and served over HTTP.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Client, NovuRequestHandler, type Workflow } from '@novu/framework/express'
import { afterAll, beforeAll, beforeEach } from 'vitest'

export interface Application {
  readonly url: string
  /** Sets its workflows, and the key that requests must be signed with. */
  serves(workflows: Workflow[], secretKey: string): void
  /** Whether a proxy answers for it, as during a deployment. */
  isAway: boolean
  /** The `action` of each request since the test began. */
  readonly actions: string[]
}

/** Starts before the tests of a file and stops after them. */
export function useApplication(): Application {
  const actions: string[] = []
  let handle = handlerOf([], 'nobody')
  let server: Server
  let url = ''

  beforeAll(async () => {
    server = createServer((request, response) => {
      void (async () => {
        const body = await text(request)
        actions.push(urlOf(request).searchParams.get('action') ?? '')
        if (application.isAway) return void response.writeHead(502).end('Bad gateway')
        const { status, headers, body: answer } = await handle(request, body === '' ? {} : JSON.parse(body))
        response.writeHead(status, headers).end(answer)
      })()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/bridge`
  })
  beforeEach(() => {
    actions.length = 0
  })
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })

  const application: Application = {
    get url() {
      return url
    },
    serves(workflows, secretKey) {
      handle = handlerOf(workflows, secretKey)
    },
    isAway: false,
    actions,
  }
  return application
}

const urlOf = (request: IncomingMessage) => new URL(request.url ?? '', 'http://application')

interface Answered {
  status: number
  headers: Record<string, string>
  body: string
}

function handlerOf(workflows: Workflow[], secretKey: string) {
  const client = new Client({ secretKey, strictAuthentication: true, verbose: false })
  const handler = new NovuRequestHandler<[IncomingMessage, unknown], Answered>({
    frameworkName: 'node',
    client,
    workflows,
    handler: (request, body) => ({
      body: () => body,
      headers: (name) => String(request.headers[name.toLowerCase()] ?? ''),
      method: () => request.method ?? 'GET',
      url: () => urlOf(request),
      queryString: (name) => urlOf(request).searchParams.get(name),
      transformResponse: (answer) => answer,
    }),
  })
  return handler.createHandler()
}
