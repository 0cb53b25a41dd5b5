import fc from 'fast-check'
import { DomUtils, parseDocument } from 'htmlparser2'
import juice from 'juice'
import { expect, test } from 'vitest'
import { prepareHtmlBlock } from './inline-css.ts'

test('rules move into the elements they match, the more specific last', () => {
  expect(
    prepareHtmlBlock(
      '<style>#a{color:red} .x{color:blue;margin:0} p{color:green} div > p.x, td{padding:1px}</style><div><p id="a" class="x">t</p></div><p class="x" style="color:black">u</p>',
    ),
  ).toBe(
    '<div><p id="a" class="x" style="color:green;color:blue;margin:0;padding:1px;color:red">t</p></div><p class="x" style="color:green;color:blue;margin:0;color:black">u</p>',
  )
})

test('an important rule beats the style of the element', () => {
  expect(prepareHtmlBlock('<style>p{color:red!important}</style><p style="color:blue;">t</p>')).toBe(
    '<p style="color:blue;color:red">t</p>',
  )
})

test('rules that no attribute can hold stay in a style sheet', () => {
  expect(
    prepareHtmlBlock(
      '<head><style>a:hover{color:red}@media (max-width:1px){a{color:blue}}p{margin:0}</style></head><p>t</p>',
    ),
  ).toBe('<style>a:hover{color:red}@media (max-width:1px){a{color:blue}}</style><p style="margin:0">t</p>')
  expect(prepareHtmlBlock('<style>p{color</style><p>t</p>')).toContain('<style>p{color</style>')
})

test('Liquid comes through unchanged, wherever it stands', () => {
  expect(
    prepareHtmlBlock(
      '<style>p{color:{{payload.color}}}</style><p {% if a < b %}class="x"{% endif %} title="{{ a | default: "<" }}">{{ x > y }}</p>',
    ),
  ).toBe(
    '<p {% if a < b %}class="x" {% endif %} title="{{ a | default: "<" }}" style="color:{{payload.color}}">{{ x > y }}</p>',
  )
})

test('entities stay as the author wrote them', () => {
  expect(prepareHtmlBlock('<style>p{margin:0}</style><p title="a &amp; b">&copy; &lt;</p>')).toBe(
    '<p title="a &amp; b" style="margin:0">&copy; &lt;</p>',
  )
})

test('doctype, html, head and body tags are removed', () => {
  expect(
    prepareHtmlBlock(
      '<!doctype html><html lang="en"><head><title>t</title></head><body class="x"><p>t</p></body></html>',
    ),
  ).toBe('<p>t</p>')
  expect(prepareHtmlBlock('<header>h</header><p>t</p>')).toBe('<header>h</header><p>t</p>')
  expect(prepareHtmlBlock('<head><p>never closed')).toBe('<head><p>never closed')
})

test.each([
  ['many rules for many elements', 'p{margin:0}'.repeat(1_000), '<p>t</p>'.repeat(600)],
  ['long descendant selectors in deep HTML', `.n ${'b '.repeat(60)}{margin:0}`.repeat(100), '<b>'.repeat(900)],
  ['long child selectors in deep HTML', `${'b>'.repeat(10_000)}b{margin:0}`, '<b>'.repeat(900)],
  ['long declarations for many elements', `${'*,'.repeat(1_000)}b{${'a:b;'.repeat(7_000)}}`, '<b></b>'.repeat(90)],
  ['a long sheet', 'p{margin:0}'.repeat(3_000), '<p>t</p>'],
  ['many elements', 'p{margin:0}', '<p>t</p>'.repeat(1_100)],
])('a style sheet that costs too much stays one: %s', (_, css, body) => {
  const html = prepareHtmlBlock(`<style>${css}</style>${body}`)
  expect(html).toContain('<style>')
  expect(html.length).toBeLessThan(1024 * 1024)
})

/** What a mail client shows: the last declaration of a property wins, and a shorthand sets its longhands. */
function shownStyles(html: string) {
  return DomUtils.getElementsByTagName('*', parseDocument(html)).map(({ name, attribs }) => {
    const shown: Record<string, string> = {}
    for (const declaration of (attribs.style ?? '').split(';').filter((text) => text.trim() !== '')) {
      const [property = '', value = ''] = declaration.split(':').map((text) => text.trim())
      if (property === 'margin') shown['margin-left'] = value
      shown[property] = value
    }
    return { name, shown }
  })
}

const tagName = fc.constantFrom('p', 'div', 'b')
const className = fc.constantFrom('x', 'y', 'z-1')
const compound = fc.oneof(
  tagName,
  className.map((name) => `.${name}`),
  fc.tuple(tagName, className).map(([tag, name]) => `${tag}.${name}`),
  fc.constantFrom('#top', '*', '.x.y'),
)
const selector = fc
  .tuple(compound, fc.array(fc.tuple(fc.constantFrom(' ', ' > '), compound), { maxLength: 2 }))
  .map(([first, rest]) => first + rest.flat().join(''))
const declaration = fc
  .tuple(
    fc.constantFrom('color', 'margin', 'margin-left', 'padding'),
    fc.nat(9),
    fc.constantFrom('', '', '', '!important'),
  )
  .map(([property, value, important]) => `${property}:${value}px${important}`)
const rule = fc
  .tuple(fc.array(selector, { minLength: 1, maxLength: 2 }), fc.array(declaration, { minLength: 1, maxLength: 3 }))
  .map(([selectors, declarations]) => `${selectors.join(', ')} { ${declarations.join('; ')} }`)
const treeOf = (levels: number): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom('div', 'b'),
      fc.array(className, { maxLength: 2 }),
      fc.constantFrom('', '', ' style="color: red; margin: 1px;"', ' id="top"'),
      levels > 1 ? fc.array(treeOf(levels - 1), { maxLength: 3 }) : fc.constant([]),
    )
    .map(([tag, names, more, inside]) => `<${tag} class="${names.join(' ')}"${more}>${inside.join('')}t</${tag}>`)

test('every element gets the styles that juice gives it', () => {
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 6 }), treeOf(4), (rules, tree) => {
      const html = `<style>${rules.join('\n')}</style>${tree}`
      expect(shownStyles(prepareHtmlBlock(html))).toEqual(shownStyles(juice(html)))
    }),
    { numRuns: 150 },
  )
})
