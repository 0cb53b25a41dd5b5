import papa from 'papaparse'
import { expect, test } from 'vitest'
import { asCsv, unguarded } from './csv.ts'

test.each(['=1+1', '@SUM(A1)', '+cmd|calc', '-2+3+cmd|calc', '\t=1', '\r=1', '=HYPERLINK("https://example.com")'])(
  '%j is guarded against formulas, and read back unchanged',
  async (name) => {
    const { data } = papa.parse<string[]>(
      await asCsv([
        ['id', 'name'],
        ['ada', name],
      ]),
    )
    expect(data[1]).toEqual(['ada', `'${name}`])
    expect(unguarded(data[1]?.[1] ?? '')).toBe(name)
  },
)

test.each(['+14155550123', '+44 (0)20 7946-0018', '-5', '-5.25', "O'Hara", "'quoted'", 'a=b', ''])(
  '%j is written unchanged',
  async (name) => {
    const { data } = papa.parse<string[]>(await asCsv([['x', name]]))
    expect(data[0]?.[1]).toBe(name)
    expect(unguarded(name)).toBe(name)
  },
)

test('other values are written as JSON, and missing ones as nothing', async () => {
  expect(await asCsv([[{ plan: 'pro' }, [1], null, undefined, 5, false]])).toBe('"{""plan"":""pro""}",[1],,,5,false')
})
