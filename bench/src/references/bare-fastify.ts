// What a user would write instead: a Fastify route that reads the trigger's JSON and answers. `node bare-fastify.js <port>`.
import fastify from 'fastify'

const data = { acknowledged: true, status: 'processed', transactionId: 'txn_000000000000000000000000' }
const app = fastify()
app.get('/health/live', async () => ({ status: 'ok' }))
app.post('/v1/events/trigger', async (_request, reply) => reply.code(201).send({ data }))
await app.listen({ host: '127.0.0.1', port: Number(process.argv[2]) })
