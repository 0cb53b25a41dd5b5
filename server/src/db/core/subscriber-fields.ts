// The fields of a subscriber that callers may set, and their columns.
import { isDeepStrictEqual } from 'node:util'
import type { Selectable } from 'kysely'
import type { SubscriberTable } from './tables.ts'

/** Valid subscriber ids and topic keys in a trigger: letters, digits and a few signs, or an email address. */
export const recipientIdPattern = /^(?:[a-zA-Z0-9_:.-]+|(?=\S+$)\S[^@\s]*@\S+\.\S+)$/

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
export function columnsSaid(fields: SubscriberFields): Partial<Selectable<SubscriberTable>> {
  const said: Record<string, unknown> = {}
  for (const name of fieldNames) if (fields[name] !== undefined) said[columnOf[name]] = fields[name]
  return said
}

const email = /^[^\s@"(),:;<>[\\\]]+@[^\s@.]+(\.[^\s@.]+)+$/

/** What the API accepts in these fields. */
export const subscriberFormats = {
  email: (value: string): boolean => value.length <= 320 && email.test(value),
  locale(value: string): boolean {
    try {
      return /^[A-Za-z]{2,3}([_-]|$)/.test(value) && Intl.getCanonicalLocales(value.replaceAll('_', '-')).length === 1
    } catch {
      return false
    }
  },
  timezone(value: string): boolean {
    try {
      // Intl also accepts offsets such as +02:00, which are not time zones.
      return (
        /^[A-Za-z]/.test(value) && new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone !== ''
      )
    } catch {
      return false
    }
  },
}

/** The fields after a change whose `data` is merged one level deep, and what of them is new. */
export function mergedFields(
  row: Selectable<SubscriberTable>,
  set: SubscriberFields,
): { fields: SubscriberFields; changed: string[] } {
  const changed: string[] = []
  const fields: SubscriberFields = {}
  for (const name of fieldNames) {
    const value = set[name]
    if (value === undefined) continue
    if (name === 'data') {
      const before = row.data ?? {}
      const names = value === null ? Object.keys(before) : Object.keys(value)
      const data = value === null ? null : { ...before, ...(value as Record<string, unknown>) }
      const news = names.filter((member) => !isDeepStrictEqual(before[member], data?.[member]))
      if (news.length === 0) continue
      fields.data = data
      changed.push(...news.map((member) => `data.${member}`))
    } else if (row[columnOf[name]] !== value) {
      fields[name] = value as string | null
      changed.push(name)
    }
  }
  return { fields, changed }
}
