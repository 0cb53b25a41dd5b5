// The fields of a subscriber that callers may set, and their columns.
import type { Selectable } from 'kysely'
import type { SubscriberTable } from './tables.ts'

/** The fields callers may set. Null clears a field; undefined leaves it. */
export interface SubscriberFields {
  firstName?: string | null
  lastName?: string | null
  email?: string | null
  phone?: string | null
  avatar?: string | null
  locale?: string | null
  timezone?: string | null
  data?: Record<string, unknown> | null
}

export const columnOf = {
  firstName: 'first_name',
  lastName: 'last_name',
  email: 'email',
  phone: 'phone',
  avatar: 'avatar',
  locale: 'locale',
  timezone: 'timezone',
  data: 'data',
} as const satisfies Record<keyof SubscriberFields, keyof SubscriberTable>

export const fieldNames = Object.keys(columnOf) as Array<keyof SubscriberFields>

/** The columns that these fields set, as a row read from the database has them. */
export const columnsSaid = (fields: SubscriberFields): Partial<Selectable<SubscriberTable>> =>
  Object.fromEntries(fieldNames.flatMap((name) => (fields[name] === undefined ? [] : [[columnOf[name], fields[name]]])))
