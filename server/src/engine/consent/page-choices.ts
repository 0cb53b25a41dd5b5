// What a person chooses on the page of preferences: saved in one transaction, with the entries of the suppression list that a
// "no" to commercial messages makes.
import { type AddressChannel, comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import type { Tx } from '../../db/core/database.ts'
import type { ChannelChoices } from '../../db/core/tables.ts'
import {
  holdSubscriber,
  holdWorkflows,
  type PreferenceOwner,
  saveSnooze,
  saveWorkflowPreferences,
} from '../../db/queries/preferences.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import {
  addSuppressions,
  type NewSuppression,
  ofAddress,
  removeSuppressions,
  type SuppressionRow,
} from '../../db/queries/suppressions.ts'

export type PagePerson = Pick<SubscriberRow, 'id' | 'subscriber_id' | 'email' | 'phone'>

/** One switch that was moved. */
export interface MovedSwitch {
  workflow: { id: string; identifier: string; isCommercial: boolean }
  channel: keyof ChannelChoices
  isOn: boolean
}

export interface PageChoices {
  moved: MovedSwitch[]
  /** No commercial message of any kind, or some again. */
  all?: 'off' | 'on' | undefined
  /** Null ends the pause. */
  snoozedUntil?: Date | null | undefined
}

/** The addresses by which the suppression list knows a person. */
export function addressesOf({ email, phone }: Pick<PagePerson, 'email' | 'phone'>) {
  const given: Array<[AddressChannel, string | null]> = [
    ['email', email],
    ['sms', phone],
  ]
  return given.flatMap(([channel, address]) =>
    address ? [{ channel, ...ofAddress(comparedAddress(channel, address)) }] : [],
  )
}

/** All entries in force about the person's addresses. */
export async function entriesAbout(
  tx: Tx,
  environmentId: string,
  person: Pick<PagePerson, 'email' | 'phone'>,
  now: Date,
): Promise<SuppressionRow[]> {
  const addresses = addressesOf(person)
  if (addresses.length === 0) return []
  const rows = await tx
    .selectFrom('suppressions')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where(
      'address_hash',
      'in',
      addresses.map(({ addressHash }) => addressHash),
    )
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .execute()
  return rows.filter((row) =>
    addresses.some(({ channel, addressHash }) => channel === row.channel && addressHash.equals(row.address_hash)),
  )
}

/** Whether the person refuses everything commercial at this address, which they can take back on the page. */
export const refusesAll = ({ reason, scope }: Pick<SuppressionRow, 'reason' | 'scope'>): boolean =>
  reason === 'unsubscribe' && scope === 'commercial'

const onPage = ({ subscriber_id: subscriberId }: PagePerson) =>
  ({ reason: 'unsubscribe', source: 'page', subscriberId }) as const

/** The entries that commercial workflows get which are switched off. Chat, push and the inbox have no address there. */
export function refusalsIn(person: PagePerson, moved: MovedSwitch[]): NewSuppression[] {
  const addresses = addressesOf(person)
  return moved.flatMap(({ workflow, channel, isOn }) =>
    isOn || !workflow.isCommercial
      ? []
      : addresses
          .filter((each) => each.channel === channel)
          .map((each) => ({ ...each, ...onPage(person), scope: 'workflow' as const, scopeId: workflow.identifier })),
  )
}

/** @returns false if the person is gone */
export async function savePageChoices(
  tx: Tx,
  owner: PreferenceOwner,
  person: PagePerson,
  { moved, all, snoozedUntil }: PageChoices,
  now: Date,
): Promise<boolean> {
  const { environmentId } = owner
  // The subscriber before any address, as a click to unsubscribe does.
  if ((await holdSubscriber(tx, environmentId, person.subscriber_id)) !== person.id) return false
  const entries = refusalsIn(person, moved)
  if (all === 'off')
    entries.push(...addressesOf(person).map((each) => ({ ...each, ...onPage(person), scope: 'commercial' as const })))
  await addSuppressions(tx, environmentId, entries, now)
  const held = await holdWorkflows(tx, environmentId, {
    identifiers: [],
    ids: moved.map(({ workflow }) => workflow.id),
  })
  const choices = new Map<string, ChannelChoices>()
  for (const { workflow, channel, isOn } of moved)
    if (held.some(({ id }) => id === workflow.id))
      choices.set(workflow.id, { ...choices.get(workflow.id), [channel]: isOn })
  await saveWorkflowPreferences(tx, owner, choices, now)
  if (all === 'on') {
    const rows = await entriesAbout(tx, environmentId, person, now)
    const ids = rows.filter(refusesAll).map(({ id }) => id)
    if (ids.length > 0) await removeSuppressions(tx, environmentId, ids, now)
  }
  if (snoozedUntil !== undefined) await saveSnooze(tx, owner, snoozedUntil)
  return true
}

/** Whether the person still has the address that a link was sent to. */
export const hasAddressOf = (
  { email, phone }: Pick<PagePerson, 'email' | 'phone'>,
  { channel, addressHash }: { channel: AddressChannel; addressHash: Buffer },
): boolean => {
  const own = channel === 'email' ? email : phone
  return own !== null && hashOfAddress(comparedAddress(channel, own)).equals(addressHash)
}
