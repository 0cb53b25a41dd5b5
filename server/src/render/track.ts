// Rewrites an e-mail so that it tells of opens and clicks. Only the addresses of links change; everything else stays as it was
// written, byte for byte.
import { escapeUTF8 } from 'entities'
import type { Token } from 'parse5'
import { BoundedTokenizer, beforeBodyEnd, rawText } from './html-tokens.ts'

export interface Tracks {
  /** What a link becomes; undefined if it is left alone. */
  link?: ((url: string) => string | undefined) | undefined
  /** The address of the image that tells of an open. */
  image?: string | undefined
}

export function withTracks(html: string, { link, image }: Tracks): string {
  const linked = link ? new Links(html, link).rewrite() : html
  return image === undefined ? linked : withImage(linked, image)
}

interface Change {
  from: number
  to: number
  text: string
}

/** Reads the tags of HTML, and changes the addresses of links in place. */
class Links {
  readonly #tokenizer: BoundedTokenizer
  readonly #html: string
  readonly #link: (url: string) => string | undefined
  readonly #changes: Change[] = []

  constructor(html: string, link: (url: string) => string | undefined) {
    this.#html = html
    this.#link = link
    this.#tokenizer = new BoundedTokenizer({ sourceCodeLocationInfo: true }, this)
  }

  rewrite(): string {
    this.#tokenizer.write(this.#html, true)
    let [text, at] = ['', 0]
    for (const { from, to, text: between } of this.#changes) {
      text += this.#html.slice(at, from) + between
      at = to
    }
    return text + this.#html.slice(at)
  }

  onStartTag({ tagName, attrs, location }: Token.TagToken): void {
    const mode = rawText.get(tagName)
    if (mode !== undefined) this.#tokenizer.state = mode
    if (tagName !== 'a' && tagName !== 'area') return
    const places = location?.attrs ?? {}
    const track = attrs.find(({ name }) => name === 'data-track')
    const isOff = track?.value.trim().toLowerCase() === 'off'
    // In the order in which they stand.
    for (const { name, value } of attrs) {
      const place = places[name]
      if (!place) continue
      if (isOff && name === 'data-track') this.#remove(place)
      if (isOff || name !== 'href') continue
      const url = followed(value)
      const led = url === undefined ? undefined : this.#link(url)
      if (led !== undefined)
        this.#changes.push({ from: place.startOffset, to: place.endOffset, text: `href="${escapeUTF8(led)}"` })
    }
  }

  /** With the space before it. */
  #remove({ startOffset, endOffset }: Token.Location): void {
    const from = /\s/.test(this.#html.charAt(startOffset - 1)) ? startOffset - 1 : startOffset
    this.#changes.push({ from, to: endOffset, text: '' })
  }

  onEndTag(): void {}
  onCharacter(): void {}
  onWhitespaceCharacter(): void {}
  onNullCharacter(): void {}
  onComment(): void {}
  onDoctype(): void {}
  onEof(): void {}
}

/** A longer address stays as it is: inside of ours, mail programs and proxies would cut it. */
const longestUrl = 4_000

/** Where a browser would go, if that is a page: as it is written, unless a browser would send it in another form. */
function followed(href: string): string | undefined {
  const trimmed = href.trim()
  if (!/^https?:\/\//i.test(trimmed) || !URL.canParse(trimmed)) return undefined
  const url = /^[\x21-\x7e]+$/.test(trimmed) ? trimmed : new URL(trimmed).href
  return encodeURIComponent(url).length > longestUrl ? undefined : url
}

/** Before the end of the body. */
function withImage(html: string, url: string): string {
  const image = `<img src="${escapeUTF8(url)}" width="1" height="1" alt="" style="display:block;border:0;width:1px;height:1px">`
  return beforeBodyEnd(html, image)
}
