// Creates organizations and environments, with an API key, the built-in integrations, a layout and a workflow group.
import { sql } from 'kysely'
import type { Db, Tx } from '../core/database.ts'
import { HeldMoment } from '../core/held-clock.ts'
import { hiddenId, newApiKey, newId, randomUrlSafe } from '../core/ids.ts'
import { hasPrimary } from '../core/integration-facts.ts'
import type { Secrets } from '../core/secrets.ts'
import type { EnvironmentTable } from '../core/tables.ts'
import { newVapidKeys } from '../core/vapid.ts'
import { insertCompatibleKey } from './api-keys.ts'
import { insertLayout } from './layouts.ts'
import { makeSignInLink } from './sign-in-links.ts'
import { addMissingSecrets } from './signing-secrets.ts'

export interface NewEnvironment {
  id: string
  name: string
  /** Names the environment to the browser inbox; no secret. */
  identifier: string
  apiKey: string
}

interface EnvironmentInput extends Pick<EnvironmentTable, 'organization_id' | 'name' | 'type' | 'color' | 'parent_id'> {
  /** Where the clock is held: what it shows. */
  clock_now?: Date | undefined
  clock_seed?: number | undefined
  /** Where it stands in front of another service; the key is encrypted. */
  shadow?: string | undefined
  shadow_key?: string | undefined
  /** A fixed id, for the hidden environment. */
  id?: string
  userId: string
  apiKey?: string | undefined
  /** Whether it gets signing secrets of its own at once; otherwise its compatible key signs until somebody makes them. */
  signsApart?: boolean | undefined
}

/** Built-in integrations: in-app everywhere, and in Development one sandbox integration for every other channel. */
const inbox = { provider_id: 'svc', channel: 'in_app', name: 'Belfry Inbox', identifier: 'inbox' }
const sandbox = [
  { provider_id: 'svc-email', channel: 'email', name: 'Belfry Email', identifier: 'email-sandbox' },
  { provider_id: 'svc-sms', channel: 'sms', name: 'Belfry SMS', identifier: 'sms-sandbox' },
  { provider_id: 'svc-push', channel: 'push', name: 'Belfry Push', identifier: 'push-sandbox' },
  { provider_id: 'svc-slack', channel: 'chat', name: 'Belfry Slack', identifier: 'chat-sandbox' },
]

/** Reaches browsers without any account, so Development starts with it; where the clock is held, nothing leaves. */
const webPush = { provider_id: 'web-push', channel: 'push', name: 'Web Push', identifier: 'web-push' }

function builtIn({ type, clock_seed }: Pick<EnvironmentInput, 'type' | 'clock_seed'>, secrets: Secrets) {
  // Where customers are, nobody opens an inbox without a hash from the backend.
  const own = { ...inbox, credentials: JSON.stringify(type === 'prod' ? { hmac: true } : {}) }
  if (type !== 'dev') return [own]
  const { publicKey, privateKey } = newVapidKeys()
  const keys = JSON.stringify({ applicationId: publicKey, secretKey: secrets.encrypt(privateKey) })
  return [
    own,
    ...sandbox.map((each) => ({ ...each, credentials: '{}' })),
    ...(clock_seed === undefined ? [{ ...webPush, credentials: keys }] : []),
  ]
}

/** By its name, identifier or id; undefined if there is none, or several have the name. */
export async function findEnvironmentByWord(
  db: Db,
  word: string,
): Promise<{ id: string; name: string; identifier: string } | undefined> {
  const found = await db
    .selectFrom('environments')
    .select(['id', 'name', 'identifier'])
    .where((where) => where.or([where('id', '=', word), where('identifier', '=', word), where('name', '=', word)]))
    .where('id', '<>', hiddenId)
    .orderBy('id')
    .limit(2)
    .execute()
  return found.length === 1 ? found[0] : undefined
}

/** The only group, with every workflow of the environment. */
export const generalGroup = 'General'

