// Encryption at rest (AES-256-GCM), lookup hashes, and signatures.
import { createCipheriv, createDecipheriv, createHmac, hash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

const marker = 'enc:v1:'

interface Keys {
  encryption: Buffer
  signing: Buffer
  tokens: Buffer
}

/** A separate key for each purpose. */
function derive(secretKey: string): Keys {
  const key = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', Buffer.from(secretKey, 'hex'), '', `belfry ${purpose}`, 32))
  return { encryption: key('encryption'), signing: key('signing'), tokens: key('tokens') }
}

export class Secrets {
  readonly #current: Keys
  /** All accepted keys, the current ones first. */
  readonly #accepted: Keys[]

  /**
   * @param secretKey 64 hex digits; encrypts and signs everything new
   * @param others earlier keys, still accepted for stored values and issued tokens
   */
  constructor(secretKey: string, others: readonly string[] = []) {
    this.#current = derive(secretKey)
    this.#accepted = [this.#current, ...others.map(derive)]
  }

  encrypt(clear: string): string {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#current.encryption, nonce)
    const sealed = Buffer.concat([nonce, cipher.update(clear, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return marker + sealed.toString('base64')
  }

  /** The plain text; a value without our marker was never encrypted and is returned unchanged. */
  decrypt(stored: string): string {
    if (!stored.startsWith(marker)) return stored
    let failure: unknown
    for (const { encryption } of this.#accepted) {
      try {
        return open(stored, encryption)
      } catch (error) {
        failure ??= error
      }
    }
    throw failure
  }

  /** The value re-encrypted with the current key; undefined if it already is. */
  renew(stored: string): string | undefined {
    try {
      open(stored, this.#current.encryption)
      return undefined
    } catch {
      return this.encrypt(this.decrypt(stored))
    }
  }

  /** HMAC-SHA-256 in hex. `salt` ties the signature to something that can be rotated. */
  sign(text: string, salt = ''): string {
    return signatureOf(text, salt, this.#current)
  }

  verify(text: string, signature: string, salt = ''): boolean {
    const given = Buffer.from(signature)
    return this.#accepted.some((keys) => isSame(given, Buffer.from(signatureOf(text, salt, keys))))
  }

  /** Half of the signature, where space is short. */
  readonly briefBytes = 16

  signBriefly(bytes: Buffer, salt: string): Buffer {
    return this.#brief(bytes, salt, this.#current)
  }

  /** @param length of a signature that was cut further */
  verifyBriefly(bytes: Buffer, signature: Buffer, salt: string, length = this.briefBytes): boolean {
    return this.#accepted.some((keys) => isSame(signature, this.#brief(bytes, salt, keys).subarray(0, length)))
  }

  #brief(bytes: Buffer, salt: string, { signing }: Keys): Buffer {
    // As text first: a buffer of its own for each digest costs more than the signature.
    const digest = createHmac('sha256', signing).update(`${salt}\0`).update(bytes).digest('hex')
    return Buffer.from(digest.slice(0, 2 * this.briefBytes), 'hex')
  }

  /** A JSON Web Token with these claims, HS256. */
  makeToken(claims: object): string {
    const text = `${tokenHeader}.${base64url(JSON.stringify(claims))}`
    return `${text}.${tokenSignature(text, this.#current).toString('base64url')}`
  }

  /** Its claims, if we signed it. Accepts only HS256, whatever the header says. */
  readToken(token: string): Record<string, unknown> | undefined {
    const [header = '', payload = '', signature = '', ...more] = token.split('.')
    const given = Buffer.from(signature, 'base64url')
    const isOurs = this.#accepted.some((keys) => isSame(given, tokenSignature(`${header}.${payload}`, keys)))
    if (more.length > 0 || !isOurs) return undefined
    return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
  }
}

/** Encrypted values anywhere in a text. */
export const sealedText = new RegExp(`${marker}[A-Za-z0-9+/]+=*`, 'g')

function open(stored: string, key: Buffer): string {
  const sealed = Buffer.from(stored.slice(marker.length), 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12), { authTagLength: 16 })
  decipher.setAuthTag(sealed.subarray(-16))
  return decipher.update(sealed.subarray(12, -16), undefined, 'utf8') + decipher.final('utf8')
}

const signatureOf = (text: string, salt: string, { signing }: Keys) =>
  createHmac('sha256', signing).update(salt).update('\0').update(text).digest('hex')

const tokenSignature = (text: string, { tokens }: Keys) => createHmac('sha256', tokens).update(text).digest()

const isSame = (one: Buffer, other: Buffer) => one.length === other.length && timingSafeEqual(one, other)

const base64url = (text: string) => Buffer.from(text).toString('base64url')
const tokenHeader = base64url(JSON.stringify({ alg: 'HS256', typ: 'JWT' }))

export const sha256 = (text: string): string => hash('sha256', text)

/**
 * `t=<ms>,v1=<hex>`: the time, and an HMAC-SHA-256 over `<ms>.<text>`, so that receivers can refuse replays. With several keys,
 * one `v1` for each.
 */
export function timedSignature(keys: readonly string[], text: string, now: Date): string {
  const ms = now.getTime()
  const signatures = keys.map((key) => `v1=${createHmac('sha256', key).update(`${ms}.${text}`).digest('hex')}`)
  return [`t=${ms}`, ...signatures].join()
}
