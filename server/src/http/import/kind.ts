// What the kinds of data that can be imported have in common: items one by one checked, then stored in few statements.
import type pg from 'pg'
import type { TSchema } from 'typebox'
import type { Tx } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { RequestError } from '../../errors.ts'
import type { Brand } from '../edge/brand.ts'
import type { NeededScope } from '../edge/scopes.ts'

/** What became of an item. `unchanged`: it was there already, or something later was written here, and stays. */
export type Outcome = 'imported' | 'unchanged' | RequestError

export interface Importing {
  tx: Tx
  environmentId: string
  now: Date
  secrets: Secrets
  brand: Brand
  /** Messages that were created before this are no longer kept; undefined if all are kept. */
  keptSince: Date | undefined
}

export interface ImportKind<Item> {
  name: string
  summary: string
  description: string
  item: TSchema
  example: Record<string, unknown>
  /** What an API key needs. */
  scope: NeededScope
  /** Items with the same key are stored one after the other. Without keys all are stored together. */
  keyOf?(item: Item): string
  /** Before the transaction begins. */
  prepare?(pool: pg.Pool, items: Item[], importing: Pick<Importing, 'now' | 'keptSince'>): Promise<void>
  /** Stores items with different keys. @returns an outcome for each */
  store(importing: Importing, items: Item[]): Promise<Outcome[]>
}

/** Of kinds whose items differ in type, for a list of them. */
export type AnyKind = ImportKind<never>

/** Items in groups, so that no group has two with the same key, and each comes after those before it with the same key. */
export function inRounds<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const rounds: Item[][] = []
  const seen = new Map<string, number>()
  for (const item of items) {
    const key = keyOf(item)
    const place = seen.get(key) ?? 0
    seen.set(key, place + 1)
    const round = rounds[place]
    if (round) round.push(item)
    else rounds.push([item])
  }
  return rounds
}

/** When the item was last changed at its source; never later than now, so that later changes here are later. */
export function timeOf(given: string | null | undefined, now: Date): Date | null {
  if (given === undefined || given === null) return null
  const time = new Date(given)
  return time > now ? now : time
}
