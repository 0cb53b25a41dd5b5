// Rotas: who is on duty when. Questions that escalate ask whoever is on duty when a level is reached.
import { type Selectable, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { newId } from '../../db/core/ids.ts'
import { cursorPage } from '../../db/core/page.ts'
import type { RotaTable } from '../../db/core/tables.ts'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import { dutiesFrom, mostDuties, onDuty, type Shift, shiftProblem } from '../../engine/core/rota.ts'
import { fail } from '../../errors.ts'
import { timeUnits } from '../../steps/contract/kind.ts'
import { someStep } from '../../steps/contract/tree.ts'
import { rotasOf } from '../../steps/kinds/ask-settings.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, CursorPage, cursorQuery, Enum, Identifier, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import { fieldError } from '../edge/validation.ts'

const mostRotas = 100
const mostShifts = 100
const mostPeople = 100
/** Of duties. */
const mostDays = 31
/** Of who is on duty when: rules are counted through until then. */
const mostYearsAhead = 10
const dayMs = 86_400_000

const People = Type.Array(Identifier(), { maxItems: mostPeople })
const LocalTime = Type.String({ maxLength: 19, description: 'A local time, such as `2026-11-02T09:00`' })
const ShiftBody = Body({
  start: LocalTime,
  end: Type.Optional(LocalTime),
  who: Type.Optional(People),
  rrule: Type.Optional(
    Type.String({ maxLength: 500, description: 'An RRULE of RFC 5545; `start` is its first occurrence' }),
  ),
  duration: Type.Optional(Body({ amount: Type.Integer({ minimum: 1, maximum: 10_000 }), unit: Enum(timeUnits) })),
  turns: Type.Optional(
    Type.Array(People, { minItems: 1, maxItems: 100, description: 'Occurrences go to them one after the other' }),
  ),
})
const fields = {
  name: Type.String({ minLength: 1, maxLength: 100 }),
  timezone: Type.String({ minLength: 1, maxLength: 100, description: 'Such as `Europe/Berlin`' }),
  shifts: Type.Array(ShiftBody, {
    maxItems: mostShifts,
    description: 'The first that covers a moment decides: `{start, end, who}`, or `{start, rrule, duration, turns}`',
  }),
}
const RotaId = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$',
  texts: {
    pattern: 'must have up to 100 letters, digits, underscores, periods and hyphens, and begin with a letter or digit',
  },
})
const example = {
  rotaId: 'primary',
  name: 'Primary',
  timezone: 'Europe/Berlin',
  shifts: [
    {
      ...{ start: '2026-11-02T09:00', rrule: 'FREQ=WEEKLY', duration: { amount: 1, unit: 'weeks' } },
      turns: [['ada'], ['bob']],
    },
  ],
}

