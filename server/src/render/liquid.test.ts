import fc from 'fast-check'
import { Liquid, toValue } from 'liquidjs'
import { expect, test } from 'vitest'
import { RenderError } from './limits.ts'
import { compileTemplate, renderEmit, renderTemplate, situation } from './liquid.ts'

const now = new Date('2026-05-06T07:08:09.000Z')
const data = {
  subscriber: { firstName: 'Ann', lastName: null, data: { plan: 'pro' } },
  payload: {
    order: { id: 'A1', total: 12.5 },
    items: [
      { name: 'Tea', price: 3, tags: ['hot'] },
      { name: 'Mug', price: 8, tags: [] },
    ],
    injected: '{{ subscriber.firstName }}{% for i in (1..3) %}x{% endfor %}',
    empty: '',
    no: false,
  },
  steps: { 'in-app-step': { read: false } },
  context: { tenant: { id: 't1', data: { name: 'Acme' } } },
  workflow: { name: 'Orders' },
  env: { name: 'Development' },
  actor: { firstName: 'Bob' },
}
const render = (template: string, of: object = data) => renderTemplate(template, situation({ ...of }, now))

function failure(template: string, of: object = data): RenderError {
  try {
    const text = render(template, of)
    throw new Error(`rendered ${text.length} characters`)
  } catch (error) {
    if (error instanceof RenderError) return error
    throw error
  }
}

test('variables of every namespace are filled in', () => {
  expect(
    render(
      '{{subscriber.firstName}} {{payload.order.id}} {{steps.in-app-step.read}} {{context.tenant.data.name}} {{workflow.name}} {{env.name}} {{actor.firstName}}',
    ),
  ).toBe('Ann A1 false Acme Orders Development Bob')
})

test('unknown and null values write nothing, at any depth', () => {
  expect(render('[{{nobody}}{{payload.a.b.c}}{{subscriber.lastName}}{{payload.order.id.x.y}}]')).toBe('[]')
})

test('an unknown filter returns its input', () => {
  expect(render('{{ payload.order.id | shout }}')).toBe('A1')
})

test('only nil and false are false', () => {
  expect(
    render('{% if payload.empty %}yes{% endif %}{% if payload.no %}no{% endif %}{% if payload.gone %}no{% endif %}'),
  ).toBe('yes')
})

test('objects and lists print as JSON in single quotes', () => {
  expect(render('{{ payload.order }} {{ payload.items[0].tags }}')).toBe("{'id':'A1','total':12.5} ['hot']")
  expect(render('{{ payload.items | map: "name" }}')).toBe("['Tea','Mug']")
})

test('a date in the data prints as an ISO time', () => {
  expect(render('{{ payload.at }}', { payload: { at: new Date(0) } })).toBe('1970-01-01T00:00:00.000Z')
})

test('text from the data is never parsed as a template', () => {
  expect(render('{{ payload.injected }}')).toBe(data.payload.injected)
  expect(render('{% assign x = payload.injected %}{% capture y %}{{ x }}{% endcapture %}{{ y }}')).toBe(
    data.payload.injected,
  )
  expect(failure('{{ payload.items | where_exp: "x", payload.injected }}')).toMatchObject({ code: 'template_syntax' })
})

test('prototype members cannot be reached', () => {
  const names = [
    'constructor',
    '__proto__',
    'toString',
    'payload.constructor.constructor',
    'payload.items.map',
    'payload.order.__proto__',
  ]
  for (const name of names) expect(render(`[{{ ${name} }}]`)).toBe('[]')
  expect(render('{{ payload["constructor"] }}{{ payload.items | map: "constructor" | compact | size }}')).toBe('0')
})

test('templates never change the data', () => {
  const before = structuredClone(data)
  const of = structuredClone(data)
  render(
    '{% increment payload %}{% decrement n %}{% assign subscriber = 1 %}{% for payload in (1..2) %}{% endfor %}{{ payload.items | reverse | sort: "name" }}',
    of,
  )
  expect(of).toEqual(before)
})

test('HTML mode escapes text and values, but not Liquid', () => {
  const emit = compileTemplate('a < b {{ payload.x | append: "<" }} {{ payload.x | raw }}', 'html')
  expect(renderEmit(emit, situation({ payload: { x: '<i>&' } }, now))).toBe('a &lt; b &lt;i&gt;&amp;&lt; <i>&')
})

test.each(['include "x"', 'render "x"', 'layout "x"', 'block x'])('{%% %s %%} is refused with a reason', (tag) => {
  expect(failure(`a\n  {% ${tag} %}`)).toMatchObject({
    code: 'template_syntax',
    message: expect.stringContaining('is not available'),
    position: { line: 2, column: 3 },
  })
})

