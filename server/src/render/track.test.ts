import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { withTracks } from './track.ts'

const link = (url: string) => `https://t.example/?u=${encodeURIComponent(url)}`
const led = (html: string) => withTracks(html, { link })

describe('links', () => {
  test.each([
    ['<a href="https://a.example/x">x</a>', '<a href="https://t.example/?u=https%3A%2F%2Fa.example%2Fx">x</a>'],
    ["<A class=b HREF='http://a.example'>x</A>", '<A class=b href="https://t.example/?u=http%3A%2F%2Fa.example">x</A>'],
    ['<a href=https://a.example/x>x</a>', '<a href="https://t.example/?u=https%3A%2F%2Fa.example%2Fx">x</a>'],
    [
      '<a href=" https://a.example/?a=1&amp;b=2 ">x</a>',
      '<a href="https://t.example/?u=https%3A%2F%2Fa.example%2F%3Fa%3D1%26b%3D2">x</a>',
    ],
    ['<area href="https://a.example/x">', '<area href="https://t.example/?u=https%3A%2F%2Fa.example%2Fx">'],
    // As a browser sends it.
    [
      '<a href="https://a.example/ü x">x</a>',
      '<a href="https://t.example/?u=https%3A%2F%2Fa.example%2F%25C3%25BC%2520x">x</a>',
    ],
  ])('%s leads past us', (html, expected) => {
    expect(led(html)).toBe(expected)
  })

  test.each([
    '<a href="mailto:a@a.example">x</a>',
    '<a href="tel:+1">x</a>',
    '<a href="#top">x</a>',
    '<a href="/relative">x</a>',
    '<a href="//a.example/x">x</a>',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="https://">x</a>',
    '<a name="x">x</a>',
    '<link href="https://a.example/x.css">',
    '<img src="https://a.example/x.png">',
    '<style>a[href="https://a.example"] { color: red }</style>',
    '<title><a href="https://a.example">x</a></title>',
    '<!-- <a href="https://a.example">x</a> -->',
    `<a href="https://a.example/${'x'.repeat(4_000)}">x</a>`,
  ])('%s stays as it is', (html) => {
    expect(led(html)).toBe(html)
  })

  test('that are not to be counted stay, without the attribute', () => {
    expect(led('<a data-track="off" href="https://a.example">x</a>')).toBe('<a href="https://a.example">x</a>')
    expect(led("<a href='https://a.example' DATA-TRACK=OFF>x</a>")).toBe("<a href='https://a.example'>x</a>")
    expect(led('<a data-track="on" href="https://a.example">x</a>')).toContain('<a data-track="on" href="https://t.')
    const own = withTracks('<a href="https://own.example/l/u/x">x</a>', { link: () => undefined })
    expect(own).toBe('<a href="https://own.example/l/u/x">x</a>')
  })

  test('change nothing else, whatever stands around them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (before, after) => {
        const plain = (text: string) => text.replaceAll(/[<&]/g, '')
        const html = `${plain(before)}\r\n<p>é 🎉</p><a href="https://a.example">x</a>${plain(after)}`
        expect(led(html)).toBe(html.replace('https://a.example', link('https://a.example')))
      }),
    )
  })
})

test('the image stands before the end of the body, or at the end', () => {
  const image = 'https://t.example/o.gif'
  const tag = /<img src="https:\/\/t\.example\/o\.gif" width="1" height="1" alt="" style="[^"]*">/
  expect(withTracks('<body>x</body></html>', { image })).toMatch(new RegExp(`^<body>x${tag.source}</body></html>$`))
  expect(withTracks('<p>x</p>', { image })).toMatch(new RegExp(`^<p>x</p>${tag.source}$`))
  expect(withTracks('<p>x</p>', {})).toBe('<p>x</p>')
})
