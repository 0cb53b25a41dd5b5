import { describe, expect, test } from 'vitest'
import { guessMeanings, readPeople, readRow } from './import-file.ts'

const file = (name: string, text: string) => new File([text], name)

describe('reading a file', () => {
  test.each([
    ['people.csv', ' ', 'The file is empty.'],
    ['people.csv', 'id,email\n', 'The file has column names, but no rows below them.'],
    ['people.csv', 'id,name\n1,"Ada', /^A quote is not closed near line \d+\.$/],
    ['people.json', '[1, 2]', /^Record 1 is not an object/],
    ['people.json', '[{"id": "a"}, []]', /^Record 2 is not an object/],
  ])('%s with %j is refused with a reason', async (name, text, message) => {
    await expect(readPeople(file(name, text))).rejects.toThrow(message)
  })

  test.each([
    ['commas', 'id,email\nada,a@b.co\n\ngrace,g@b.co'],
    ['semicolons and a byte order mark', '\uFEFFid;email\r\nada;a@b.co\r\n\r\ngrace;g@b.co'],
  ])('CSV with %s: empty lines count for line numbers but are no rows', async (_, text) => {
    expect(await readPeople(file('people.csv', text))).toEqual({
      name: 'people.csv',
      columns: ['id', 'email'],
      rows: [
        { line: 2, cells: ['ada', 'a@b.co'] },
        { line: 4, cells: ['grace', 'g@b.co'] },
      ],
    })
  })

  test.each([
    ['a list', '[{"id": "ada"}, {"plan": "pro"}]'],
    ['an API response', '{"data": [{"id": "ada"}, {"plan": "pro"}]}'],
    ['one object per line', '{"id": "ada"}\n{"plan": "pro"}'],
  ])('JSON as %s: columns are all names', async (_, text) => {
    const { columns, rows } = await readPeople(file('people.json', text))
    expect(columns).toEqual(['id', 'plan'])
    expect(rows.map(({ cells }) => cells)).toEqual([
      ['ada', undefined],
      [undefined, 'pro'],
    ])
  })
})

test('columns are mapped by name; no field is used twice, and subscriberId wins over id', () => {
  expect(guessMeanings(['User ID', 'E-Mail', 'mail', 'plan', 'createdAt'])).toEqual([
    ...['subscriberId', 'email', 'own-data', 'own-data', 'nothing'],
  ])
  expect(guessMeanings(['id', 'subscriberId'])).toEqual(['own-data', 'subscriberId'])
})

describe('a row', () => {
  const columns = ['id', 'email', 'locale', 'zone', 'data', 'plan']
  const meanings = ['subscriberId', 'email', 'locale', 'timezone', 'data', 'own-data'] as const
  const read = (...cells: unknown[]) => readRow({ line: 2, cells }, columns, meanings)

  test('becomes a subscriber; empty cells leave the stored value', () => {
    expect(read(' ada ', '', 'de_CH', 'Europe/Zurich', '{"seats": 3}', 'pro')).toEqual({
      line: 2,
      subscriber: { subscriberId: 'ada', locale: 'de_CH', timezone: 'Europe/Zurich', data: { seats: 3, plan: 'pro' } },
    })
  })

  test('is refused with every reason', () => {
    expect(read('', 'not-an-address', 'german?', 'Mars/Base', '[1]')).toEqual({
      line: 2,
      subscriberId: '',
      problems: [
        'data is not a JSON object',
        'The id is missing',
        '“not-an-address” is not an email address',
        '“german?” is not a locale such as en_US',
        '“Mars/Base” is not a time zone such as Europe/Zurich',
      ],
    })
  })
})