test.each([
  ['{{ payload.x', 'not closed'],
  ['{% if a %}', 'not closed'],
  ['{% foo %}', 'tag "foo" not found'],
  ['{{ a | }}{{ | b }}', 'invalid value expression'],
  ['{% assign x %}', 'expected "="'],
  ['{%# one\n two %}', "must start with a '#'"],
])('%s is a syntax error with its position', (template, words) => {
  const error = failure(template)
  expect(error).toMatchObject({ code: 'template_syntax', position: { line: expect.any(Number) } })
  expect(error.message).toContain(words)
  expect(error.message).toMatch(/^Line \d+, column \d+: /)
})

test('an inline comment of several lines writes nothing', () => {
  expect(render('a{%# one\n # two\n\n%}b')).toBe('ab')
})

const many = (text: string, times: number) => text.repeat(times)
const big = {
  payload: {
    text: 'x'.repeat(200_000),
    aaa: 'a'.repeat(200_000),
    baa: `b${'a'.repeat(100_000)}`,
    open: '<'.repeat(200_000),
    list: Array.from({ length: 20_000 }, (_, i) => ({ id: i, t: `t${i % 7}`, tags: ['q'] })),
    words: Array.from({ length: 20_000 }, (_, i) => `word ${i}`),
    map: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, i])),
    deep: JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`),
    huge: 1e17,
    odd: { toString: 1, valueOf: 2 },
    when: '2026-01-01T00:00:00Z',
  },
}

test.each<[string, string, string]>([
  ['a huge range', '{% for i in (1..100000000) %}x{% endfor %}', 'work_limit'],
  ['a huge range in an output', '{{ (1..100000000) | join }}', 'work_limit'],
  ['a range up to a number from the data', '{{ (1..payload.huge) | size }}', 'work_limit'],
  [
    'a range of numbers that cannot grow by one',
    '{% for i in (100000000000000000..100000000000000100) %}x{% endfor %}',
    'work_limit',
  ],
  ['nested loops', '{% for i in (1..10000) %}{% for j in (1..10000) %}x{% endfor %}{% endfor %}', 'work_limit'],
  ['ninety nested loops', `${many('{% for i in (1..2) %}', 90)}x${many('{% endfor %}', 90)}`, 'work_limit'],
  [
    'a string that doubles by append',
    `{% assign s = payload.text %}${many('{% assign s = s | append: s %}', 40)}`,
    'output_limit',
  ],
  [
    'a string that doubles by capture',
    `{% capture s %}xxxxxxxx{% endcapture %}${many('{% capture s %}{{s}}{{s}}{% endcapture %}', 40)}`,
    'output_limit',
  ],
  ['a long text in a loop', `{% for i in (1..1000) %}${many('y', 10_000)}{% endfor %}`, 'output_limit'],
  [
    'a list that doubles by concat',
    `{% assign a = "1,2" | split: "," %}${many('{% assign a = a | concat: a %}', 40)}{{a}}`,
    'work_limit',
  ],
  [
    'a list put into itself',
    `{% assign a = "1,2" | split: "," %}${many('{% assign a = a | push: a %}', 60)}{{a}}`,
    'work_limit',
  ],
  [
    'groups of groups',
    `{% assign a = payload.list %}${many('{% assign a = a | group_by: "name" | map: "items" | concat: a %}', 30)}{{a}}`,
    'work_limit',
  ],
  [
    'lists compared many times',
    `{% assign a = payload.words %}{% if ${many('a == payload.words and ', 500)} true %}1{% endif %}`,
    'work_limit',
  ],
  [
    'one object printed many times over',
    `{% assign a = payload.list %}${many('{% assign a = a | concat: a %}', 3)}{{a}}`,
    'work_limit',
  ],
  ['a replacement that multiplies', '{{ payload.text | replace: "x", payload.text }}', 'output_limit'],
  ['a long separator', '{{ payload.words | join: payload.text }}', 'output_limit'],
  ['a search that matches almost everywhere', '{% if payload.aaa contains payload.baa %}1{% endif %}', 'work_limit'],
  ['the same from the end', '{{ payload.aaa | remove_last: payload.baa }}', 'work_limit'],
  [
    'splitting over and over',
    '{% for i in (1..1000) %}{% assign z = payload.aaa | split: "" %}{% endfor %}',
    'work_limit',
  ],
  [
    'escaping over and over',
    '{% for i in (1..1000) %}{% assign z = payload.open | escape %}{% endfor %}',
    'output_limit',
  ],
  [
    'sorting over and over',
    '{% for i in (1..1000) %}{% assign z = payload.words | sort_natural %}{% endfor %}',
    'work_limit',
  ],
  [
    'filtering over and over',
    '{% for i in (1..1000) %}{% assign z = payload.list | where: "t", "t1" %}{% endfor %}',
    'work_limit',
  ],
  ['counting over and over', '{% for i in (1..10000) %}{{ payload.map.size }}{% endfor %}', 'work_limit'],
  [
    'pairs over and over',
    '{% for i in (1..10000) %}{% for p in payload.map limit: 1 %}{% endfor %}{% endfor %}',
    'work_limit',
  ],
  [
    'dates over and over',
    '{% for i in (1..90000) %}{% assign x = payload.when | date: "%Y", "Europe/Berlin" %}{% endfor %}',
    'work_limit',
  ],
  [
    'a long date pattern',
    `{% for i in (1..9) %}{{ payload.when | date: "${many('%A', 9_000)}" }}{% endfor %}`,
    'output_limit',
  ],
  ['many filters', `{{ 1 ${many('| plus: 1 ', 10_000)} }}`, 'template_too_large'],
  ['many operators', `{{ 1 ${many('and 1 ', 10_000)} }}`, 'template_too_large'],
  ['many outputs', many('{{a}}', 50_000), 'template_too_large'],
  ['a long template', `${many('x', 300_000)}{{a}}`, 'template_too_large'],
  ['many levels of tags', `${many('{%if 1%}', 400)}${many('{%endif%}', 400)}`, 'template_too_deep'],
  ['many levels of brackets', `{{ ${many('a[', 11_000)} }}`, 'template_syntax'],
  ['data nested deeply, printed', '{{ payload.deep }}', 'template_too_deep'],
  ['data nested deeply, joined', '{{ payload.deep | append: "x" }}', 'template_too_deep'],
  ['data that pretend to be text', '{{ payload.odd | append: "x" }}', 'filter_failed'],
  ['a broken address', '{{ "%" | url_decode }}', 'filter_failed'],
  ['no such time zone', '{{ payload.when | date: "%H", "Mars/Olympus" }}', 'filter_failed'],
  ['an opening that never ends', many('{{ ', 5_000), 'template_syntax'],
])('%s ends in a clear error', (_, template, code) => {
  const error = failure(template, big)
  expect(error.code).toBe(code)
  expect(error.message).toMatch(/^(?:The |Line |")/)
})

test('a comment of blank lines parses in linear time', () => {
  expect(render(`{%#${many('\n', 20_000)}%}`)).toBe('')
})

