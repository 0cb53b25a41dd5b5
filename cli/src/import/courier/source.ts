// Courier: a folder of what its API answers: notifications/*.json, brands/*.json, profiles.jsonl, preferences.jsonl.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { ImportSource } from '../../commands/import.ts'
import { takeId } from '../identifier.ts'
import type { Intake } from '../intake.ts'
import { type Line, linesOf, parsed } from '../json-lines.ts'
import { isJson, type Json, Members } from '../members.ts'
import { mustBeFolder, wholeTextOf } from '../source-file.ts'
import { type Channel, channelNames, ofProfiles } from './content.ts'
import { takeBrand, takeTemplate } from './templates.ts'

const allChannels: Channel[] = ['email', 'sms', 'push', 'chat', 'in_app']

export function courier(folder: string): ImportSource {
  mustBeFolder(folder)
  return {
    name: 'courier',
    identity: [path.resolve(folder)],
    files: [folder],
    async read(intake) {
      intake.listsIssues = true
      const brands = new Set<string>()
      for (const brand of documentsIn(intake, folder, 'brands')) {
        const id = takeBrand(intake, brand)
        if (id !== undefined) brands.add(id)
      }
      const topics = new Map<string, string[]>()
      for (const template of documentsIn(intake, folder, 'notifications'))
        takeTemplate(intake, template, { brands, topics })
      for (const automation of documentsIn(intake, folder, 'automations'))
        intake.report.unmapped({
          ...{ kind: 'automation', id: String(automation.id ?? automation.name ?? ''), path: '', code: 'automation' },
          why: 'automations do not come along; write a workflow with the same steps',
        })
      for await (const line of linesOf(path.join(folder, 'profiles.jsonl'), intake)) takeProfile(intake, line)
      for await (const line of linesOf(path.join(folder, 'preferences.jsonl'), intake))
        takePreferences(intake, line, topics)
      listOthers(intake, folder)
    },
  }
}

/** Each file has one document, or a list, perhaps under `results`. */
function documentsIn({ report }: Intake, folder: string, name: string): Json[] {
  const place = path.join(folder, name)
  if (!existsSync(place)) return []
  return readdirSync(place)
    .sort()
    .flatMap((file) => {
      const id = `${name}/${file}`
      const value = file.endsWith('.json') ? parsed(wholeTextOf(path.join(place, file))) : undefined
      const whole = new Members(isJson(value) ? value : { documents: value }, { report, kind: 'file', id })
      if (whole.has('results')) {
        const found = whole.objects('results')
        whole.renewed(whole.rest(), 'it is of the answer, not of what it lists')
        return found
      }
      if (isJson(value)) return [value]
      if (Array.isArray(value)) return whole.objects('documents')
      report.unmapped({ kind: 'file', id, path: '', code: 'not_readable', why: 'it is no JSON of documents' })
      return []
    })
}

function listOthers(intake: Intake, folder: string): void {
  const known = new Set(['brands', 'notifications', 'automations', 'profiles.jsonl', 'preferences.jsonl'])
  for (const name of readdirSync(folder).sort())
    if (!known.has(name))
      intake.report.unmapped({
        kind: 'file',
        id: name,
        path: '',
        code: 'no_equivalent',
        why: 'there is nothing like it here',
      })
}

