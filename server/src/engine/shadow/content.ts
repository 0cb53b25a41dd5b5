// Texts of two services, as far as they can be equal: without ids, tokens, branding and white space that nobody sees.

/** Ids and tokens that stand anywhere. */
const ids = /\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{24,})\b/gi
const address = /https?:\/\/[^\s"'<>]+/gi
/** In an address, also what looks drawn at random. */
const longestName = 20
const stand = '…'

export const isSameText = (a: string, b: string): boolean => a === b || comparable(a) === comparable(b)

export function comparable(text: string): string {
  return withoutBranding(text)
    .replaceAll(address, (url) => url.replaceAll(/[^/?&=#.;:]+/g, (part) => (isToken(part) ? stand : part)))
    .replaceAll(ids, stand)
    .replaceAll(/\s+/g, ' ')
    .trim()
}

const isToken = (part: string): boolean => part.length >= longestName && /\d/.test(part) && /[a-z]/i.test(part)

const opening = /<table[^<>]*\sdata-[a-z]+-branding\b[^<>]*>/i

/** The line below an email that says who sent it. */
function withoutBranding(html: string): string {
  const found = opening.exec(html)
  if (!found) return html
  const end = html.indexOf('</table>', found.index)
  return end < 0 ? html : html.slice(0, found.index) + html.slice(end + '</table>'.length)
}

const before = 60
const shown = 400

/** The texts around the first place in which they differ. */
export function firstDifference(a: string, b: string): { upstream: string; here: string } {
  const [there, here] = [comparable(a), comparable(b)]
  let place = 0
  while (place < there.length && there[place] === here[place]) place += 1
  const from = Math.max(0, place - before)
  const excerpt = (text: string) =>
    `${from > 0 ? stand : ''}${text.slice(from, from + shown)}${text.length > from + shown ? stand : ''}`.toWellFormed()
  return { upstream: excerpt(there), here: excerpt(here) }
}
