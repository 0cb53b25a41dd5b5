import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import { owner, step, writeWorkflow } from '../../../test/environment-content.ts'
import { Api, useServer } from '../../../test/server.ts'
import type { Tx } from '../../db/core/database.ts'
import { writeTranslations } from '../../db/queries/translations.ts'
import {
  fieldsOf,
  findWorkflow,
  saveWorkflow,
  type WorkflowFields,
  type WorkflowRow,
} from '../../db/queries/workflows.ts'

const server = useServer()

const inTransaction = <T>(work: (tx: Tx) => Promise<T>) => server.database.db.transaction().execute(work)
const save = (api: Api, identifier: string, changes?: Partial<WorkflowFields>) =>
  writeWorkflow(server, api, identifier, changes)
const find = (api: Api, identifier: string) => findWorkflow(server.database.db, api.environmentId, identifier)
const diff = (api: Api, target: Api, body: object = {}) =>
  api.post(`/v2/environments/${target.environmentId}/diff`, body)
const publish = (api: Api, target: Api, body: object = {}) =>
  api.post(`/v2/environments/${target.environmentId}/publish`, body)

const mail = (layoutId: string) => step('mail', { type: 'email', controlValues: { subject: 'Hi', body: '', layoutId } })
const html = (body: string) => ({
  email: { editorType: 'html', body: `<html><body>${body}{{content}}</body></html>` },
})

/** Everything publishing may write, in both environments, except when and by whom a workflow was published. */
async function everythingIn(...apis: Api[]) {
  const ids = apis.map((api) => api.environmentId)
  const { db } = server.database
  const rows = async (table: 'workflows' | 'workflow_versions' | 'layouts' | 'translations') =>
    (
      await sql<{ row: string }>`SELECT t::text AS row FROM ${sql.table(table)} t
      WHERE environment_id = ANY (${ids}::text[]) ORDER BY 1`.execute(db)
    ).rows
  return Promise.all([rows('workflows'), rows('workflow_versions'), rows('layouts'), rows('translations')])
}

const successes = (answer: { body: { results: Array<{ successful: Array<Record<string, string>> }> } }) =>
  answer.body.results.flatMap(({ successful }) =>
    successful.map(({ resourceType, resourceId, action }) => `${resourceType} ${resourceId} ${action}`),
  )

describe('comparing', () => {
  test('shows the differences from Development, and dependencies', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await development.post('/v2/layouts', { layoutId: 'brand', name: 'Brand' })
    await save(development, 'welcome', { steps: [step('bell'), mail('brand')] })
    const info = { updatedBy: { _id: owner, firstName: '' }, updatedAt: server.clock.now().toISOString() }
    const answer = await diff(production, production)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      sourceEnvironmentId: development.environmentId,
      targetEnvironmentId: production.environmentId,
      resources: [
        {
          resourceType: 'workflow',
          sourceResource: { id: 'welcome', name: 'Workflow welcome', ...info },
          targetResource: null,
          changes: [
            { resourceType: 'workflow', action: 'added', diffs: { previous: null, new: { workflowId: 'welcome' } } },
            { resourceType: 'step', action: 'added', stepType: 'in_app', newIndex: 0 },
            {
              resourceType: 'step',
              action: 'added',
              stepType: 'email',
              newIndex: 1,
              sourceResource: { id: 'mail', name: 'Step mail', ...info },
              targetResource: null,
              diffs: { previous: null, new: { controlValues: { subject: 'Hi', body: '', layoutId: 'brand' } } },
            },
          ],
          summary: { added: 3, modified: 0, deleted: 0, unchanged: 0 },
          dependencies: [
            {
              resourceType: 'layout',
              resourceId: 'brand',
              resourceName: 'Brand',
              isBlocking: true,
              reason: 'LAYOUT_REQUIRED_FOR_WORKFLOW',
            },
          ],
        },
        { resourceType: 'layout', sourceResource: { id: 'brand' }, changes: [{ action: 'added' }] },
      ],
      summary: { totalEntities: 3, totalChanges: 4, hasChanges: true },
    })
    expect(answer.body.resources[1]).not.toHaveProperty('dependencies')
  })

  test('works between any two environments of the organization, with a key of any', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(production, 'hotfix', { steps: [step('a')] })
    await save(development, 'hotfix', { steps: [step('a', { name: 'Other' }), step('b')] })
    const back = await diff(development, development, { sourceEnvironmentId: production.environmentId })
    expect(back.body).toMatchObject({
      sourceEnvironmentId: production.environmentId,
      targetEnvironmentId: development.environmentId,
      resources: [
        {
          changes: [
            { action: 'modified', diffs: { previous: { name: 'Other' }, new: { name: 'Step a' } } },
            { action: 'deleted', previousIndex: 1, diffs: { new: null } },
          ],
        },
      ],
    })
    await publish(development, production)
    expect((await diff(development, production)).body).toMatchObject({
      resources: [],
      summary: { totalEntities: 2, totalChanges: 0, hasChanges: false },
    })
  })

  test('compares without writing or locking anything', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'w')
    const before = await everythingIn(development, production)
    await inTransaction(async (tx) => {
      await sql`SELECT FROM environments WHERE id = ${production.environmentId} FOR UPDATE`.execute(tx)
      await sql`SELECT FROM workflows WHERE environment_id = ${development.environmentId} FOR UPDATE`.execute(tx)
      expect((await diff(development, production)).body.summary.hasChanges).toBe(true)
      expect((await publish(development, production, { dryRun: true })).status).toBe(200)
    })
    expect(await everythingIn(development, production)).toEqual(before)
  })
})

