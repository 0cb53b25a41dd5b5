// The floor of any service in Node: its own HTTP server, which reads the trigger's JSON and answers. `node bare-http.js <port>`.
import { createServer } from 'node:http'

const data = { acknowledged: true, status: 'processed', transactionId: 'txn_000000000000000000000000' }
createServer((request, reply) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => parts.push(part))
  request.on('end', () => {
    if (request.method === 'POST') JSON.parse(Buffer.concat(parts).toString())
    const text = JSON.stringify({ data })
    reply.writeHead(201, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) }).end(text)
  })
}).listen(Number(process.argv[2]), '127.0.0.1')
