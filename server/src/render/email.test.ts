import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { brandingOf } from './branding.ts'
import { type EmailTemplate, renderEmail, renderEmailHtml, renderHeader } from './email.ts'
import { RenderError } from './limits.ts'
import { situation } from './liquid.ts'
import { translatorFor } from './translations.ts'

const data = {
  payload: {
    orderId: 'A1',
    link: 'https://a.b',
    items: [{ name: 'Tea' }, { name: '' }, { name: 'Mug' }, { name: 'Jar' }],
    html: '<b>x</b><script>y</script>',
    injected: '{{ subscriber.firstName }}',
    evil: 'x\r\nBcc: a@b.c',
  },
  subscriber: { firstName: 'Ann', locale: 'de_DE' },
}
const of = (more = {}) => situation({ ...data, ...more }, new Date(0))
const render = (template: Partial<EmailTemplate>) => renderEmail({ subject: 's', body: '', ...template }, of())
const paragraph = (text: string) => ({
  type: 'doc',
  content: [{ type: 'paragraph', content: [{ type: 'text', text }] }],
})

describe('branding', () => {
  const branding = brandingOf('svc')
  const layout = { body: '<html><body><h1>H</h1>{{content}}</body></html>' }
  test.each<[string, Partial<EmailTemplate>, string]>([
    ['stands below a fragment', { body: '<p>a</p>' }, `<p>a</p>${branding}`],
    [
      'inside the body of a document',
      { body: '<html><body>a</body></html>' },
      `<html><body>a${branding}</body></html>`,
    ],
    [
      'before the last end of a body, however it is written',
      { body: '<BODY>a</BODY >b</BODY>', disableOutputSanitization: true },
      `<BODY>a</BODY >b${branding}</BODY>`,
    ],
    ['once, below the layout', { body: '<p>a</p>', layout }, `<html><body><h1>H</h1><p>a</p>${branding}</body></html>`],
    ['once where it was copied along', { body: `<p>a</p>${branding}<p>b</p>` }, `<p>a</p><p>b</p>${branding}`],
  ])('%s', (_, template, html) => {
    expect(render({ ...template, branding }).html).toBe(html)
  })
  test('can be found in the HTML, is in the plain text, and passes the sanitizer', () => {
    expect(branding).toContain(' data-svc-branding=""')
    expect(render({ body: '<p>a</p>', branding }).text).toBe('a\n\nSent with Belfry')
    expect(render({ body: branding }).html).toBe(branding)
  })
  test('is left out unless requested', () => {
    for (const none of [{}, { branding: null }]) expect(render({ body: '<p>a</p>', ...none }).html).toBe('<p>a</p>')
  })
})

describe('a whole document in a layout', () => {
  const layout = { body: '<html><body><h1>H</h1>{{content}}</body></html>' }
  test.each<[string, string]>([
    ['<!DOCTYPE html><html lang="de"><head></head><body><p>a</p></body></html>', '<div><p>a</p></div>'],
    ['<html><BODY class="x">{{payload.orderId}}</BODY ></html>', '<div class="x">A1</div>'],
    [
      '<head><meta charset="utf-8"><title>T</title><style>p{color:red}</style></head><body><header>a</header></body>',
      '<style>p{color:red}</style><div><header>a</header></div>',
    ],
    ['<head>{% assign x = "b" %}</head><body>{{x}}</body>', '<div>b</div>'],
    ['<body><p>a</p>', '<p>a</p>'],
    ['<p>a</p>', '<p>a</p>'],
  ])('is not nested in another: %s', (body, content) => {
    expect(render({ body, layout }).html).toBe(`<html><body><h1>H</h1>${content}</body></html>`)
    expect(render({ body, layout, disableOutputSanitization: true }).html).toContain(content)
  })
  test('stays whole without a layout', () => {
    const body = '<html><head><title>T</title></head><body>a</body></html>'
    expect(render({ body }).html).toBe(body)
  })
  test('costs no time to find, even with many openings', () => {
    for (const tag of ['<title>', '<title', '<body>', '<head', '</body', '<meta '])
      expect(() =>
        render({ body: tag.repeat(250_000 / tag.length), layout, disableOutputSanitization: true }),
      ).not.toThrow()
  })
})