describe('publishing', () => {
  test('creates what the target lacks, with new ids', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await development.post('/v2/layouts', { layoutId: 'brand', name: 'Brand', isTranslationEnabled: true })
    await development.put('/v2/layouts/brand', { name: 'Brand', controlValues: html('Belfry') })
    const text = { resourceType: 'layout', resourceId: 'brand', locale: 'de_DE', content: { bye: 'Tschüss' } }
    await development.post('/v2/translations', text)
    const source = await save(development, 'welcome', {
      description: 'Says hello',
      tags: ['people'],
      severity: 'high',
      payload_schema: { type: 'object' },
      validate_payload: true,
      user_preferences: { all: { enabled: false } },
      steps: [step('bell'), mail('brand')],
    })
    server.clock.advance({ minutes: 5 })

    const answer = await publish(development, production)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        results: [
          {
            resourceType: 'workflow',
            successful: [
              {
                resourceType: 'workflow',
                resourceId: 'welcome',
                resourceName: 'Workflow welcome',
                action: 'created',
              },
            ],
            failed: [],
            skipped: [],
            totalProcessed: 1,
          },
          {
            resourceType: 'layout',
            successful: [{ resourceId: 'brand', resourceName: 'Brand', action: 'created' }],
            failed: [],
            skipped: [{ resourceId: 'default-layout', reason: 'No changes detected' }],
            totalProcessed: 2,
          },
        ],
        summary: { resources: 3, successful: 2, failed: 0, skipped: 1 },
      },
    })

    const made = await find(production, 'welcome')
    expect(made && fieldsOf(made)).toEqual({
      ...fieldsOf(source),
      steps: source.steps.map((each) => ({ ...each, _id: expect.stringMatching(/^[0-9a-f]{24}$/) })),
    })
    expect(made).toMatchObject({ version: 1, created_at: server.clock.now(), last_published_at: null })
    const sourceIds = [source.id, ...source.steps.map(({ _id }) => _id)]
    expect([made?.id, ...(made?.steps ?? []).map(({ _id }) => _id)].some((id) => sourceIds.includes(id ?? ''))).toBe(
      false,
    )
    const versions = await server.database.db
      .selectFrom('workflow_versions')
      .select('definition')
      .where('environment_id', '=', production.environmentId)
      .execute()
    expect(versions).toEqual([{ definition: { ...fieldsOf(made as WorkflowRow), id: made?.id, version: 1 } }])

    const layout = (await production.get('/v2/layouts/brand')).body
    expect(layout).toMatchObject({ name: 'Brand', isDefault: false, controls: { values: html('Belfry') } })
    expect((await production.get('/v2/translations/layout/brand/de_DE')).body.content).toEqual({ bye: 'Tschüss' })
  })

  test('shows on the workflows of the source when and by whom they were published', async () => {
    const { development, production } = await server.freshOrganizationWide()
    const { version, updated_at } = await save(development, 'w')
    server.clock.advance({ minutes: 5 })
    await publish(production, production)
    const publishedAt = server.clock.now()
    const { _userId } = (await production.get('/v1/environments/api-keys')).body[0]
    const marked = { last_published_at: publishedAt, last_published_by: _userId, version, updated_at }
    expect(await find(development, 'w')).toMatchObject(marked)
    server.clock.advance({ minutes: 5 })
    await publish(production, production)
    expect(await find(development, 'w')).toMatchObject(marked)
  })

  test('updates differences, step by step, and keeps the ids of the target', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'w', { steps: [step('a'), step('b'), step('c')] })
    await publish(development, production)
    const before = await find(production, 'w')
    const idOf = (stepId: string) => before?.steps.find((each) => each.stepId === stepId)?._id
    await save(development, 'w', {
      name: 'Renamed',
      active: false,
      steps: [step('c'), step('a', { name: 'A' }), step('d')],
    })
    server.clock.advance({ minutes: 5 })
    expect(successes(await publish(development, production))).toEqual(['workflow w updated'])
    expect(await find(production, 'w')).toMatchObject({
      id: before?.id,
      name: 'Renamed',
      active: false,
      version: 2,
      created_at: before?.created_at,
      updated_at: server.clock.now(),
      steps: [
        { stepId: 'c', _id: idOf('c') },
        { stepId: 'a', _id: idOf('a'), name: 'A' },
        { stepId: 'd', _id: expect.not.stringMatching(String(idOf('b'))) },
      ],
    })
  })

  test('writes nothing without differences', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'w', { steps: [step('a')] })
    await publish(development, production)
    const before = await everythingIn(development, production)
    server.clock.advance({ minutes: 5 })
    expect((await publish(development, production)).body).toMatchObject({
      results: [
        { skipped: [{ resourceId: 'w', reason: 'No changes detected' }] },
        { skipped: [{ resourceId: 'default-layout', reason: 'No changes detected' }] },
      ],
      summary: { resources: 2, successful: 0, failed: 0, skipped: 2 },
    })
    expect(await everythingIn(development, production)).toEqual(before)
  })

  test('works for every environment of the organization', async () => {
    const { development, production } = await server.freshOrganizationWide()
    const { body } = await development.post('/v1/environments', { name: 'Staging', color: '#123456' })
    await save(development, 'w')
    const staging = `/v2/environments/${body._id}/publish`
    expect(successes(await production.post(staging))).toEqual(['workflow w created'])
    expect(await find(production, 'w')).toBeUndefined()
    const onwards = { sourceEnvironmentId: body._id }
    expect(successes(await development.post(`/v2/environments/${production.environmentId}/publish`, onwards))).toEqual([
      'workflow w created',
    ])
  })

  test('does not touch code-first workflows, on either side', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'here', { origin: 'external' })
    await save(production, 'there', { origin: 'external' })
    expect(successes(await publish(development, production, { deleteMissing: true }))).toEqual([])
    expect(await find(production, 'here')).toBeUndefined()
    expect(await find(production, 'there')).toBeDefined()
  })
})

