// A mail server that accepts and discards every mail. A separate process, so that it takes no time from the benchmark: it
// sends its parent the port, and on request the number of mails accepted.
import { type AddressInfo, createServer, type Socket } from 'node:net'

let taken = 0
const answers = new Map([
  ['EHLO', '250-sink\r\n250-PIPELINING\r\n250 8BITMIME\r\n'],
  ['DATA', '354 go on\r\n'],
])
const endOfMail = Buffer.from('\r\n.\r\n')

const server = createServer((socket) => {
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  talk(socket)
})

function talk(socket: Socket): void {
  let waiting: Buffer = Buffer.alloc(0)
  let isMail = false
  socket.write('220 sink\r\n')
  socket.on('data', (chunk: Buffer) => {
    // Answer pipelined commands in one packet.
    socket.cork()
    answer(chunk)
    socket.uncork()
  })

  function answer(chunk: Buffer): void {
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
    for (;;) {
      const end = waiting.indexOf(isMail ? endOfMail : '\r\n')
      if (end < 0) return
      if (isMail) {
        waiting = waiting.subarray(end + endOfMail.length)
        isMail = false
        taken += 1
        socket.write('250 taken\r\n')
        continue
      }
      const command = waiting.toString('latin1', 0, Math.min(end, 4)).toUpperCase()
      waiting = waiting.subarray(end + 2)
      isMail = command === 'DATA'
      socket.write(answers.get(command) ?? '250 fine\r\n')
      if (command === 'QUIT') return void socket.end()
    }
  }
}

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', () => process.send?.({ taken }))
process.on('disconnect', () => process.exit(0))
