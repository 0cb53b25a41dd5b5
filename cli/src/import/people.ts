// Sources that list addresses, not people: each person's addresses are joined before they become items.
import { isDeepStrictEqual } from 'node:util'
import type { Intake } from './intake.ts'
import type { Json } from './members.ts'
import type { Report } from './report.ts'

interface Person {
  fields: Json
  data: Json
  /** Device tokens by provider. */
  tokens: Map<string, Set<string>>
  /** Channels that are off. */
  off: Set<string>
  createdAt?: string
  updatedAt?: string
}

export class People {
  readonly #byId = new Map<string, Person>()
  readonly #report: Report

  constructor(report: Report) {
    this.#report = report
  }

  of(subscriberId: string): Person {
    const known = this.#byId.get(subscriberId)
    if (known) return known
    const person: Person = { fields: {}, data: {}, tokens: new Map(), off: new Set() }
    this.#byId.set(subscriberId, person)
    return person
  }

  /** An address, or another field. A subscriber has one; of several the last is taken, and that is listed. @param at where it stands */
  set(subscriberId: string, field: 'email' | 'phone' | 'locale' | 'timezone', value: string, at: string): void {
    const { fields } = this.of(subscriberId)
    const code = field === 'email' || field === 'phone' ? 'second_address' : 'second_value'
    if (fields[field] !== undefined && fields[field] !== value) this.#list(subscriberId, at, code)
    fields[field] = value
  }

  /** A member of the data, likewise. */
  setData(subscriberId: string, name: string, value: unknown, at: string): void {
    const { data } = this.of(subscriberId)
    if (data[name] !== undefined && !isDeepStrictEqual(data[name], value)) this.#list(subscriberId, at, 'second_value')
    data[name] = value
  }

  #list(id: string, path: string, code: string): void {
    const why = 'a subscriber has one; the last in the files is taken'
    this.#report.unmapped({ kind: 'subscribers', id, path, code, why })
  }

  addToken(subscriberId: string, providerId: string, token: string): void {
    const { tokens } = this.of(subscriberId)
    tokens.set(providerId, (tokens.get(providerId) ?? new Set()).add(token))
  }

  /** The earliest creation and the latest change of all addresses count. */
  note(subscriberId: string, createdAt: string | undefined, updatedAt: string | undefined): void {
    const person = this.of(subscriberId)
    const [created, updated] = [isoOf(createdAt), isoOf(updatedAt)]
    if (created && (!person.createdAt || created < person.createdAt)) person.createdAt = created
    if (updated && (!person.updatedAt || updated > person.updatedAt)) person.updatedAt = updated
  }

  addTo(intake: Intake): void {
    for (const [subscriberId, { fields, data, tokens, off, createdAt, updatedAt }] of this.#byId) {
      const times = { ...(createdAt ? { createdAt } : {}), ...(updatedAt ? { updatedAt } : {}) }
      const own = Object.keys(data).length > 0 ? { data } : {}
      intake.add('subscribers', { subscriberId, ...fields, ...own, ...times })
      for (const [providerId, known] of tokens)
        intake.add('credentials', {
          ...{ subscriberId, providerId, deviceTokens: [...known] },
          ...(updatedAt ? { updatedAt } : {}),
        })
      if (off.size > 0)
        intake.add('preferences', {
          ...{ subscriberId, channels: Object.fromEntries([...off].map((name) => [name, false])) },
          ...(updatedAt ? { updatedAt } : {}),
        })
    }
  }
}

/** Undefined if it is no time. */
export function isoOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined
  const time = /^\d{9,10}$/.test(text) ? new Date(Number(text) * 1000) : new Date(text)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}