export async function createEnvironment(
  tx: Tx,
  { id: given, userId, apiKey = newApiKey(), signsApart = false, ...fields }: EnvironmentInput,
  secrets: Secrets,
  now: Date,
): Promise<NewEnvironment> {
  const id = given ?? newId(now)
  const identifier = randomUrlSafe(12)
  await tx
    .insertInto('environments')
    .values({ ...fields, id, identifier, created_at: now, updated_at: now })
    .execute()
  await insertCompatibleKey(tx, { environmentId: id, userId, apiKey }, secrets, now)
  if (signsApart) await addMissingSecrets(tx, { environmentId: id, secrets, now })
  await tx
    .insertInto('integrations')
    .values(
      builtIn(fields, secrets).map((integration) => ({
        ...integration,
        identifier: `${integration.identifier}-${randomUrlSafe(8)}`,
        environment_id: id,
        id: newId(now),
        active: true,
        is_primary: hasPrimary(integration.channel),
        priority: hasPrimary(integration.channel) ? 1 : 0,
        created_at: now,
        updated_at: now,
      })),
    )
    .execute()
  await insertLayout(tx, { environmentId: id, identifier: 'default-layout', name: 'Default Layout', userId }, now)
  await tx
    .insertInto('notification_groups')
    .values({ environment_id: id, id: newId(now), name: generalGroup, created_at: now, updated_at: now })
    .execute()
  return { id, name: fields.name, identifier, apiKey }
}

/**
 * Locks until the transaction ends: changes of an organization's environments and variables are serialized, so that their
 * limits are exact. Weaker than FOR UPDATE, which would also block every insert that refers to the organization.
 */
export async function lockOrganization(tx: Tx, organizationId: string): Promise<void> {
  await tx.selectFrom('organizations').select('id').where('id', '=', organizationId).forNoKeyUpdate().execute()
}

/** The same for the limits of one environment. */
export async function lockEnvironment(tx: Tx, environmentId: string): Promise<void> {
  await tx.selectFrom('environments').select('id').where('id', '=', environmentId).forNoKeyUpdate().execute()
}

/** The time in an environment: the real one, or what a held clock shows, which then stands until the transaction ends. */
export async function timeIn(tx: Tx, environmentId: string, real: Date): Promise<Date> {
  const { rows } = await heldClock(environmentId).execute(tx)
  return timeOf(rows[0], real)
}

/** No row where the clock is not held. Otherwise it stands until the transaction ends. */
export const heldClock = (environmentId: string) => sql<{ clock_now: Date }>`
  SELECT clock_now FROM environments WHERE id = ${environmentId} AND clock_now IS NOT NULL FOR SHARE`

export const timeOf = (row: { clock_now: Date | null } | undefined, real: Date): Date =>
  row?.clock_now ? new HeldMoment(row.clock_now, real) : real

/** An organization with its two system environments, Development and Production. */
export async function createOrganization(
  tx: Tx,
  {
    name,
    apiKey,
    productionApiKey,
    signsApart,
  }: { name: string; apiKey?: string | undefined; productionApiKey?: string | undefined; signsApart?: boolean },
  secrets: Secrets,
  now: Date,
): Promise<{ id: string; development: NewEnvironment; production: NewEnvironment }> {
  const organization = { id: newId(now), name, owner_user_id: newId(now), created_at: now }
  await tx.insertInto('organizations').values(organization).execute()
  const common = { organization_id: organization.id, userId: organization.owner_user_id, signsApart }
  const development = await createEnvironment(
    tx,
    { ...common, name: 'Development', type: 'dev', color: '#ff8547', parent_id: null, apiKey },
    secrets,
    now,
  )
  const production = await createEnvironment(
    tx,
    {
      ...{ ...common, name: 'Production', type: 'prod', color: '#7e52f4', parent_id: development.id },
      apiKey: productionApiKey,
    },
    secrets,
    now,
  )
  return { id: organization.id, development, production }
}

export interface FirstStart {
  environments: NewEnvironment[]
  /** Whoever has it can become the owner. */
  setUpToken: string
}

/**
 * Fills an empty database on the first start: an organization with Development and Production, and a link for its owner.
 * Undefined if there is an organization; of two concurrent first starts, one creates it.
 */
export async function prepareFirstStart(
  db: Db,
  secrets: Secrets,
  keys: { apiKey: string | undefined; productionApiKey: string | undefined; signsApart: boolean },
  now: Date,
): Promise<FirstStart | undefined> {
  return db.transaction().execute(async (tx) => {
    await sql`LOCK TABLE organizations IN EXCLUSIVE MODE`.execute(tx)
    if (await tx.selectFrom('organizations').select('id').limit(1).executeTakeFirst()) return undefined
    const { id, development, production } = await createOrganization(
      tx,
      { name: 'My organization', ...keys },
      secrets,
      now,
    )
    const { token: setUpToken } = await makeSignInLink(tx, { organizationId: id, userId: null, now })
    return { environments: [development, production], setUpToken }
  })
}