describe('layouts', () => {
  test('are published with the workflow that uses them, and keep the default of the target', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await development.put('/v2/layouts/default-layout', { name: 'House style', controlValues: html('v2') })
    await development.post('/v2/layouts', { layoutId: 'other', name: 'Other' })
    await save(development, 'w', { steps: [mail('default-layout')] })
    const body = { resources: [{ resourceType: 'workflow', resourceId: 'w' }] }
    expect(successes(await publish(development, production, body))).toEqual([
      'workflow w created',
      'layout default-layout updated',
    ])
    const { layouts, totalCount } = (await production.get('/v2/layouts')).body
    expect(totalCount).toBe(1)
    expect(layouts[0]).toMatchObject({ layoutId: 'default-layout', name: 'House style', isDefault: true })
    expect((await production.get('/v2/layouts/default-layout')).body.controls.values).toEqual(html('v2'))
  })

  test('an environment without a default layout gets the default of the source', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await development.post('/v2/layouts', { layoutId: 'another', name: 'Another' })
    await server.database.db.deleteFrom('layouts').where('environment_id', '=', production.environmentId).execute()
    await publish(development, production)
    expect((await production.get('/v2/layouts/default-layout')).body.isDefault).toBe(true)
    expect((await production.get('/v2/layouts/another')).body.isDefault).toBe(false)
  })

  test('deleted content is deleted in the target too', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await development.put('/v2/layouts/default-layout', { name: 'Default Layout', controlValues: null })
    expect(successes(await publish(development, production))).toEqual(['layout default-layout updated'])
    expect((await production.get('/v2/layouts/default-layout')).body.controls.values).toEqual({})
  })
})

