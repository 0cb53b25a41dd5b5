// The views of a list that a person has saved under a name: its filters and order, as the dashboard has them in its URL.
import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import { violatedKey } from '../../db/core/database.ts'
import { newId } from '../../db/core/ids.ts'
import type { SavedViewTable } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Empty, Enum, Timestamp } from '../edge/schema.ts'
import { signedIn } from './account.ts'

/** For each list. */
const mostViews = 50

const Page = Enum(['subscribers'], { description: 'The list it is a view of' })
const Name = Type.String({ minLength: 1, maxLength: 60, pattern: '\\S', texts: { pattern: 'should not be empty' } })
const Search = Type.String({
  maxLength: 2_000,
  description: 'Filters and order, as in the URL: `name=ada&by=updatedAt`',
})
const View = Type.Object({ _id: Type.String(), page: Page, name: Name, search: Search, createdAt: Timestamp })
const Params = Type.Object({ viewId: Type.String() })

const toView = ({ id, page, name, search, created_at }: Selectable<SavedViewTable>): Static<typeof View> => ({
  _id: id,
  page,
  name,
  search,
  createdAt: created_at,
})

/** Two views of one list cannot have the same name. */
async function explainingTakenName<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (violatedKey(error) === 'saved_views_name') throw fail('view_exists', { name })
    throw error
  }
}

export const savedViews: Resource = (app, { db, clock }) => {
  const tags = ['Team']
  const own = { people: true, role: 'viewer' } as const

  app.get(
    '/v1/auth/views',
    {
      config: own,
      schema: {
        tags,
        summary: 'List your saved views',
        querystring: Type.Object({ page: Type.Optional(Page) }),
        response: { 200: Type.Array(View) },
      },
    },
    async (request) => {
      const { page } = request.query
      const rows = await db
        .selectFrom('saved_views')
        .selectAll()
        .where('user_id', '=', signedIn(request.person).id)
        .$if(page !== undefined, (query) => query.where('page', '=', page ?? 'subscribers'))
        .orderBy((order) => order.fn('lower', ['name']))
        .orderBy('id')
        .limit(mostViews)
        .execute()
      return rows.map(toView)
    },
  )

  app.post(
    '/v1/auth/views',
    {
      config: own,
      schema: {
        tags,
        summary: 'Save a view of a list',
        body: Body(
          { page: Page, name: Name, search: Search },
          { examples: [{ page: 'subscribers', name: 'Pro plan', search: 'data=plan%3Dpro' }] },
        ),
        response: { 201: View },
      },
    },
    async (request, reply) => {
      const { page, search } = request.body
      const name = request.body.name.trim()
      const { id: user_id } = signedIn(request.person)
      const now = clock.now()
      const row = await explainingTakenName(
        name,
        db.transaction().execute(async (tx) => {
          // One at a time, so that two cannot pass the limit.
          await tx.selectFrom('users').select('id').where('id', '=', user_id).forNoKeyUpdate().execute()
          const { count } = await tx
            .selectFrom('saved_views')
            .select((select) => select.fn.countAll<string>().as('count'))
            .where('user_id', '=', user_id)
            .where('page', '=', page)
            .executeTakeFirstOrThrow()
          if (Number(count) >= mostViews) throw fail('too_many_views', { limit: mostViews })
          return tx
            .insertInto('saved_views')
            .values({ id: newId(now), user_id, page, name, search, created_at: now })
            .returningAll()
            .executeTakeFirstOrThrow()
        }),
      )
      reply.code(201)
      return toView(row)
    },
  )

  app.patch(
    '/v1/auth/views/:viewId',
    {
      config: own,
      schema: {
        tags,
        summary: 'Rename a saved view, or change what it shows',
        params: Params,
        body: Body({ name: Type.Optional(Name), search: Type.Optional(Search) }, { examples: [{ name: 'Pro plan' }] }),
        response: { 200: View },
      },
    },
    async (request) => {
      const { viewId } = request.params
      const { search } = request.body
      const name = request.body.name?.trim()
      const mine = { user_id: signedIn(request.person).id, id: viewId }
      const row =
        name === undefined && search === undefined
          ? await db
              .selectFrom('saved_views')
              .selectAll()
              .where((where) => where.and(mine))
              .executeTakeFirst()
          : await explainingTakenName(
              name ?? '',
              db
                .updateTable('saved_views')
                .set({ name, search })
                .where((where) => where.and(mine))
                .returningAll()
                .executeTakeFirst(),
            )
      if (!row) throw fail('view_not_found', { viewId })
      return toView(row)
    },
  )

  app.delete(
    '/v1/auth/views/:viewId',
    { config: own, schema: { tags, summary: 'Delete a saved view', params: Params, response: { 204: Empty } } },
    async (request, reply) => {
      const { viewId } = request.params
      const { numDeletedRows } = await db
        .deleteFrom('saved_views')
        .where('user_id', '=', signedIn(request.person).id)
        .where('id', '=', viewId)
        .executeTakeFirst()
      if (numDeletedRows === 0n) throw fail('view_not_found', { viewId })
      return reply.code(204).send(null)
    },
  )
}
