// Import: data from another service, up to 500 items in a commit. The same again changes nothing, what was written here later stays.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { realOf } from '../../db/core/held-clock.ts'
import { fail, RequestError } from '../../errors.ts'
import { refuseUnstorableItem } from '../edge/body.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Enum, FreeObject, Timestamp } from '../edge/schema.ts'
import { compileValidator } from '../edge/validation.ts'
import { importedCredentials } from './credentials.ts'
import { type AnyKind, type ImportKind, inRounds, type Outcome } from './kind.ts'
import { importedMessages } from './messages.ts'
import { Pace } from './pace.ts'
import { importedPreferences } from './preferences.ts'
import { listImports, mostListed, type Progress, saveProgress } from './progress.ts'
import { importedSubscribers } from './subscribers.ts'
import { importedSubscriptions } from './topic-subscriptions.ts'

const largestBody = 10 * 1024 * 1024
const mostItems = 500
const dayMs = 86_400_000

const kinds = [
  importedSubscribers,
  importedPreferences,
  importedCredentials,
  importedSubscriptions,
  importedMessages,
] as unknown as AnyKind[]
const kindNames = kinds.map(({ name }) => name)

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const ProgressBody = Body(
  {
    importId: Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' }),
    source: Type.String({ minLength: 1, maxLength: 100 }),
    found: Type.Object(Object.fromEntries(kindNames.map((name) => [name, Type.Optional(Count)])), {
      additionalProperties: false,
      description: 'How many items there are of each kind',
    }),
    offset: Count,
  },
  {
    description:
      'For the list of imports: how far this one is. `offset` is the number of items of this kind before these',
  },
)
const Imported = Type.Object({
  imported: Type.Integer(),
  unchanged: Type.Integer({ description: 'There already, or changed here later' }),
  failed: Type.Array(Type.Object({ index: Type.Integer(), code: Type.String(), message: Type.String() })),
})
const Imports = Type.Object({
  imports: Type.Array(
    Type.Object({
      importId: Type.String(),
      source: Type.String(),
      status: Enum(['running', 'stopped', 'done'], {
        description: 'Stopped: no request for a minute, and something is left',
      }),
      startedAt: Timestamp,
      updatedAt: Timestamp,
      kinds: Type.Array(
        Type.Object({
          kind: Type.String(),
          found: Type.Integer(),
          done: Type.Integer(),
          imported: Type.Integer(),
          unchanged: Type.Integer(),
          failed: Type.Integer(),
        }),
      ),
    }),
  ),
})

export const imports: Resource = (app, { db, pool, secrets, brand, clock, config }) => {
  const tags = ['Import']
  const pace = new Pace()

  app.get(
    '/v2/import',
    {
      schema: {
        tags,
        summary: `List the last ${mostListed} imports, newest first`,
        description: 'Those whose requests said how far they are, as the command line tool does. Kept for 30 days.',
        response: { 200: Imports },
      },
    },
    async ({ environment }) => ({ imports: await listImports(db, environment.id, clock.now()) }),
  )

  /** Since when messages are kept. By the real time, since that decides when they are deleted. */
  const keptSince = async (environmentId: string, now: Date): Promise<Date | undefined> => {
    const row = await db
      .selectFrom('environments')
      .select('retention')
      .where('id', '=', environmentId)
      .executeTakeFirst()
    const days = row?.retention?.inboxDays ?? config.retention.messageDays
    return days === 0 ? undefined : new Date(realOf(now).getTime() - days * dayMs)
  }

  for (const kind of kinds as unknown as Array<ImportKind<Record<string, unknown>>>) {
    const check = checkerOf(kind)
    app.post(
      `/v2/import/${kind.name}`,
      {
        bodyLimit: largestBody,
        config: { act: 'data.imported', scope: kind.scope, judgesItems: true },
        schema: {
          tags,
          summary: kind.summary,
          description: `${kind.description} One commit; items with a problem are left out and listed in \`failed\`. Nothing is sent, and no webhook or browser is told. The same again is \`unchanged\`; what was written here later than \`updatedAt\` stays.`,
          body: Body(
            {
              items: Type.Array(Type.Unsafe<Record<string, unknown>>({ ...FreeObject, description: describe(kind) }), {
                minItems: 1,
                maxItems: mostItems,
              }),
              progress: Type.Optional(ProgressBody),
            },
            { examples: [{ items: [kind.example] }] },
          ),
          response: { 200: Imported },
        },
      },
      async (request) => {
        const { environment, body } = request
        const now = request.now()
        const outcomes = new Map<Record<string, unknown>, Outcome>()
        const sound: Array<Record<string, unknown>> = []
        for (const item of body.items) {
          const problem = check(item)
          if (problem) outcomes.set(item, problem)
          else sound.push(item)
        }
        const around = { now, keptSince: kind.prepare ? await keptSince(environment.id, now) : undefined }
        await kind.prepare?.(pool, sound, around)
        // Many were imported just now. Until PostgreSQL counts them anew, it would read them all for each page.
        if (kind.name !== importedSubscribers.name && body.progress?.offset === 0)
          await pool.query('ANALYZE subscribers')
        const store = () =>
          db.transaction().execute(async (tx) => {
            const importing = { tx, environmentId: environment.id, secrets, brand, ...around }
            for (const round of kind.keyOf ? inRounds(sound, kind.keyOf) : [sound]) {
              if (round.length === 0) continue
              const stored = await kind.store(importing, round)
              for (const [index, item] of round.entries()) outcomes.set(item, stored[index] ?? 'unchanged')
            }
            if (!body.progress) return true
            const done = countsOf(body.items, outcomes)
            return saveProgress(
              tx,
              { environmentId: environment.id, kind: kind.name, progress: body.progress as Progress, now: clock.now() },
              { ...done, failed: done.failed.length },
            )
          })
        const isFirst = await pace.run(store)
        note(request, kind.name, isFirst, body.progress)
        return countsOf(body.items, outcomes)
      },
    )
  }
}

