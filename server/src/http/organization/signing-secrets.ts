// Signing secrets of an environment, one for each purpose, apart from its API keys. A purpose without one uses the compatible key.
import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../db/core/database.ts'
import { type Purpose, purposes, readSigning } from '../../db/core/signing.ts'
import { isValidAt } from '../../db/queries/api-keys.ts'
import { lockEnvironment } from '../../db/queries/environments.ts'
import { addSecret } from '../../db/queries/signing-secrets.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Enum, NullableTimestamp, Timestamp } from '../edge/schema.ts'

const longestOverlapHours = 720

const Secret = Type.Object({
  secret: Type.String(),
  createdAt: Timestamp,
  expiresAt: Type.Unsafe<Date | null>({ ...NullableTimestamp, description: 'Set once it has been replaced' }),
})
const Signer = Type.Object({
  purpose: Enum(purposes, {
    description:
      '`inbox`: hashes of subscribers and contexts; `bridge`: calls to your code; `replies`: callbacks for answered emails; `requests`: HTTP request steps and webhooks of filters',
  }),
  isApart: Type.Boolean({
    description: 'Whether it has secrets of its own; otherwise the compatible API key signs',
  }),
  secrets: Type.Array(Secret, { description: 'The newest first' }),
})

export const signingSecrets: Resource = (app, { db, clock, secrets }) => {
  const tags = ['API keys']

  async function readSigners(from: Db | Tx, environmentId: string): Promise<Static<typeof Signer>[]> {
    const rows = await from
      .selectFrom('signing_secrets')
      .select(['purpose', 'secret', 'created_at', 'expires_at'])
      .where('environment_id', '=', environmentId)
      .where(isValidAt(clock.now()))
      .orderBy('created_at', 'desc')
      .orderBy('expires_at', (order) => order.desc().nullsFirst())
      .execute()
    return purposes.map((purpose) => {
      const own = rows.filter((row) => row.purpose === purpose)
      return {
        purpose,
        isApart: own.length > 0,
        secrets: own.map((row) => ({
          secret: secrets.decrypt(row.secret),
          createdAt: row.created_at,
          expiresAt: row.expires_at,
        })),
      }
    })
  }

  app.get(
    '/v2/signing-secrets',
    {
      config: { role: 'owner', scope: 'administer' },
      schema: { tags, summary: 'List the signing secrets of the environment', response: { 200: Type.Array(Signer) } },
    },
    async (request) => readSigners(db, request.environment.id),
  )

  app.post(
    '/v2/signing-secrets/:purpose/rotate',
    {
      config: { role: 'admin', act: 'signing-secret.rotated' },
      schema: {
        tags,
        summary: 'Add a signing secret; the one before stays valid for a while',
        description:
          'Until it expires, signatures of incoming requests may be made with either, and outgoing requests carry both. The first one replaces the compatible API key for this purpose.',
        params: Type.Object({ purpose: Enum(purposes) }),
        body: Body(
          {
            overlapHours: Type.Optional(
              Type.Integer({ minimum: 0, maximum: longestOverlapHours, default: 24, description: '0: no overlap' }),
            ),
          },
          { examples: [{ overlapHours: 24 }] },
        ),
        response: { 201: Type.Object({ purpose: Enum(purposes), ...Secret.properties }) },
      },
    },
    async (request, reply) => {
      const environmentId = request.environment.id
      const { purpose } = request.params
      const { overlapHours = 24 } = request.body
      const now = clock.now()
      const secret = await db.transaction().execute((tx) => rotate(tx, { environmentId, purpose, overlapHours, now }))
      reply.code(201)
      return { purpose, secret, createdAt: now, expiresAt: null }
    },
  )

  async function rotate(
    tx: Tx,
    {
      environmentId,
      purpose,
      overlapHours,
      now,
    }: { environmentId: string; purpose: Purpose; overlapHours: number; now: Date },
  ): Promise<string> {
    await lockEnvironment(tx, environmentId)
    const expiresAt = new Date(now.getTime() + overlapHours * 3_600_000)
    const place = { environmentId, secrets, now }
    const [before] = (await readSigning(tx, secrets, environmentId)).keysFor(purpose, now)
    const { numUpdatedRows } = await tx
      .updateTable('signing_secrets')
      .set({ expires_at: expiresAt })
      .where('environment_id', '=', environmentId)
      .where('purpose', '=', purpose)
      .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', expiresAt)]))
      .executeTakeFirst()
    // Receivers know the compatible key so far, so it goes on signing, too.
    if (numUpdatedRows === 0n && before !== undefined && overlapHours > 0)
      await addSecret(tx, place, { purpose, secret: before, expiresAt })
    await tx
      .deleteFrom('signing_secrets')
      .where('environment_id', '=', environmentId)
      .where('expires_at', '<=', now)
      .execute()
    return addSecret(tx, place, { purpose })
  }
}
