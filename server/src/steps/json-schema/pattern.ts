// Regular expressions that users write. They run on RE2, in time linear in the text: `^(a+)+$` never ends on the usual engine.
import { RE2JS } from 're2js'

export const longestPattern = 1_000
export const syntaxHint = 'look-around and back-references are not supported'

export interface Pattern {
  /** What a character of the text costs at most. */
  stepsPerCharacter: number
  test(text: string): boolean
}

/** Throws where the source is no pattern, or has what RE2 does not know. */
export function compilePattern(source: string): Pattern {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(source))
  return { stepsPerCharacter: compiled.programSize(), test: (text) => compiled.test(text) }
}
