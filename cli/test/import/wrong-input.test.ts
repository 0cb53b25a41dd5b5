// Sources with records, rows and files that are not as they should be: nothing is taken for something else. files.md §6.
import path from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { courier } from '../../src/import/courier/source.ts'
import { csv } from '../../src/import/csv.ts'
import { knock } from '../../src/import/knock/source.ts'
import { novu } from '../../src/import/novu/source.ts'
import { pinpoint } from '../../src/import/pinpoint.ts'
import { useCommand, write } from '../command.ts'
import { read } from './reading.ts'

const command = useCommand()
let folder: string
beforeEach(() => {
  folder = command.newFolder()
})
const at = (name: string) => path.join(folder, name)
const lines = (values: unknown[]) => values.map((value) => JSON.stringify(value)).join('\n')
/** None of these is an id, and the last has lost digits. */
const noIds = [undefined, null, '', { a: 1 }, ['a'], true, 12345678901234567890n]
const withIds = (member: string, rest: object = {}) =>
  [...noIds, 'ada', 7]
    .map((id) => (typeof id === 'bigint' ? `{"${member}":${id}}` : JSON.stringify({ [member]: id, ...rest })))
    .join('\n')
const idsOf = (items: object[] | undefined, member = 'subscriberId') =>
  (items ?? []).map((item) => (item as Record<string, unknown>)[member])

describe('what has no id is listed and not taken', () => {
  test('Knock: users and preferences', async () => {
    write(folder, {
      'users.jsonl': withIds('id', { email: 'x@example.com' }),
      'preferences.jsonl': withIds('user_id', { channel_types: { email: false } }),
      'knock/knock.json': '{}',
    })
    const { items, report } = await read(
      knock(at('knock'), { users: at('users.jsonl'), preferences: at('preferences.jsonl') }),
    )
    expect(idsOf(items.subscribers)).toEqual(['ada', '7'])
    expect(idsOf(items.preferences)).toEqual(['ada', '7'])
    expect(report.unmapped).toMatchObject([
      { kind: 'subscribers', id: 'users.jsonl line 1', path: 'id', code: 'no_id', count: 7 },
      { kind: 'preferences', id: 'preferences.jsonl line 1', path: 'user_id', code: 'no_id', count: 7 },
    ])
  })

  test('Courier: profiles, preferences, templates and brands', async () => {
    write(folder, {
      'courier/profiles.jsonl': withIds('id', { profile: { email: 'x@example.com' } }),
      'courier/preferences.jsonl': withIds('user_id', { items: [{ topic_id: 'news', status: 'OPTED_OUT' }] }),
      'courier/brands/b.json': '{"name":"Bare"}',
      'courier/notifications/t.json': lines([{ title: 'Nameless', content: { elements: [] } }]),
      'courier/notifications/u.json': lines([{ id: 'T', title: 'T', topic: 'news', content: { elements: [] } }]),
    })
    const { items, definitions, listed } = await read(courier(at('courier')))
    expect(idsOf(items.subscribers)).toEqual(['ada', '7'])
    expect(idsOf(items.preferences)).toEqual(['ada', '7'])
    expect(Object.keys(definitions)).toEqual(['workflow T'])
    expect(listed).toEqual([
      ...['layout Bare id no_id', 'workflow Nameless id no_id'],
      ...['subscribers profiles.jsonl line 1 id no_id', 'preferences preferences.jsonl line 1 user_id no_id'],
    ])
  })

  test('Novu: every collection of people and of what they have', async () => {
    const ada = { _id: 's1', subscriberId: 'ada' }
    write(folder, {
      'subscribers.json': lines([{ _id: 's0', email: 'x@example.com' }, { _id: 's2', subscriberId: { a: 1 } }, ada]),
      'topics.json': lines([{ _id: 't0', name: 'Bare' }]),
      'topicsubscribers.json': lines([
        { _id: 'u0', topicKey: 'posts', _subscriberId: 's0' },
        { _id: 'u1', externalSubscriberId: 'ada' },
        { _id: 'u2', topicKey: 'posts', _subscriberId: 's1' },
      ]),
      'tenants.json': lines([{ _id: 'n0', name: 'Bare' }]),
      'contexts.json': lines([{ _id: 'c0', type: 'region' }]),
      'layouts.json': lines([{ _id: { a: 1 }, name: 'Bare' }]),
      'messages.json': lines([{ channel: 'in_app', _subscriberId: 's1', templateIdentifier: 'w', content: 'x' }]),
    })
    const { items, definitions, listed } = await read(novu({ from: folder }, {}))
    expect(items).toEqual({
      subscribers: [{ subscriberId: 'ada' }],
      'topic-subscriptions': [{ topicKey: 'posts', subscriberId: 'ada' }],
    })
    expect(definitions).toEqual({})
    expect(listed).toEqual([
      'layout _id missing layoutId no_id',
      'tenants _id n0 identifier no_id',
      'contexts _id c0 id no_id',
      'subscribers _id s0 subscriberId no_id',
      'topic _id t0 key no_id',
      'topic-subscriptions _id u0 subscriberId no_id',
      'topic-subscriptions _id u1 topicKey no_id',
      'messages of ada _id no_id',
    ])
  })

  test('Pinpoint: endpoints, a line each or in a list', async () => {
    const bare = { ChannelType: 'EMAIL', Address: 'y@example.com' }
    write(folder, { 'a.json': lines([bare, { ...bare, Id: 'e' }]), 'b.json': JSON.stringify([bare], null, 2) })
    const { items, report } = await read(pinpoint([at('a.json'), at('b.json')]))
    expect(items.subscribers).toEqual([{ subscriberId: 'e', email: 'y@example.com' }])
    expect(report.unmapped).toMatchObject([{ id: 'a.json line 1', path: 'User.UserId', code: 'no_id', count: 2 }])
  })
})

describe('of several people with one id the first is taken, and the others are listed', () => {
  test('rows of a CSV file', async () => {
    write(folder, { 'twice.csv': 'id,mail\nd1,first@example.com\nd2,\nd1,second@example.com\n' })
    const { items, listed, report } = await read(csv(at('twice.csv'), 'subscriberId=id,email=mail'))
    expect(items.subscribers).toEqual([{ subscriberId: 'd1', email: 'first@example.com' }, { subscriberId: 'd2' }])
    expect(listed).toEqual(['subscribers d1 same_id'])
    expect(report.kinds.subscribers).toMatchObject({ found: 2 })
  })

  test('users of Knock, with their device tokens', async () => {
    const user = (token: string) => ({
      id: 'ada',
      email: `${token}@example.com`,
      channel_data: { apns: { tokens: [token] } },
    })
    write(folder, { 'users.jsonl': lines([user('a'), user('b')]), 'knock/channels.yaml': 'apns: push apns\n' })
    const { items, listed } = await read(knock(at('knock'), { users: at('users.jsonl') }))
    expect(items.subscribers).toMatchObject([{ email: 'a@example.com' }])
    expect(items.credentials).toMatchObject([{ deviceTokens: ['a'] }])
    expect(listed).toEqual(['subscribers ada same_id'])
  })
})
