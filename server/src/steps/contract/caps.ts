// The rules of caps: which ones concern a message, and whether there is a place in all of them. Nothing here does I/O.
import type { Cap, Guards } from '../../db/core/tables.ts'
import { unitSeconds } from './kind.ts'
import type { PlaceAnswer, TakePlace } from './need.ts'

export const windowMs = ({ window: { amount, unit } }: Pick<Cap, 'window'>): number =>
  amount * unitSeconds[unit] * 1_000

/** What caps ask about a message. */
export interface Capped {
  channel: string
  /** Of the workflow. */
  tags: readonly string[]
  /** Critical workflows, and those that say so, neither count nor are held back. */
  isExempt: boolean
}

export const capsFor = ({ caps }: Guards, { channel, tags, isExempt }: Capped): Cap[] =>
  isExempt ? [] : caps.filter((cap) => isAbout(cap, channel) && hasTag(cap, tags))

const isAbout = ({ channels }: Cap, channel: string) =>
  channels === undefined ? channel !== 'in_app' : channels.includes(channel)

const hasTag = ({ tags }: Cap, of: readonly string[]) => tags === undefined || tags.some((tag) => of.includes(tag))

/** What a message to this person needs; undefined where no cap concerns it. */
export function placeFor(
  { id: environmentId, guards }: { id: string; guards: Guards },
  subscriberRowId: string,
  capped: Capped,
): TakePlace | undefined {
  if (guards.caps.length === 0) return undefined
  const caps = capsFor(guards, capped)
  return caps.length === 0 ? undefined : { need: 'take place', environmentId, subscriberRowId, caps }
}

/** When the places of a person in each cap were taken, in milliseconds, oldest first. */
export type PlacesOf = (cap: Cap) => readonly number[]

/** A place in every one of these caps, or in none. */
export function askPlace(caps: readonly Cap[], placesOf: PlacesOf, now: Date): PlaceAnswer {
  let fullest: { cap: Cap; freeAt: Date } | undefined
  for (const cap of caps) {
    const taken = within(cap, placesOf(cap), now)
    if (taken.length < cap.limit) continue
    const freeAt = new Date((taken[taken.length - cap.limit] ?? 0) + windowMs(cap))
    if (!fullest || freeAt > fullest.freeAt) fullest = { cap, freeAt }
  }
  return fullest ? { isTaken: false, ...fullest } : { isTaken: true }
}

/** The places in a cap once this one is taken. */
export const withPlace = (cap: Cap, places: readonly number[], now: Date): number[] =>
  [...within(cap, places, now), now.getTime()].sort((a, b) => a - b)

/** A place that was taken by a process whose clock is ahead counts, too. */
const within = (cap: Cap, places: readonly number[], now: Date): number[] =>
  places.filter((at) => at > now.getTime() - windowMs(cap))