describe('HTML', () => {
  test('a body is rendered, sanitized, and converted to plain text', () => {
    expect(
      render({
        subject: "Hi {{subscriber.firstName | default: 'there'}}",
        body: '<p>{{payload.orderId}} {{payload.html}}</p>',
      }),
    ).toEqual({
      subject: 'Hi Ann',
      html: '<p>A1 <b>x</b></p>',
      text: 'A1 x',
    })
  })
  test('comments and the doctype are removed', () => {
    expect(
      render({
        body: '<!DOCTYPE html><!-- a {{ broken --><html><body><!--[if mso]>x<![endif]-->t</body></html><!--',
        disableOutputSanitization: true,
      }).html,
    ).toBe('<html><body>t</body></html><!--')
  })
  test('paragraphs of blanks are emptied', () => {
    expect(render({ body: '<p> \n </p><p class="x">\t</p><p>&nbsp;</p><pre> </pre>' }).html).toBe(
      '<p></p><p class="x"></p><p>&nbsp;</p><pre> </pre>',
    )
  })
  test('sanitizing can be turned off', () => {
    expect(render({ body: '{{payload.html}}', disableOutputSanitization: true }).html).toBe(
      '<b>x</b><script>y</script>',
    )
  })
  test('Liquid in the data is not evaluated', () => {
    expect(
      render({
        body: '<p>{{payload.injected}}</p>',
        layout: { body: '<html><body>{{content}}{{payload.injected}}</body></html>' },
      }).html,
    ).toBe('<html><body><p>{{ subscriber.firstName }}</p>{{ subscriber.firstName }}</body></html>')
  })
  test('JSON that is not a block document is treated as HTML', () => {
    expect(render({ body: '{"a": 1}' }).html).toBe('{"a": 1}')
    expect(() => render({ body: { a: 1 } })).toThrow(expect.objectContaining({ code: 'invalid_document' }))
  })
})

describe('blocks', () => {
  test('a document with a repeat, a condition and a button', () => {
    const body = {
      type: 'doc',
      content: [
        {
          type: 'heading',
          attrs: { level: 2, textAlign: 'left', showIfKey: null },
          content: [{ type: 'text', text: 'Items' }],
        },
        {
          type: 'repeat',
          attrs: { each: 'payload.items', iterations: 3, showIfKey: 'payload.items' },
          content: [
            {
              type: 'paragraph',
              attrs: { textAlign: 'left', showIfKey: null },
              content: [{ type: 'variable', attrs: { id: 'payload.items.name', fallback: 'item', required: false } }],
            },
          ],
        },
        {
          type: 'button',
          attrs: {
            text: 'Open',
            isTextVariable: false,
            url: 'payload.link',
            isUrlVariable: true,
            alignment: 'left',
            variant: 'filled',
            borderRadius: 'smooth',
            buttonColor: '#000000',
            textColor: '#ffffff',
            showIfKey: null,
          },
        },
      ],
    }
    for (const form of [body, JSON.stringify(body)]) {
      const { html, text } = render({ body: form })
      expect(text).toBe('Items\n\nTea\n\nitem\n\nMug\n\nOpen (https://a.b)')
      expect(html).toMatch(
        /^<!DOCTYPE html><html lang="en" dir="ltr"><head>.*<\/head><body style="margin:0;padding:0">.*<\/body><\/html>$/,
      )
      for (const part of [
        'name="viewport"',
        'name="format-detection"',
        'name="color-scheme"',
        'max-width:600px',
        'min-width:300px',
        'margin:0 auto',
        'padding:1rem',
        '@media only screen and (max-width:425px)',
      ])
        expect(html).toContain(part)
    }
  })
  test('an unknown block fails', () => {
    expect(() => render({ body: '{"type":"doc","content":[{"type":"x"}]}' })).toThrow(
      expect.objectContaining({ code: 'unknown_block' }),
    )
  })
  test('an unsafe URL is removed', () => {
    const body = { type: 'doc', content: [{ type: 'button', attrs: { text: 'x', url: 'javascript:alert(1)' } }] }
    expect(render({ body }).html).not.toContain('javascript')
    expect(render({ body, disableOutputSanitization: true }).html).toContain('javascript')
  })
  test('an empty document is an empty page', () => {
    expect(render({ body: { type: 'doc', content: [] } })).toMatchObject({
      text: '',
      html: expect.stringContaining('<body'),
    })
  })
})