describe('translations', () => {
  const write = (api: Api, locale: string, content: Record<string, unknown>, rowId: string) =>
    inTransaction((tx) =>
      writeTranslations(
        tx,
        api.environmentId,
        [{ resourceType: 'workflow', resourceRowId: rowId, locale, content }],
        server.clock.now(),
      ),
    )
  const textsOf = async (api: Api) =>
    server.database.db
      .selectFrom('translations')
      .select(['locale', 'content', 'updated_at'])
      .where('environment_id', '=', api.environmentId)
      .where('resource_type', '=', 'workflow')
      .orderBy('locale')
      .execute()

  test('are created, changed and deleted, with the timestamps of the source', async () => {
    const { development, production } = await server.freshOrganizationWide()
    const { id } = await save(development, 'w', { is_translation_enabled: true })
    await write(development, 'en_US', { hi: 'Hi' }, id)
    await write(development, 'de_DE', { hi: 'Hallo' }, id)
    const written = server.clock.now()
    server.clock.advance({ minutes: 5 })
    expect(successes(await publish(development, production))).toEqual(['workflow w created'])
    expect(await textsOf(production)).toEqual([
      { locale: 'de_DE', content: { hi: 'Hallo' }, updated_at: written },
      { locale: 'en_US', content: { hi: 'Hi' }, updated_at: written },
    ])

    await write(development, 'de_DE', { hi: 'Servus' }, id)
    const rewritten = server.clock.now()
    await server.database.db
      .deleteFrom('translations')
      .where('environment_id', '=', development.environmentId)
      .where('locale', '=', 'en_US')
      .execute()
    server.clock.advance({ minutes: 5 })
    expect(successes(await publish(development, production))).toEqual(['workflow w updated'])
    expect(await textsOf(production)).toEqual([{ locale: 'de_DE', content: { hi: 'Servus' }, updated_at: rewritten }])
    // A change of texts is a version.
    expect((await find(production, 'w'))?.version).toBe(2)

    await save(development, 'w', { is_translation_enabled: false })
    expect(successes(await publish(development, production))).toEqual(['workflow w updated'])
    expect(await textsOf(production)).toEqual([])
  })
})

