// The key pair by which push services know an environment (VAPID, RFC 8292).
import { createECDH } from 'node:crypto'

export interface VapidKeys {
  /** A point on P-256, uncompressed, in base64url. */
  publicKey: string
  privateKey: string
}

export function newVapidKeys(): VapidKeys {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys().toString('base64url')
  // A number that happens to be short is padded to 32 bytes.
  const privateKey = Buffer.from(pair.getPrivateKey('hex').padStart(64, '0'), 'hex').toString('base64url')
  return { publicKey, privateKey }
}

/** Whether it is one: an invalid point would fail at every send. */
export function isPoint(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== 65 || bytes[0] !== 4) return false
  try {
    const pair = createECDH('prime256v1')
    pair.generateKeys()
    pair.computeSecret(bytes)
    return true
  } catch {
    return false
  }
}
