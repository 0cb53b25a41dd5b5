// What every simulated step calls with: everything that is stored comes from memory, the clock and chance from the scenario.

import type { Logger } from 'pino'
import { type AddressChannel, comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import type { SuppressionRow } from '../../db/queries/suppressions.ts'
import { endlessTurn } from '../../providers/provider.ts'
import type { CallTools } from '../../steps/contract/call-tools.ts'
import { CircuitBreaker } from '../../steps/delivery/circuit-breaker.ts'
import { heldBackBy } from '../consent/rules.ts'
import { chanceFrom } from '../core/chance.ts'
import type { Attachment } from '../runs/attachments.ts'
import type { PreparedEvent } from '../runs/compose.ts'
import { recipientIn } from '../runs/question-jobs.ts'
import type { People } from './people.ts'
import type { MessageRecord } from './record.ts'
import type { Scenario, Snapshot } from './scenario.ts'

export interface Brand {
  word: string
  signatureHeader: string
  /** Where links in messages lead. */
  publicUrl: string
  receivesMail: boolean
}

/** Shown instead of what is encrypted. */
const hidden = '••••••••'

export const nobodyListens = { error: () => undefined, warn: () => undefined } as unknown as Logger

interface Surroundings {
  scenario: Scenario
  snapshot: Snapshot
  people: People
  brand: Brand
  now(): Date
  /** The entries about the scenario's people, as they are now. */
  suppressions(): SuppressionRow[]
  /** In-app messages that are there by now. */
  inbox(matches: (message: MessageRecord) => boolean): MessageRecord[]
  /** Of a trigger. */
  filesOf(eventId: string): Attachment[]
  translator: PreparedEvent['environment']['translator']
}

export type CommonTools = Omit<CallTools, 'delivery' | 'http'>

/** With what a step reaches. All members by name: for a literal that begins with a spread, V8 makes a hidden class per object. */
export const toolsWith = (
  common: CommonTools,
  { delivery, http }: Pick<CallTools, 'delivery' | 'http'>,
): CallTools => ({
  delivery,
  http,
  findChats: common.findChats,
  forgetDevice: common.forgetDevice,
  findBrowsers: common.findBrowsers,
  forgetBrowser: common.forgetBrowser,
  countInbox: common.countInbox,
  readFiles: common.readFiles,
  sandbox: common.sandbox,
  secrets: common.secrets,
  circuits: common.circuits,
  gate: common.gate,
  health: common.health,
  clock: common.clock,
  chance: common.chance,
  log: common.log,
  brand: common.brand,
  publicUrl: common.publicUrl,
  receivesMail: common.receivesMail,
  signatureHeader: common.signatureHeader,
  storesContent: common.storesContent,
  layout: common.layout,
  layoutTranslator: common.layoutTranslator,
  hasBranding: common.hasBranding,
})

export function commonTools(surroundings: Surroundings): CommonTools {
  const { scenario, snapshot, people, brand, now, suppressions, inbox, filesOf, translator } = surroundings
  /** What the suppression list says about an address at this moment. */
  const entriesAbout = (channel: AddressChannel, address: string): SuppressionRow[] => {
    const hash = hashOfAddress(comparedAddress(channel, address))
    return suppressions().filter(
      (entry) =>
        entry.channel === channel &&
        hash.equals(entry.address_hash) &&
        (entry.expires_at === null || entry.expires_at > now()),
    )
  }
  const { layouts, hasBranding } = snapshot
  const clock = { now }
  const { seed } = scenario
  return {
    findChats: people.findChats,
    forgetDevice: people.forgetDevice,
    findBrowsers: people.findBrowsers,
    forgetBrowser: people.forgetBrowser,
    countInbox: async ({ subscriberRowId }, { seen, read, contextKeys = [] }, most) => {
      const own = inbox(({ run, job }) => recipientIn(run, job).id === subscriberRowId).filter(
        ({ marks, contextKeys: keys }) =>
          (seen === undefined || marks.seen === seen) &&
          (read === undefined || marks.read === read) &&
          !marks.archived &&
          String(keys) === String(contextKeys),
      )
      return Math.min(own.length, most)
    },
    readFiles: async ({ id }, most) => filesOf(id).slice(0, most),
    sandbox: { takeFault: async () => undefined, add: async () => undefined },
    secrets: {
      decrypt: (stored) => (stored.startsWith('enc:v1:') ? hidden : stored),
      // A link in a simulated message opens nothing.
      signBriefly: () => Buffer.alloc(16),
    },
    circuits: new CircuitBreaker({ clock, random: () => 0, elapsed: () => now().getTime(), patienceMs: 0 }),
    gate: {
      pass: async (sender, { channel, addresses }, start) => {
        const heldBack = addresses.flatMap((address) => heldBackBy(address, entriesAbout(channel, address), sender))
        return heldBack.length > 0 ? { heldBack } : { started: start(endlessTurn) }
      },
    },
    health: { sent: () => undefined, refused: () => undefined },
    clock,
    chance: chanceFrom(seed),
    log: nobodyListens,
    brand: brand.word,
    publicUrl: brand.publicUrl,
    receivesMail: brand.receivesMail,
    signatureHeader: brand.signatureHeader,
    storesContent: true,
    layout: async (layoutId) => {
      if (layoutId === null) return 'none'
      if (layoutId === undefined) return layouts.find(({ is_default }) => is_default) ?? 'none'
      return (
        layouts.find(({ identifier }) => identifier === layoutId) ??
        layouts.find(({ id }) => id === layoutId) ??
        'missing'
      )
    },
    layoutTranslator: (layout, locale) => translator('layout', layout, locale),
    hasBranding,
  }
}
