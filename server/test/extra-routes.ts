// The service with extra routes, for answers that no resource gives.
import { pino } from 'pino'
import { type Config, readConfig } from '../src/config.ts'
import { Changes } from '../src/db/core/changes.ts'
import { Secrets } from '../src/db/core/secrets.ts'
import { Engine } from '../src/engine/engine.ts'
import { buildApp } from '../src/http/app.ts'
import { Brand } from '../src/http/edge/brand.ts'
import { Metrics } from '../src/http/edge/metrics.ts'
import type { App } from '../src/http/edge/resource.ts'
import { HttpClient } from '../src/providers/http-client.ts'
import { Api, secretKey, type TestServer } from './server.ts'

/** A caller of such a service on the server's database, and a function to stop it. */
export async function serveWith(
  server: TestServer,
  register: (app: App) => void,
  config: Partial<Config> = {},
): Promise<{ api: Api; stop: () => Promise<void> }> {
  const { database, clock } = server
  const changes = new Changes(database.url, () => undefined)
  await changes.start()
  const http = new HttpClient({ clock, allowPrivateAddresses: true })
  const [secrets, brand, log] = [new Secrets(secretKey), new Brand('svc'), pino({ level: 'silent' })]
  const engine = new Engine({
    ...database,
    lookups: database.db,
    sessions: database.pool,
    clock,
    log,
    secrets,
    changes,
    http,
    publicUrl: 'http://localhost',
    receivesMail: false,
    brand,
    dedupDays: 30,
    activityDays: 90,
    startsAtOnce: false,
    storeContent: true,
  })
  const app = await buildApp({
    ...database,
    acts: database.pool,
    config: { ...readConfig({}).config, role: 'api', ...config },
    ...{ clock, secrets, changes, engine, http, brand, log },
    metrics: new Metrics({ ...database, clock }),
    stopping: { isStopping: false },
  })
  register(app)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const { key, environmentId, organizationId } = await server.freshApi()
  return {
    api: new Api(url, key, environmentId, organizationId),
    async stop() {
      await app.close()
      await http.close()
      await changes.stop()
    },
  }
}
