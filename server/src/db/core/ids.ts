// Internal ids: 24 lower-case hex characters whose first 8 are the second of creation, so they sort by age.
import { randomBytes } from 'node:crypto'
import { realOf } from './held-clock.ts'

export const idPattern = '^[0-9a-fA-F]{24}$'

const processPart = randomBytes(5).toString('hex')
let counter = randomBytes(3).readUIntBE(0, 3)

export function newId(now: Date): string {
  counter = (counter + 1) & 0xff_ff_ff
  const seconds = Math.floor(realOf(now).getTime() / 1000)
  return seconds.toString(16).padStart(8, '0') + processPart + counter.toString(16).padStart(6, '0')
}

/** The second in which an id was made. */
export const timeOfId = (id: string): Date => new Date(Number.parseInt(id.slice(0, 8), 16) * 1000)

/** The smallest id of this second. A time outside the range of ids is clamped. */
export function firstIdAt(time: Date): string {
  const seconds = Math.min(Math.max(Math.floor(time.getTime() / 1000), 0), 0xff_ff_ff_ff)
  return seconds.toString(16).padStart(8, '0') + '0'.repeat(16)
}

const lowerAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz'
const urlAlphabet = `${lowerAlphabet}ABCDEFGHIJKLMNOPQRSTUVWXYZ-_`

export const newApiKey = () => randomBytes(16).toString('hex')
/** The random tail of a generated name such as `chconn_4f8k20x9a1bc`. */
export const randomLower = (length: number) => randomText(lowerAlphabet, length)
export const randomUrlSafe = (length: number) => randomText(urlAlphabet, length)

function randomText(alphabet: string, length: number): string {
  let text = ''
  while (text.length < length) {
    // Drop bytes beyond the last multiple of the alphabet's length, so that all characters stay equally likely.
    for (const byte of randomBytes(length)) {
      if (byte < 256 - (256 % alphabet.length) && text.length < length) text += alphabet[byte % alphabet.length]
    }
  }
  return text
}

/** The hidden organization and environment in which the service monitors itself (engine/queue/canary.ts). */
export const hiddenId = 'f'.repeat(24)
