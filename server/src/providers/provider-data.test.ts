import { describe, expect, test } from 'vitest'
import { type Casing, extend, inCase, merge, mergeSources, rename } from './provider-data.ts'

describe('names', () => {
  test.each<[Casing, string[]]>([
    ['camel', ['fooBar', 'htmlPart', 'fooBar2Baz', 'xmlHttp', 'aB']],
    ['pascal', ['FooBar', 'HtmlPart', 'FooBar2Baz', 'XmlHttp', 'AB']],
    ['snake', ['foo_bar', 'html_part', 'foo_bar2_baz', 'xml_http', 'a_b']],
    ['kebab', ['foo-bar', 'html-part', 'foo-bar2-baz', 'xml-http', 'a-b']],
    ['constant', ['FOO_BAR', 'HTML_PART', 'FOO_BAR2_BAZ', 'XML_HTTP', 'A_B']],
  ])('in %s case', (casing, expected) => {
    const names = ['foo_bar', 'HTMLPart', 'fooBar2Baz', 'xml.http', 'a--b']
    expect(names.map((name) => inCase(name, casing))).toEqual(expected)
  })

  test('change at every depth, with exceptions', () => {
    const given = { fooBar: { bazQux: [{ deepKey: 1 }, 'fooBar'] }, oTag: ['a'] }
    expect(rename(given, { casing: 'camel', names: { oTag: 'o:tag' } })).toEqual({
      fooBar: { bazQux: [{ deepKey: 1 }, 'fooBar'] },
      'o:tag': ['a'],
    })
    expect(rename(given, { casing: 'snake' })).toEqual({
      foo_bar: { baz_qux: [{ deep_key: 1 }, 'fooBar'] },
      o_tag: ['a'],
    })
  })
})

describe('a request', () => {
  test('gets provider data, and then the passthrough', () => {
    const base = { to: ['a'], subject: 'base', nested: { kept: 1, lost: 1 }, absent: undefined }
    const providerData = {
      subject: 'known',
      to: ['b'],
      nested: { lost: 2 },
      _passthrough: {
        body: { subject: 'passed', to: ['c'], rawName: { innerName: 1 } },
        headers: { 'X-One': 1, Host: 'elsewhere', 'Content-Length': '0', bad: {} },
        query: { debug: true },
      },
    }
    expect(extend(base, providerData, { casing: 'snake' })).toEqual({
      body: {
        to: ['a', 'b', 'c'],
        subject: 'passed',
        nested: { kept: 1, lost: 2 },
        rawName: { innerName: 1 },
        absent: undefined,
      },
      headers: { 'x-one': '1' },
      query: { debug: 'true' },
    })
  })

  test('ignores malformed provider data', () => {
    for (const _passthrough of [null, 'x', { body: 'x', headers: 'x', query: [] }])
      expect(extend({ a: 1 }, { _passthrough }, { casing: 'camel' })).toEqual({
        body: { a: 1 },
        headers: {},
        query: {},
      })
  })

  test('keeps files intact, and no name reaches the prototype', () => {
    const file = Buffer.from('x')
    expect((merge({ file }, { other: 1 }) as { file: unknown }).file).toBe(file)
    const evil = JSON.parse(
      '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}',
    ) as object
    expect(Object.hasOwn(merge({}, evil) as object, '__proto__')).toBe(true)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })
})

test('sources are merged member by member, and the last wins', () => {
  expect(mergeSources({ a: [1, 2, { x: 1 }], b: 1 }, undefined, { a: [9, undefined, { y: 2 }] }, { b: null })).toEqual({
    a: [9, 2, { x: 1, y: 2 }],
    b: null,
  })
})