test('the budget is enough for a digest of a thousand events', () => {
  const events = Array.from({ length: 1_000 }, (_, i) => ({
    id: `e${i}`,
    time: now.toISOString(),
    payload: { name: `User ${i}` },
  }))
  const template =
    '{% for e in steps.d.events %}<tr><td>{{ forloop.index }}</td><td>{{ e.payload.name | upcase | escape }}</td><td>{{ e.time | date: "%d %b %H:%M" }}</td>{% if e.payload.url %}<td>{{ e.payload.url }}</td>{% endif %}</tr>{% endfor %}'
  expect(render(template, { steps: { d: { events } } }).match(/<tr>/g)).toHaveLength(1_000)
})

// Templates made of valid pieces, so that most of them parse.
const plain = fc.constantFrom(
  'payload.items',
  'payload.order',
  'payload.items[0].name',
  'payload.items[1].tags',
  'subscriber.firstName',
  'payload.empty',
  'payload.no',
  'payload.gone.x',
  'x',
  'i',
  'forloop.index',
  '3',
  '-2',
  '1.5',
  '"text"',
  "'a,b,c'",
  'true',
  '(1..3)',
  '(1..i)',
  'payload.items.size',
  'payload.items.first.name',
  'payload["order"].id',
  'payload.items[i].price',
)
const values = fc.oneof(
  { weight: 9, arbitrary: plain },
  { weight: 1, arbitrary: fc.constantFrom('nil', 'empty', 'blank') },
)
const filters = fc.constantFrom(
  ...'append: "x"; prepend: subscriber.firstName; upcase; downcase; capitalize; split: ","; split: ""; join; join: ", "; first; last; size; slice: 1; slice: 0, 2; slice: -2, 2; map: "name"; map: "tags"; sort; sort: "price"; sort_natural: "name"; reverse; uniq; compact; concat: payload.items; push: 1; pop; shift; unshift: "y"; where: "name", "Tea"; where: "price"; reject: "name", "Tea"; find: "price", 8; find_index: "name", "Mug"; has: "name", "Mug"; where_exp: "o", "o.price > 3"; group_by: "name"; sum: "price"; sum; plus: 2; minus: 1.5; times: 3; divided_by: 4; modulo: 3; round; round: 1; abs; ceil; floor; at_least: 2; at_most: 5; default: "none"; default: "none", allow_false: true; escape; escape_once; strip_html; strip; lstrip; rstrip; strip_newlines; newline_to_br; replace: "a", "b"; replace_first: "e", ""; replace_last: "T", "t"; remove: "e"; remove_first: "M"; remove_last: "g"; truncate: 3; truncate: 4, ""; truncatewords: 1; url_encode; url_decode; slugify; number_of_words; array_to_sentence_string; unknown; unknown: 3'
    .split('; ')
    .map((filter) => ` | ${filter}`),
)
const expressions = fc.oneof(
  values,
  fc.tuple(plain, fc.array(filters, { maxLength: 3 })).map(([value, list]) => value + list.join('')),
)
const conditions = fc
  .array(fc.tuple(values, fc.constantFrom('==', '!=', '<', '>', '<=', '>=', 'contains "e" and', 'and', 'or')), {
    maxLength: 3,
  })
  .chain((parts) => values.map((last) => `${parts.map((part) => part.join(' ')).join(' ')} ${last}`))