function takeProfile(intake: Intake, { value, place }: Line): void {
  const { report } = intake
  const subscriberId = takeId(value, ['id', 'recipient_id', 'user_id'], { report, kind: 'subscribers', place })
  if (subscriberId === undefined) return
  const outer = new Members(value, { report, kind: 'subscribers', id: subscriberId })
  for (const name of ['id', 'recipient_id', 'user_id']) outer.take(name)
  const members = outer.members('profile')
  outer.unmapped('lists', 'no_equivalent', 'make topics of them')
  outer.end()
  const fields: Json = {}
  for (const [theirs, ours] of Object.entries(ofProfiles)) {
    const text = members.text(theirs)
    if (text !== undefined && ours !== 'subscriberId') fields[ours] = text
  }
  const name = members.text('name')
  if (name !== undefined && fields.firstName === undefined && fields.lastName === undefined) {
    const [first = '', ...rest] = name.split(' ')
    fields.firstName = first
    if (rest.length > 0) fields.lastName = rest.join(' ')
    members.changed('name', {
      to: 'firstName, lastName and data.name',
      why: 'a subscriber has two names; templates keep the one',
    })
  }
  const tokens = new Map([
    ['fcm', tokensIn(members, 'firebaseToken')],
    ['apns', tokensIn(members, 'apn')],
    ['expo', tokensIn(members, 'expo')],
  ])
  for (const provider of ['slack', 'ms_teams', 'discord', 'airship', 'webhook', 'target_arn', 'address'])
    members.unmapped(provider, 'no_equivalent', 'connect the chat anew, or put it into the data')
  const others = Object.fromEntries(members.rest().map((key) => [key, members.take(key)]))
  const data = { ...(name === undefined ? {} : { name }), ...others }
  const item = { subscriberId, ...fields, ...(Object.keys(data).length > 0 ? { data } : {}) }
  if (!intake.add('subscribers', item)) return
  for (const [providerId, deviceTokens] of tokens)
    if (deviceTokens.length > 0) intake.add('credentials', { subscriberId, providerId, deviceTokens })
}

/** A token, a list of them, or an object with either. */
function tokensIn(profile: Members, name: string): string[] {
  const texts = (given: unknown): string[] =>
    [given].flat().filter((each): each is string => typeof each === 'string' && each !== '')
  const given = profile.take(name)
  if (!isJson(given)) {
    const found = texts(given)
    if (found.length === 0) profile.unmapped(name, 'not_text', 'a token was expected')
    return found
  }
  const members = profile.members(name)
  const found = ['token', 'tokens'].flatMap((member) => texts(members.take(member)))
  members.end('only tokens are taken')
  return found
}

function takePreferences(intake: Intake, { value, place }: Line, topics: ReadonlyMap<string, string[]>): void {
  const { report } = intake
  const subscriberId = takeId(value, ['user_id', 'id'], { report, kind: 'preferences', place })
  if (subscriberId === undefined) return
  const outer = new Members(value, { report, kind: 'preferences', id: subscriberId })
  outer.renewed(['user_id', 'id', 'paging'], 'it is of the answer')
  for (const item of outer.objects('items')) {
    const topicId = String(item.topic_id)
    const members = new Members(item, { report, kind: 'preferences', id: subscriberId, path: topicId })
    members.renewed(['topic_id', 'topic_name', 'default_status', 'section_id', 'section_name'])
    const status = members.text('status') ?? 'OPTED_IN'
    const isCustom = members.flag('has_custom_routing') === true
    const wanted = members.list('custom_routing').map((name) => {
      const channel = channelNames[String(name)]
      if (!channel) members.lists(`custom_routing.${String(name)}`, 'no_equivalent', 'there is no such channel')
      return channel
    })
    members.end()
    const workflows = topics.get(topicId)
    if (!workflows) {
      report.unmapped({
        ...{ kind: 'preferences', id: subscriberId, path: topicId, code: 'topic' },
        why: 'no template in the folder has this topic',
      })
      continue
    }
    if (!['OPTED_IN', 'OPTED_OUT', 'REQUIRED'].includes(status)) {
      members.lists('status', 'no_equivalent', `"${status}" has no equivalent`)
      continue
    }
    const channels = Object.fromEntries(
      allChannels.map((name) => [name, status === 'OPTED_OUT' ? false : !isCustom || wanted.includes(name)]),
    )
    for (const workflowId of workflows) intake.add('preferences', { subscriberId, workflowId, channels })
  }
  outer.end()
}
