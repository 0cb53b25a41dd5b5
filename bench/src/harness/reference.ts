// Starts a reference as a process of its own, like the service and with its Node flags.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../server/test/free-port.ts'
import { flags, untilReady } from './service.ts'

export interface Reference {
  url: string
  pid: number
  stop(): void
}

/** `node <flags> references/<name>.js <arguments> <port>`. It answers `/health/live` once it listens. */
export async function startReference(name: string, args: string[] = []): Promise<Reference> {
  const port = await freePort()
  const program = fileURLToPath(new URL(`../references/${name}.js`, import.meta.url))
  const child = spawn(process.execPath, [...flags, program, ...args, String(port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  await untilReady(`${url}/health/live`, child)
  return { url, pid: child.pid ?? 0, stop: () => void child.kill('SIGTERM') }
}
