import { expect, test } from 'vitest'
import { situation } from './liquid.ts'
import { translatorFor } from './translations.ts'
import { renderText, renderValues } from './values.ts'

const of = () =>
  situation(
    { payload: { name: 'say "hi"\n', key: 'k', list: [1, { a: 'b' }], tag: 'urgent' }, subscriber: {} },
    new Date(0),
  )

test('every text in the values is a template, however deep', () => {
  expect(
    renderValues(
      {
        subject: 'Hi {{payload.name}}',
        primaryAction: { label: '{{payload.key}}', redirect: { url: '/{{payload.key}}' } },
        headers: [{ key: 'X', value: '{{payload.key}}' }, '{{payload.key}}'],
        amount: 3,
        isOn: true,
        nothing: null,
        plain: 'plain } text {',
      },
      of(),
    ),
  ).toEqual({
    subject: 'Hi say "hi"\n',
    primaryAction: { label: 'k', redirect: { url: '/k' } },
    headers: [{ key: 'X', value: 'k' }, 'k'],
    amount: 3,
    isOn: true,
    nothing: null,
    plain: 'plain } text {',
  })
})

test('names are templates in data only', () => {
  expect(
    renderValues({ '{{payload.key}}': 1, data: { '{{payload.key}}': 'x', deep: { '{{payload.key}}1': 2 } } }, of()),
  ).toEqual({ '{{payload.key}}': 1, data: { k: 'x', deep: { k1: 2 } } })
})

test("a name from the data cannot change an object's prototype", () => {
  const rendered = renderValues(
    { data: { '{{payload.name}}': { evil: true } } },
    situation({ payload: { name: '__proto__' } }, new Date(0)),
  )
  expect(Object.hasOwn(rendered.data as object, '__proto__')).toBe(true)
  expect((rendered.data as { evil?: boolean }).evil).toBeUndefined()
})

test('rendered numbers are texts, and objects print in single quotes', () => {
  expect(renderValues({ body: '{{payload.list[0]}}', subject: '{{payload.list}}' }, of())).toEqual({
    body: '1',
    subject: "[1,{'a':'b'}]",
  })
})

test('a text in data that is meant to be JSON is valid JSON, and stays a text', () => {
  expect(
    renderValues(
      {
        data: {
          list: '{{payload.list}}',
          own: '{"list": {{payload.list}}, "n": 1}',
          fine: '{"n": {{payload.list[0]}}}',
          tag: '[{{payload.tag}}]',
        },
      },
      of(),
    ).data,
  ).toEqual({ list: '[1,{"a":"b"}]', own: '{"list": [1,{"a":"b"}], "n": 1}', fine: '{"n": 1}', tag: '[urgent]' })
})

test('the same values render separately for each message and language', () => {
  const values = { body: '{{t.hi}} {{payload.name}}' }
  const group = { defaultLocale: 'en_US', locales: { en_US: { hi: 'Hi' }, de_DE: { hi: 'Hallo' } } }
  const render = (name: string, locale: string) =>
    renderValues(values, situation({ payload: { name } }, new Date(0)), translatorFor(group, locale)).body
  expect([render('Ann', 'en_US'), render('Bob', 'de_DE'), render('Cy', 'en_US')]).toEqual([
    'Hi Ann',
    'Hallo Bob',
    'Hi Cy',
  ])
})

test('the caller may change the result', () => {
  const values = { data: { list: ['a'] } }
  const first = renderValues(values, of()) as { data: { list: string[] } }
  first.data.list.push('b')
  expect(renderValues(values, of())).toEqual({ data: { list: ['a'] } })
  expect(values).toEqual({ data: { list: ['a'] } })
})

test('all texts of a message share one budget', () => {
  const loop = '{% for i in (1..60000) %}{% endfor %}'
  expect(renderText(loop, of())).toBe('')
  expect(() => renderValues({ a: loop, b: loop, c: loop }, of())).toThrow(
    expect.objectContaining({ code: 'work_limit' }),
  )
})

test('values nested too deeply are refused', () => {
  let values: Record<string, unknown> = { body: 'x' }
  for (let i = 0; i < 200; i++) values = { inner: values }
  expect(() => renderValues(values, of())).toThrow(expect.objectContaining({ code: 'template_too_deep' }))
})
