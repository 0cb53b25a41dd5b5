// What a text message that arrives asks for: to stop, to start again, help, or nothing that is known. When in doubt, nothing.

export const keywords = ['stop', 'start', 'help'] as const
export type Keyword = (typeof keywords)[number]

const words: Record<Keyword, ReadonlySet<string>> = {
  stop: new Set([
    ...['stop', 'stopall', 'stop all', 'unsubscribe', 'cancel', 'end', 'quit', 'revoke', 'opt out', 'optout'],
    ...['arret', 'stopp', 'alto', 'baja', 'parar', 'sair', 'annulla'],
  ]),
  start: new Set(['start', 'unstop', 'yes', 'opt in', 'optin']),
  help: new Set(['help', 'info', 'aide', 'ayuda', 'hilfe', 'aiuto']),
}

const mostWords = 15
const verbs = 'texting|messaging|sending|contacting'

/** In the compared form. */
const refusals = [
  new RegExp(`\\bstop (${verbs})\\b`),
  // Not "please stop by".
  new RegExp(`\\bplease stop( (${verbs}|it|this|that|now|these|those|all|thanks|thank you|the (texts|messages))\\b|$)`),
  /\bunsubscribe me\b/,
  /\bopt me out\b/,
  /\bremove me\b/,
  /\btake me off\b/,
  /\bleave me alone\b/,
  /\bno more (texts|messages)\b/,
  /\b(do not|dont) (text|message|contact) me\b/,
]
/** "Don't stop texting me", "never remove me". */
const contrary = /\b(do not|dont|never) (please )?(stop|unsubscribe|opt|remove|take|leave)\b/

/** Without case, accents, punctuation and outer space. */
export const comparedText = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}|['’`]/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

export function keywordOf(text: string, extraStopWords: readonly string[]): Keyword | null {
  const compared = comparedText(text)
  if (compared === '') return null
  const whole = keywords.find((keyword) => words[keyword].has(compared))
  if (whole) return whole
  if (extraStopWords.some((word) => comparedText(word) === compared)) return 'stop'
  if (compared.split(' ').length > mostWords || contrary.test(compared)) return null
  return refusals.some((refusal) => refusal.test(compared)) ? 'stop' : null
}