describe('a resource that only the target has', () => {
  const prepared = async () => {
    const apis = await server.freshOrganizationWide()
    await save(apis.production, 'old', { steps: [mail('old-layout')] })
    await apis.production.post('/v2/layouts', { layoutId: 'old-layout', name: 'Old layout' })
    return apis
  }

  test('is kept, and reported as skipped', async () => {
    const { development, production } = await prepared()
    const before = await everythingIn(production)
    const reason =
      'Only in the target environment. Nothing is deleted unless deleteMissing is true or the resource is named in resources'
    expect((await publish(development, production)).body).toMatchObject({
      results: [
        { skipped: [{ resourceId: 'old', reason }] },
        { skipped: [{ resourceId: 'default-layout' }, { resourceId: 'old-layout', reason }] },
      ],
      summary: { successful: 0, failed: 0, skipped: 3 },
    })
    expect(await everythingIn(production)).toEqual(before)
  })

  test('is deleted with deleteMissing', async () => {
    const { development, production } = await prepared()
    const id = (await find(production, 'old'))?.id ?? ''
    expect(successes(await publish(development, production, { deleteMissing: true }))).toEqual([
      'workflow old deleted',
      'layout old-layout deleted',
    ])
    expect(await find(production, 'old')).toBeUndefined()
    expect((await production.get('/v2/layouts/old-layout')).status).toBe(404)
    // Running workflows still need the version they started with.
    const versions = await server.database.db
      .selectFrom('workflow_versions')
      .select('version')
      .where('workflow_id', '=', id)
      .execute()
    expect(versions).toEqual([{ version: 1 }])
  })

  test('is deleted if named', async () => {
    const { development, production } = await prepared()
    await save(production, 'kept')
    const body = { resources: [{ resourceType: 'workflow', resourceId: 'old' }] }
    expect(successes(await publish(development, production, body))).toEqual(['workflow old deleted'])
    expect(await find(production, 'kept')).toBeDefined()
    expect((await production.get('/v2/layouts/old-layout')).status).toBe(200)
  })

  test('a layout that is in use or the default stays and is reported, and the rest is published', async () => {
    const { development, production } = await prepared()
    await save(development, 'new')
    const body = {
      resources: [
        { resourceType: 'workflow', resourceId: 'new' },
        { resourceType: 'layout', resourceId: 'old-layout' },
        { resourceType: 'layout', resourceId: 'default-layout' },
      ],
    }
    await server.database.db.deleteFrom('layouts').where('environment_id', '=', development.environmentId).execute()
    expect((await publish(development, production, body)).body).toMatchObject({
      results: [
        { successful: [{ resourceId: 'new', action: 'created' }] },
        {
          failed: [
            {
              resourceType: 'layout',
              resourceId: 'default-layout',
              resourceName: 'Default Layout',
              error: 'Layout "default-layout" is the default layout of the environment and cannot be deleted',
            },
            {
              resourceId: 'old-layout',
              error: 'Workflows of the target environment still use the layout: old',
            },
          ],
        },
      ],
      summary: { resources: 3, successful: 1, failed: 2, skipped: 0 },
    })
    expect((await production.get('/v2/layouts')).body.totalCount).toBe(2)
    expect((await find(production, 'old'))?.steps[0]?.controlValues).toMatchObject({ layoutId: 'old-layout' })
  })
})

describe('a dry run', () => {
  test('reports exactly what publishing would do, and changes nothing', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'new', { steps: [step('a')] })
    await save(development, 'changed')
    await save(production, 'changed', { name: 'Older' })
    await save(production, 'old')
    await development.post('/v2/layouts', { layoutId: 'brand', name: 'Brand' })
    await production.post('/v2/layouts', { layoutId: 'old-layout', name: 'Old layout' })
    const before = await everythingIn(development, production)
    const dry = await publish(development, production, { deleteMissing: true, dryRun: true })
    expect(await everythingIn(development, production)).toEqual(before)
    expect(dry.body.summary).toEqual({ resources: 6, successful: 0, failed: 0, skipped: 6 })
    const foretold = dry.body.results.flatMap(({ skipped }: { skipped: Array<Record<string, string>> }) =>
      skipped.flatMap(({ resourceType, resourceId, reason }) => {
        const [, action] = /^Dry run mode: would be (\w+)$/.exec(reason ?? '') ?? []
        return action ? [`${resourceType} ${resourceId} ${action}`] : []
      }),
    )
    expect(foretold).toHaveLength(5)
    expect(successes(await publish(development, production, { deleteMissing: true }))).toEqual(foretold)
  })
})

