// What the parser of YAML does not tell of a file: that it is not UTF-8, and aliases that cannot be followed. The folder of the
// command line tool and scenario files are read with it.
import { isUtf8 } from 'node:buffer'
import { isAlias, isCollection, isNode, isPair } from 'yaml'

/**
 * @typedef {{ line: number, column: number }} Place
 * @typedef {{ offset: number, message: string }} WrongAlias
 */

/** Far more than a person writes, and far fewer than a file can say with aliases of aliases. */
const mostValues = 1_000_000
/** The parser looks for the anchor of each among all: 2 seconds for so many, and a minute for 30,000. */
const mostAliases = 5_000

/** The first place that is not UTF-8. @returns {Place | undefined} */
export function notUtf8(/** @type {Buffer} */ bytes) {
  if (isUtf8(bytes)) return undefined
  // The end of a line is never part of another character.
  for (let line = 1, start = 0; ; line += 1) {
    const end = bytes.indexOf(0x0a, start)
    const own = bytes.subarray(start, end === -1 ? bytes.length : end)
    if (!isUtf8(own) || end === -1) return { line, column: own.toString('utf8').indexOf('\ufffd') + 1 }
    start = end + 1
  }
}

/** @returns {WrongAlias | undefined} */
export function wrongAlias(/** @type {import('yaml').Document} */ document) {
  /** How many nodes an anchor stands for; undefined within itself. @type {Map<string, number | undefined>} */
  const anchors = new Map()
  let aliases = 0
  let values = 0
  /** @type {WrongAlias | undefined} */
  let wrong
  /** @returns {number} */
  const sizeOf = (/** @type {unknown} */ node) => {
    if (wrong) return 0
    if (isPair(node)) return sizeOf(node.key) + sizeOf(node.value)
    if (isAlias(node)) return followed(node)
    if (!isNode(node)) return 0
    const { anchor } = /** @type {{ anchor?: string }} */ (node)
    if (anchor) anchors.set(anchor, undefined)
    let size = 1
    if (isCollection(node)) for (const item of node.items) size += sizeOf(item)
    if (anchor) anchors.set(anchor, size)
    return size
  }
  const followed = (/** @type {import('yaml').Alias} */ { source, range }) => {
    const size = anchors.get(source)
    aliases += 1
    values += size ?? 0
    const message = !anchors.has(source)
      ? `there is no anchor "${source}" before this alias; a text that begins with * needs quotes`
      : size === undefined
        ? `the anchor "${source}" contains itself`
        : aliases > mostAliases
          ? `there are too many aliases: a file may have ${mostAliases}`
          : values > mostValues
            ? `the alias of "${source}" stands for too much: aliases of a file may stand for ${mostValues} values`
            : undefined
    if (message !== undefined) wrong = { offset: range?.[0] ?? 0, message }
    return size ?? 0
  }
  sizeOf(document.contents)
  return wrong
}
