// The plain-text part of an email, from its HTML in one pass without a tree. (A general converter took 290 µs for a digest of
// ten rows, three times as long as rendering it.)
import { Tokenizer } from 'htmlparser2'

const skipped = new Set(['head', 'style', 'script', 'title', 'template', 'noscript'])
/** Line breaks before and after an element; two leave an empty line. */
const breaks = new Map<string, number>([
  ...'address article aside dd div dl dt figcaption figure footer header main nav section li tr caption center'
    .split(' ')
    .map((name): [string, number] => [name, 1]),
  ...'p h1 h2 h3 h4 h5 h6 ul ol blockquote pre hr'.split(' ').map((name): [string, number] => [name, 2]),
])

const blank = /[ \t\r\n\f\u00a0\u200b\u200c\ufeff]+/g

class TextWriter {
  #text = ''
  #breaks = 0
  #hasGap = false
  /** Right after a bullet, when a paragraph must not start a new line. */
  #isBulleted = false
  #skipping = 0
  #pre = 0
  #quotes = 0
  readonly #lists: number[] = []
  readonly #links: { href: string; from: number }[] = []

  open(name: string, href: string) {
    if (skipped.has(name)) this.#skipping++
    else if (name === 'body') this.#skipping = 0
    if (this.#skipping > 0) return
    const lines = breaks.get(name)
    // A nested list starts on the next line.
    if (lines !== undefined) this.#break((name === 'ul' || name === 'ol') && this.#lists.length > 0 ? 1 : lines)
    switch (name) {
      case 'br':
        this.#breakAlways()
        break
      case 'hr':
        this.#write('-'.repeat(20))
        this.#break(2)
        break
      case 'td':
      case 'th':
        this.#hasGap = true
        break
      case 'pre':
        this.#pre++
        break
      case 'blockquote':
        this.#quotes++
        break
      case 'ul':
        this.#lists.push(0)
        break
      case 'ol':
        this.#lists.push(1)
        break
      case 'li':
        this.#write(this.#bullet())
        this.#hasGap = true
        this.#isBulleted = true
        break
      case 'a':
        this.#links.push({ href, from: this.#text.length })
        break
    }
  }

  close(name: string) {
    if (skipped.has(name)) this.#skipping = Math.max(this.#skipping - 1, 0)
    if (this.#skipping > 0) return
    switch (name) {
      case 'a':
        this.#closeLink()
        break
      case 'pre':
        this.#pre = Math.max(this.#pre - 1, 0)
        break
      case 'blockquote':
        this.#quotes = Math.max(this.#quotes - 1, 0)
        break
      case 'ul':
      case 'ol':
        this.#lists.pop()
        break
    }
    const lines = breaks.get(name)
    if (lines !== undefined) this.#break(this.#lists.length > 0 ? 1 : lines)
  }

  text(text: string) {
    if (this.#skipping > 0) return
    if (this.#pre > 0) {
      for (const [i, line] of text.split('\n').entries()) {
        if (i > 0) this.#breakAlways()
        this.#write(line)
      }
      return
    }
    const collapsed = text.replace(blank, ' ')
    if (collapsed.startsWith(' ')) this.#hasGap = true
    const words = collapsed.trim()
    if (words === '') return
    this.#write(words)
    if (collapsed.endsWith(' ')) this.#hasGap = true
  }

  toString() {
    return this.#text.trim()
  }

  #bullet() {
    const number = this.#lists.at(-1) ?? 0
    const indent = '  '.repeat(Math.min(Math.max(this.#lists.length - 1, 0), 10))
    if (number === 0) return `${indent}*`
    this.#lists[this.#lists.length - 1] = number + 1
    return `${indent}${number}.`
  }

  /** Appends the link's target, unless its text is the target. */
  #closeLink() {
    const link = this.#links.pop()
    if (link === undefined || !/^(?:https?|mailto|tel|ftp):/i.test(link.href)) return
    const shown = this.#text.slice(link.from).trim()
    if (shown === link.href || shown === link.href.replace(/^(?:mailto|tel):/i, '')) return
    const gap = shown === '' ? this.#hasGap : true
    this.#hasGap = gap
    this.#write(`(${link.href})`)
  }

  #break(lines: number) {
    if (this.#isBulleted) return
    if (this.#text !== '') this.#breaks = Math.max(this.#breaks, lines)
    this.#hasGap = false
  }

  #breakAlways() {
    if (this.#text !== '') this.#breaks = Math.min(this.#breaks + 1, 2)
    this.#hasGap = false
  }

  #write(words: string) {
    if (this.#breaks > 0) this.#text += '\n'.repeat(this.#breaks)
    else if (this.#hasGap && this.#text !== '') this.#text += ' '
    if ((this.#breaks > 0 || this.#text === '') && this.#quotes > 0)
      this.#text += '> '.repeat(Math.min(this.#quotes, 10))
    this.#text += words
    this.#breaks = 0
    this.#hasGap = false
    this.#isBulleted = false
  }
}

/** Most of an email's size, but no text: style sheets, tags without a meaning here, and attributes of everything but links. */
const silent =
  /<style>[^<]*<\/style>|<(?:meta|\/?tbody)(?:\s+[a-z-]+="[^"<>]*")*\s*>|(<(?!a\s)[a-z][a-z0-9]*)(?:\s+[a-z-]+="[^"<>]*")+(?=\s*>)/gi

export function plainText(email: string): string {
  // Dropped up front, so that the tokenizer need not read it: 17 instead of 45 µs for a small email.
  const html = email.replace(silent, '$1')
  const writer = new TextWriter()
  let tag = ''
  let attribute = ''
  let href = ''
  const open = () => writer.open(tag, href)
  const nothing = () => {}
  // The tokenizer, because the parser's stack takes quadratic time on unclosed tags.
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        tag = html.slice(start, end).toLowerCase()
        href = ''
      },
      onattribname(start, end) {
        attribute = tag === 'a' ? html.slice(start, end).toLowerCase() : ''
      },
      onattribdata(start, end) {
        if (attribute === 'href') href += html.slice(start, end)
      },
      onattribentity(codepoint) {
        if (attribute === 'href') href += String.fromCodePoint(codepoint)
      },
      onattribend: nothing,
      onopentagend: open,
      onselfclosingtag: open,
      onclosetag: (start, end) => writer.close(html.slice(start, end).toLowerCase()),
      ontext: (start, end) => writer.text(html.slice(start, end)),
      ontextentity: (codepoint) => writer.text(String.fromCodePoint(codepoint)),
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onprocessinginstruction: nothing,
      onend: nothing,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return writer.toString()
}
