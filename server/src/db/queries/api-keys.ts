// API keys: how one is stored. A key is found by its SHA-256; only the compatible key of an environment is kept, encrypted.
import { sql } from 'kysely'
import { hintOf } from '../core/api-key-form.ts'
import type { Tx } from '../core/database.ts'
import { newId } from '../core/ids.ts'
import { type Secrets, sha256 } from '../core/secrets.ts'

export interface NewKey {
  key: string
  owner: { environmentId: string } | { organizationId: string }
  userId: string
  name: string
  scopes: string[]
  allowedAddresses?: string[] | undefined
  expiresAt?: Date | undefined
  /** Set to keep the key itself: public client libraries sign with it, so we need it to check and make signatures. */
  keptWith?: Secrets | undefined
}

/** @returns its id */
export async function insertKey(tx: Tx, { owner, ...given }: NewKey, now: Date): Promise<string> {
  const id = newId(now)
  await tx
    .insertInto('api_keys')
    .values({
      id,
      hash: sha256(given.key),
      environment_id: 'environmentId' in owner ? owner.environmentId : null,
      organization_id: 'organizationId' in owner ? owner.organizationId : null,
      encrypted_key: given.keptWith?.encrypt(given.key) ?? null,
      name: given.name,
      scopes: given.scopes,
      allowed_addresses: given.allowedAddresses ?? null,
      hint: hintOf(given.key),
      user_id: given.userId,
      expires_at: given.expiresAt ?? null,
      created_at: now,
    })
    .execute()
  return id
}

/** Of an environment: may do everything there, is kept encrypted, and signs. */
export async function insertCompatibleKey(
  tx: Tx,
  { environmentId, userId, apiKey }: { environmentId: string; userId: string; apiKey: string },
  secrets: Secrets,
  now: Date,
): Promise<void> {
  const rights = { name: 'Compatible key', scopes: ['administer'], keptWith: secrets }
  await insertKey(tx, { key: apiKey, owner: { environmentId }, userId, ...rights }, now)
}

/** Not expired. */
export const isValidAt = (now: Date) => sql<boolean>`(expires_at IS NULL OR expires_at > ${now})`
