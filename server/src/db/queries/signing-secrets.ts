// Signing secrets: how they are added. They are kept encrypted, because an HMAC needs the secret itself.
import type { Tx } from '../core/database.ts'
import { newId, randomUrlSafe } from '../core/ids.ts'
import type { Secrets } from '../core/secrets.ts'
import { type Purpose, purposes } from '../core/signing.ts'

/** With a prefix of its own, so that nobody takes it for an API key. */
const newSecret = () => `bfsign_${randomUrlSafe(40)}`

interface Place {
  environmentId: string
  secrets: Secrets
  now: Date
}

/** @returns the new secret */
export async function addSecret(
  tx: Tx,
  { environmentId, secrets, now }: Place,
  { purpose, secret = newSecret(), expiresAt = null }: { purpose: Purpose; secret?: string; expiresAt?: Date | null },
): Promise<string> {
  await tx
    .insertInto('signing_secrets')
    .values({
      id: newId(now),
      environment_id: environmentId,
      purpose,
      secret: secrets.encrypt(secret),
      created_at: now,
      expires_at: expiresAt,
    })
    .execute()
  return secret
}

/** A secret for each purpose that has none, so that something signs without the compatible key. */
export async function addMissingSecrets(tx: Tx, place: Place): Promise<void> {
  const rows = await tx
    .selectFrom('signing_secrets')
    .select('purpose')
    .where('environment_id', '=', place.environmentId)
    .where('expires_at', 'is', null)
    .execute()
  for (const purpose of purposes)
    if (!rows.some((row) => row.purpose === purpose)) await addSecret(tx, place, { purpose })
}
