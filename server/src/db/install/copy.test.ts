import { createHash } from 'node:crypto'
import { setImmediate as moment } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { useServer } from '../../../test/server.ts'
import { copyOut } from './copy.ts'

const server = useServer()

test('rows arrive unchanged, even if read slowly', async () => {
  const line = (n: number) =>
    `${n}\t${createHash('md5')
      .update(String(n))
      .digest('hex')
      .repeat(1 + (n % 50))}\n`
  const client = await server.database.pool.connect()
  try {
    const query = 'SELECT n, repeat(md5(n::text), 1 + n % 50) FROM generate_series(1, 20000) n'
    const copy = copyOut(client, query)
    const chunks: Buffer[] = []
    for await (const chunk of copy) {
      chunks.push(chunk)
      for (let i = 0; i < 20; i += 1) await moment()
    }
    expect(await copy.rows).toBe(20_000)
    const lines = Buffer.concat(chunks).toString().split('\n').slice(0, -1)
    expect(lines.filter((each, index) => `${each}\n` !== line(index + 1))).toEqual([])
    expect(lines).toHaveLength(20_000)
  } finally {
    client.release(true)
  }
})
