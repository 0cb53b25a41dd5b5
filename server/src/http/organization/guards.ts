// The send guards of an environment: how many messages one person gets, and what happens while their schedule is closed.
import { type Static, Type } from 'typebox'
import { quietHours } from '../../db/core/tables.ts'
import { guardsOf } from '../../db/queries/guards.ts'
import { windowMs } from '../../steps/contract/caps.ts'
import { timeUnits } from '../../steps/contract/kind.ts'
import type { Resource } from '../edge/resource.ts'
import { Channel, Enum } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'

const mostCaps = 20
const longestWindowDays = 90

/** A member that is misspelt is refused: it would do nothing, unnoticed. */
const only = (...names: string[]) => ({ propertyNames: { enum: names } })

const Window = Type.Object(
  { amount: Type.Integer({ minimum: 1, maximum: longestWindowDays * 86_400 }), unit: Enum(timeUnits) },
  { ...only('amount', 'unit'), description: `Up to ${longestWindowDays} days` },
)

const Cap = Type.Object(
  {
    id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$', description: 'Your name for it' }),
    limit: Type.Integer({ minimum: 1, maximum: 1_000, description: 'So many messages to one person in a window' }),
    window: Window,
    channels: Type.Optional(
      Type.Array(Channel, { minItems: 1, maxItems: 5, uniqueItems: true, description: 'Default: all but in-app' }),
    ),
    tags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        ...{ minItems: 1, maxItems: 16, uniqueItems: true },
        description: 'Of workflows; one of them is enough. Default: all workflows',
      }),
    ),
  },
  only('id', 'limit', 'window', 'channels', 'tags'),
)

const example = {
  quietHours: 'skip',
  caps: [
    {
      ...{ id: 'marketing-sms', limit: 3, window: { amount: 1, unit: 'days' } },
      ...{ channels: ['sms', 'push'], tags: ['marketing'] },
    },
  ],
}

const QuietHours = Enum(quietHours, {
  description:
    'Outside the schedule of a subscriber, steps are skipped, or held until it opens. A workflow can say otherwise in `journey`',
})
const Guards = Type.Object({ quietHours: QuietHours, caps: Type.Array(Cap) })
const GuardsInput = Type.Object(
  {
    quietHours: Type.Optional(QuietHours),
    caps: Type.Optional(Type.Array(Cap, { maxItems: mostCaps })),
  },
  { ...only('quietHours', 'caps'), examples: [example] },
)

export const guards: Resource = (app, { db, clock }) => {
  const tags = ['Environments']

  app.get(
    '/v2/guards',
    { schema: { tags, summary: 'Retrieve the send guards of this environment', response: { 200: Guards } } },
    async ({ environment }): Promise<Static<typeof Guards>> => {
      const row = await db
        .selectFrom('environments')
        .select('guards')
        .where('id', '=', environment.id)
        .executeTakeFirst()
      return guardsOf(row?.guards) as Static<typeof Guards>
    },
  )

  app.put(
    '/v2/guards',
    {
      config: { role: 'admin', act: 'guards.changed' },
      schema: {
        tags,
        summary: 'Replace the send guards of this environment',
        description:
          'The whole of them: what is left out is as at first. A changed limit or window holds at once, for what was counted too.',
        body: GuardsInput,
        response: { 200: Guards },
      },
    },
    async ({ environment, body }): Promise<Static<typeof Guards>> => {
      const { quietHours: quiet = 'skip', caps = [] } = body
      refuseCaps(caps)
      const now = clock.now()
      await db
        .updateTable('environments')
        .set({ guards: JSON.stringify({ quietHours: quiet, caps }), updated_at: now })
        .where('id', '=', environment.id)
        .execute()
      return { quietHours: quiet, caps }
    },
  )
}

function refuseCaps(caps: Array<Static<typeof Cap>>): void {
  const problems = caps.flatMap((cap, index) => {
    const found: string[] = []
    if (caps.findIndex(({ id }) => id === cap.id) < index) found.push(`caps.${index}.id "${cap.id}" is used twice`)
    if (windowMs(cap) > longestWindowDays * 86_400_000)
      found.push(`caps.${index}.window must not be longer than ${longestWindowDays} days`)
    return found
  })
  if (problems.length > 0) throw generalError(problems)
}
