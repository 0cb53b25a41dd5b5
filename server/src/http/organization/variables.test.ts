import { beforeEach, describe, expect, test, vi } from 'vitest'
import { type Api, lowLimits, useServer } from '../../../test/server.ts'

const server = useServer({ limits: lowLimits })
const path = '/v1/environment-variables'
const mask = '•'.repeat(8)

let development: Api
let production: Api
beforeEach(async () => {
  ;({ development, production } = await server.freshOrganizationWide())
})

const valueIn = (api: Api, value: string) => ({ _environmentId: api.environmentId, value })

const storedValues = async () =>
  (await server.database.db.selectFrom('environment_variable_values').select('value').execute()).map((row) => row.value)

describe('creating', () => {
  test('a variable belongs to the organization and has a value per environment', async () => {
    const values = [valueIn(development, 'https://dev.example.com'), valueIn(production, '')]
    const created = await development.post(path, { key: 'BASE_URL', values })
    expect(created.status).toBe(200)
    expect(created.body).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      _organizationId: development.organizationId,
      key: 'BASE_URL',
      type: 'string',
      isSecret: false,
      values,
      createdAt: server.clock.now().toISOString(),
      updatedAt: server.clock.now().toISOString(),
    })
    expect(await production.get(`${path}/BASE_URL`)).toMatchObject({ status: 200, body: created.body })
    expect((await development.post(path, { key: 'Empty', type: 'string' })).body.values).toEqual([])
  })

  test('a secret is masked in every answer and encrypted at rest', async () => {
    const values = [valueIn(development, 'hunter2')]
    const created = await development.post(path, { key: 'PASSWORD', isSecret: true, values })
    const masked = [valueIn(development, mask)]
    expect(created.body).toMatchObject({ isSecret: true, values: masked })
    expect((await development.get(path)).body).toMatchObject([{ values: masked }])
    expect((await development.get(`${path}/PASSWORD`)).body.values).toEqual(masked)
    expect((await development.patch(`${path}/PASSWORD`, { type: 'string' })).body.values).toEqual(masked)
    expect((await storedValues()).join()).not.toContain('hunter2')
  })

  test('a key is unique in an organization', async () => {
    await development.post(path, { key: 'A' })
    expect(await production.post(path, { key: 'A' })).toMatchObject({
      status: 409,
      body: { message: 'Environment variable with key "A" already exists' },
    })
    const elsewhere = await server.freshOrganizationWide()
    expect((await elsewhere.development.post(path, { key: 'A' })).status).toBe(200)
    expect((await development.post(path, { key: 'a' })).status).toBe(200)
    const answers = await Promise.all([development, production, development].map((api) => api.post(path, { key: 'B' })))
    expect(answers.map((answer) => answer.status).sort((a, b) => a - b)).toEqual([200, 409, 409])
  })

  test('an organization never exceeds its limit of variables, however many are created at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 13 }, (_, i) => (i % 2 ? development : production).post(path, { key: `K${i}` })),
    )
    const refusals = answers.filter((answer) => answer.status !== 200)
    expect(refusals).toHaveLength(3)
    for (const refusal of refusals)
      expect(refusal).toMatchObject({
        status: 400,
        body: {
          message: 'Organization cannot have more than 10 environment variables',
          currentCount: 10,
          limit: 10,
          ctx: { currentCount: 10, limit: 10 },
        },
      })
    expect((await development.get(path)).body).toHaveLength(10)
  })

  test.each([
    [{}, 'key should not be empty'],
    [{ key: '' }, 'key should not be empty'],
    [{ key: '1A' }, 'key must start with a letter and contain only letters, digits and underscores'],
    [{ key: 'A-B' }, 'key must start with a letter and contain only letters, digits and underscores'],
    [{ key: 'A'.repeat(257) }, 'key must be shorter than or equal to 256 characters'],
    [{ key: 'A', type: 'number' }, 'type must be one of the following values: string'],
    [{ key: 'A', isSecret: 'yes' }, 'isSecret must be a boolean value'],
    [{ key: 'A', values: {} }, 'values must be an array'],
    [{ key: 'A', values: [{ value: 'v' }] }, 'values.0._environmentId should not be empty'],
    [{ key: 'A', values: [{ _environmentId: 'e' }] }, 'values.0.value should not be empty'],
    [
      { key: 'A', values: [{ _environmentId: 'e', value: 'v'.repeat(257) }] },
      'values.0.value must be shorter than or equal to 256 characters',
    ],
    [
      {
        key: 'A',
        values: [
          { _environmentId: 'e', value: '1' },
          { _environmentId: 'e', value: '2' },
        ],
      },
      "All values's elements must be unique",
    ],
  ])('%j is refused', async (body, message) => {
    const answer = await development.post(path, body)
    expect(answer.status).toBe(422)
    expect(answer.body.errors.general.messages).toContain(message)
  })

  test('the mask is refused as a value, and so are foreign environments', async () => {
    expect(await development.post(path, { key: 'A', values: [valueIn(development, mask)] })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining(mask) },
    })
    const other = await server.freshOrganizationWide()
    for (const _environmentId of ['0'.repeat(24), 'nonsense', other.development.environmentId])
      expect(
        await development.post(path, { key: 'A', values: [valueIn(development, 'v'), { _environmentId, value: 'v' }] }),
      ).toMatchObject({
        status: 400,
        body: { message: `Environment ${_environmentId} is not part of this organization` },
      })
    expect((await development.get(`${path}/A`)).status).toBe(404)
  })
})

