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
const after = [
  ...['it', 'this', 'that', 'now', 'these', 'those', 'all', 'thanks', 'thank you', 'the (texts|messages)'],
  ...['your', 'messages', 'texts', 'sms', 'i', 'im', 'you', 'wrong'],
].join('|')
/** "Why did you stop texting me", "if they stop sending": told about somebody, not asked of us. */
const told = '((did|do|does|if|unless|until|when) (you|u|they|he|she|it)|did|if|why|they|he|she)( (ever|all|just))?'

/** In the compared form. */
const refusals = [
  new RegExp(`(?<!\\b${told} )\\bstop (${verbs})\\b`),
  // Not "please stop by".
  new RegExp(`\\bplease stop( (${verbs}|${after})\\b|$)`),
  /\bunsubscribe me\b/,
  /\bopt me out\b/,
  /\bremove me\b/,
  /\btake me off\b/,
  /\bleave me alone\b/,
  /\bno more (texts|messages)\b/,
  // Not "they do not text me".
  /(?<!\b(they|he|she|it|you|u|we|who|why|if|people|guys|(you|u|they|he|she) said) )\b(do not|dont) (text|message|contact) me\b/,
]
const filler = '( (ever|please|just|really|even|you|u|dare|say|said|(want|need|mean|have) to))'
const wish = '( (want|need|wish|like|expect|ask|asked|tell|told|mean|meant)( \\p{L}+){0,3} to)?'
/** "Don't stop texting me", "never remove me", "I do not want you to stop". But "I do not want this, please stop" is none. */
const contrary = new RegExp(
  `\\b(do not|dont|did not|didnt|never)${filler}{0,3}${wish}${filler}{0,2} (stop|unsubscribe|opt|remove|take|leave)\\b`,
  'u',
)

/** Without case, accents, punctuation and outer space. */
export const comparedText = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}|['’`]/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

const sentencesOf = (text: string): string[] => text.split(/[.!?…。！？;\n\r–—]| - |--/)
const clausesOf = (sentence: string): string[] => sentence.split(/[,:()]/)

export function keywordOf(text: string, extraStopWords: readonly string[]): Keyword | null {
  const compared = comparedText(text)
  if (compared === '') return null
  // Stop comes first: an extra word may have been stored that is a word of another kind.
  if (words.stop.has(compared) || extraStopWords.some((word) => comparedText(word) === compared)) return 'stop'
  const whole = keywords.find((keyword) => words[keyword].has(compared))
  if (whole) return whole
  return [text, ...sentencesOf(text)].some(isRefusal) ? 'stop' : null
}

function isRefusal(sentence: string): boolean {
  const compared = comparedText(sentence)
  if (compared.split(' ').length > mostWords || contrary.test(compared)) return false
  const parts = [compared, ...clausesOf(sentence).map(comparedText)]
  return parts.some((part) => refusals.some((refusal) => refusal.test(part)))
}

/** Why a word cannot be an extra stop word. */
export function problemOfStopWord(word: string): string | undefined {
  const compared = comparedText(word)
  const shown = JSON.stringify(word)
  if (compared === '') return `${shown} has no letter or digit, so no text would match it`
  if (words.start.has(compared)) return `${shown} starts messages again and cannot stop them`
  return words.help.has(compared) ? `${shown} asks for help and cannot stop messages` : undefined
}