describe('publishing named resources', () => {
  test('accepts identifiers, slugs and ids, and the type in any case', async () => {
    const { development, production } = await server.freshOrganizationWide()
    const [b, c] = [await save(development, 'b'), await save(development, 'c')]
    await save(development, 'a')
    await save(development, 'd')
    const layout = await development.post('/v2/layouts', { layoutId: 'brand', name: 'Brand' })
    expect(c.id).toMatch(/^[0-9a-f]{24}$/)
    const resources = [
      { resourceType: 'workflow', resourceId: 'a' },
      { resourceType: 'WORKFLOW', resourceId: b.id },
      { resourceType: 'BRIDGE', resourceId: 'c' },
      { resourceType: 'REGULAR', resourceId: layout.body.slug },
    ]
    expect(successes(await publish(development, production, { resources }))).toEqual([
      'workflow a created',
      'workflow b created',
      'workflow c created',
      'layout brand created',
    ])
    expect(successes(await publish(development, production, { resources: [] }))).toEqual([])
    expect(await find(production, 'd')).toBeUndefined()
  })

  test('unknown resources, and code-first workflows, are reported as failed', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'code', { origin: 'external' })
    const resources = ['code', 'nope'].map((resourceId) => ({ resourceType: 'workflow', resourceId }))
    expect((await publish(development, production, { resources })).body.results[0].failed).toEqual([
      {
        resourceType: 'workflow',
        resourceId: 'code',
        resourceName: 'Workflow code',
        error:
          'Workflow "code" cannot be copied to another environment: only workflows made in the dashboard or with the API can',
      },
      {
        resourceType: 'workflow',
        resourceId: 'nope',
        resourceName: 'nope',
        error: 'Neither environment has a workflow "nope"',
      },
    ])
  })
})

describe('all or nothing', () => {
  test('a failure halfway leaves both environments unchanged', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await development.post('/v2/layouts', { layoutId: 'brand', name: 'Brand', isTranslationEnabled: true })
    await save(development, 'w', { steps: [mail('brand')] })
    await save(production, 'old')
    const before = await everythingIn(development, production)
    // Translations are written after layouts and workflows.
    await sql`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'disk on fire'; END $$`.execute(
      server.database.db,
    )
    await sql`CREATE TRIGGER refuse BEFORE INSERT ON translations EXECUTE FUNCTION refuse()`.execute(server.database.db)
    expect((await publish(development, production, { deleteMissing: true })).status).toBe(500)
    await sql`DROP FUNCTION refuse CASCADE`.execute(server.database.db)
    expect(await everythingIn(development, production)).toEqual(before)
    expect(successes(await publish(development, production))).toEqual(['workflow w created', 'layout brand created'])
  })

  test('a conflicting workflow of another origin refuses everything, also in a dry run', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'a')
    await save(development, 'w')
    await save(production, 'w', { origin: 'external' })
    const before = await everythingIn(development, production)
    for (const dryRun of [true, false])
      expect(await publish(development, production, { dryRun })).toMatchObject({
        status: 400,
        body: {
          message:
            'The target environment already has a workflow "w" of another origin, and publishing does not overwrite it; nothing was published. To publish the others, name them in resources',
        },
      })
    expect(await everythingIn(development, production)).toEqual(before)
  })
})

