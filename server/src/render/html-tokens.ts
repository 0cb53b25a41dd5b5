// Reads HTML token by token, as the standard says, and so as browsers do; and finds the end of a body.
import { Tokenizer, TokenizerMode } from 'parse5'
import { ATTRIBUTE_LIMIT, RenderError } from './limits.ts'

type Mode = (typeof TokenizerMode)[keyof typeof TokenizerMode]
const { RCDATA, RAWTEXT, SCRIPT_DATA, PLAINTEXT } = TokenizerMode

/** Elements whose content browsers do not read as tags. */
export const rawText: ReadonlyMap<string, Mode> = new Map<string, Mode>([
  ['title', RCDATA],
  ['textarea', RCDATA],
  ['style', RAWTEXT],
  ['xmp', RAWTEXT],
  ['iframe', RAWTEXT],
  ['noembed', RAWTEXT],
  ['noframes', RAWTEXT],
  ['script', SCRIPT_DATA],
  ['plaintext', PLAINTEXT],
])

/** It compares each attribute of a tag with all before it, so their number is limited. */
export class BoundedTokenizer extends Tokenizer {
  protected override _leaveAttrName(): void {
    if (this.currentToken && 'attrs' in this.currentToken && this.currentToken.attrs.length >= ATTRIBUTE_LIMIT)
      throw new RenderError('output_limit', `The HTML has a tag with more than ${ATTRIBUTE_LIMIT} attributes`)
    super._leaveAttrName()
  }
}

/** With this block before the end of the body. */
export function beforeBodyEnd(html: string, block: string): string {
  const end = html.search(/<\/body\s*>(?![\s\S]*<\/body\s*>)/i)
  return end === -1 ? html + block : html.slice(0, end) + block + html.slice(end)
}