/** One entry of the audit log for a kind of an import, or for each request that belongs to none. */
function note(
  request: FastifyRequest,
  kind: string,
  isFirst: boolean,
  progress: Static<typeof ProgressBody> | undefined,
): void {
  const found = progress?.found as Record<string, number> | undefined
  const items = (request.body as { items: unknown[] }).items.length
  request.acted = isFirst && {
    kind,
    ...(progress ? { source: progress.source, importId: progress.importId } : {}),
    items: found?.[kind] ?? items,
  }
}

function countsOf(
  items: Array<Record<string, unknown>>,
  outcomes: ReadonlyMap<Record<string, unknown>, Outcome>,
): Static<typeof Imported> {
  const result: Static<typeof Imported> = { imported: 0, unchanged: 0, failed: [] }
  for (const [index, item] of items.entries()) {
    const outcome = outcomes.get(item) ?? 'unchanged'
    if (typeof outcome === 'string') result[outcome] += 1
    else result.failed.push({ index, code: outcome.code, message: wordsOf(outcome) })
  }
  return result
}

/** What is wrong with an item, in one sentence. */
function wordsOf({ message, ctx }: RequestError): string {
  const { errors } = (ctx ?? {}) as { errors?: Record<string, { messages?: string[] }> }
  const messages = Object.values(errors ?? {}).flatMap((each) => each.messages ?? [])
  return messages.length > 0 ? messages.slice(0, 5).join('; ') : message
}

function unstorable(item: unknown): RequestError | undefined {
  try {
    refuseUnstorableItem(item)
    return undefined
  } catch (error) {
    if (error instanceof RequestError) return error
    throw error
  }
}

/** Items are checked one by one, so that a bad one does not keep out the others. Unknown members are dropped. */
function checkerOf({ item }: Pick<ImportKind<unknown>, 'item'>): (value: unknown) => RequestError | undefined {
  type Validate = (value: unknown) => { error?: Error }
  let validate: Validate | undefined
  return (value) => {
    // On the first use, as for every other body.
    validate ??= compileValidator({ schema: item, method: 'POST', url: '', httpPart: 'body' }) as Validate
    const error = unstorable(value) ?? validate(value).error
    if (error === undefined) return undefined
    return error instanceof RequestError ? error : fail('bad_request', { reason: error.message })
  }
}

const describe = ({ item }: Pick<ImportKind<unknown>, 'item'>): string => {
  const { properties, required = [] } = item as unknown as { properties: object; required?: string[] }
  const names = Object.keys(properties).map((name) => `\`${name}\`${required.includes(name) ? '' : '?'}`)
  return `Has ${names.join(', ')}`
}
