import { describe, expect, test } from 'vitest'
import { blockNodes } from './block-nodes.ts'
import { BlockCompiler, type BlockNode, readDocument } from './blocks.ts'
import { RenderError } from './limits.ts'
import { renderEmit, situation } from './liquid.ts'
import { rewrite, sanitize } from './sanitize.ts'
import { noTranslations, translatorFor } from './translations.ts'

const data = {
  subscriber: { firstName: 'Ann <b>' },
  payload: {
    link: 'https://a.b/?x=1&y="2"',
    image: 'https://a.b/i.png',
    items: [
      { name: 'Tea', lines: [{ n: 1 }, { n: 2 }], tags: ['hot', 'green'] },
      { name: '', lines: [{ n: 3 }], tags: [] },
      { name: 'Mug', lines: [], tags: ['blue'] },
    ],
    words: ['one', 'two'],
    no: false,
    zero: 0,
    html: '<i>raw</i>',
    text: 'not a list',
  },
}
const doc = (...content: unknown[]) => ({ type: 'doc', content }) as BlockNode
const text = (words: string, ...marks: unknown[]) => ({ type: 'text', text: words, ...(marks.length > 0 && { marks }) })
const paragraph = (...content: unknown[]) => ({ type: 'paragraph', content })
const variable = (id: string, attrs = {}) => ({ type: 'variable', attrs: { id, ...attrs } })

const html = (document: BlockNode, of: object = data, { translator = noTranslations, isLayout = false } = {}) =>
  renderEmit(new BlockCompiler(blockNodes, translator, isLayout).document(document), situation({ ...of }, new Date(0)))
/** Without styles, for readable assertions. */
const bare = (document: BlockNode, of: object = data) => html(document, of).replace(/ style="[^"]*"/g, '')
const one = (node: unknown, of: object = data) => html(doc(node), of)

describe('which bodies are block documents', () => {
  test('an object of type doc, or its JSON', () => {
    expect(readDocument(doc())).toBeDefined()
    expect(readDocument(' {"type":"doc","content":[]}')).toEqual(doc())
  })
  test.each(['', '<p>{}</p>', '{"type":"other"}', '{"a":1}', '[1]', '"doc"', '{{payload.html}}', '{"type":"doc"'])(
    '%s is not',
    (body) => {
      expect(readDocument(body)).toBeUndefined()
    },
  )
})

