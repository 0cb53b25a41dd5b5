// DKIM (RFC 6376, 8463): the public key with which receivers check our signature.
import { createPublicKey, type KeyObject } from 'node:crypto'
import type { Questions } from './dns.ts'
import type { Sender } from './sender.ts'
import { tagsIn } from './tags.ts'
import type { Publish, Verdict } from './verdict.ts'

const leastBits = 1_024
const goodBits = 2_048

export async function dkimCheck(sender: Sender, questions: Questions): Promise<Verdict> {
  const { dkim } = sender.smtp ?? {}
  const selector = sender.selector ?? dkim?.keySelector
  if (selector === undefined)
    return { status: 'skip', summary: 'The selector is not known: look it up at your provider, and name it here' }
  // Somebody who names another selector asks about the domain itself.
  const own = dkim && selector.toLowerCase() === dkim.keySelector.toLowerCase() ? dkim : undefined
  const name = `${selector}._domainkey.${own?.domainName ?? sender.domain}`
  const key = own ? ownKey(own.privateKey) : undefined
  const publish: Publish | undefined = key && {
    type: 'TXT',
    name,
    value: `v=DKIM1; k=${kindOf(key)}; p=${wireOf(key)}`,
  }
  const texts = await questions.txt(name)
  const records = texts.filter((text) => tagsIn(text).has('p') || /^\s*v\s*=\s*DKIM1/i.test(text))
  const failed = (summary: string, details = {}): Verdict => ({
    ...{ status: 'fail', summary, records, publish },
    details: { selector, ...details },
  })
  const [record] = records
  if (record === undefined) return failed(`There is no DKIM record at ${name}`)
  if (records.length > 1) return failed(`There are ${records.length} DKIM records at ${name}; one is allowed`)
  const tags = tagsIn(record)
  const given = (tags.get('p') ?? '').replaceAll(/\s/g, '')
  if (given === '') return failed('The key was withdrawn: p= is empty')
  const kind = (tags.get('k') ?? 'rsa').toLowerCase()
  const published = readKey(kind, given)
  if (!published) return failed('The key in the record cannot be read', { keyType: kind })
  const bits = published.asymmetricKeyDetails?.modulusLength
  const details = { keyType: kind, ...(bits === undefined ? {} : { bits }) }
  if (own && !key) return failed('The private key of the integration cannot be read', details)
  if (key && wireOf(key) !== wireOf(published))
    return failed('The record has another key than the one Belfry signs with', details)
  if (bits !== undefined && bits < leastBits)
    return failed(`The key has ${bits} bits; receivers want at least ${leastBits}, better ${goodBits}`, details)
  const shown = { records, details: { selector, ...details } }
  if (
    (tags.get('t') ?? '')
      .toLowerCase()
      .split(':')
      .map((flag) => flag.trim())
      .includes('y')
  )
    return { status: 'warn', summary: 'The record says that DKIM is only tested (t=y)', ...shown }
  if (bits !== undefined && bits < goodBits)
    return { status: 'warn', summary: `The key has ${bits} bits; ${goodBits} are recommended`, ...shown }
  return {
    status: 'pass',
    summary: key ? 'The record has the key that Belfry signs with' : 'The record has a key',
    ...shown,
  }
}

const kindOf = ({ asymmetricKeyType }: KeyObject) => (asymmetricKeyType === 'ed25519' ? 'ed25519' : 'rsa')

function ownKey(privateKey: string): KeyObject | undefined {
  try {
    return createPublicKey(privateKey)
  } catch {
    return undefined
  }
}

/** What stands before the 32 bytes of an Ed25519 key in its standard form. */
const edPrefix = Buffer.from('302a300506032b6570032100', 'hex')

function readKey(kind: string, text: string): KeyObject | undefined {
  const bytes = Buffer.from(text, 'base64')
  const read = (key: Buffer, type: 'spki' | 'pkcs1') => createPublicKey({ key, format: 'der', type })
  try {
    if (kind === 'ed25519') return read(bytes.length === 32 ? Buffer.concat([edPrefix, bytes]) : bytes, 'spki')
    if (kind !== 'rsa') return undefined
    try {
      return read(bytes, 'spki')
    } catch {
      return read(bytes, 'pkcs1')
    }
  } catch {
    return undefined
  }
}

/** As a record has it. */
function wireOf(key: KeyObject): string {
  const bytes = key.export({ format: 'der', type: 'spki' })
  return (kindOf(key) === 'ed25519' ? bytes.subarray(-32) : bytes).toString('base64')
}
