import { Kysely, PostgresDialect } from 'kysely'
import { expect, test } from 'vitest'
import { owner, step, workflow } from '../../../test/environment-content.ts'
import { type Api, lowLimits, useServer } from '../../../test/server.ts'
import type { Tables } from '../../db/core/tables.ts'
import { writeTranslations } from '../../db/queries/translations.ts'
import { fieldsOf, saveWorkflows } from '../../db/queries/workflows.ts'
import { publish } from './publish.ts'

const server = useServer()

test('ninety workflows, layouts and translations take as many statements as one of each', async () => {
  expect(await statementsToPublish(90)).toEqual(await statementsToPublish(1))
})

/** First everything is new, then changed, then deleted. */
async function statementsToPublish(count: number): Promise<string[]> {
  const statements: string[] = []
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: server.database.pool }),
    log: ({ query }) => {
      // Lists of values differ in length; that is not another statement.
      statements.push(query.sql.replaceAll(/(?:\([^()]*\$\d[^()]*\)(?:, )?)+/g, '(…)'))
    },
  })
  const { development, production } = await server.freshOrganization()
  const { organizationId, environmentId: sourceId } = development
  const route = { organizationId, sourceId, targetId: production.environmentId }
  const publishAll = () =>
    db.transaction().execute(async (tx) => {
      const occasion = { userId: owner, now: server.clock.now() }
      const options = { resources: undefined, deleteMissing: true, limits: lowLimits }
      const outcomes = await publish(tx, route, options, occasion)
      expect(outcomes.filter(({ verdict }) => 'done' in verdict)).toHaveLength(2 * count)
    })

  await fill(development, count, 'first')
  await publishAll()
  await fill(development, count, 'second')
  await publishAll()
  for (const table of ['workflows', 'layouts'] as const)
    await server.database.db
      .deleteFrom(table)
      .where('environment_id', '=', sourceId)
      .where('identifier', '!=', 'default-layout')
      .execute()
  await publishAll()
  return statements
}

/** Workflows and layouts of that name, with texts of their own. */
async function fill({ environmentId }: Api, count: number, name: string): Promise<void> {
  const now = server.clock.now()
  const common = { name, is_translation_enabled: true }
  const ids = Array.from({ length: count }, (_, index) => ({ identifier: `w${index}`, id: idOf(environmentId, index) }))
  await server.database.db.transaction().execute(async (tx) => {
    const steps = [step('a'), step('b', { controlValues: { body: name } })]
    await saveWorkflows(
      tx,
      { environmentId, userId: owner, now },
      ids.map(({ identifier, id }) => ({ id, fields: { ...fieldsOf(workflow(identifier)), ...common, steps } })),
    )
    const dates = { created_at: now, updated_at: now }
    await tx
      .insertInto('layouts')
      .values(ids.map((each) => ({ ...each, ...common, ...dates, environment_id: environmentId })))
      .onConflict((conflict) => conflict.columns(['environment_id', 'id']).doUpdateSet({ name }))
      .execute()
    const texts = ids.flatMap(({ id }) =>
      (['workflow', 'layout'] as const).map((resourceType) => {
        return { resourceType, resourceRowId: id, locale: 'en_US', content: { name } }
      }),
    )
    await writeTranslations(tx, environmentId, texts, now)
  })
}

/** The same again for the same environment. */
const idOf = (environmentId: string, index: number) => index.toString(16).padStart(4, '0') + environmentId.slice(4)