describe('text', () => {
  test('paragraphs have their type, colour and space', () => {
    expect(one(paragraph(text('Hi')))).toBe(
      `<p style="margin:0 0 10px 0;font-size:14px;line-height:20px;font-weight:500;color:#374151;text-align:left;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">Hi</p>`,
    )
  })
  test('an author may override them with safe values', () => {
    const attrs = {
      textAlign: 'center',
      background: '#fff',
      border: '1px solid red',
      borderRadius: 4,
      paddingTop: 3,
      fontSize: '20px',
      color: 'rgb(1, 2, 3)',
      display: 'inline-block',
    }
    const styled = one({ type: 'paragraph', attrs, content: [text('x')] })
    for (const css of [
      'text-align:center',
      'background:#fff',
      'border:1px solid red',
      'border-radius:4px',
      'padding:3px 0 0 0',
      'font-size:20px',
      'color:rgb(1, 2, 3)',
      'display:inline-block',
    ])
      expect(styled).toContain(css)
    const evil = one({
      type: 'paragraph',
      attrs: { color: 'red"><script>', background: 'url(https://x)', fontSize: { a: 1 }, textAlign: 'x' },
      content: [text('x')],
    })
    expect(evil).toContain('font-size:14px')
    expect(evil).toContain('color:#374151;text-align:left')
    expect(evil).not.toMatch(/script|url/)
  })
  test.each([
    [1, '30px', '40px'],
    [2, '24px', '30px'],
    [3, '18px', '26px'],
    [7, '18px', '26px'],
    [undefined, '30px', '40px'],
  ])('headings of level %s', (level, size, line) => {
    expect(one({ type: 'heading', attrs: { level }, content: [text('Hi')] })).toMatch(
      new RegExp(
        `^<h(\\d) style="margin:0 0 10px 0;font-size:${size};line-height:${line};font-weight:600;color:#111827;[^"]*">Hi</h\\1>$`,
      ),
    )
  })
  test('an empty block keeps its line', () => {
    expect(bare(doc(paragraph(), { type: 'heading', attrs: { level: 2 }, content: [] }, { type: 'footer' }))).toBe(
      '<p>&nbsp;</p><h2>&nbsp;</h2><p>&nbsp;</p>',
    )
    expect(bare(doc(paragraph(text('  '))))).toBe('<p>&nbsp;&nbsp;</p>')
  })
  test('words, values and Liquid in them are escaped', () => {
    expect(bare(doc(paragraph(text('a < b & {{ subscriber.firstName | upcase }}'))))).toBe(
      '<p>a &lt; b &amp; ANN &lt;B&gt;</p>',
    )
    expect(
      bare(
        doc(
          paragraph(
            text('{% if payload.no %}a{% else %}<b>{% endif %}'),
            { type: 'hardBreak' },
            text('{{ payload.html }}'),
          ),
        ),
      ),
    ).toBe('<p>&lt;b&gt;<br>&lt;i&gt;raw&lt;/i&gt;</p>')
  })
  test('lists, quotes and footers', () => {
    const item = (words: string) => ({ type: 'listItem', content: [paragraph(text(words))] })
    expect(
      bare(doc({ type: 'bulletList', content: [item('a'), item('b')] }, { type: 'orderedList', content: [item('c')] })),
    ).toBe('<ul><li><p>a</p></li><li><p>b</p></li></ul><ol><li><p>c</p></li></ol>')
    expect(one({ type: 'bulletList', content: [item('a')] })).toMatch(
      /padding:0 0 0 26px.*<li style="margin:0 0 8px;.*<p style="margin:0;/,
    )
    expect(one({ type: 'blockquote', content: [paragraph(text('q'))] })).toContain('border-left:4px solid')
    expect(one({ type: 'footer', attrs: { textAlign: 'center' }, content: [text('f')] })).toMatch(
      /font-size:14px;.*color:#64748B;text-align:center/,
    )
  })
})

describe('marks', () => {
  test.each([
    [[{ type: 'bold' }], '<strong>x</strong>'],
    [[{ type: 'italic' }], '<em>x</em>'],
    [[{ type: 'underline' }], '<u>x</u>'],
    [[{ type: 'strike' }], '<s>x</s>'],
    [[{ type: 'code' }], '<code>x</code>'],
    [[{ type: 'textStyle', attrs: { color: '#f00' } }], '<span>x</span>'],
    [[{ type: 'textStyle' }], 'x'],
    [
      [{ type: 'link', attrs: { href: 'https://a.b/?x&y' } }],
      '<a href="https://a.b/?x&amp;y" target="_blank" rel="noopener noreferrer nofollow">x</a>',
    ],
    [
      [{ type: 'link', attrs: { href: 'payload.link', isUrlVariable: true, target: '_self', rel: 'author' } }],
      '<a href="https://a.b/?x=1&amp;y=&quot;2&quot;" target="_self" rel="author">x</a>',
    ],
    [
      [{ type: 'link', attrs: { href: 'current.url', isUrlVariable: true, aliasFor: 'payload.image' } }],
      '<a href="https://a.b/i.png" target="_blank" rel="noopener noreferrer nofollow">x</a>',
    ],
    [
      [{ type: 'link', attrs: { href: 'https://a.b/{{payload.zero}}' } }],
      '<a href="https://a.b/0" target="_blank" rel="noopener noreferrer nofollow">x</a>',
    ],
    [
      [
        { type: 'link', attrs: { href: '/y' } },
        { type: 'textStyle', attrs: { color: 'red' } },
        { type: 'italic' },
        { type: 'bold' },
        { type: 'underline' },
      ],
      '<a href="/y" target="_blank" rel="noopener noreferrer nofollow"><span><em><strong><u>x</u></strong></em></span></a>',
    ],
  ])('%j', (marks, expected) => {
    expect(bare(doc(text('x', ...marks)))).toBe(expected)
  })
  test('variables can be marked too', () => {
    expect(bare(doc({ ...variable('payload.words[0]'), marks: [{ type: 'bold' }] }))).toBe('<strong>one</strong>')
  })
  test('an unknown mark fails', () => {
    expect(() => one(text('x', { type: 'blink' }))).toThrow(
      expect.objectContaining({ code: 'unknown_block', message: 'Unknown text mark "blink"' }),
    )
  })
})

