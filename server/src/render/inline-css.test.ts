import { expect, test } from 'vitest'
import { prepareHtmlBlock } from './inline-css.ts'

test('rules move into the elements they are for, the more specific later', () => {
  expect(
    prepareHtmlBlock(
      '<style>#a{color:red} .x{color:blue;margin:0} p{color:green} div > p.x, td{padding:1px}</style><div><p id="a" class="x">t</p></div><p class="x" style="color:black">u</p>',
    ),
  ).toBe(
    '<div><p id="a" class="x" style="color:green;color:blue;margin:0;padding:1px;color:red">t</p></div><p class="x" style="color:green;color:blue;margin:0;color:black">u</p>',
  )
})

test('what insists wins over the element', () => {
  expect(prepareHtmlBlock('<style>p{color:red!important}</style><p style="color:blue;">t</p>')).toBe(
    '<p style="color:blue;color:red">t</p>',
  )
})

test('what cannot be moved stays a style sheet', () => {
  expect(
    prepareHtmlBlock(
      '<head><style>a:hover{color:red}@media (max-width:1px){a{color:blue}}p{margin:0}</style></head><p>t</p>',
    ),
  ).toBe('<style>a:hover{color:red}@media (max-width:1px){a{color:blue}}</style><p style="margin:0">t</p>')
  expect(prepareHtmlBlock('<style>p{color</style><p>t</p>')).toContain('<style>p{color</style>')
})

test('Liquid comes through unread, wherever it stands', () => {
  expect(
    prepareHtmlBlock(
      '<style>p{color:{{payload.color}}}</style><p {% if a < b %}class="x"{% endif %} title="{{ a | default: "<" }}">{{ x > y }}</p>',
    ),
  ).toBe(
    '<p {% if a < b %}class="x" {% endif %} title="{{ a | default: "<" }}" style="color:{{payload.color}}">{{ x > y }}</p>',
  )
})

test('entities stay as they are written', () => {
  expect(prepareHtmlBlock('<style>p{margin:0}</style><p title="a &amp; b">&copy; &lt;</p>')).toBe(
    '<p title="a &amp; b" style="margin:0">&copy; &lt;</p>',
  )
})

test('what belongs around a body is taken off', () => {
  expect(
    prepareHtmlBlock(
      '<!doctype html><html lang="en"><head><title>t</title></head><body class="x"><p>t</p></body></html>',
    ),
  ).toBe('<p>t</p>')
  expect(prepareHtmlBlock('<header>h</header><p>t</p>')).toBe('<header>h</header><p>t</p>')
  expect(prepareHtmlBlock('<head><p>never closed')).toBe('<head><p>never closed')
})

test('a style sheet for more than anyone can look at stays one', () => {
  const html = prepareHtmlBlock(`<style>${'p{margin:0}'.repeat(2_000)}</style>${'<p>t</p>'.repeat(2_000)}`)
  expect(html).toContain('<style>')
  expect(html).toContain('</style>')
})