const Rota = Type.Object({
  rotaId: Type.String(),
  name: Type.String(),
  timezone: Type.String(),
  shifts: Type.Array(
    Type.Object({
      start: Type.String(),
      end: Type.Optional(Type.String()),
      who: Type.Optional(Type.Array(Type.String())),
      rrule: Type.Optional(Type.String()),
      duration: Type.Optional(Type.Object({ amount: Type.Integer(), unit: Type.String() })),
      turns: Type.Optional(Type.Array(Type.Array(Type.String()))),
    }),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})

type Row = Selectable<RotaTable>
type GivenShift = Static<typeof ShiftBody>

const toRota = (row: Row): Static<typeof Rota> => ({
  ...{ rotaId: row.rota_id, name: row.name, timezone: row.timezone },
  shifts: row.shifts as Static<typeof Rota>['shifts'],
  ...{ createdAt: row.created_at, updatedAt: row.updated_at },
})

const Params = Type.Object({ rotaId: Type.String() })
const config = { role: 'editor' as const }

export const rotas: Resource = (app, { db }) => {
  const tags = ['Rotas']

  const find = async (environmentId: string, rotaId: string): Promise<Row> => {
    const row = await db
      .selectFrom('rotas')
      .selectAll()
      .where('environment_id', '=', environmentId)
      .where('rota_id', '=', rotaId)
      .executeTakeFirst()
    if (!row) throw fail('rota_not_found', { rotaId })
    return row as Row
  }

  app.get(
    '/v2/rotas',
    {
      schema: {
        tags,
        summary: 'List rotas',
        querystring: Type.Object(cursorQuery('ListRotasCommand', ['minimum', 'maximum'])),
        response: { 200: CursorPage(Rota) },
      },
    },
    async ({ environment, query }) => {
      const list = { from: sql`rotas t`, table: 'rotas', columns: sql`t.*` }
      const where = sql`t.environment_id = ${environment.id}`
      const page = await cursorPage<Row>(db, { ...list, where, environmentId: environment.id }, query)
      return { ...page, data: page.data.map(toRota) }
    },
  )

  app.post(
    '/v2/rotas',
    {
      config: { ...config, act: 'rota.created', refusals: [409] },
      schema: {
        tags,
        summary: 'Create a rota',
        body: Body({ rotaId: RotaId, ...fields }, { examples: [example] }),
        response: { 201: Rota },
      },
    },
    async (request, reply) => {
      const { environment, body } = request
      const { rotaId, name } = body
      const rules = readRules(body)
      const now = request.now()
      const row = await db.transaction().execute(async (tx) => {
        await sql`SELECT FROM environments WHERE id = ${environment.id} FOR KEY SHARE`.execute(tx)
        await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`rotas ${environment.id}`}, 0))`.execute(tx)
        const { count } = await tx
          .selectFrom('rotas')
          .select((of) => of.fn.countAll<string>().as('count'))
          .where('environment_id', '=', environment.id)
          .executeTakeFirstOrThrow()
        if (Number(count) >= mostRotas) throw fail('too_many_rotas', { limit: mostRotas })
        return tx
          .insertInto('rotas')
          .values({
            ...{ environment_id: environment.id, id: newId(now), rota_id: rotaId, name, timezone: rules.timezone },
            ...{ shifts: JSON.stringify(rules.shifts), created_at: now, updated_at: now },
          })
          .onConflict((on) => on.doNothing())
          .returningAll()
          .executeTakeFirst()
      })
      if (!row) throw fail('rota_exists', { rotaId })
      return reply.code(201).send(toRota(row as Row))
    },
  )

  app.get(
    '/v2/rotas/:rotaId',
    { schema: { tags, summary: 'Retrieve a rota', params: Params, response: { 200: Rota } } },
    async ({ environment, params }) => toRota(await find(environment.id, params.rotaId)),
  )

  app.put(
    '/v2/rotas/:rotaId',
    {
      config: { ...config, act: 'rota.changed' },
      schema: {
        tags,
        summary: 'Replace a rota',
        params: Params,
        body: Body(fields, { examples: [{ name: example.name, timezone: example.timezone, shifts: example.shifts }] }),
        response: { 200: Rota },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const rules = readRules(body)
      const row = await db
        .updateTable('rotas')
        .set({
          ...{ name: body.name, timezone: rules.timezone, shifts: JSON.stringify(rules.shifts) },
          updated_at: request.now(),
        })
        .where('environment_id', '=', environment.id)
        .where('rota_id', '=', params.rotaId)
        .returningAll()
        .executeTakeFirst()
      if (!row) throw fail('rota_not_found', params)
      return toRota(row as Row)
    },
  )

  app.delete(
    '/v2/rotas/:rotaId',
    {
      config: { ...config, act: 'rota.deleted', refusals: [409] },
      schema: {
        tags,
        summary: 'Delete a rota that no workflow uses',
        params: Params,
        response: { 204: { type: 'null', description: 'Deleted' } },
      },
    },
    async ({ environment, params: { rotaId } }, reply) => {
      await find(environment.id, rotaId)
      const workflows = await db
        .selectFrom('workflows')
        .select(['identifier', 'steps'])
        .where('environment_id', '=', environment.id)
        .where(sql<boolean>`strpos(steps::text, ${JSON.stringify(rotaId)}) > 0`)
        .orderBy('identifier')
        .execute()
      const using = workflows.filter(({ steps }) =>
        someStep(steps as WorkflowStep[], (step) => rotasOf(step).includes(rotaId)),
      )
      if (using.length > 0)
        throw fail('rota_in_use', { rotaId, workflows: using.map(({ identifier }) => identifier).join(', ') })
      await db.deleteFrom('rotas').where('environment_id', '=', environment.id).where('rota_id', '=', rotaId).execute()
      return reply.code(204).send(null)
    },
  )

  app.get(
    '/v2/rotas/:rotaId/on-duty',
    {
      schema: {
        tags,
        summary: 'Find out who is on duty',
        params: Params,
        querystring: Type.Object({
          at: Type.Optional(Type.String({ format: 'date-time', description: 'Without it, now' })),
        }),
        response: {
          200: Type.Object({
            at: Timestamp,
            subscriberIds: Type.Array(Type.String()),
            from: NullableTimestamp,
            to: NullableTimestamp,
          }),
        },
      },
    },
    async (request) => {
      const { timezone, shifts } = await find(request.environment.id, request.params.rotaId)
      const at = readMoment(request.query, 'at', request.now())
      return { at, ...onDuty({ timezone, shifts: shifts as unknown as Shift[] }, at) }
    },
  )

  app.get(
    '/v2/rotas/:rotaId/duties',
    {
      schema: {
        tags,
        summary: 'List who is on duty over some days',
        description: `One after the other, also when nobody is; at most ${mostDuties}.`,
        params: Params,
        querystring: Type.Object({
          from: Type.Optional(Type.String({ format: 'date-time', description: 'Without it, now' })),
          days: Type.Integer({ minimum: 1, maximum: mostDays, default: 7 }),
        }),
        response: {
          200: Type.Object({
            data: Type.Array(
              Type.Object({
                subscriberIds: Type.Array(Type.String(), { description: 'Nobody is on duty if it is empty' }),
                from: NullableTimestamp,
                to: NullableTimestamp,
              }),
            ),
          }),
        },
      },
    },
    async (request) => {
      const { timezone, shifts } = await find(request.environment.id, request.params.rotaId)
      const start = readMoment(request.query, 'from', request.now())
      const until = new Date(start.getTime() + request.query.days * dayMs)
      return { data: dutiesFrom({ timezone, shifts: shifts as unknown as Shift[] }, start, until) }
    },
  )
}

function readMoment<Name extends string>(query: { [name in Name]?: string }, name: Name, now: Date): Date {
  const given = query[name]
  const moment = given === undefined ? now : new Date(given)
  if (moment.getTime() <= now.getTime() + mostYearsAhead * 366 * dayMs) return moment
  throw fieldError('DutyCommand', { [name]: [`${name} ${given} is more than ${mostYearsAhead} years ahead`] }, query)
}

/** Refuses what cannot be read, and says where. */
function readRules({ timezone, shifts }: { timezone: string; shifts: GivenShift[] }) {
  const problems: Record<string, string[]> = {}
  if (!isZone(timezone)) problems.timezone = [`timezone ${JSON.stringify(timezone)} is not a time zone`]
  const read = shifts.map((given, index): Shift => {
    const shift = readShift(given)
    const problem = typeof shift === 'string' ? shift : shiftProblem(shift)
    if (problem !== undefined) problems[`shifts.${index}`] = [`shifts.${index}.${problem}`]
    return typeof shift === 'string' ? { start: given.start, end: given.start, who: [] } : shift
  })
  if (Object.keys(problems).length > 0) throw fieldError('RotaCommand', problems, { timezone, shifts })
  return { timezone, shifts: read }
}

function readShift({ start, end, who, rrule, duration, turns }: GivenShift): Shift | string {
  if (rrule === undefined) {
    if (end === undefined || who === undefined) return 'end: a shift has an end and who, or rrule, duration and turns'
    if (duration !== undefined || turns !== undefined) return 'rrule: duration and turns need a rule'
    return { start, end, who }
  }
  if (duration === undefined || turns === undefined) return 'duration: a rule needs a duration and turns'
  if (end !== undefined || who !== undefined) return 'end: a shift with a rule has a duration and turns instead'
  return { start, rrule, duration, turns }
}

function isZone(timezone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
    return true
  } catch {
    return false
  }
}