describe('variables', () => {
  test.each([
    [variable('subscriber.firstName'), 'Ann &lt;b&gt;'],
    [variable('{{ subscriber.firstName | upcase }}'), 'ANN &lt;B&gt;'],
    [variable('subscriber.lastName', { fallback: "O'Neill" }), 'O&#39;Neill'],
    [variable('payload.items[1].name', { fallback: 'item' }), 'item'],
    [variable('payload.no', { fallback: 'never' }), 'never'],
    [variable('payload.zero', { fallback: 'never' }), '0'],
    [variable('current.name', { aliasFor: 'payload.items[0].name' }), 'Tea'],
    [variable('payload.words'), '[&#39;one&#39;,&#39;two&#39;]'],
    [variable('content'), ''],
    [variable('', { fallback: 'x' }), 'x'],
  ])('%j', (node, expected) => {
    expect(bare(doc(node))).toBe(expected)
  })
  test('in a layout a paragraph with the content becomes a div', () => {
    const layout = doc(paragraph(text('a')), paragraph(variable('content')))
    const rendered = html(layout, { content: '<p>x</p>' }, { isLayout: true })
    expect(rendered.replaceAll(/ style="[^"]*"/g, '')).toBe('<p>a</p><div><p>x</p></div>')
  })
  test('in a layout the content is HTML', () => {
    expect(html(doc(variable('content')), { content: '<p>a & b</p>' }, { isLayout: true })).toBe('<p>a & b</p>')
  })
  test('translation keys are replaced by their texts', () => {
    const translator = translatorFor(
      { defaultLocale: 'en', locales: { en: { hi: 'Hi <{{subscriber.firstName}}>', some: 'someone' } } },
      null,
    )
    const say = (node: unknown) => html(doc(node), data, { translator })
    expect(say(text('{{t.hi}}'))).toBe('Hi &lt;Ann &lt;b&gt;&gt;')
    expect(say(variable('t.hi'))).toBe('Hi &lt;Ann &lt;b&gt;&gt;')
    expect(say(variable('payload.gone', { fallback: 't.some' }))).toBe('someone')
    expect(say({ type: 'button', attrs: { text: '{{t.some}}', url: '/' } })).toContain('>someone</a>')
    expect(() => say(text('{{t.gone}}'))).toThrow(RenderError)
  })
  test('an invalid path fails with its position', () => {
    expect(() => one(variable('payload.x | }} <script>'))).toThrow(expect.objectContaining({ code: 'template_syntax' }))
  })
})

describe('conditions', () => {
  test.each([
    ['payload.link', true],
    ['payload.items', true],
    ['{{ payload.link }}', true],
    ['payload.words | size', true],
    ['', true],
    [null, true],
    ['payload.no', false],
    ['payload.zero', false],
    ['payload.gone', false],
    ['payload.items[1].name', false],
    ['payload.gone | size', false],
    ['payload.link | remove: payload.link', false],
  ])('showIfKey %s', (showIfKey, isShown) => {
    for (const type of [
      'paragraph',
      'heading',
      'section',
      'spacer',
      'button',
      'image',
      'logo',
      'htmlCodeBlock',
      'columns',
    ]) {
      expect(one({ type, attrs: { showIfKey } }) !== '', type).toBe(isShown)
    }
    expect(bare(doc(variable('payload.words[0]', { showIfKey })))).toBe(isShown ? 'one' : '')
  })
  test('a hidden repeat needs no list', () => {
    expect(
      one({ type: 'repeat', attrs: { each: 'payload.gone', showIfKey: 'payload.gone' }, content: [paragraph()] }),
    ).toBe('')
  })
})

describe('repeats', () => {
  const repeat = (each: string, attrs: object, ...content: unknown[]) => ({
    type: 'repeat',
    attrs: { each, ...attrs },
    content,
  })
  test("the content is rendered once per item, which has its list's path", () => {
    expect(
      bare(
        doc(repeat('payload.items', {}, paragraph(variable('payload.items.name', { fallback: 'item' }), text('!')))),
      ),
    ).toBe('<p>Tea!</p><p>item!</p><p>Mug!</p>')
    expect(
      bare(
        doc({
          ...repeat('payload.words', {}, text('{{ payload.words }},{{ current | upcase }},{{ forloop.index }} ')),
          type: 'for',
        }),
      ),
    ).toBe('one,ONE,1 two,TWO,2 ')
  })
  test('an index still reads the list', () => {
    expect(
      bare(
        doc(
          repeat(
            'payload.items',
            { iterations: 1 },
            text('{{ payload.items[2].name }} {{ payload.items.name }} {{ payload.words[1] }}'),
          ),
        ),
      ),
    ).toBe('Mug Tea two')
  })
  test.each([
    [0, 3],
    [2, 2],
    ['2', 2],
    [9, 3],
    [null, 3],
    [-1, 3],
  ])('iterations %s', (iterations, times) => {
    expect(bare(doc(repeat('payload.items', { iterations }, text('x'))))).toBe('x'.repeat(times))
  })
  test('repeats can be nested', () => {
    expect(
      bare(
        doc(
          repeat(
            'payload.items',
            {},
            text('{{payload.items.name}}:'),
            repeat(
              'payload.items.lines',
              {},
              text('{{payload.items.name}}{{payload.items.lines.n}}{{payload.items.lines[0].n}},'),
            ),
            repeat('payload.items.tags', { iterations: 1 }, variable('payload.items.tags')),
            text(';'),
          ),
        ),
      ),
    ).toBe('Tea:Tea11,Tea21,hot;:33,;Mug:blue;')
  })
  test('a repeat over another list sees the items around it', () => {
    expect(
      bare(
        doc(
          repeat(
            'payload.items',
            { iterations: 1 },
            repeat('payload.words', {}, text('{{payload.items.name}}-{{payload.words}} ')),
          ),
        ),
      ),
    ).toBe('Tea-one Tea-two ')
  })
  test('conditions and buttons inside see the item', () => {
    const button = {
      type: 'button',
      attrs: {
        text: 'payload.items.name',
        isTextVariable: true,
        url: '/i/{{payload.items.name}}',
        showIfKey: 'payload.items.name',
      },
    }
    expect(bare(doc(repeat('payload.items', {}, button))).match(/href="[^"]*"|>\w+<\/a>/g)).toEqual([
      'href="/i/Tea"',
      '>Tea</a>',
      'href="/i/Mug"',
      '>Mug</a>',
    ])
  })
  test('a list in a list, and steps of a digest', () => {
    const of = {
      payload: { rows: [['a', 'b'], ['c']] },
      steps: { 'my-digest': { events: [{ payload: { user: 'Ann' } }, { payload: { user: 'Bob' } }] } },
    }
    expect(
      bare(doc(repeat('payload.rows', {}, repeat('payload.rows', {}, text('{{payload.rows}}')), text(';'))), of),
    ).toBe('ab;c;')
    expect(
      bare(
        doc(
          repeat('payload.rows[0]', {}, text('{{payload.rows[0]}}')),
          repeat('steps.my-digest.events', {}, text('{{steps.my-digest.events.payload.user}} ')),
        ),
        of,
      ),
    ).toBe('abAnn Bob ')
  })
  test("printing or filtering the list's path gives the item", () => {
    const of = { payload: { n: 1, items: [{ a: 'x' }, { a: 'y' }] } }
    const words = text('{{ payload }} {{ payload.items | json }} {{ payload | pluralize: "key" }};')
    expect(bare(doc(repeat('payload.items', {}, words)), of).replaceAll('&#39;', "'")).toBe(
      "{'n':1,'items':{'a':'x'}} {'a':'x'} 2 keys;{'n':1,'items':{'a':'y'}} {'a':'y'} 2 keys;",
    )
  })
  test('using all data for every item of a long list ends in a clear error', () => {
    const payload = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, i]))
    const of = { payload: { ...payload, items: Array.from({ length: 5_000 }, () => 1) } }
    expect(bare(doc(repeat('payload.items', {}, text('{{ payload.items }}'))), of)).toHaveLength(5_000)
    expect(() => bare(doc(repeat('payload.items', {}, text('{{ payload | size }}'))), of)).toThrow(
      expect.objectContaining({ code: 'work_limit' }),
    )
  })
  test('a filtered list is repeated with its items as current', () => {
    expect(bare(doc(repeat('payload.items | where: "name", "Mug"', {}, text('{{current.name}}'))))).toBe('Mug')
  })
  test.each(['payload.text', 'payload.gone', 'payload', ''])('a value that is not a list fails: %s', (each) => {
    expect(() => one(repeat(each, {}, text('x')))).toThrow(RenderError)
  })
  test('the names of a repeat end with it, and the data are unchanged', () => {
    const of = structuredClone(data)
    expect(bare(doc(repeat('payload.words', {}, text('x')), text('{{current}}{{payload.words.size}}')), of)).toBe('xx2')
    expect(of).toEqual(data)
  })
})

