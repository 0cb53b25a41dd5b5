// SPF (RFC 7208): which servers may send for a domain. Reads a record with all it refers to, counts the look-ups that receivers
// would need, and tells what they would find out about an address.
import { BlockList, isIP } from 'node:net'
import { isName, type Questions } from './dns.ts'

/** Receivers give up beyond these. */
export const mostLookups = 10
export const mostVoid = 2
/** Where we give up: a record may refer to itself. */
const enough = 40

export type Qualifier = '+' | '-' | '~' | '?'

interface Term {
  qualifier: Qualifier
  name: string
  /** Behind the colon. */
  value: string | undefined
  bits4: number
  bits6: number
}

export interface SpfRecord {
  terms: Term[]
  redirect: string | undefined
}

/** What a receiver finds out about an address; `unknown` if that depends on the mail. */
export type Finding = 'pass' | 'other' | 'unknown'

/** A record with all it refers to. */
export interface SpfTree {
  /** That of the last `all` that counts. */
  all: Qualifier | undefined
  find(address: string): Finding
}

export interface SpfCost {
  lookups: number
  voidLookups: number
  usesPtr: boolean
  /** Why receivers would call it broken. */
  problems: string[]
}

export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text)

/** A sentence if it cannot be read. */
export function parseSpf(text: string): SpfRecord | string {
  const record: SpfRecord = { terms: [], redirect: undefined }
  let hasExplanation = false
  for (const word of text.split(' ').slice(1)) {
    if (word === '') continue
    const modifier = /^([a-z][a-z0-9_.-]*)=(.*)$/i.exec(word)
    if (modifier) {
      const [, name = '', value = ''] = modifier
      if (/^redirect$/i.test(name)) {
        if (record.redirect !== undefined) return 'redirect= stands twice'
        if (value === '') return 'redirect= names no domain'
        record.redirect = value
      } else if (/^exp$/i.test(name)) {
        if (hasExplanation) return 'exp= stands twice'
        hasExplanation = true
      }
      continue
    }
    const term = parseTerm(word)
    if (!term) return `"${word.slice(0, 100)}" cannot be read`
    record.terms.push(term)
  }
  return record
}

function parseTerm(word: string): Term | undefined {
  const [, sign = '', given = '', colon, rest = ''] = /^([+?~-]?)([a-z][a-z0-9]*)(?:(:)?(\S*))$/i.exec(word) ?? []
  const name = given.toLowerCase()
  const qualifier = (sign || '+') as Qualifier
  const plain = { qualifier, name, bits4: 32, bits6: 128 }
  if (colon && rest === '') return undefined
  switch (name) {
    case 'all':
      return rest === '' ? { ...plain, value: undefined } : undefined
    case 'include':
    case 'exists':
      return colon && isDomainSpec(rest) ? { ...plain, value: rest } : undefined
    case 'ptr':
      return rest === '' || (colon && isDomainSpec(rest)) ? { ...plain, value: rest || undefined } : undefined
    case 'ip4':
    case 'ip6': {
      const [address = '', bits, ...more] = rest.split('/')
      const family = name === 'ip4' ? 4 : 6
      const longest = family === 4 ? 32 : 128
      if (!colon || isIP(address) !== family || more.length > 0 || !isLength(bits, longest)) return undefined
      const length = Number(bits ?? longest)
      return { ...plain, value: address, bits4: length, bits6: length }
    }
    case 'a':
    case 'mx': {
      const [, domain = '', four, six] = /^([^/]*)(?:\/(\d+))?(?:\/\/(\d+))?$/.exec(rest) ?? []
      if (domain === '' && (colon || (rest !== '' && four === undefined && six === undefined))) return undefined
      if (!isLength(four, 32) || !isLength(six, 128)) return undefined
      if (domain !== '' && !(colon && isDomainSpec(domain))) return undefined
      return { ...plain, value: domain || undefined, bits4: Number(four ?? 32), bits6: Number(six ?? 128) }
    }
    default:
      return undefined
  }
}

