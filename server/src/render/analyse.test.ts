import { expect, test } from 'vitest'
import { analyseExpression, analyseTemplate, pathText } from './analyse.ts'

const paths = (source: string, names: string[] = []) =>
  analyseTemplate(source, new Map(names.map((name) => [name, undefined]))).variables.map(({ path }) => path)

test('variables are listed with path and position', () => {
  expect(analyseTemplate('Hello {{name}}\n {{ payload.items[0]["full name"] | upcase }}').variables).toEqual([
    { path: 'name', segments: ['name'], text: 'name', position: { line: 1, column: 9 } },
    {
      path: "payload.items[0]['full name']",
      segments: ['payload', 'items', 0, 'full name'],
      text: 'payload.items[0]["full name"]',
      position: { line: 2, column: 5 },
    },
  ])
})

test("a template's own names are not variables", () => {
  expect(
    paths(
      '{% for item in payload.items limit: payload.max %}{{ item.name }}{{ forloop.index }}{% endfor %}{% tablerow r in payload.rows %}{{ r }}{{ tablerowloop.col }}{% endtablerow %}{% assign x = payload.a | append: payload.b %}{{ x }}{% capture y %}{{ payload.c }}{% endcapture %}{{ y.size }}{% increment n %}{{ n }}',
    ),
  ).toEqual(['payload.items', 'payload.max', 'payload.rows', 'payload.a', 'payload.b', 'payload.c'])
  expect(paths('{{ item }}{% for item in payload.items %}{% endfor %}{{ forloop.index }}')).toEqual([
    'item',
    'payload.items',
    'forloop.index',
  ])
  expect(paths('{{ content }}', ['content'])).toEqual([])
})

test('conditions, cases and computed steps are analysed', () => {
  expect(
    paths(
      '{% if payload.a == payload.b and payload.c %}{% elsif payload.d %}{{ payload.e }}{% endif %}{% unless payload.f %}{% endunless %}{% case payload.g %}{% when payload.h, 3 %}{% endcase %}{{ payload.list[payload.index].x }}{% for i in (payload.from..payload.to) %}{% endfor %}{% liquid\n echo payload.i\n%}{% cycle payload.j, 1 %}',
    ),
  ).toEqual([
    'payload.a',
    'payload.b',
    'payload.c',
    'payload.d',
    'payload.e',
    'payload.f',
    'payload.g',
    'payload.h',
    'payload.index',
    'payload.list[].x',
    'payload.from',
    'payload.to',
    'payload.i',
    'payload.j',
  ])
})

test('filters are listed with their arguments and input', () => {
  expect(
    analyseTemplate('{{ steps.d.events | toSentence: "payload.name", 2, \'other\', true, payload.x | nope }}').filters,
  ).toMatchObject([
    {
      name: 'toSentence',
      isKnown: true,
      input: 'steps.d.events',
      args: [
        { kind: 'text', value: 'payload.name' },
        { kind: 'number', value: 2 },
        { kind: 'text', value: 'other' },
        { kind: 'word', value: 'true' },
        { kind: 'variable', value: 'payload.x' },
      ],
    },
    { name: 'nope', isKnown: false, args: [], input: undefined },
  ])
  expect(analyseTemplate('{{ payload.a | default: "x", allow_false: payload.b }}')).toMatchObject({
    variables: [{ path: 'payload.a' }, { path: 'payload.b' }],
    filters: [{ name: 'default', args: [{ value: 'x' }, { value: 'payload.b' }] }],
  })
})

test('expressions in arguments are analysed', () => {
  expect(paths('{{ payload.list | where_exp: "item", "item.price > payload.max" }}')).toEqual([
    'payload.list',
    'payload.max',
  ])
})

test('whitespace in a path is a problem', () => {
  expect(analyseTemplate('{{ payload.first name }}').problems).toMatchObject([
    { message: 'Variable "payload.first name" contains whitespace', text: 'payload.first name' },
  ])
  expect(analyseTemplate('{{ payload. name }}')).toMatchObject({ variables: [], problems: [{ text: 'payload. name' }] })
  expect(analyseTemplate('{{ payload["first name"] }}').problems).toEqual([])
})

test('a template with a syntax error has a problem with its position', () => {
  expect(analyseTemplate('ok\n {{ payload.x')).toMatchObject({
    variables: [],
    problems: [{ text: '', position: { line: 2, column: 2 } }],
  })
  expect(analyseTemplate('{% include "x" %}').problems[0]?.message).toContain('not available')
  expect(analyseTemplate('{{ a }}'.repeat(5_000)).problems[0]?.message).toContain('at most')
})

test.each([
  ['{% for i in payload.list %}{{ i.name }}{% endfor %}', ['payload.list[]', 'payload.list[].name']],
  ['{% tablerow i in payload.list %}{{ i }}{% endtablerow %}', ['payload.list[]']],
  [
    '{% for a in payload.as %}{% for b in a.bs %}{{ b.c }}{{ forloop.index }}{% endfor %}{% endfor %}',
    ['payload.as[]', 'payload.as[].bs', 'payload.as[].bs[]', 'payload.as[].bs[].c'],
  ],
  ['{{ steps.d.events | toSentence: "payload.author", 2 }}', ['steps.d.events[].payload.author']],
  ['{{ payload.people | digest: 2, "name" }}{{ payload.tags | digest }}', ['payload.people[].name', 'payload.tags[]']],
  ['{% assign x = payload.list %}{% for i in x %}{{ i.a }}{% endfor %}{% for n in (1..3) %}{{ n }}{% endfor %}', []],
])('the properties read of list items are known: %s', (source, items) => {
  expect(analyseTemplate(source).items.map(pathText)).toEqual(items)
})

test('an expression without braces is analysed the same way', () => {
  expect(analyseExpression('payload.a | upcase')).toMatchObject({
    variables: [{ path: 'payload.a' }],
    filters: [{ name: 'upcase' }],
    problems: [],
  })
  expect(analyseExpression('payload.a }}').problems).toHaveLength(1)
  expect(analyseExpression('').problems).toHaveLength(1)
})