describe('layouts', () => {
  const htmlLayout =
    '<!DOCTYPE html><html><head><!-- c --><title>T</title></head><body><header>{{subscriber.firstName}}</header>{{ content }}<footer>{{payload.orderId}}</footer></body></html>'
  const blockLayout = {
    type: 'doc',
    content: [
      { type: 'paragraph', content: [{ type: 'text', text: 'Dear {{subscriber.firstName}}' }] },
      { type: 'variable', attrs: { id: 'content' } },
    ],
  }

  test('HTML in HTML', () => {
    expect(render({ body: '<!DOCTYPE html><p>a</p>', layout: { body: htmlLayout } })).toMatchObject({
      html: '<!DOCTYPE html><html><head><title>T</title></head><body><header>Ann</header><p>a</p><footer>A1</footer></body></html>',
      text: 'Ann\n\na\n\nA1',
    })
  })
  test('blocks in an HTML layout come without their own document', () => {
    const { html } = render({ body: paragraph('Hi & bye'), layout: { body: htmlLayout } })
    expect(html).toMatch(/<\/header><p style="[^"]*">Hi &amp; bye<\/p><footer>/)
    expect(html.match(/<html/g)).toHaveLength(1)
  })
  test('HTML and blocks in blocks', () => {
    for (const body of ['<p>a <i>b</i></p>', paragraph('a b')]) {
      const { html, text } = render({ body, layout: { body: JSON.stringify(blockLayout) } })
      expect(text).toBe('Dear Ann\n\na b')
      expect(html.match(/<html/g)).toHaveLength(1)
    }
  })
  test('comments stay if sanitizing is off', () => {
    expect(render({ body: 'x', layout: { body: htmlLayout }, disableOutputSanitization: true }).html).toContain(
      '<!-- c -->',
    )
  })
  test('a null layout means none', () => {
    expect(render({ body: '<p>a</p>', layout: null }).html).toBe('<p>a</p>')
  })
  test('step and layout have separate translations', () => {
    const workflow = translatorFor(
      { defaultLocale: 'en_US', locales: { en_US: { hi: 'Hi', only: 'here' }, de_DE: { hi: 'Hallo' } } },
      data.subscriber.locale,
    )
    const layout = translatorFor({ defaultLocale: 'en_US', locales: { en_US: { hi: 'Page' } } }, data.subscriber.locale)
    const template = {
      subject: '{{t.hi}} {{t.only}}',
      body: paragraph('{{t.hi}}'),
      layout: { body: '<div>{{t.hi}}: {{content}}</div>', translator: layout },
    }
    expect(renderEmail(template, of(), workflow)).toMatchObject({ subject: 'Hallo here', text: 'Page:\n\nHallo' })
    expect(() =>
      renderEmail({ ...template, layout: { body: '{{t.only}}{{content}}', translator: layout } }, of(), workflow),
    ).toThrow(expect.objectContaining({ code: 'translation_missing' }))
    expect(() => renderEmail({ ...template, layout: { body: '{{t.hi}}{{content}}' } }, of(), workflow)).toThrow(
      RenderError,
    )
  })
})

