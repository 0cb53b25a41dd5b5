// Sources with records, rows and files that are not as they should be: nothing is taken for something else. files.md §6.
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import { courier } from '../../src/import/courier/source.ts'
import { csv } from '../../src/import/csv.ts'
import { knock } from '../../src/import/knock/source.ts'
import { novu } from '../../src/import/novu/source.ts'
import { oneSignal } from '../../src/import/onesignal.ts'
import { pinpoint } from '../../src/import/pinpoint.ts'
import { stampOf } from '../../src/import/source-file.ts'
import { Spool } from '../../src/import/spool.ts'
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
      { kind: 'subscribers', id: 'users.jsonl line 1', path: '', code: 'no_id', count: 7 },
      { kind: 'preferences', id: 'preferences.jsonl line 1', path: '', code: 'no_id', count: 7 },
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
      ...['layout Bare no_id', 'workflow Nameless no_id'],
      ...['subscribers profiles.jsonl line 1 no_id', 'preferences preferences.jsonl line 1 no_id'],
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
      'layout _id missing no_id',
      'tenants _id n0 no_id',
      'contexts _id c0 no_id',
      'subscribers _id s0 no_id',
      'topic _id t0 no_id',
      'topic-subscriptions _id u0 no_id',
      'topic-subscriptions _id u1 no_id',
      'messages of ada no_id',
    ])
  })

  test('Pinpoint: endpoints, a line each or in a list', async () => {
    const bare = { ChannelType: 'EMAIL', Address: 'y@example.com' }
    write(folder, { 'a.json': lines([bare, { ...bare, Id: 'e' }]), 'b.json': JSON.stringify([bare], null, 2) })
    const { items, report } = await read(pinpoint([at('a.json'), at('b.json')]))
    expect(items.subscribers).toEqual([{ subscriberId: 'e', email: 'y@example.com' }])
    expect(report.unmapped).toMatchObject([{ id: 'a.json line 1', path: '', code: 'no_id', count: 2 }])
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

describe('text that is not UTF-8 is refused, and the answer names the file and the line', () => {
  const latin = (text: string) => Buffer.from(text, 'latin1')
  const refused = (name: string, line: number) => ({
    ...{ exitCode: 2, code: 'not_utf8' },
    message: expect.stringContaining(`${name} is not UTF-8: line ${line}`),
  })

  test('CSV, also when a character is cut between two pieces', async () => {
    writeFileSync(at('l.csv'), latin('id,mail\nada,\nJos\xe9,q@c.de\nJos\xe8,r@c.de\n'))
    await expect(read(csv(at('l.csv'), 'subscriberId=id'))).rejects.toMatchObject(refused('l.csv', 3))
    writeFileSync(at('l.csv.gz'), gzipSync(latin('id\nJos\xe9\n')))
    await expect(read(oneSignal(at('l.csv.gz')))).rejects.toMatchObject(refused('l.csv.gz', 2))
    const rows = 30_000
    write(folder, { 'long.csv': `id,name\n${Array.from({ length: rows }, (_, n) => `${n},é✓😀é`).join('\n')}` })
    const { items } = await read(csv(at('long.csv'), 'subscriberId=id,firstName=name'))
    expect(new Set(items.subscribers?.map(({ firstName }) => firstName))).toEqual(new Set(['é✓😀é']))
    expect(items.subscribers).toHaveLength(rows)
    writeFileSync(at('end.csv'), Buffer.concat([Buffer.from('id\nada\nx'), Buffer.from('é').subarray(0, 1)]))
    await expect(read(csv(at('end.csv'), 'subscriberId=id'))).rejects.toMatchObject(refused('end.csv', 3))
  })

  test('a byte order mark at the beginning is no part of the text', async () => {
    write(folder, {
      'b.csv': '\ufeffid,mail\r\nada,a@example.com\r\n',
      'users.jsonl': '\ufeff{"id":"ada"}\r\n',
      'knock/channels.yaml': '\ufeffapns: push apns\n',
      'novu/subscribers.json': '\ufeff[{"subscriberId":"ada"}]',
    })
    const sources = [
      csv(at('b.csv'), 'subscriberId=id'),
      knock(at('knock'), { users: at('users.jsonl') }),
      novu({ from: at('novu') }, {}),
    ]
    for (const source of sources) {
      const { items, listed } = await read(source)
      expect([source.name, items.subscribers]).toMatchObject([source.name, [{ subscriberId: 'ada' }]])
      expect(listed.filter((each) => !each.endsWith('no_map'))).toEqual([])
    }
  })

  test('files of JSON', async () => {
    writeFileSync(at('users.jsonl'), latin('{"id":"ada"}\n{"id":"Jos\xe9"}\n'))
    write(folder, { 'knock/knock.json': '{}', 'courier/brands/b.json': '{}', 'novu/topics.json': '' })
    const users = knock(at('knock'), { users: at('users.jsonl') })
    await expect(read(users)).rejects.toMatchObject(refused('users.jsonl', 2))
    await expect(read(pinpoint([at('users.jsonl')]))).rejects.toMatchObject(refused('users.jsonl', 2))
    writeFileSync(at('novu/subscribers.json'), latin('{"subscriberId":"Jos\xe9"}'))
    await expect(read(novu({ from: at('novu') }, {}))).rejects.toMatchObject(refused('subscribers.json', 1))
    writeFileSync(at('courier/brands/b.json'), latin('{"id":"Jos\xe9"}'))
    await expect(read(courier(at('courier')))).rejects.toMatchObject({ exitCode: 2, code: 'not_utf8' })
  })
})

describe('CSV', () => {
  const map = 'subscriberId=id,email=mail'
  const rows = (text: string) => {
    write(folder, { 'p.csv': text })
    return read(csv(at('p.csv'), map))
  }

  test('a row may have fewer cells than the first line; one with more is listed', async () => {
    const { items, report } = await rows('id,mail\nz1\nz2,z2@example.com,,\n\nz3,z3@example.com,more\n')
    expect(items.subscribers).toEqual([
      { subscriberId: 'z1' },
      { subscriberId: 'z2', email: 'z2@example.com' },
      { subscriberId: 'z3', email: 'z3@example.com' },
    ])
    expect(report.unmapped).toMatchObject([
      { id: 'row 5', code: 'extra_cells', why: expect.stringContaining('more cells than the first line') },
    ])
  })

  test.each(['', '\n', 'id\n', 'id,email\nz1,z@example.com\n'])(
    'a missing column is wrong usage, whether there are rows or not: %j',
    async (text) => {
      await expect(rows(text)).rejects.toMatchObject({ exitCode: 2, code: 'no_column' })
    },
  )

  test('columns of one name are kept apart', async () => {
    const { items, listed } = await rows('id,mail,mail\na,1@example.com,2@example.com\n')
    expect(items.subscribers).toEqual([{ subscriberId: 'a', email: '1@example.com' }])
    expect(listed).toEqual(['subscribers a mail_1 no_map'])
  })

  test('quotes that do not end a cell are refused with their row', async () => {
    const unclosed = 'id,mail\nw1,w1@example.com\n"w2,x@y.z\nw3,w3@example.com\n'
    await expect(rows(unclosed)).rejects.toMatchObject({
      ...{ exitCode: 2, code: 'bad_quotes', message: expect.stringContaining('p.csv, row 3') },
    })
    await expect(rows('id,mail\n"w" 2,x\n')).rejects.toMatchObject({
      ...{ exitCode: 2, code: 'bad_quotes', message: expect.stringContaining('row 2') },
    })
    // It would be read to the end of the file again and again.
    const long = `id,mail\n"w1,x\n${'a,b\n'.repeat(1_500_000)}`
    await expect(rows(long)).rejects.toMatchObject({ code: 'bad_quotes', message: expect.stringContaining('row 2') })
  })

  test('quoted cells with line breaks, other delimiters, and rows over many pieces', async () => {
    const count = 20_000
    const body = Array.from({ length: count }, (_, n) => `u${n};"a ""b""\r\n;${n}"`).join('\r\n')
    const { items } = await rows(`id;mail\r\n${body}`)
    expect(items.subscribers).toHaveLength(count)
    expect(items.subscribers?.[count - 1]).toEqual({ subscriberId: `u${count - 1}`, email: `a "b"\r\n;${count - 1}` })
  })
})

describe('files that are not what they should be are wrong usage, by name', () => {
  const wrong = (name: string, code = 'not_readable') => ({
    ...{ exitCode: 2, code, message: expect.stringContaining(name) },
  })

  test('a folder instead of a file, and a file instead of a folder', () => {
    mkdirSync(at('folder'))
    writeFileSync(at('file'), '')
    for (const source of [
      () => csv(at('folder'), 'subscriberId=id'),
      () => oneSignal(at('folder')),
      () => pinpoint([at('folder')]),
      () => knock(at('folder'), { users: at('folder') }),
      () => knock(at('file'), {}),
      () => courier(at('file')),
    ])
      expect(source).toThrow(expect.objectContaining({ exitCode: 2, code: 'no_files' }))
  })

  test('a link that leads nowhere is no file of the source', () => {
    write(folder, { 'c/profiles.jsonl': '' })
    const before = stampOf([at('c')])
    symlinkSync('nowhere', at('c/link'))
    expect(stampOf([at('c')])).toBe(before)
  })

  test('a .gz that is none, or is cut', async () => {
    writeFileSync(at('a.csv.gz'), 'id\nada\n')
    await expect(read(csv(at('a.csv.gz'), 'subscriberId=id'))).rejects.toMatchObject(wrong('a.csv.gz'))
    const whole = gzipSync(Array.from({ length: 9_999 }, (_, n) => `{"ChannelType":"EMAIL","Id":"${n}"}`).join('\n'))
    writeFileSync(at('b.json.gz'), whole.subarray(0, -20))
    await expect(read(pinpoint([at('b.json.gz')]))).rejects.toMatchObject(wrong('b.json.gz'))
  })

  test('JSON that is none', async () => {
    write(folder, { 'k/workflows/w/workflow.json': '{"steps":', 'novu/subscribers.json': '[{]' })
    await expect(read(knock(at('k'), {}))).rejects.toMatchObject(wrong('workflow.json'))
    write(folder, { 'k/workflows/w/workflow.json': '[]' })
    await expect(read(knock(at('k'), {}))).rejects.toMatchObject(wrong('workflow.json'))
    write(folder, { 'k/workflows/w/workflow.json': '{"name":"W","steps@":"steps.json"}' })
    await expect(read(knock(at('k'), {}))).rejects.toMatchObject(wrong('steps.json', 'wrong_place'))
    await expect(read(novu({ from: at('novu') }, {}))).rejects.toMatchObject(wrong('subscribers.json'))
  })

  test('lines and elements that are no objects are listed', async () => {
    write(folder, {
      'users.jsonl': 'null\n5\n{"id":"ada"}\n',
      'k/knock.json': '{}',
      'novu/subscribers.json': '[null, {"subscriberId":"ada"}, {"subscriberId":"bob","createdAt":{"$date":"never"}}]',
    })
    const users = await read(knock(at('k'), { users: at('users.jsonl') }))
    expect(users.listed).toEqual(['file users.jsonl line 1 not_readable', 'file users.jsonl line 2 not_readable'])
    const { items, listed } = await read(novu({ from: at('novu') }, {}))
    expect(items.subscribers).toEqual([{ subscriberId: 'ada' }])
    expect(listed).toEqual(['file subscribers.json item 1 not_readable', 'file subscribers.json item 3 not_readable'])
  })
})

test('a spool is for one import at a time', () => {
  const spool = () => new Spool(at('belfry'), ['csv', 'people.csv'])
  const unlock = spool().lock()
  const place = at('.belfry/imports')
  const [own = ''] = readdirSync(place)
  const other = path.join(place, own.replace(/\d+-[^.]+$/, `${process.ppid}-other`))
  new Spool(at('belfry'), ['csv', 'others.csv']).lock()()
  unlock()
  writeFileSync(other, '')
  const refused = { exitCode: 3, code: 'import_running', message: expect.stringContaining(`process ${process.ppid}`) }
  expect(() => spool().lock()).toThrow(expect.objectContaining(refused))
  rmSync(other)
  spool().lock()()
  expect(readdirSync(place)).toEqual([])
})
