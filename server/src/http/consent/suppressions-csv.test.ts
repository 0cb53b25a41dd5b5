import { describe, expect, test } from 'vitest'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
import { csvHeader, csvLine, csvRows, readHeader } from './suppressions-csv.ts'

const now = new Date('2026-05-01T10:00:00.000Z')

function read(text: string) {
  const [header, ...rows] = [...csvRows(text)]
  if (!header) throw new Error('empty')
  const rowOf = readHeader(header)
  return rows.map((row) => rowOf(row, now))
}
const only = (text: string) => {
  const [first] = read(text)
  return first && 'entry' in first ? first.entry : first?.problem
}

describe('the form of the file', () => {
  test('quotes, line breaks, empty lines and a byte order mark are read as RFC 4180 says', () => {
    const rows = [...csvRows('\ufeffa,b\r\n\r\n"x, ""y""\nz",2\n3,"4"')]
    expect(rows).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 3, cells: ['x, "y"\nz', '2'] },
      { line: 5, cells: ['3', '4'] },
    ])
  })

  test.each([
    ['address\n"ada', 'the quoted value in line 2 does not end'],
    ['address\n"ada"x', 'something follows the quoted value in line 2'],
    ['mail\nada@example.com', 'there is no column "mail"'],
    ['channel\nemail', 'the first line has no column "address"'],
    ['address,address\na@x.io,b@x.io', 'the column "address" is there twice'],
    ['note,address, note\n1,b@x.io,2', 'the column "note" is there twice'],
  ])('%j cannot be read', (text, reason) => {
    expect(() => read(text)).toThrow(`The file cannot be read: ${reason}`)
  })
})

describe('a row', () => {
  test('has spaces around what is not quoted, which do not count', () => {
    expect(only('address , note\n ada@example.com , By phone ')).toMatchObject({
      ...{ address: 'ada@example.com', note: 'By phone' },
    })
    expect(only('address,note\nada@example.com, ')).toMatchObject({ note: null })
    expect(only('address,reason,scope\n" ada@example.com ","manual "," all"')).toMatchObject({
      address: 'ada@example.com',
    })
  })

  test('needs an address only', () => {
    expect(only('address\nAda@example.com')).toMatchObject({
      ...{ channel: 'email', address: 'ada@example.com', reason: 'manual', scope: 'all' },
      ...{ source: 'import', note: null, expiresAt: null },
    })
  })

  test.each([
    ['address,channel\nada,email', '"ada" is no address for email'],
    ['address,channel\nada@example.com,fax', 'There is no channel "fax"'],
    ['address,reason\nada@example.com,mood', 'There is no reason "mood"'],
    ['address,scope\nada@example.com,workflow:', '"workflow:" is no scope'],
    ['address,scope\nada@example.com,category:A B', '"category:A B" is no scope'],
    ['address,expiresAt\nada@example.com,soon', '"soon" is no time'],
    ['address,expiresAt\nada@example.com,2020-01-01', 'expiresAt lies in the past'],
    [`address,note\nada@example.com,${'x'.repeat(501)}`, 'The note has more than 500 characters'],
    ['address\nada@example.com,more', 'It has 2 values, the header 1'],
  ])('%j is told', (text, problem) => {
    expect(only(text)).toBe(problem)
  })
})

const row: SuppressionRow = {
  ...{ environment_id: 'e', id: '1', channel: 'email', address_hash: Buffer.alloc(32, 1), address: 'ada@example.com' },
  ...{
    reason: 'manual',
    scope: 'all',
    scope_id: '',
    exceptions: [],
    source: 'api',
    subscriber_id: null,
    integration_id: null,
  },
  ...{ message_id: null, note: null, expires_at: null, created_at: now, updated_at: now },
}

test.each<[string, Partial<SuppressionRow>, string, object]>([
  ['all', {}, 'email,ada@example.com,manual,all,,2026-05-01T10:00:00.000Z,api,', {}],
  [
    'a note like a formula',
    { note: '=1+1, "x"' },
    `email,ada@example.com,manual,all,,2026-05-01T10:00:00.000Z,api,"'=1+1, ""x"""`,
    { note: '=1+1, "x"' },
  ],
  [
    'a note like a formula that was defused',
    { note: "'=x" },
    "email,ada@example.com,manual,all,,2026-05-01T10:00:00.000Z,api,''=x",
    { note: "'=x" },
  ],
  [
    'a note that begins with an apostrophe',
    { note: "'tis Ada" },
    "email,ada@example.com,manual,all,,2026-05-01T10:00:00.000Z,api,'tis Ada",
    { note: "'tis Ada" },
  ],
  [
    'a note with spaces around it',
    { note: ' lead\n' },
    'email,ada@example.com,manual,all,,2026-05-01T10:00:00.000Z,api," lead\n"',
    { note: ' lead\n' },
  ],
  [
    'a note of spaces',
    { note: ' ' },
    'email,ada@example.com,manual,all,,2026-05-01T10:00:00.000Z,api," "',
    { note: ' ' },
  ],
  [
    'an erased address',
    { address: null },
    `email,sha256:${'01'.repeat(32)},manual,all,,2026-05-01T10:00:00.000Z,api,`,
    { address: null, addressHash: Buffer.alloc(32, 1) },
  ],
  [
    'a category with exceptions',
    {
      scope: 'category',
      scope_id: 'offers',
      exceptions: ['news', 'weekly'],
      expires_at: new Date('2027-01-01T00:00:00Z'),
    },
    'email,ada@example.com,manual,category:offers|news|weekly,2027-01-01T00:00:00.000Z,2026-05-01T10:00:00.000Z,api,',
    {
      scope: 'category',
      scopeId: 'offers',
      exceptions: ['news', 'weekly'],
      expiresAt: new Date('2027-01-01T00:00:00Z'),
    },
  ],
  [
    // A code-first workflow may be called anything.
    'an exception with signs of the form',
    { scope: 'category', scope_id: 'offers', exceptions: ['100%', 'a%7Cb', 'a|c', 'z '] },
    'email,ada@example.com,manual,"category:offers|100%25|a%257Cb|a%7Cc|z ",,2026-05-01T10:00:00.000Z,api,',
    { scope: 'category', scopeId: 'offers', exceptions: ['100%', 'a%7Cb', 'a|c', 'z '] },
  ],
])('%s is written, and read back the same', (_, given, line, entry) => {
  const text = csvLine({ ...row, ...given })
  expect(text).toBe(`${line}\r\n`)
  expect(only(csvHeader + text)).toMatchObject({ channel: 'email', reason: 'manual', ...entry })
})