describe('headers', () => {
  test.each([
    ['Order {{payload.evil}}', 'Order x Bcc: a@b.c'],
    ['a\r\n b\u2028c\u0085d\u0000e\tf', 'a b c d e f'],
    ['Tom &amp; Jerry &lt;3', 'Tom & Jerry <3'],
    ['two  spaces', 'two  spaces'],
    [' ', ' '],
  ])('%j is one line', (subject, line) => {
    expect(renderHeader(subject, of())).toBe(line)
  })
  test('so are sender and reply address', () => {
    expect(render({ from: { email: '{{payload.evil}}', name: 'A\nB' }, replyTo: 'x\ny' })).toMatchObject({
      from: { email: 'x Bcc: a@b.c', name: 'A B' },
      replyTo: 'x y',
    })
    expect(render({ from: { name: 'A' } }).from).toEqual({ name: 'A' })
    expect(render({})).not.toHaveProperty('from')
  })
  test('a subject that is not a string is empty', () => {
    expect(render({ subject: undefined as never }).subject).toBe('')
  })
})

test('renderEmailHtml gives the same HTML', () => {
  const template = { subject: 's', body: paragraph('x') }
  expect(renderEmailHtml(template, of())).toBe(renderEmail(template, of()).html)
})

test('subject, body and layout share one budget', () => {
  const loop = '{% for i in (1..60000) %}{% endfor %}'
  expect(render({ body: loop }).html).toBe('')
  expect(() => render({ subject: loop, body: loop, layout: { body: `${loop}{{content}}` } })).toThrow(
    expect.objectContaining({ code: 'work_limit' }),
  )
})

test('any document renders or fails with a RenderError', () => {
  const attrs = fc.dictionary(
    fc.constantFrom(
      'level',
      'textAlign',
      'showIfKey',
      'each',
      'iterations',
      'id',
      'fallback',
      'text',
      'url',
      'isUrlVariable',
      'src',
      'isSrcVariable',
      'width',
      'height',
      'gap',
      'color',
      'aliasFor',
      'title',
      'link',
    ),
    fc.oneof(
      fc.constantFrom(
        'payload.items',
        'payload.items.name',
        '{{ payload.x',
        '{{payload.html}}',
        'a | b',
        '"><script>',
        '100%',
        'center',
        '{% if %}',
      ),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.string(),
      fc.constant({}),
    ),
    { maxKeys: 5 },
  )
  const types = fc.constantFrom(
    'paragraph',
    'heading',
    'text',
    'hardBreak',
    'bulletList',
    'listItem',
    'blockquote',
    'horizontalRule',
    'spacer',
    'button',
    'image',
    'inlineImage',
    'logo',
    'section',
    'columns',
    'column',
    'repeat',
    'for',
    'variable',
    'htmlCodeBlock',
    'footer',
    'linkCard',
  )
  const { node } = fc.letrec<{ node: object }>((tie) => ({
    node: fc.record(
      {
        type: types,
        attrs,
        text: fc.oneof(
          fc.string(),
          fc.constantFrom(
            '{{payload.html}}',
            '<style>p{color:red}</style><p>x</p>',
            '{% for i in payload.items %}{{i.name}}{% endfor %}',
          ),
        ),
        content: fc.array(tie('node'), { maxLength: 3, depthIdentifier: 'blocks' }),
        marks: fc.array(fc.record({ type: fc.constantFrom('bold', 'link', 'textStyle', 'code'), attrs }), {
          maxLength: 2,
        }),
      },
      { requiredKeys: ['type'] },
    ),
  }))
  fc.assert(
    fc.property(fc.array(node, { maxLength: 4 }), (content) => {
      try {
        const { html, text } = render({ body: { type: 'doc', content } })
        expect(html).not.toMatch(/<script/i)
        expect(typeof text).toBe('string')
      } catch (error) {
        if (!(error instanceof RenderError)) throw error
      }
    }),
    { numRuns: 1_000 },
  )
})
