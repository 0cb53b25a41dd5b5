import { describe, expect, test } from 'vitest'
import type { Child, Described } from './dom.ts'
import { markdown, plain } from './markdown.ts'

/** The tree as HTML-like text. */
const write = (children: Child[]): string =>
  children
    .map((child) => {
      if (typeof child !== 'object' || child === null) return String(child)
      const { tag, props, children: inner } = child as Described
      return `<${tag}${props.href ? ` ${String(props.href)}` : ''}>${write(inner)}</${tag}>`
    })
    .join('')

describe('Markdown', () => {
  test.each([
    ['plain', 'plain'],
    [
      '**bold** and *italic* and ***both***',
      '<strong>bold</strong> and <em>italic</em> and <strong><em>both</em></strong>',
    ],
    ['**bold *and italic***', '<strong>bold <em>and italic</em></strong>'],
    [String.raw`\*not italic\*`, '*not italic*'],
    ['2 * 3 * 4', '2 * 3 * 4'],
    ['`a **b**`', '<code>a **b**</code>'],
    ['two\nlines', 'two<br></br>lines'],
    ['[the **page**](https://example.com)', '<a https://example.com>the <strong>page</strong></a>'],
    ['[place](/here)', '<a /here>place</a>'],
    ['[run](javascript:alert(1))', '[run](javascript:alert(1))'],
    ['see https://example.com/a?b=1.', 'see <a https://example.com/a?b=1>example.com/a?b=1</a>.'],
    ['<b>hi</b>', '<b>hi</b>'],
  ])('%s', (text, expected) => {
    expect(write(markdown(text))).toBe(expected)
  })

  test('a subject contains no links, because it may be inside one', () => {
    expect(write(markdown('[page](https://example.com)', { withoutLinks: true }))).toBe('<span>page</span>')
  })

  test('is read aloud without its marks', () => {
    expect(plain(String.raw`**Ada** sent [a file](https://example.com) \*`)).toBe('Ada sent a file *')
  })

  test('long text that looks like unfinished Markdown is still parsed fast', () => {
    for (const text of ['*'.repeat(20_000), '['.repeat(20_000), '**a'.repeat(5_000)])
      expect(write(markdown(text)).length).toBeGreaterThan(1_000)
  })
})
