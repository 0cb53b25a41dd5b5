import { expect, test } from 'vitest'
import { documentToHtml } from './block-liquid.ts'
import type { BlockNode } from './blocks.ts'
import { renderEmailHtml } from './email.ts'
import { situation } from './liquid.ts'
import { plainText } from './plain-text.ts'

const doc = (...content: BlockNode[]): BlockNode => ({ type: 'doc', content })
const paragraph = (...content: BlockNode[]): BlockNode => ({ type: 'paragraph', content })
const text = (words: string): BlockNode => ({ type: 'text', text: words })
const variable = (id: string, more = {}): BlockNode => ({ type: 'variable', attrs: { id, ...more } })

const now = new Date('2026-05-01T10:00:00.000Z')
const read = (body: string | BlockNode, data: Record<string, unknown>) =>
  plainText(renderEmailHtml({ subject: '', body: body as never }, situation(data, now)))

/** The rendered mail before and after the conversion. */
function expectSameMail(document: BlockNode, ...payloads: Record<string, unknown>[]) {
  const html = documentToHtml(document, { isWhole: true })
  for (const payload of payloads) expect(read(html, { payload })).toBe(read(document, { payload }))
  return html
}

test('the worked example renders the same, with its heading, list, fallback and link', () => {
  const document = doc(
    { type: 'heading', attrs: { level: 2, textAlign: 'left', showIfKey: null }, content: [text('Items')] },
    {
      type: 'repeat',
      attrs: { each: 'payload.items', iterations: 3, showIfKey: 'payload.items' },
      content: [paragraph(variable('payload.items.name', { fallback: 'item' }))],
    },
    { type: 'button', attrs: { text: 'Open', url: 'payload.link', isUrlVariable: true } },
  )
  const items = [{ name: 'one' }, {}, { name: 'three' }, { name: 'four' }]
  const html = expectSameMail(
    document,
    { items, link: 'https://example.com/1' },
    { items: [], link: 'https://example.com/2' },
  )
  expect(html).toContain('{% for item in payload.items limit: 3 %}')
  expect(html).toContain('{{ item.name | default: "item" }}')
  expect(html).toContain('href="{{ payload.link }}"')
})

test('text stays text, and Liquid stays Liquid', () => {
  const document = doc(paragraph(text('a < b & {{ payload.name | upcase }}{% if payload.a == "<" %}!{% endif %}')))
  const html = expectSameMail(document, { name: 'ada' }, { name: 'bob', a: '<' })
  expect(html).toContain('a &lt; b &amp; {{ payload.name | upcase }}{% if payload.a == "<" %}!{% endif %}')
})

test('conditions hide what is empty, false or missing', () => {
  const document = doc(
    { ...paragraph(text('plain')), attrs: { showIfKey: 'payload.shown' } },
    { ...paragraph(text('filtered')), attrs: { showIfKey: '{{ payload.shown | size }}' } },
    paragraph(text('always')),
  )
  expectSameMail(document, {}, { shown: '' }, { shown: 'yes' }, { shown: false }, { shown: 0 }, { shown: ['a'] })
})

test("nested repeats work, with filters and with the current item's name", () => {
  const document = doc({
    type: 'repeat',
    attrs: { each: 'payload.groups' },
    content: [
      paragraph(variable('payload.groups.name')),
      {
        type: 'repeat',
        attrs: { each: 'payload.groups.members' },
        content: [paragraph(variable('payload.groups.members.name'), text(' of {{payload.groups.name}}'))],
      },
      {
        type: 'repeat',
        attrs: { each: 'payload.other | sort' },
        content: [paragraph(variable('current'), text(' {{forloop.index}}'))],
      },
    ],
  })
  const groups = [
    { name: 'A', members: [{ name: 'a1' }, { name: 'a2' }] },
    { name: 'B', members: [{ name: 'b1' }] },
  ]
  expectSameMail(document, { groups, other: ['z', 'y'] })
})

test('a path that only starts like the list is not changed', () => {
  const document = doc({
    type: 'repeat',
    attrs: { each: 'payload.item' },
    content: [paragraph(text('{{payload.items}} {{payload.item.a}} {{x.payload.item}} payload.item'))],
  })
  const html = expectSameMail(document, { items: 'kept', item: [{ a: 1 }] })
  expect(html).toContain('{{payload.items}} {{item.a}} {{x.payload.item}} payload.item')
})

test('only an email without a layout becomes a whole document, one block per line', () => {
  const document = doc(paragraph(text('Hello')), paragraph())
  const part = documentToHtml(document, { isWhole: false })
  expect(part.split('\n')).toEqual([
    expect.stringMatching(/^<p style="[^"]*">Hello<\/p>$/),
    expect.stringMatching(/^<p style="[^"]*">&nbsp;<\/p>$/),
  ])
  const whole = documentToHtml(document, { isWhole: true })
  expect(whole).toMatch(/^<!DOCTYPE html>\n<html lang="en" dir="ltr">\n {2}<head>/)
  expect(whole).toMatch(/<\/html>$/)
})

test('unclosed tags cost no time', () => {
  const document = doc({ type: 'htmlCodeBlock', content: [text('<p '.repeat(60_000))] })
  expect(documentToHtml(document, { isWhole: false })).toBeTypeOf('string')
})

test('an unknown block is an error', () => {
  expect(() => documentToHtml(doc({ type: 'hologram' }), { isWhole: false })).toThrow('Unknown block type "hologram"')
})
