// Integrations inserted directly into the database.
import { newId } from '../src/db/core/ids.ts'
import { Secrets } from '../src/db/core/secrets.ts'
import { type Api, secretKey, type TestServer } from './server.ts'

interface Wanted {
  identifier: string
  provider?: string
  channel?: string
  /** In plain text; secret ones are stored encrypted. */
  credentials?: Record<string, string>
  active?: boolean
}

/** @returns its internal id */
export async function addIntegration(
  { database, clock }: TestServer,
  { environmentId }: Api,
  { identifier, provider = 'slack', channel = 'chat', credentials = {}, active = true }: Wanted,
): Promise<string> {
  const now = clock.now()
  const { secretKey: secret, ...plain } = credentials
  const stored = secret === undefined ? plain : { ...plain, secretKey: new Secrets(secretKey).encrypt(secret) }
  const id = newId(now)
  await database.db
    .insertInto('integrations')
    .values({
      environment_id: environmentId,
      id,
      name: identifier,
      identifier,
      provider_id: provider,
      channel,
      credentials: JSON.stringify(stored),
      active,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return id
}
