import { beforeAll, describe, expect, test } from 'vitest'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()

const idsOf = (body: { data: Array<{ subscriberId: string }> }) => body.data.map(({ subscriberId }) => subscriberId)

describe('searching', () => {
  test('filters match parts case-insensitively, ids exactly, and all must match', async () => {
    const api = await server.freshApi()
    const people = [
      { subscriberId: 'u1', firstName: 'Élodie', lastName: 'Durand', email: 'Elodie@Example.com', phone: '+33 1' },
      { subscriberId: 'u2', firstName: 'Ann', lastName: 'Elo', email: 'ann@example.org', phone: '+44 1' },
      { subscriberId: 'U2', lastName: 'Only' },
      { subscriberId: 'u22', firstName: 'First', email: 'first@example.com' },
    ]
    for (const person of people) await api.post('/v2/subscribers', person)
    const found = async (query: Record<string, string>) => {
      const search = new URLSearchParams({ orderDirection: 'ASC', ...query }).toString()
      const { body } = await api.get(`/v2/subscribers?${search}`)
      expect(body.totalCount).toBe(body.data.length)
      return idsOf(body)
    }
    expect(await found({ email: 'EXAMPLE.COM' })).toEqual(['u1', 'u22'])
    expect(await found({ phone: '1' })).toEqual(['u1', 'u2'])
    expect(await found({ phone: '+33' })).toEqual(['u1'])
    expect(await found({ name: 'ÉLODIE d' })).toEqual(['u1'])
    expect(await found({ name: 'n e' })).toEqual(['u2'])
    expect(await found({ name: 'only' })).toEqual(['U2'])
    expect(await found({ name: ' only' })).toEqual([])
    expect(await found({ name: 'first ' })).toEqual([])
    expect(await found({ subscriberId: 'u2' })).toEqual(['u2'])
    expect(await found({ subscriberId: 'u' })).toEqual([])
    expect(await found({ email: 'example', name: 'ann' })).toEqual(['u2'])
    expect(await found({ email: 'example', name: 'ann', subscriberId: 'u1' })).toEqual([])
    expect(await found({ email: '', name: '', phone: '', subscriberId: '' })).toEqual(['u1', 'u2', 'U2', 'u22'])
  })

  test('fields of the data match by value, also inside objects and lists, and all must match', async () => {
    const api = await server.freshApi()
    const people = [
      { subscriberId: 'ada', data: { plan: 'pro', seats: 5, tags: ['beta', 'eu'], address: { city: 'Berlin' } } },
      { subscriberId: 'bob', data: { plan: 'pro', seats: '5', isTrial: true } },
      { subscriberId: 'cy', data: { plan: 'free', note: 'a=b' } },
      { subscriberId: 'dee' },
    ]
    for (const person of people) await api.post('/v2/subscribers', person)
    const found = async (...filters: string[]) => {
      const search = filters.map((filter) => `&data=${encodeURIComponent(filter)}`).join('')
      const answer = await api.get(`/v2/subscribers?orderDirection=ASC${search}`)
      expect(answer, answer.text).toMatchObject({ status: 200 })
      return idsOf(answer.body)
    }
    expect(await found('plan=pro')).toEqual(['ada', 'bob'])
    expect(await found('plan=Pro')).toEqual([])
    expect(await found('plan=pro', 'seats=5')).toEqual(['ada', 'bob'])
    expect(await found('seats=05')).toEqual([])
    expect(await found('isTrial=true')).toEqual(['bob'])
    expect(await found('tags=eu')).toEqual(['ada'])
    expect(await found('address.city=Berlin')).toEqual(['ada'])
    expect(await found('note=a=b')).toEqual(['cy'])
    expect(await found("plan=' OR true --")).toEqual([])
    expect(await api.get('/v2/subscribers?data=plan')).toMatchObject({ status: 422 })
    expect(await api.get('/v2/subscribers?data=a.b.c.d.e.f=1')).toMatchObject({ status: 422 })
    expect(await api.get(`/v2/subscribers?${'data=a%3D1&'.repeat(6)}`)).toMatchObject({ status: 422 })
  })

  test.each(['%', '_', '\\', '.*', "'", '100%_\\', '\\%', '*', '(', '[a-z]', '$1'])(
    'the characters %s are matched literally',
    async (text) => {
      const api = await server.freshApi()
      await api.post('/v2/subscribers', { subscriberId: 'plain', firstName: 'plain', phone: '1000', lastName: 'axz' })
      await api.post('/v2/subscribers', { subscriberId: 'special', firstName: `a${text}z`, phone: `1${text}0` })
      for (const field of ['name', 'phone']) {
        const page = await api.get(`/v2/subscribers?${field}=${encodeURIComponent(text)}`)
        expect(idsOf(page.body)).toEqual(['special'])
      }
      expect(idsOf((await api.get(`/v2/subscribers?email=${encodeURIComponent(text)}`)).body)).toEqual([])
    },
  )

  describe('pages', () => {
    let api: Api
    let cursors: Record<string, string>
    const page = async (query: string) => {
      const { status, body } = await api.get(`/v2/subscribers?${query}`)
      expect(status).toBe(200)
      const nameOf = (cursor: string | null) => Object.keys(cursors).find((id) => cursors[id] === cursor) ?? cursor
      return {
        ids: idsOf(body).join(''),
        next: nameOf(body.next),
        previous: nameOf(body.previous),
        total: body.totalCount,
      }
    }

    // Created in the order a to g; c and d changed later, at the same time, so the order of change is a b e f g c d.
    beforeAll(async () => {
      api = await server.freshApi()
      cursors = {}
      for (const subscriberId of 'abcdefg') {
        const lastName = 'aceg'.includes(subscriberId) ? 'odd' : 'even'
        cursors[subscriberId] = (await api.post('/v2/subscribers', { subscriberId, lastName })).body._id
        server.clock.advance({ ms: 1 })
      }
      for (const id of 'dc') await api.patch(`/v2/subscribers/${id}`, { firstName: 'changed' })
    })

    test('the newest come first, ten at a time', async () => {
      expect(await page('')).toEqual({ ids: 'gfedcba', next: null, previous: null, total: 7 })
      expect(await page('limit=0')).toEqual({ ids: 'gfedcba', next: null, previous: null, total: 7 })
      const more = await server.freshApi()
      for (let n = 0; n < 11; n += 1) await more.post('/v2/subscribers', { subscriberId: `n${n}` })
      const { body } = await more.get('/v2/subscribers')
      expect(body).toMatchObject({ next: body.data[9]._id, previous: null, totalCount: 11, totalCountCapped: false })
      expect(body.data).toHaveLength(10)
    })

    test('next pages forward and previous back', async () => {
      expect(await page('limit=3')).toEqual({ ids: 'gfe', next: 'e', previous: null, total: 7 })
      expect(await page(`limit=3&after=${cursors.e}`)).toEqual({ ids: 'dcb', next: 'b', previous: 'd', total: 7 })
      expect(await page(`limit=3&after=${cursors.b}`)).toEqual({ ids: 'a', next: null, previous: 'a', total: 7 })
      expect(await page(`limit=3&before=${cursors.a}`)).toEqual({ ids: 'dcb', next: 'b', previous: 'd', total: 7 })
      expect(await page(`limit=3&before=${cursors.d}`)).toEqual({ ids: 'gfe', next: 'e', previous: null, total: 7 })
      expect(await page(`limit=3&before=${cursors.f}`)).toEqual({ ids: 'g', next: 'g', previous: null, total: 7 })
    })

    test('pages beyond the ends are empty', async () => {
      expect(await page(`after=${cursors.a}`)).toEqual({ ids: '', next: null, previous: null, total: 7 })
      expect(await page(`before=${cursors.g}`)).toEqual({ ids: '', next: null, previous: null, total: 7 })
    })

    test('includeCursor includes the cursor item in the page', async () => {
      expect(await page(`limit=2&includeCursor=true&after=${cursors.e}`)).toMatchObject({ ids: 'ed', previous: 'e' })
      expect(await page(`limit=2&includeCursor=true&before=${cursors.e}`)).toMatchObject({ ids: 'fe', next: 'e' })
      expect(await page(`limit=9&includeCursor=true&after=${cursors.g}`)).toMatchObject({ next: null, previous: null })
      expect(await page(`limit=2&includeCursor=yes&after=${cursors.e}`)).toMatchObject({ ids: 'dc' })
    })

    test('the order can be reversed', async () => {
      expect(await page('orderDirection=ASC&limit=3')).toEqual({ ids: 'abc', next: 'c', previous: null, total: 7 })
      expect(await page(`orderDirection=ASC&limit=3&after=${cursors.c}`)).toMatchObject({ ids: 'def', previous: 'd' })
      expect(await page(`orderDirection=ASC&limit=3&before=${cursors.d}`)).toMatchObject({ ids: 'abc', next: 'c' })
      expect(await page('orderDirection=asc&limit=3')).toMatchObject({ ids: 'abc' })
      expect(await page('orderDirection=sideways&limit=3')).toMatchObject({ ids: 'gfe' })
    })

    test('updatedAt orders by the last change, then by age', async () => {
      expect(await page('orderBy=updatedAt')).toMatchObject({ ids: 'dcgfeba' })
      expect(await page('orderBy=updatedAt&orderDirection=ASC')).toMatchObject({ ids: 'abefgcd' })
      const by = 'orderBy=updatedAt&limit=1'
      expect(await page(by)).toEqual({ ids: 'd', next: 'd', previous: null, total: 7 })
      expect(await page(`${by}&after=${cursors.d}`)).toEqual({ ids: 'c', next: 'c', previous: 'c', total: 7 })
      expect(await page(`${by}&after=${cursors.c}`)).toEqual({ ids: 'g', next: 'g', previous: 'g', total: 7 })
      expect(await page(`${by}&before=${cursors.c}`)).toEqual({ ids: 'd', next: 'd', previous: null, total: 7 })
      expect(await page('orderBy=_id&limit=2')).toMatchObject({ ids: 'gf' })
      expect(await page('orderBy=email;drop&limit=2')).toMatchObject({ ids: 'gf' })
    })

    test('a filter applies to the count and the pages; the cursor may be any subscriber', async () => {
      expect(await page('name=odd&limit=2')).toEqual({ ids: 'ge', next: 'e', previous: null, total: 4 })
      expect(await page(`name=odd&limit=2&after=${cursors.e}`)).toEqual({
        ids: 'ca',
        next: null,
        previous: 'c',
        total: 4,
      })
      expect(await page(`name=odd&limit=2&after=${cursors.f}`)).toEqual({
        ids: 'ec',
        next: 'c',
        previous: 'e',
        total: 4,
      })
      expect(await page(`name=odd&after=${cursors.f}&includeCursor=true&limit=1`)).toMatchObject({ ids: 'e' })
    })

    test('a malformed cursor gives an empty page', async () => {
      for (const cursor of ['0'.repeat(24), 'not-a-cursor', '', '%F0%9F%A6%8A'])
        for (const side of ['after', 'before'])
          expect((await api.get(`/v2/subscribers?${side}=${cursor}`)).body).toEqual({
            data: [],
            next: null,
            previous: null,
            totalCount: 0,
            totalCountCapped: false,
          })
    })

    test('paging continues after the subscriber at the cursor is deleted', async () => {
      const own = await server.freshApi()
      const ids = []
      for (const subscriberId of 'abcdef') ids.push((await own.post('/v2/subscribers', { subscriberId })).body._id)
      const first = (await own.get('/v2/subscribers?limit=2')).body
      expect(idsOf(first)).toEqual(['f', 'e'])
      await own.delete('/v2/subscribers/e')
      const second = (await own.get(`/v2/subscribers?limit=2&after=${first.next}`)).body
      expect(idsOf(second)).toEqual(['d', 'c'])
      expect(second).toMatchObject({ next: ids[2], previous: ids[3], totalCount: 5 })
      await own.delete('/v2/subscribers/d')
      expect(idsOf((await own.get(`/v2/subscribers?limit=2&before=${second.previous}`)).body)).toEqual(['f'])
    })

    test('a cursor tells nothing of other environments: one of theirs is a place like one that never existed', async () => {
      const other = await server.freshApi()
      const theirs = (await other.post('/v2/subscribers', { subscriberId: 'x' })).body._id
      const never = theirs.slice(0, 8) + 'f'.repeat(16)
      for (const side of ['after', 'before']) {
        const { body } = await api.get(`/v2/subscribers?${side}=${theirs}`)
        expect(body).toEqual((await api.get(`/v2/subscribers?${side}=${never}`)).body)
        expect(body.totalCount).toBe(7)
      }
    })

    test('two cursors at once are refused', async () => {
      expect(await api.get(`/v2/subscribers?after=${cursors.a}&before=${cursors.b}`)).toMatchObject({
        status: 400,
        body: { message: 'Cannot specify both "before" and "after" cursors at the same time.' },
      })
    })

    test.each([
      ['101', 'limit must not be greater than 100'],
      ['-1', 'limit must not be less than 1'],
    ])('a limit of %s is refused', async (limit, message) => {
      expect(await api.get(`/v2/subscribers?limit=${limit}`)).toMatchObject({
        status: 422,
        body: {
          message: `Validation failed for ListSubscribersCommand: limit: ${message}`,
          errors: { limit: { messages: [message], value: Number(limit) } },
        },
      })
    })

    test.each(['ten', '1.5'])('a limit of %s is refused', async (limit) => {
      const { status, body } = await api.get(`/v2/subscribers?limit=${limit}`)
      expect(status).toBe(422)
      expect(body.errors.general.messages).toEqual(['limit must be a number conforming to the specified constraints'])
    })

    test('a limit of 100 is the most', async () => {
      expect(await page('limit=100')).toMatchObject({ ids: 'gfedcba' })
    })
  })
})