describe('reading', () => {
  test('the list is newest first, can be searched by part of the key, and has nothing of other organizations', async () => {
    for (const key of ['FIRST_URL', 'SECOND', 'THIRD_URL']) {
      await development.post(path, { key })
      server.clock.advance({ seconds: 1 })
    }
    await (await server.freshOrganizationWide()).development.post(path, { key: 'OTHER_URL' })
    const keys = async (query: string) =>
      (await production.get(path + query)).body.map((variable: { key: string }) => variable.key)
    expect(await keys('')).toEqual(['THIRD_URL', 'SECOND', 'FIRST_URL'])
    expect(await keys('?search=_url')).toEqual(['THIRD_URL', 'FIRST_URL'])
    expect(await keys('?search=%25')).toEqual([])
    const tooLong = await development.get(`${path}?search=${'x'.repeat(257)}`)
    expect(tooLong.status).toBe(422)
    expect(tooLong.body.errors.general.messages).toEqual(['search must be shorter than or equal to 256 characters'])
  })

  test('usage lists the workflows of any environment that use the variable', async () => {
    await development.post(path, { key: 'HOST' })
    const now = server.clock.now()
    const workflow = (api: Api, name: string, ...texts: string[]) => ({
      environment_id: api.environmentId,
      id: name.padStart(24, '0'),
      identifier: `id-${name}`,
      name,
      steps: JSON.stringify(texts.map((body) => ({ controls: { body, nested: [{ deep: body }] } }))),
      created_at: now,
      updated_at: now,
    })
    const other = await server.freshOrganizationWide()
    await server.database.db
      .insertInto('workflows')
      .values([
        workflow(development, 'd', 'no variable', 'Dear\n{{env.HOST}}'),
        workflow(development, 'c', 'line\nenv.HOST'),
        workflow(development, 'b', '{{ env.HOST | upcase }}'),
        workflow(production, 'b', 'see env.HOST.'),
        workflow(production, 'a', '"env.HOST"'),
        workflow(development, 'longer', '{{env.HOSTNAME}} {{env.HOST_2}}'),
        workflow(development, 'other-case', '{{env.host}}'),
        workflow(development, 'other-root', '{{payload.env.HOST}} {{myenv.HOST}} {{envxHOST}}'),
        workflow(development, 'none'),
        workflow(other.development, 'elsewhere', '{{env.HOST}}'),
      ])
      .execute()
    const used = await development.get(`${path}/HOST/usage`)
    expect(used.status).toBe(200)
    expect(used.body).toEqual({ workflows: ['a', 'b', 'c', 'd'].map((name) => ({ name, workflowId: `id-${name}` })) })
  })
})

