// The service's HTTP layer with an engine that does nothing: same route, authentication, validation and answer. A separate
// process, like the service: `node without-work.js <database url> <secret> <port>`.
import { pino } from 'pino'
import { readConfig } from '../../../server/src/config.ts'
import { Changes } from '../../../server/src/db/core/changes.ts'
import { openDatabase } from '../../../server/src/db/core/database.ts'
import { Secrets } from '../../../server/src/db/core/secrets.ts'
import type { Engine } from '../../../server/src/engine/engine.ts'
import { buildApp } from '../../../server/src/http/app.ts'
import { Brand } from '../../../server/src/http/edge/brand.ts'
import { Metrics } from '../../../server/src/http/edge/metrics.ts'
import { HttpClient } from '../../../server/src/providers/http-client.ts'

const [databaseUrl = '', secretKey = '', port = '0'] = process.argv.slice(2)
const clock = { now: () => new Date() }
const onError = (error: Error) => process.stderr.write(`${error.message}\n`)
const database = openDatabase(databaseUrl, { connections: 5, onError })
const changes = new Changes(databaseUrl, onError)
await changes.start()
const engine = {
  trigger: async () => ({ status: 'processed', transactionId: 'txn_000000000000000000000000' }),
} as unknown as Engine

const surroundings = { ...database, clock }
const app = await buildApp({
  ...database,
  acts: database.pool,
  config: { ...readConfig({}).config, role: 'api' },
  ...{ clock, changes, engine },
  secrets: new Secrets(secretKey),
  http: new HttpClient({ clock, allowPrivateAddresses: false }),
  brand: new Brand('svc'),
  log: pino({ level: 'warn' }),
  stopping: { isStopping: false },
  metrics: new Metrics(surroundings),
})
await app.listen({ host: '127.0.0.1', port: Number(port) })
process.on('SIGTERM', () => process.exit(0))
