// Ports for programs that tests start. Below the range from which the system hands out ports by itself (Linux: 32768, macOS:
// 49152), so that no server or connection that asks for any port takes one between finding it and using it.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    if (await isFree(port)) return port
  }
}

export async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  return new Promise((resolve, reject) => {
    probe.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false)
      else reject(error)
    })
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