describe('changing', () => {
  test('values are merged per environment; the other fields change as given', async () => {
    await development.post(path, { key: 'A', values: [valueIn(development, '1'), valueIn(production, '2')] })
    server.clock.advance({ minutes: 1 })
    const patched = await development.patch(`${path}/A`, { key: 'B', values: [valueIn(production, '3')] })
    expect(patched).toMatchObject({
      status: 200,
      body: {
        key: 'B',
        isSecret: false,
        values: [valueIn(development, '1'), valueIn(production, '3')],
        updatedAt: server.clock.now().toISOString(),
      },
    })
    expect((await development.get(`${path}/A`)).status).toBe(404)
    expect((await development.get(`${path}/B`)).body).toEqual(patched.body)
    expect((await development.patch(`${path}/B`, { values: [] })).body.values).toEqual(patched.body.values)
  })

  test('a variable becomes a secret; a secret becomes readable only with new values', async () => {
    await development.post(path, { key: 'A', values: [valueIn(development, 'old'), valueIn(production, 'old')] })
    const secret = await development.patch(`${path}/A`, { isSecret: true })
    expect(secret.body.values).toEqual([valueIn(development, mask), valueIn(production, mask)])
    for (const body of [{ isSecret: false }, { isSecret: false, values: [valueIn(development, 'new')] }])
      expect(await development.patch(`${path}/A`, body)).toMatchObject({
        status: 400,
        body: {
          message:
            'Environment variable "A" is a secret; to show it, send a new value for every environment that has one',
        },
      })
    const values = [valueIn(development, 'new'), valueIn(production, 'newer')]
    const shown = await development.patch(`${path}/A`, { isSecret: false, values })
    expect(shown.body).toMatchObject({ isSecret: false, values })
  })

  test('an empty patch, the mask, a taken key and a foreign environment are refused, and nothing changes', async () => {
    await development.post(path, { key: 'A', isSecret: true, values: [valueIn(development, 'v')] })
    await development.post(path, { key: 'B' })
    const { body: before } = await development.get(path)
    const empty = { status: 400, body: { message: 'At least one field must be provided to update' } }
    expect(await development.patch(`${path}/A`, {})).toMatchObject(empty)
    expect(await development.patch(`${path}/A`)).toMatchObject(empty)
    expect(await development.patch(`${path}/A`, { unknown: 1 })).toMatchObject(empty)
    expect((await development.patch(`${path}/A`, { values: [valueIn(development, mask)] })).status).toBe(400)
    expect(await development.patch(`${path}/A`, { key: 'B' })).toMatchObject({
      status: 409,
      body: { message: 'Environment variable with key "B" already exists' },
    })
    const other = await server.freshOrganizationWide()
    expect(await development.patch(`${path}/A`, { key: 'C', values: [valueIn(other.development, 'v')] })).toMatchObject(
      { status: 400 },
    )
    expect((await development.patch(`${path}/A`, { key: 'not a key' })).status).toBe(422)
    expect((await development.get(path)).body).toEqual(before)
    expect((await development.patch(`${path}/A`, { key: 'A' })).status).toBe(200)
  })

  test('deleting a variable deletes its values', async () => {
    await development.post(path, { key: 'A', values: [valueIn(development, 'v')] })
    const { length } = await storedValues()
    expect(await production.delete(`${path}/A`)).toMatchObject({ status: 204, text: '' })
    expect(await storedValues()).toHaveLength(length - 1)
    expect((await development.get(path)).body).toEqual([])
  })

  test('a variable deleted during a change stays deleted', async () => {
    const { pool } = server.database
    await development.post(path, { key: 'A', values: [valueIn(development, 'old')] })
    const waiting = (length: number) =>
      vi.waitFor(async () => {
        const { rows } = await pool.query(
          "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
        )
        expect(rows).toHaveLength(length)
      })
    const holder = await pool.connect()
    await holder.query("BEGIN; SELECT FROM environment_variables WHERE key = 'A' FOR UPDATE")
    const deleting = development.delete(`${path}/A`)
    await waiting(1)
    const changing = development.patch(`${path}/A`, { values: [valueIn(development, 'new')] })
    await waiting(2)
    await holder.query('COMMIT')
    holder.release()
    expect((await deleting).status).toBe(204)
    expect((await changing).status).toBe(404)
    expect((await development.get(path)).body).toEqual([])
  })

  test('an unknown variable, or one of another organization, is not found', async () => {
    const other = await server.freshOrganizationWide()
    await other.development.post(path, { key: 'THEIRS' })
    const notFound = { status: 404, body: { message: 'Environment variable with key "THEIRS" not found' } }
    expect(await development.get(`${path}/THEIRS`)).toMatchObject(notFound)
    expect(await development.get(`${path}/THEIRS/usage`)).toMatchObject(notFound)
    expect(await development.patch(`${path}/THEIRS`, { isSecret: true })).toMatchObject(notFound)
    expect(await development.delete(`${path}/THEIRS`)).toMatchObject(notFound)
    expect((await other.development.get(`${path}/THEIRS`)).body).toMatchObject({ isSecret: false })
  })
})
