import { expect, test } from 'vitest'
import { analyseBody } from './analyse-email.ts'

const step = { isLayout: false }
const paths = (body: string | Record<string, unknown>, isLayout = false) =>
  analyseBody(body, { isLayout }).variables.map(({ path }) => path)

test('HTML is a template', () => {
  expect(paths('<p>{{payload.a}}</p>{{content}}')).toEqual(['payload.a', 'content'])
  expect(paths('<p>{{content}}</p>', true)).toEqual([])
})

test('every part of a document that can hold a variable is analysed', () => {
  const body = {
    type: 'doc',
    content: [
      {
        type: 'paragraph',
        attrs: { showIfKey: 'payload.show' },
        content: [
          {
            type: 'text',
            text: '{{payload.text}}',
            marks: [{ type: 'link', attrs: { href: 'payload.href', isUrlVariable: true } }],
          },
          { type: 'variable', attrs: { id: 'payload.id | upcase', aliasFor: null } },
        ],
      },
      {
        type: 'button',
        attrs: {
          text: 'payload.label',
          isTextVariable: true,
          url: 'https://a.b/{{payload.url}}',
          isUrlVariable: false,
        },
      },
      {
        type: 'image',
        attrs: {
          src: 'payload.src',
          isSrcVariable: true,
          alt: 'plain.text',
          externalLink: 'payload.link',
          isExternalLinkVariable: true,
        },
      },
      {
        type: 'repeat',
        attrs: { each: 'payload.items' },
        content: [
          { type: 'variable', attrs: { id: 'current.name', aliasFor: 'payload.items.name' } },
          { type: 'text', text: '{{current.x}}{{forloop.index}}' },
        ],
      },
      { type: 'linkCard', attrs: { title: '{{payload.title}}' } },
    ],
  }
  const expected = [
    'payload.show',
    'payload.text',
    'payload.href',
    'payload.id',
    'payload.label',
    'payload.url',
    'payload.src',
    'payload.link',
    'payload.items',
    'payload.items.name',
    'payload.title',
  ]
  expect(paths(body)).toEqual(expected)
  expect(paths(JSON.stringify(body))).toEqual(expected)
  expect(analyseBody(body, step).filters).toMatchObject([{ name: 'upcase', input: 'payload.id' }])
})

test('a layout may use `content`', () => {
  const body = { type: 'doc', content: [{ type: 'variable', attrs: { id: 'content' } }] }
  expect(paths(body, true)).toEqual([])
  expect(paths(body)).toEqual(['content'])
})

test.each([
  [{ type: 'doc', content: [{ type: 'x' }] }, 'Unknown block type "x"'],
  [{ type: 'doc', content: [{ type: 'text', text: '{{ open' }] }, 'not closed'],
  [{ type: 'doc', content: [null] }, 'failed'],
  [{ type: 'other' }, 'not a block document'],
  [`{"type":"doc","content":[${'{"type":"text","text":"{{a}}"},'.repeat(2_000)}{}]}`, 'at most'],
])('a mistake is reported as a problem, not thrown', (body, words) => {
  expect(
    analyseBody(body, step)
      .problems.map(({ message }) => message)
      .join(),
  ).toContain(words)
})
