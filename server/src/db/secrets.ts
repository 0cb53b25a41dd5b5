// What is kept secret: values encrypted at rest with AES-256-GCM, hashes to look things up by, and signatures.
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

const marker = 'enc:v1:'

export class Secrets {
  readonly #encryptionKey: Buffer
  readonly #signingKey: Buffer

  /** @param secretKey 64 hex digits; separate keys for separate purposes are derived from it. */
  constructor(secretKey: string) {
    const derive = (purpose: string) =>
      Buffer.from(hkdfSync('sha256', Buffer.from(secretKey, 'hex'), '', `belfry ${purpose}`, 32))
    this.#encryptionKey = derive('encryption')
    this.#signingKey = derive('signing')
  }

  encrypt(clear: string): string {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#encryptionKey, nonce)
    const sealed = Buffer.concat([nonce, cipher.update(clear, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return marker + sealed.toString('base64')
  }

  /** Gives back the clear text; a value without our marker was never encrypted and is returned as it is. */
  decrypt(stored: string): string {
    if (!stored.startsWith(marker)) return stored
    const sealed = Buffer.from(stored.slice(marker.length), 'base64')
    const decipher = createDecipheriv('aes-256-gcm', this.#encryptionKey, sealed.subarray(0, 12))
    decipher.setAuthTag(sealed.subarray(-16))
    return decipher.update(sealed.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8')
  }

  /** HMAC-SHA-256 in hex. `salt` ties the signature to something that can be rotated. */
  sign(text: string, salt = ''): string {
    return createHmac('sha256', this.#signingKey).update(salt).update('\0').update(text).digest('hex')
  }

  verify(text: string, signature: string, salt = ''): boolean {
    const expected = Buffer.from(this.sign(text, salt))
    const given = Buffer.from(signature)
    return expected.length === given.length && timingSafeEqual(expected, given)
  }
}

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** `t=<ms>,v1=<hex>`: when it was signed, and an HMAC-SHA-256 over `<ms>.<text>`, so that old requests cannot be repeated. */
export function timedSignature(key: string, text: string, now: Date): string {
  const ms = now.getTime()
  return `t=${ms},v1=${createHmac('sha256', key).update(`${ms}.${text}`).digest('hex')}`
}
