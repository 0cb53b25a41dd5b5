// Requests with an Upgrade header. A server may ignore the offer (RFC 9110, 7.8), and Node does, until somebody listens for
// upgrades: then it sends all of them there, not only those for web sockets. Java's client offers HTTP/2 with every first
// request, as does `curl --http2`.
import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'

const ofTheOffer = new Set(['connection', 'upgrade', 'http2-settings'])

/** Hands a request back to the server without its upgrade; the connection continues as HTTP/1.1. */
export function declineProtocol(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = request
  const lines = [`${method} ${url} HTTP/${httpVersion}`]
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    if (!ofTheOffer.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[at + 1]}`)
  }
  if (/\bclose\b/i.test(request.headers.connection ?? '')) lines.push('Connection: close')
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}