describe('concurrently', () => {
  test('publishing twice has the same result as once', async () => {
    const { development, production } = await server.freshOrganizationWide()
    for (const name of ['a', 'b', 'c']) await save(development, name, { steps: [step('one'), step('two')] })
    const answers = await Promise.all(Array.from({ length: 4 }, () => publish(development, production)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(answers.flatMap(successes).sort()).toEqual([
      'workflow a created',
      'workflow b created',
      'workflow c created',
    ])
    expect((await find(production, 'a'))?.version).toBe(1)
  })

  test('two sources into one target: the target has the complete state of one of them', async () => {
    const { development, production } = await server.freshOrganizationWide()
    const { body } = await development.post('/v1/environments', { name: 'Staging', color: '#123456' })
    const staging = new Api(development.url, '', body._id, development.organizationId)
    const names = Array.from({ length: 10 }, (_, index) => `w${index}`)
    for (const name of names) {
      await save(development, name, { description: 'from Development', steps: [step('one')] })
      await save(staging, name, { description: 'from Staging', steps: [step('two')] })
    }
    const from = (source: Api) => publish(development, production, { sourceEnvironmentId: source.environmentId })
    const answers = await Promise.all([from(development), from(staging), from(development), from(staging)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const rows = await Promise.all(names.map((name) => find(production, name)))
    expect(
      new Set(rows.map((row) => [row?.description, ...(row?.steps ?? []).map(({ stepId }) => stepId)].join())).size,
    ).toBe(1)
  })

  test('publishing in both directions does not deadlock', async () => {
    const { development, production } = await server.freshOrganizationWide()
    for (let round = 0; round < 5; round += 1) {
      for (const name of ['a', 'b', 'c', 'd']) {
        await save(development, name, { description: `D${round}` })
        await save(production, name, { description: `P${round}` })
      }
      const answers = await Promise.all([
        publish(development, production),
        publish(development, development, { sourceEnvironmentId: production.environmentId }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      const rows = await Promise.all(
        [development, production].flatMap((api) => ['a', 'b', 'c', 'd'].map((name) => find(api, name))),
      )
      expect(new Set(rows.map((row) => row?.description)).size).toBe(1)
    }
  })

  test('an edit in progress in the target is taken into account', async () => {
    const { development, production } = await server.freshOrganizationWide()
    await save(development, 'w', { description: 'published' })
    await publish(development, production)
    const target = (await find(production, 'w')) as WorkflowRow
    const { published } = await inTransaction(async (tx) => {
      await sql`SELECT FROM workflows WHERE id = ${target.id} FOR UPDATE`.execute(tx)
      const underWay = publish(development, production)
      await vi.waitFor(async () => {
        const waiting = await sql`
          SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
            AND query LIKE '%from "workflows"%for update'`.execute(server.database.db)
        expect(waiting.rows).toHaveLength(1)
      })
      const writing = { environmentId: production.environmentId, id: target.id, userId: owner, now: server.clock.now() }
      await saveWorkflow(tx, writing, { ...fieldsOf(target), description: 'edited' })
      return { published: underWay }
    })
    expect(successes(await published)).toEqual(['workflow w updated'])
    expect(await find(production, 'w')).toMatchObject({ description: 'published', version: 3 })
  })
})

describe('refusals', () => {
  test.each(['diff', 'publish'])('%s needs two different environments of the organization', async (operation) => {
    const [{ development, production }, other] = [
      await server.freshOrganizationWide(),
      await server.freshOrganizationWide(),
    ]
    await save(development, 'mine')
    await save(other.development, 'theirs')
    const before = await everythingIn(development, production, other.development, other.production)
    const ask = (target: string, body: object = {}) => production.post(`/v2/environments/${target}/${operation}`, body)
    const same = 'Source and target environment are the same; name two different ones'
    const own = production.environmentId
    for (const [answer, message] of [
      [await ask(development.environmentId), same],
      [await ask(own, { sourceEnvironmentId: own }), same],
      ...(await Promise.all(
        ['nonsense', '0'.repeat(24), other.production.environmentId].flatMap((id) =>
          [ask(id), ask(own, { sourceEnvironmentId: id })].map(
            async (answer) => [await answer, `Environment ${id} not found`] as const,
          ),
        ),
      )),
    ] as const)
      expect(answer).toMatchObject({ status: 400, body: { message } })
    expect(await everythingIn(development, production, other.development, other.production)).toEqual(before)
  })

  test.each([
    [{ sourceEnvironmentId: 5 }, 'sourceEnvironmentId must be a string'],
    [{ dryRun: 'yes' }, 'dryRun must be a boolean value'],
    [{ deleteMissing: 1 }, 'deleteMissing must be a boolean value'],
    [{ resources: 'all' }, 'resources must be an array'],
    [{ resources: [{ resourceType: 'workflow' }] }, 'resources.0.resourceId should not be empty'],
    [{ resources: [{ resourceType: 'workflow', resourceId: '' }] }, 'resources.0.resourceId should not be empty'],
    [
      { resources: [{ resourceType: 'step', resourceId: 'a' }] },
      'resources.0.resourceType must be one of the following values: workflow, layout, WORKFLOW, LAYOUT, REGULAR, ECHO, BRIDGE',
    ],
  ])('%j is refused', async (body, message) => {
    const { development, production } = await server.freshOrganizationWide()
    const answer = await publish(development, production, body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })

  test.each(['diff', 'publish'])('%s needs a key', async (operation) => {
    const { production } = await server.freshOrganizationWide()
    const path = `/v2/environments/${production.environmentId}/${operation}`
    const answer = await production.post(path, {}, { authorization: 'ApiKey unknown' })
    expect(answer).toMatchObject({ status: 401, body: { message: 'API Key not found' } })
  })
})
