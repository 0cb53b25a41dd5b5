import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyReply } from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { goneWith } from './hang-up.ts'

test('who hangs up is gone, also if that was before anybody asked', async () => {
  const server = createServer().listen(0)
  onTestFinished(() => void server.close())
  const caller = new AbortController()
  const { port } = server.address() as AddressInfo
  const asked = fetch(`http://localhost:${port}`, { signal: caller.signal }).catch(
    (error: unknown) => (error as Error).name,
  )
  const [, raw] = (await once(server, 'request')) as [unknown, ServerResponse]
  const reply = { raw } as unknown as FastifyReply
  const gone = goneWith(reply)
  expect(gone.aborted).toBe(false)
  const closed = once(raw, 'close')
  caller.abort()
  await closed
  expect(await asked).toBe('AbortError')
  expect(gone.aborted).toBe(true)
  expect(goneWith(reply).aborted).toBe(true)
})
