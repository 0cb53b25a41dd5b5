// What somebody would write by hand: a Fastify route that reads the recipient and stores the rows of a notification in one
// transaction; and one that commits a number, the floor of any answer in Node that waits for a commit.
// `node hand-written.js <database url> <port>`.
import fastify from 'fastify'
import pg from 'pg'
import { idsOfOne, insertOf, readExamples } from './storage-floor.ts'

const [connectionString = '', port = '0'] = process.argv.slice(2)
const data = { acknowledged: true, status: 'processed', transactionId: 'txn_000000000000000000000000' }
const pool = new pg.Pool({ connectionString })
const examples = await readExamples(pool)

const app = fastify()
app.get('/health/live', async () => ({ status: 'ok' }))
app.post('/commit', async (_request, reply) => {
  await pool.query({ name: 'commit', text: 'INSERT INTO bench_empty VALUES (1)' })
  return reply.code(201).send({ data })
})
app.post<{ Body: { to: string } }>('/v1/events/trigger', async ({ body }, reply) => {
  const client = await pool.connect()
  const find = 'SELECT * FROM subscribers WHERE environment_id = $1 AND subscriber_id = $2'
  await client.query('BEGIN')
  await client.query({ name: 'find', text: find, values: [examples.get('events')?.environment_id, body.to] })
  const ids = idsOfOne()
  for (const [table, example] of examples) await client.query(insertOf(table, example, [ids]))
  await client.query('COMMIT')
  client.release()
  return reply.code(201).send({ data })
})
await app.listen({ host: '127.0.0.1', port: Number(port) })
