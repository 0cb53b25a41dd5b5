import { describe, expect, test } from 'vitest'
import { isSpf, parseSpf, SpfReader, type SpfRecord } from './spf.ts'

describe('a record', () => {
  test.each([
    'v=spf1',
    'v=spf1 -all',
    'v=spf1 a mx ~all',
    'v=spf1 a:mail.acme.example/28 mx/24//64 a//96 ?all',
    'v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 ip4:192.0.2.1 -all',
    'v=spf1 include:_spf.acme.example exists:%{i}._spf.acme.example ptr ptr:acme.example -all',
    'v=spf1 redirect=_spf.acme.example exp=why.acme.example unknown=1',
    'V=SPF1  +A  -ALL ',
  ])('%s can be read', (text) => {
    expect([isSpf(text), typeof parseSpf(text)]).toEqual([true, 'object'])
  })

  test.each([
    'v=spf1 alll',
    'v=spf1 all:x',
    'v=spf1 include',
    'v=spf1 include:',
    'v=spf1 ip4:192.0.2.256',
    'v=spf1 ip4:192.0.2.0/33',
    'v=spf1 ip4:2001:db8::1',
    'v=spf1 ip6:2001:db8::1/129',
    'v=spf1 a:/24',
    'v=spf1 a/33',
    'v=spf1 mx//129',
    'v=spf1 !all',
    'v=spf1 include:not a domain',
    'v=spf1 include:a..b',
    'v=spf1 redirect=a.example redirect=b.example',
    'v=spf1 redirect=',
  ])('%s cannot', (text) => {
    expect(typeof parseSpf(text)).toBe('string')
  })

  test.each(['v=spf10 -all', 'spf2.0/pra -all', 'v=spf1-all', ' v=spf1 -all'])('%s is none', (text) => {
    expect(isSpf(text)).toBe(false)
  })
})

interface Names {
  [name: string]: { txt?: string[]; mx?: string[]; addresses?: string[] }
}

const asked = (names: Names) => ({
  txt: async (name: string) => names[name]?.txt ?? [],
  mx: async (name: string) => (names[name]?.mx ?? []).map((exchange) => ({ exchange, priority: 10 })),
  addresses: async (name: string) => names[name]?.addresses ?? [],
})

async function read(record: string, names: Names = {}) {
  const reader = new SpfReader(asked(names))
  const tree = await reader.read('acme.example', parseSpf(record) as SpfRecord)
  return { tree, ...reader.cost }
}

describe('look-ups', () => {
  test.each<[string, Names, number, number]>([
    ['v=spf1 ip4:192.0.2.1 ip6:2001:db8::1 -all', {}, 0, 0],
    ['v=spf1 a mx ptr exists:x.example -all', { 'acme.example': { addresses: ['192.0.2.1'] } }, 4, 2],
    [
      'v=spf1 include:a.example -all',
      { 'a.example': { txt: ['v=spf1 include:b.example -all'] }, 'b.example': { txt: ['v=spf1 -all'] } },
      2,
      0,
    ],
    [
      'v=spf1 redirect=a.example',
      { 'a.example': { txt: ['v=spf1 a:b.example -all'] }, 'b.example': { addresses: ['192.0.2.1'] } },
      2,
      0,
    ],
    // Behind `all` nothing is looked at.
    ['v=spf1 -all a mx redirect=a.example', {}, 0, 0],
    ['v=spf1 include:a.example -all', { 'a.example': { txt: ['something else'] } }, 1, 0],
    ['v=spf1 exists:%{i}.x.example -all', {}, 1, 0],
  ])('of %s', async (record, names, lookups, voidLookups) => {
    expect(await read(record, names)).toMatchObject({ lookups, voidLookups })
  })

  test('of a record that includes itself end', async () => {
    const { lookups } = await read('v=spf1 include:a.example -all', {
      'a.example': { txt: ['v=spf1 include:a.example -all'] },
    })
    expect(lookups).toBeGreaterThan(10)
    expect(lookups).toBeLessThan(60)
  })

  test('that lead to no record, two, or one that cannot be read, break it', async () => {
    const names = { 'b.example': { txt: ['v=spf1 -all', 'v=spf1 ~all'] }, 'c.example': { txt: ['v=spf1 bad'] } }
    const { problems } = await read('v=spf1 include:a.example include:b.example include:c.example -all', names)
    expect(problems).toEqual([
      'a.example has no SPF record',
      'b.example has two SPF records',
      'In the record of c.example, "bad" cannot be read',
    ])
  })
})

describe('an address', () => {
  const names: Names = {
    'acme.example': { addresses: ['192.0.2.1', '2001:db8::1'], mx: ['mx.example'] },
    'mx.example': { addresses: ['192.0.2.2'] },
    'pass.example': { txt: ['v=spf1 ip4:198.51.100.0/24 -all'] },
    'fail.example': { txt: ['v=spf1 -ip4:198.51.100.0/24 ?all'] },
  }
  test.each([
    ['v=spf1 a -all', '192.0.2.1', 'pass'],
    ['v=spf1 a -all', '2001:db8::1', 'pass'],
    ['v=spf1 a/24 -all', '192.0.2.200', 'pass'],
    ['v=spf1 a -all', '192.0.2.200', 'other'],
    ['v=spf1 mx -all', '192.0.2.2', 'pass'],
    ['v=spf1 ip4:192.0.2.0/24 -all', '192.0.2.9', 'pass'],
    ['v=spf1 ip6:2001:db8::/32 -all', '2001:db8::9', 'pass'],
    ['v=spf1 -ip4:192.0.2.9 ip4:192.0.2.0/24 -all', '192.0.2.9', 'other'],
    ['v=spf1 include:pass.example -all', '198.51.100.7', 'pass'],
    ['v=spf1 include:pass.example -all', '192.0.2.7', 'other'],
    ['v=spf1 include:fail.example -all', '198.51.100.7', 'other'],
    ['v=spf1 redirect=pass.example', '198.51.100.7', 'pass'],
    ['v=spf1 ptr -all', '192.0.2.7', 'unknown'],
    ['v=spf1 a exists:%{i}.x.example -all', '192.0.2.7', 'unknown'],
    ['v=spf1 a exists:%{i}.x.example -all', '192.0.2.1', 'pass'],
    ['v=spf1', '192.0.2.1', 'other'],
  ])('by %s: %s is %s', async (record, address, finding) => {
    expect((await read(record, names)).tree.find(address)).toBe(finding)
  })
})