const isLength = (text: string | undefined, longest: number) =>
  text === undefined || (/^\d{1,3}$/.test(text) && Number(text) <= longest)
/** Depends on the mail, which is not here yet. */
const hasMacro = (text: string) => text.includes('%')
const isDomainSpec = (text: string) => hasMacro(text) || isName(text)

type Test = (address: string) => 'yes' | 'no' | 'unknown'

export class SpfReader {
  readonly cost: SpfCost = { lookups: 0, voidLookups: 0, usesPtr: false, problems: [] }
  readonly #questions: Pick<Questions, 'txt' | 'mx' | 'addresses'>

  constructor(questions: Pick<Questions, 'txt' | 'mx' | 'addresses'>) {
    this.#questions = questions
  }

  async read(domain: string, record: SpfRecord): Promise<SpfTree> {
    const tests: Array<{ qualifier: Qualifier; test: Test }> = []
    let all: Qualifier | undefined
    for (const term of record.terms) {
      // Nothing behind it is looked at.
      if (all !== undefined) break
      if (term.name === 'all') {
        all = term.qualifier
        tests.push({ qualifier: term.qualifier, test: () => 'yes' })
      } else tests.push({ qualifier: term.qualifier, test: await this.#testOf(term, domain) })
    }
    const rest = all === undefined && record.redirect !== undefined ? await this.#follow(record.redirect) : undefined
    return {
      all: all ?? rest?.all,
      find(address) {
        for (const { qualifier, test } of tests) {
          const said = test(address)
          if (said === 'unknown') return 'unknown'
          if (said === 'yes') return qualifier === '+' ? 'pass' : 'other'
        }
        return rest?.find(address) ?? 'other'
      },
    }
  }

  async #testOf(term: Term, domain: string): Promise<Test> {
    const { name, value } = term
    if (name === 'ip4' || name === 'ip6') return within([value ?? ''], term)
    if (name === 'include') {
      const inner = await this.#follow(value ?? '')
      if (!inner) return () => 'unknown'
      return (address) => (({ pass: 'yes', other: 'no', unknown: 'unknown' }) as const)[inner.find(address)]
    }
    this.cost.lookups += 1
    if (name === 'ptr') {
      this.cost.usesPtr = true
      return () => 'unknown'
    }
    const target = value ?? domain
    if (hasMacro(target) || this.cost.lookups > enough) return () => 'unknown'
    const found = name === 'mx' ? await this.#exchanges(target) : await this.#questions.addresses(target)
    if (found.length === 0) this.cost.voidLookups += 1
    if (name === 'exists') return () => (found.length > 0 ? 'yes' : 'no')
    return within(found, term)
  }

  async #exchanges(domain: string): Promise<string[]> {
    const hosts = (await this.#questions.mx(domain)).map(({ exchange }) => exchange).filter((host) => host !== '')
    const addresses = await Promise.all(hosts.slice(0, 10).map((host) => this.#questions.addresses(host)))
    return addresses.flat()
  }

  /** The record of another domain. */
  async #follow(domain: string): Promise<SpfTree | undefined> {
    this.cost.lookups += 1
    if (hasMacro(domain) || this.cost.lookups > enough) return undefined
    const texts = await this.#questions.txt(domain)
    if (texts.length === 0) this.cost.voidLookups += 1
    const records = texts.filter(isSpf)
    const [record] = records
    if (record === undefined || records.length > 1) {
      this.cost.problems.push(`${domain} has ${record === undefined ? 'no SPF record' : 'two SPF records'}`)
      return undefined
    }
    const parsed = parseSpf(record)
    if (typeof parsed !== 'string') return this.read(domain, parsed)
    this.cost.problems.push(`In the record of ${domain}, ${parsed}`)
    return undefined
  }
}

function within(addresses: string[], { bits4, bits6 }: Term): Test {
  const list = new BlockList()
  for (const address of addresses) {
    const family = isIP(address)
    if (family !== 0) list.addSubnet(address, family === 4 ? bits4 : bits6, family === 4 ? 'ipv4' : 'ipv6')
  }
  return (address) => (list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6') ? 'yes' : 'no')
}