describe('boxes', () => {
  test('a button is a cell with a link', () => {
    expect(one({ type: 'button', attrs: { url: 'payload.link', isUrlVariable: true, text: 'Go & see' } })).toBe(
      `<table role="presentation" border="0" cellpadding="0" cellspacing="0" width="100%"><tbody><tr><td align="left" style="padding:0 0 10px 0"><table role="presentation" border="0" cellpadding="0" cellspacing="0" style="border-collapse:separate"><tbody><tr><td align="center" bgcolor="#000000" style="background-color:#000000;border:2px solid #000000;border-radius:6px;mso-padding-alt:10px 32px 10px 32px"><a href="https://a.b/?x=1&amp;y=&quot;2&quot;" target="_blank" style="display:inline-block;padding:10px 32px 10px 32px;font-size:14px;line-height:20px;font-weight:600;color:#ffffff;text-decoration:none;text-align:center;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">Go &amp; see</a></td></tr></tbody></table></td></tr></tbody></table>`,
    )
  })
  test('a button can be styled', () => {
    const button = one({
      type: 'button',
      attrs: {
        variant: 'outline',
        buttonColor: '#00f',
        textColor: 'red',
        borderRadius: 'round',
        alignment: 'right',
        paddingTop: 1,
        width: '100%',
      },
    })
    for (const part of [
      'background-color:transparent',
      'border:2px solid #00f',
      'border-radius:9999px',
      'align="right"',
      'padding:1px 32px 10px 32px',
      'width="100%"',
      'color:red',
      '>Button</a>',
    ])
      expect(button).toContain(part)
    expect(button).not.toContain('bgcolor')
    expect(one({ type: 'button', attrs: { borderRadius: 'sharp' } })).toContain('border-radius:0')
  })
  test('images fit the width and can be links', () => {
    const image = one({
      type: 'image',
      attrs: {
        src: 'payload.image',
        isSrcVariable: true,
        alt: 'An "image"',
        title: 'T',
        width: 200,
        height: 100,
        borderRadius: 8,
        externalLink: 'payload.link',
        isExternalLinkVariable: true,
      },
    })
    expect(image).toContain('<td align="center"')
    expect(image).toContain(
      '<a href="https://a.b/?x=1&amp;y=&quot;2&quot;" target="_blank" style="text-decoration:none"><img src="https://a.b/i.png" alt="An &quot;image&quot;" title="T" width="200" style="display:block;width:200px;max-width:100%;height:auto;border:0;outline:none;border-radius:8px"></a>',
    )
    expect(
      one({ type: 'image', attrs: { src: '/i', width: 200, height: 100, lockAspectRatio: false, alignment: 'left' } }),
    ).toMatch(/align="left".*width="200" height="100"/)
    expect(one({ type: 'image', attrs: { src: '/i', width: 'auto', height: 'auto' } })).toContain(
      '<img src="/i" alt="" style=',
    )
  })
  test('inline images and logos', () => {
    expect(one(paragraph({ type: 'inlineImage', attrs: { src: '/i' } }))).toContain(
      '<img src="/i" alt="" width="20" height="20"',
    )
    for (const [size, height] of [
      ['sm', 40],
      ['md', 48],
      ['lg', 64],
      ['x', 40],
    ])
      expect(one({ type: 'logo', attrs: { src: '/l', size } })).toContain(`height="${height}"`)
  })
  test('sections', () => {
    const section = one({
      type: 'section',
      attrs: {
        backgroundColor: '#eee',
        borderWidth: 2,
        borderColor: 'red',
        borderStyle: 'dashed',
        marginTop: 5,
        paddingLeft: 20,
        align: 'center',
      },
      content: [paragraph(text('x'))],
    })
    for (const part of [
      'padding:5px 0 10px 0',
      'align="center"',
      'bgcolor="#eee"',
      'border:2px dashed red',
      'border-radius:6px',
      'padding:8px 8px 8px 20px',
    ])
      expect(section).toContain(part)
    expect(one({ type: 'section' })).toContain('background-color:#ffffff;border:0;border-radius:6px;padding:8px')
  })
  test('columns share the remaining width', () => {
    const column = (width: unknown, attrs = {}) => ({
      type: 'column',
      attrs: { width, ...attrs },
      content: [paragraph(text('x'))],
    })
    const widths = (...columns: unknown[]) =>
      one({ type: 'columns', attrs: { gap: 16 }, content: columns })
        .match(/<td class="column" width="[^"]*"/g)
        ?.map((cell) => cell.slice(26, -1))
    expect(widths(column('auto'), column('auto'))).toEqual(['50%', '50%'])
    expect(widths(column('25%'), column('auto'), column(undefined))).toEqual(['25%', '37.5%', '37.5%'])
    expect(widths(column('auto'), column('auto'), column('auto'))).toEqual(['33.33%', '33.33%', '33.33%'])
    const html = one({
      type: 'columns',
      attrs: { gap: 16 },
      content: [column('auto'), column('auto', { verticalAlign: 'middle' }), column('auto')],
    })
    expect(html.match(/padding:0 [^;]*/g)?.slice(1)).toEqual([
      'padding:0 8px 0 0',
      'padding:0 8px 0 8px',
      'padding:0 0 0 8px',
    ])
    expect(html).toContain('valign="middle"')
  })
  test('columns, sections and images have defaults', () => {
    const columns = one({ type: 'columns', content: [{ type: 'column' }, { type: 'column' }] })
    expect(columns).toContain('<td align="left" style="padding:0 0 10px 0">')
    expect(columns.match(/padding:0 \d+(?:px)? 0 \d+(?:px)?/g)).toEqual(['padding:0 4px 0 0', 'padding:0 0 0 4px'])
    expect(columns).toContain('valign="top"')
    expect(one({ type: 'columns', attrs: { marginBottom: 3 }, content: [] })).toContain('padding:0 0 3px 0')
    const section = one({ type: 'section' })
    expect(section).toContain('padding:0 0 10px 0')
    expect(section).toContain('align="left"')
    expect(one({ type: 'section', attrs: { borderWidth: 1 } })).toContain('border:1px solid #e2e2e2')
    expect(one({ type: 'logo', attrs: { src: '/l' } })).toMatch(/align="left".*height="40"/)
    expect(one({ type: 'image', attrs: { src: '/i' } })).not.toContain('border-radius')
    expect(one({ type: 'horizontalRule' })).toMatch(/padding:0.*padding:10px 0 10px 0/)
    expect(one({ type: 'button' })).toMatch(/background-color:#000000;border:2px solid #000000;border-radius:6px/)
    expect(one({ type: 'button' })).toMatch(/padding:10px 32px 10px 32px;[^"]*color:#ffffff/)
  })
  test('spacers and rules', () => {
    expect(one({ type: 'spacer' })).toContain('<td height="8" style="height:8px;line-height:8px;')
    expect(one({ type: 'spacer', attrs: { height: 32 } })).toContain('<td height="32"')
    expect(one({ type: 'horizontalRule', attrs: { marginTop: 4 } })).toMatch(
      /padding:4px 0 0 0.*padding:10px 0 10px 0.*<hr style="margin:0;border:none;border-top:1px solid/,
    )
  })
  test('cards', () => {
    const card = bare(
      doc({
        type: 'linkCard',
        attrs: {
          title: 'T & {{payload.words[0]}}',
          description: 'D',
          link: '{{payload.image}}',
          linkTitle: 'L',
          image: '/i.png',
          badgeText: 'B',
          subTitle: 'S',
        },
      }),
    )
    expect(card).toContain('<a href="https://a.b/i.png" target="_blank"><img src="/i.png" alt="T &amp; one">')
    expect(card).toContain('<p>T &amp; one</p><span>B</span><p>S</p><p>D</p><p>L</p>')
    expect(bare(doc({ type: 'linkCard' }))).toContain('<a href="" target="_blank">')
  })
  test('an HTML block keeps its HTML, with inlined styles and without its head', () => {
    expect(
      bare(
        doc({
          type: 'htmlCodeBlock',
          content: [
            text('<!DOCTYPE html><html><head><title>t</title></head><body><b>{{payload.words[0]}} '),
            variable('payload.html'),
            text('</b>'),
            variable('payload.gone', { fallback: 'say "x"' }),
            text('</body></html>'),
          ],
        }),
      ),
    ).toBe(
      '<table role="presentation" border="0" cellpadding="0" cellspacing="0" width="100%"><tbody><tr><td><b>one <i>raw</i></b>say "x"</td></tr></tbody></table>',
    )
  })
  test('space below is dropped before a spacer and at the end of a box', () => {
    const margins = (node: unknown) =>
      one(node)
        .match(/<p style="margin:[^;]*/g)
        ?.map((css) => css.slice(17))
    const two = [paragraph(text('a')), paragraph(text('b'))]
    expect(margins({ type: 'section', content: two })).toEqual(['0 0 10px 0', '0'])
    expect(margins({ type: 'columns', content: [{ type: 'column', content: two }] })).toEqual(['0 0 10px 0', '0'])
    expect(margins({ type: 'repeat', attrs: { each: 'payload.words' }, content: two })).toEqual([
      '0 0 10px 0',
      '0',
      '0 0 10px 0',
      '0',
    ])
    expect(html(doc(paragraph(), { type: 'spacer' }, paragraph())).match(/<p style="margin:[^;]*/g)).toEqual([
      '<p style="margin:0',
      '<p style="margin:0 0 10px 0',
    ])
  })
})

describe('invalid documents', () => {
  test.each([
    [doc({ type: 'marquee' }), 'unknown_block'],
    [doc({ type: 'constructor' }), 'unknown_block'],
    [doc({ type: 'paragraph', content: 'x' }), 'invalid_document'],
    [doc({ type: 'paragraph', content: [null] }), 'invalid_document'],
    [doc('text'), 'invalid_document'],
    [doc(text('{{ open')), 'template_syntax'],
  ])('%j fails with %s', (document, code) => {
    expect(() => html(document)).toThrow(expect.objectContaining({ code }))
  })
  test('nesting is limited', () => {
    let node: unknown = paragraph(text('x'))
    for (let i = 0; i < 5_000; i++) node = { type: 'section', content: [node] }
    expect(() => one(node)).toThrow(expect.objectContaining({ code: 'template_too_deep' }))
  })
  test('the number of blocks is limited', () => {
    const blocks = Array.from({ length: 3_000 }, () => ({ type: 'hardBreak' }))
    expect(() => html(doc(...blocks))).toThrow(expect.objectContaining({ code: 'template_too_large' }))
    expect(() => readDocument(doc(...Array.from({ length: 2_000 }, () => text('{{a}}'))))).toThrow(RenderError)
  })
  test('attributes of any type render or are ignored', () => {
    for (const type of Object.keys(blockNodes)) {
      for (const value of [null, 5, true, '', 'x', '"><script>', [], {}, -1, 1e99, 'NaN']) {
        const names =
          'textAlign level text url src alt width height alignment borderRadius buttonColor gap iterations id fallback title link each'.split(
            ' ',
          )
        const attrs = Object.fromEntries(names.map((name) => [name, value]))
        try {
          expect(one({ type, attrs })).not.toContain('<script')
        } catch (error) {
          if (!(error instanceof RenderError)) throw error
        }
      }
    }
  })
})

test('the HTML of blocks is clean, so the sanitizer never rewrites it', () => {
  const all = Object.keys(blockNodes).filter((type) => !['repeat', 'for', 'variable', 'htmlCodeBlock'].includes(type))
  const made = html(
    doc(
      ...all.map((type) => ({
        type,
        attrs: { src: '/i.png', url: 'https://a.b', link: 'https://a.b', title: 'T' },
        text: 'x',
        content: [],
      })),
    ),
  )
  expect(sanitize(made)).toBe(made)
  expect(rewrite(made)).not.toBe(made)
})