const { template: templates } = fc.letrec<{ template: string; piece: string }>((tie) => ({
  template: fc.array(tie('piece'), { maxLength: 5 }).map((pieces) => pieces.join('')),
  piece: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(
      ' text ',
      '\n',
      '<b>',
      '{%- break -%}',
      '{% continue %}',
      '{% increment n %}',
      '{% decrement n %}',
      '{% raw %}{{ x }}{% endraw %}',
      "{% cycle 'a', 'b' %}",
    ),
    expressions.map((value) => `{{ ${value} }}`),
    expressions.map((value) => `{{- ${value} -}}`),
    expressions.map((value) => `{% assign x = ${value} %}`),
    fc
      .tuple(conditions, tie('template'), tie('template'))
      .map(([test, a, b]) => `{% if ${test} %}${a}{% else %}${b}{% endif %}`),
    fc.tuple(conditions, tie('template')).map(([test, a]) => `{% unless ${test} %}${a}{% endunless %}`),
    fc
      .tuple(
        values,
        fc.constantFrom('', ' limit: 2', ' offset: 1', ' reversed', ' limit: 1 offset: 1'),
        tie('template'),
      )
      .map(([list, rest, body]) => `{% for i in ${list}${rest} %}${body}{% else %}none{% endfor %}`),
    fc
      .tuple(values, expressions)
      .map(([list, value]) => `{% tablerow i in ${list} cols: 2 %}{{ ${value} }}{% endtablerow %}`),
    fc
      .tuple(values, values, tie('template'))
      .map(([value, other, body]) => `{% case ${value} %}{% when ${other}, 3 %}${body}{% else %}other{% endcase %}`),
    tie('template').map((body) => `{% capture x %}${body}{% endcapture %}`),
  ),
}))

test('any template renders or fails with a RenderError', () => {
  fc.assert(
    fc.property(templates, fc.string(), fc.nat(), (template, noise, at) => {
      for (const source of [
        template,
        template.slice(0, at % (template.length + 1)) + noise + template.slice(at % (template.length + 1)),
        noise,
      ]) {
        try {
          expect(typeof render(source)).toBe('string')
        } catch (error) {
          if (!(error instanceof RenderError)) throw error
        }
      }
    }),
    { numRuns: 1_000 },
  )
})

test('any text of braces, quotes and words renders or fails with a RenderError', () => {
  const soup = fc.array(
    fc.constantFrom(
      '{{',
      '}}',
      '{%',
      '%}',
      '{%-',
      '-%}',
      'for',
      'endfor',
      'if',
      'endif',
      'in',
      'a',
      '.',
      '[',
      ']',
      '(',
      ')',
      '..',
      '|',
      ':',
      ',',
      '"',
      "'",
      '\\',
      '#',
      '=',
      '==',
      ' ',
      '\n',
      '1',
      'liquid',
      'raw',
      'endraw',
      'case',
      'when',
      'or',
      'capture',
      'comment',
      'echo',
    ),
    { maxLength: 60 },
  )
  fc.assert(
    fc.property(soup, (pieces) => {
      try {
        render(pieces.join(''))
      } catch (error) {
        if (!(error instanceof RenderError)) throw error
      }
    }),
    { numRuns: 3_000 },
  )
})

test('templates render as in LiquidJS', () => {
  const liquid = new Liquid({
    // Lists and objects print differently; everything else is compared.
    outputEscape: (written: unknown) => {
      const value = toValue(written)
      return typeof value === 'object' && value !== null
        ? JSON.stringify(value).replaceAll('"', "'")
        : String(value ?? '')
    },
  })
  const settled = (work: () => string) => {
    try {
      return work()
    } catch {
      return 'failed'
    }
  }
  fc.assert(
    fc.property(templates, (template) => {
      const theirs = settled(() => String(liquid.parseAndRenderSync(template, structuredClone(data))))
      const ours = settled(() => render(template))
      expect(ours).toBe(theirs)
    }),
    // Half a million other templates agreed except one: LiquidJS counts (1..12.5) up to 13.
    { numRuns: 3_000, seed: 1 },
  )
})
