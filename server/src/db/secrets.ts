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
  readonly #tokenKey: Buffer

  /** @param secretKey 64 hex digits; separate keys for separate purposes are derived from it. */
  constructor(secretKey: string) {
    const derive = (purpose: string) =>
      Buffer.from(hkdfSync('sha256', Buffer.from(secretKey, 'hex'), '', `belfry ${purpose}`, 32))
    this.#encryptionKey = derive('encryption')
    this.#signingKey = derive('signing')
    this.#tokenKey = derive('tokens')
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

  /** A JSON Web Token with these claims, HS256. */
  makeToken(claims: object): string {
    const text = `${tokenHeader}.${base64url(JSON.stringify(claims))}`
    return `${text}.${this.#signToken(text).toString('base64url')}`
  }

  /** Its claims, if we signed it; whatever its header says, no other way of signing counts. */
  readToken(token: string): Record<string, unknown> | undefined {
    const [header = '', payload = '', signature = '', ...more] = token.split('.')
    const [expected, given] = [this.#signToken(`${header}.${payload}`), Buffer.from(signature, 'base64url')]
    if (more.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
  }

  #signToken(text: string): Buffer {
    return createHmac('sha256', this.#tokenKey).update(text).digest()
  }
}

const base64url = (text: string) => Buffer.from(text).toString('base64url')
const tokenHeader = base64url(JSON.stringify({ alg: 'HS256', typ: 'JWT' }))

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** `t=<ms>,v1=<hex>`: when it was signed, and an HMAC-SHA-256 over `<ms>.<text>`, so that old requests cannot be repeated. */
export function timedSignature(key: string, text: string, now: Date): string {
  const ms = now.getTime()
  return `t=${ms},v1=${createHmac('sha256', key).update(`${ms}.${text}`).digest('hex')}`
}
