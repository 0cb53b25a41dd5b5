// OneSignal: its export of subscriptions as CSV. Those of one external id are one subscriber.
import path from 'node:path'
import type { ImportSource } from '../commands/import.ts'
import type { Intake } from './intake.ts'
import { isJson, type Json, Members } from './members.ts'
import { People } from './people.ts'
import { mustBeFile } from './source-file.ts'
import { rowsOf } from './tables.ts'

export function oneSignal(file: string): ImportSource {
  mustBeFile(file)
  return {
    name: 'onesignal',
    identity: [path.resolve(file)],
    files: [file],
    async read(intake) {
      const people = new People(intake.report)
      for await (const { cells } of rowsOf(file, intake)) takeSubscription(intake, people, cells)
      people.addTo(intake)
    },
  }
}

/** By the number in `device_type`, or the word of newer exports. */
const kinds: Record<string, { channel: string; providerId?: string } | undefined> = {
  ...{ '0': { channel: 'push', providerId: 'apns' }, '1': { channel: 'push', providerId: 'fcm' } },
  ...{ '11': { channel: 'email' }, '14': { channel: 'sms' } },
  ...{ iosPush: { channel: 'push', providerId: 'apns' }, androidPush: { channel: 'push', providerId: 'fcm' } },
  ...{ Email: { channel: 'email' }, SMS: { channel: 'sms' } },
}

function takeSubscription(intake: Intake, people: People, row: Record<string, string>): void {
  const { report } = intake
  const subscriptionId = row.id ?? row.subscription_id ?? ''
  const id = row.external_user_id || row.external_id || ''
  if (id === '') {
    report.unmapped({
      ...{ kind: 'subscribers', id: subscriptionId, path: 'external_user_id', code: 'no_external_id' },
      why: 'without an external id nobody could notify it',
    })
    return
  }
  const members = new Members(row, { report, kind: 'subscribers', id })
  members.renewed(
    ['id', 'subscription_id', 'onesignal_id', 'player_id'],
    'subscriptions of one external id are one subscriber',
  )
  members.renewed(
    ['session_count', 'last_active', 'playtime', 'amount_spent', 'badge_count', 'last_session'],
    'it is counted by OneSignal',
  )
  for (const name of ['external_user_id', 'external_id']) members.take(name)
  const person = people.of(id)
  people.note(id, members.text('created_at'), members.text('updated_at'))
  const type = members.text('device_type') ?? members.text('type') ?? ''
  const kind = kinds[type]
  const identifier = members.text('identifier') ?? members.text('token')
  const types = Number(members.text('notification_types') ?? '1')
  const isInvalid = /^(?:t|true|1)$/i.test(members.text('invalid_identifier') ?? '')
  const list = (at: string, code: string, why: string) =>
    report.unmapped({ kind: 'subscribers', id, path: at, code, why })
  if (kind && identifier) {
    const field = kind.channel === 'email' ? 'email' : kind.channel === 'sms' ? 'phone' : undefined
    if (isInvalid) list('identifier', 'invalid', 'an invalid address is not taken')
    else if (field) people.set(id, field, identifier, `identifier (${field})`)
    else if (kind.providerId) people.addToken(id, kind.providerId, identifier)
  } else if (identifier)
    list(`identifier (device_type ${type})`, 'no_equivalent', 'browsers and other devices subscribe anew')
  if (kind && (types < 0 || types === 0)) person.off.add(kind.channel)
  const language = members.text('language')
  if (language) people.set(id, 'locale', language, 'language')
  const zone = members.text('timezone_id')
  if (zone) people.set(id, 'timezone', zone, 'timezone_id')
  const offset = members.text('timezone')
  if (!zone && offset) list('timezone', 'no_equivalent', 'an offset is no time zone; export timezone_id too')
  for (const [name, value] of Object.entries(
    tagsIn(members.text('tags'), () => list('tags', 'not_readable', 'they are neither JSON nor a hash')),
  ))
    people.setData(id, name, value, `tags.${name}`)
  members.unmapped('web_auth', 'no_equivalent', 'browsers subscribe anew')
  members.unmapped('web_p256', 'no_equivalent', 'browsers subscribe anew')
  members.end('only addresses, language, time zone and tags are taken')
}

/** JSON, or as Ruby writes it: `{"plan"=>"pro"}`. */
export function tagsIn(text: string | undefined, onUnreadable: () => void): Json {
  if (text === undefined) return {}
  for (const spelled of [text, text.replaceAll('"=>', '":').replaceAll('"=> ', '": ').replaceAll(':nil', ':null')]) {
    try {
      const value: unknown = JSON.parse(spelled)
      if (isJson(value)) return value
    } catch {
      // The other spelling, then.
    }
  }
  onUnreadable()
  return {}
}
