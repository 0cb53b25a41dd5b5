import { expect, test } from 'vitest'
import { plainText } from './plain-text.ts'

test.each([
  ['<p>Hello <b>Ann</b>,</p><p>see you.</p>', 'Hello Ann,\n\nsee you.'],
  ['a<br>b<br/><br>c<br><br><br>d', 'a\nb\n\nc\n\nd'],
  ['<div>a</div><div>b</div>  c', 'a\nb\nc'],
  ['  a \n\t b&nbsp;&nbsp; c  ', 'a b c'],
  ['Tom &amp; Jerry &lt;3 &copy; &#x20ac;', 'Tom & Jerry <3 © €'],
  ['<h1>Title</h1>text<h2>Sub</h2>', 'Title\n\ntext\n\nSub'],
  ['<ul><li>a</li><li><p>b</p></li></ul>after', '* a\n* b\n\nafter'],
  ['<ol><li>a<ul><li>x</li></ul></li><li>b</li></ol>', '1. a\n  * x\n2. b'],
  ['<table><tr><th>Name</th><th>Price</th></tr><tr><td>Tea</td><td>3</td></tr></table>', 'Name Price\nTea 3'],
  ['<a href="https://a.b/?x=1&amp;y=2">here</a>.', 'here (https://a.b/?x=1&y=2).'],
  ['<a href="https://a.b">https://a.b</a> <a href="mailto:a@b.c">a@b.c</a>', 'https://a.b a@b.c'],
  ['<a href="#top">up</a> <a href="/x">x</a> <a>plain</a>', 'up x plain'],
  ['<a href="https://a.b"><img src="x" alt="logo"></a>', '(https://a.b)'],
  ['<blockquote><p>a</p><p>b</p></blockquote>c', '> a\n\n> b\n\nc'],
  ['a<hr>b', 'a\n\n--------------------\n\nb'],
  ['<pre>a\n  b</pre>', 'a\n  b'],
  ['<html><head><title>T</title><style>p{}</style></head><body><p>x</p></body></html>', 'x'],
  ['<head><title>never closed<body>x', ''],
  ['<style>a</style><script>b</script>c', 'c'],
  ['a<!-- b -->c', 'ac'],
  ['</p></a></ul></pre></blockquote></style>text', 'text'],
  ['<td title="a > b" class="c">x</td><p data-x="1" >y</p>', 'x\n\ny'],
  ['<a class="b" href="https://a.b" style="c">here</a><abbr title="href=https://c.d">d</abbr>', 'here (https://a.b)d'],
  ["<STYLE>a</STYLE><b class='x'>c</b> 1 < 2 <i class=\"open", 'c 1 < 2'],
  ['', ''],
])('%j → %j', (html, text) => {
  expect(plainText(html)).toBe(text)
})

test('unclosed tags cost no more than others', () => {
  expect(plainText(`${'<div>'.repeat(100_000)}x`)).toBe('x')
})

test('tags that are dropped up front change nothing around them', () => {
  const email = (meta: string, begin: string, end: string) =>
    `<html><head>${meta}<title>No</title></head><body><p>one ${meta}two</p>${meta}<table>${begin}<tr><td>a</td><td>b</td></tr>${end}</table>three</body></html>`
  const text = plainText(email('<meta name="x" content="y">', '<tbody class="z">', '</tbody>'))
  expect(text).toBe(plainText(email('', '', '')))
  expect(text).toBe('one two\n\na b\nthree')
  expect(plainText('<metadata>kept</metadata>')).toBe('kept')
})
