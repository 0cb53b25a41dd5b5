// An authenticator in software, for passkeys in tests: one key for each passkey, and whatever a dishonest one would say.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'

interface Says {
  origin: string
  /** The host it believes to be at; by default the one it was asked for. */
  host?: string
  /** How often it has signed; by default it does not count. */
  counter?: number
  /** Whether it checked a PIN, finger or face. */
  isVerified?: boolean
  challenge?: string
}

// biome-ignore lint/suspicious/noExplicitAny: the answer of the service, as JSON
type Options = any

export class Authenticator {
  readonly id = randomBytes(16)
  readonly #privateKey: KeyObject
  readonly #x: Buffer
  readonly #y: Buffer

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
    this.#privateKey = privateKey
    this.#x = Buffer.from(x, 'base64url')
    this.#y = Buffer.from(y, 'base64url')
  }

  /** Answers `navigator.credentials.create`. */
  make(options: Options, says: Says) {
    const key = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(this.#x)],
      [-3, new Uint8Array(this.#y)],
    ])
    const length = Buffer.alloc(2)
    length.writeUInt16BE(this.id.length)
    const credential = Buffer.concat([Buffer.alloc(16), length, this.id, isoCBOR.encode(key)])
    const data = Buffer.concat([this.#data(options.rp.id, says, 0x40), credential])
    const attestation = new Map<string, unknown>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', new Uint8Array(data)],
    ])
    return this.#answer({
      clientDataJSON: text(this.#client('webauthn.create', options, says)),
      attestationObject: text(Buffer.from(isoCBOR.encode(attestation as never))),
      transports: ['internal'],
    })
  }

  /** Answers `navigator.credentials.get`. */
  get(options: Options, says: Says) {
    const client = this.#client('webauthn.get', options, says)
    const data = this.#data(options.rpId, says, 0)
    const signature = sign('sha256', Buffer.concat([data, hash(client)]), this.#privateKey)
    return this.#answer({ clientDataJSON: text(client), authenticatorData: text(data), signature: text(signature) })
  }

  #answer(response: object) {
    const id = text(this.id)
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response }
  }

  #client(type: string, options: Options, { origin, challenge = options.challenge }: Says): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  }

  #data(asked: string, { host = asked, counter = 0, isVerified = true }: Says, more: number): Buffer {
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([hash(Buffer.from(host)), Buffer.from([0x01 | (isVerified ? 0x04 : 0) | more]), count])
  }
}

const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest()
const text = (bytes: Buffer) => bytes.toString('base64url')
