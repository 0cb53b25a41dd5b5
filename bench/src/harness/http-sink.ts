// The HTTP server that receives deliveries. As light as the client in load.ts, because it shares the machine with the
// measured service and its database.
import { type AddressInfo, createServer, type Socket } from 'node:net'

export interface Said {
  status: number
  body: string
  headers?: Record<string, string>
}

export interface HttpSink {
  url: string
  /** The peak of open connections. */
  mostOpen(): number
  stop(): void
}

/** @param hear receives the body of each request; returning undefined leaves the request unanswered */
export async function startHttpSink(hear: (body: string) => Said | undefined): Promise<HttpSink> {
  const open = new Set<Socket>()
  let most = 0
  const server = createServer((socket) => {
    open.add(socket)
    most = Math.max(most, open.size)
    socket.setNoDelay(true)
    // One character per byte, because Content-Length counts bytes.
    socket.setEncoding('latin1')
    socket.on('error', () => socket.destroy())
    socket.on('close', () => open.delete(socket))
    let received = ''
    socket.on('data', (text: string) => {
      received += text
      for (;;) {
        const head = received.indexOf('\r\n\r\n')
        if (head < 0) return
        const length = Number(/\ncontent-length: (\d+)/i.exec(received)?.[1] ?? 0)
        const end = head + 4 + length
        if (received.length < end) return
        const said = hear(received.slice(head + 4, end))
        received = received.slice(end)
        if (said) socket.write(textOf(said))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mostOpen: () => most,
    stop() {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

function textOf({ status, body, headers = {} }: Said): string {
  const all = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Said\r\n${lines.join('')}\r\n${body}`
}
