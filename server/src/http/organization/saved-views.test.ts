import { beforeEach, expect, test } from 'vitest'
import { type PersonApi, signInAs } from '../../../test/people.ts'
import { useServer } from '../../../test/server.ts'

const server = useServer()

let person: PersonApi
let other: PersonApi

beforeEach(async () => {
  const { development } = await server.freshOrganization()
  person = await signInAs(server, development, 'viewer')
  other = await signInAs(server, development, 'owner')
})

const save = (name: string, search = 'data=plan%3Dpro', by = person) =>
  by.post('/v1/auth/views', { page: 'subscribers', name, search })
const names = async (by = person) =>
  (await by.get('/v1/auth/views?page=subscribers')).body.map(({ name }: { name: string }) => name)

test('a person saves, renames, changes and deletes views of their own', async () => {
  const made = await save(' Pro plan ')
  expect(made).toMatchObject({
    status: 201,
    body: { page: 'subscribers', name: 'Pro plan', search: 'data=plan%3Dpro' },
  })
  await save('Berlin', 'name=b')
  expect(await names()).toEqual(['Berlin', 'Pro plan'])
  const at = `/v1/auth/views/${made.body._id}`
  expect(await person.patch(at, { name: 'Paying' })).toMatchObject({ status: 200, body: { name: 'Paying' } })
  expect(await person.patch(at, { search: 'email=x' })).toMatchObject({ body: { name: 'Paying', search: 'email=x' } })
  expect(await person.patch(at, {})).toMatchObject({ body: { name: 'Paying', search: 'email=x' } })
  expect(await person.delete(at)).toMatchObject({ status: 204 })
  expect(await person.delete(at)).toMatchObject({ status: 404, body: { code: 'view_not_found' } })
  expect(await names()).toEqual(['Berlin'])
})

test('nobody sees or changes the views of others', async () => {
  const { body } = await save('Mine')
  expect(await names(other)).toEqual([])
  const at = `/v1/auth/views/${body._id}`
  for (const answer of [await other.patch(at, { name: 'Yours' }), await other.patch(at, {}), await other.delete(at)])
    expect(answer).toMatchObject({ status: 404, body: { code: 'view_not_found' } })
  expect(await names()).toEqual(['Mine'])
})

test('a name is there once, whatever its case', async () => {
  await save('Mine')
  expect(await save('mine')).toMatchObject({ status: 409, body: { code: 'view_exists' } })
  const { body } = await save('Other')
  expect(await person.patch(`/v1/auth/views/${body._id}`, { name: 'MINE' })).toMatchObject({ status: 409 })
  expect(await save('Mine', '', other)).toMatchObject({ status: 201 })
})

test('there are at most fifty, with short names, of known lists', async () => {
  await server.database.pool.query(
    `INSERT INTO saved_views (id, user_id, page, name, search, created_at)
     SELECT $1 || n, $1, 'subscribers', 'View ' || n, '', now() FROM generate_series(1, 49) n`,
    [person.id],
  )
  const both = await Promise.all([save('Last'), save('One more')])
  const [won, lost] = both.sort((a, b) => a.status - b.status)
  expect(won).toMatchObject({ status: 201 })
  expect(lost).toMatchObject({ status: 409, body: { code: 'too_many_views' } })
  expect(await save(' ')).toMatchObject({ status: 422 })
  expect(await save('x'.repeat(61))).toMatchObject({ status: 422 })
  expect(await person.post('/v1/auth/views', { page: 'moons', name: 'A', search: '' })).toMatchObject({ status: 422 })
})
