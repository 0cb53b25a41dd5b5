// Knock: the folder that its command line tool pulls, and users and preferences as JSON lines.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface as ask } from 'node:readline/promises'
import { parseDocument } from 'yaml'
import type { ImportSource } from '../../commands/import.ts'
import { Failure } from '../../failure.ts'
import { writeWhole } from '../../folder/write.ts'
import type { Intake } from '../intake.ts'
import { linesOf } from '../json-lines.ts'
import { filled, isJson, type Json, Members } from '../members.ts'
import { type ChannelType, channelTypes, resolved, takeWorkflow } from './workflows.ts'

export interface KnockOptions {
  users?: string
  preferences?: string
}

export interface KnownChannel {
  type: ChannelType
  /** For device tokens of users. */
  providerId?: string
}

export function knock(folder: string, { users, preferences }: KnockOptions): ImportSource {
  for (const file of [folder, users, preferences])
    if (file !== undefined && !existsSync(file)) throw new Failure('usage', 'no_files', `There is no ${file}`)
  return {
    name: 'knock',
    identity: [folder, users ?? '', preferences ?? ''].map((file) => path.resolve(file)),
    async read(intake) {
      intake.listsIssues = true
      const workflows = foldersIn(path.join(folder, 'workflows'), 'workflow.json')
      const channels = await channelsIn(folder, keysIn(workflows), askPerson)
      const partials = partialsIn(folder)
      for (const dir of foldersIn(path.join(folder, 'layouts'), 'layout.json')) takeLayout(intake, dir)
      for (const dir of workflows) takeWorkflow({ intake, channels, partials }, dir)
      listOthers(intake, folder)
      if (users) for await (const user of linesOf(users, intake)) takeUser(intake, user, channels)
      if (preferences) {
        const categories = categoriesIn(workflows)
        for await (const each of linesOf(preferences, intake)) takePreferences(intake, each, categories)
      }
    },
  }
}

const foldersIn = (place: string, file: string): string[] =>
  existsSync(place)
    ? readdirSync(place, { recursive: true, encoding: 'utf8' })
        .filter((name) => path.basename(name) === file)
        .map((name) => path.join(place, path.dirname(name)))
        .sort()
    : []

const readJson = (file: string): Json => JSON.parse(readFileSync(file, 'utf8')) as Json

/** The channels that steps name without saying what they are. */
function keysIn(workflows: string[]): string[] {
  const keys = new Set<string>()
  const walk = (value: unknown) => {
    if (Array.isArray(value)) for (const each of value) walk(each)
    if (!isJson(value)) return
    const key = value.channel_key ?? value.channel_group_key
    if (value.type === 'channel' && typeof key === 'string' && typeof value.channel_type !== 'string') keys.add(key)
    for (const each of Object.values(value)) walk(each)
  }
  for (const dir of workflows) walk(readJson(path.join(dir, 'workflow.json')))
  return [...keys].sort()
}

type Ask = (question: string) => Promise<string | undefined>

/** Undefined where nobody can answer. */
async function askPerson(question: string): Promise<string | undefined> {
  if (!process.stdin.isTTY) return undefined
  const lines = ask({ input: process.stdin, output: process.stderr })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

const kinds = 'email, sms, push, chat or in_app'

/** From `channels.yaml`, which is made by asking, once: `in-app: in_app`, `apns: push apns`. */
export async function channelsIn(folder: string, keys: string[], answer: Ask): Promise<Map<string, KnownChannel>> {
  const file = path.join(folder, 'channels.yaml')
  // As a document, so that remarks in it stay.
  const document = parseDocument(existsSync(file) ? readFileSync(file, 'utf8') : '')
  const [problem] = document.errors
  const content: unknown = document.toJS()
  if (problem || !(content === null || isJson(content)))
    throw new Failure('usage', 'channels_unknown', `${file} cannot be read: ${problem?.message ?? 'it is no map'}`)
  const given: Json = { ...content }
  const asked: string[] = []
  const missing: string[] = []
  for (const key of keys) {
    if (key in given) continue
    const said = (await answer(`What is the channel "${key}": ${kinds}? `))?.trim()
    if (said) {
      given[key] = said
      document.set(key, said)
      asked.push(key)
    } else missing.push(key)
  }
  if (missing.length > 0)
    throw new Failure(
      'usage',
      'channels_unknown',
      `${file} has to say what these channels are (${kinds}): ${missing.map((key) => `"${key}: …"`).join(', ')}`,
    )
  const channels = new Map<string, KnownChannel>()
  for (const [key, value] of Object.entries(given)) {
    const [type = '', providerId] = String(value).split(/\s+/)
    const known = channelTypes[type]
    if (!known) throw new Failure('usage', 'channels_unknown', `${file}: "${key}" must be ${kinds}, not "${type}"`)
    channels.set(key, { type: known, ...(providerId ? { providerId } : {}) })
  }
  if (asked.length > 0) writeWhole(file, document.toString())
  return channels
}

function partialsIn(folder: string): Map<string, string> {
  return new Map(
    foldersIn(path.join(folder, 'partials'), 'partial.json').map((dir) => {
      const { content } = resolved(readJson(path.join(dir, 'partial.json')), dir)
      return [path.basename(dir), typeof content === 'string' ? content : JSON.stringify(content)]
    }),
  )
}

function takeLayout(intake: Intake, dir: string): void {
  const id = path.basename(dir)
  const value = resolved(readJson(path.join(dir, 'layout.json')), dir)
  const members = new Members(value, { report: intake.report, kind: 'layout', id })
  members.renewed(['$schema', '__readonly', 'key', 'created_at', 'updated_at', 'sha', 'environment'])
  const body = members.text('html_layout') ?? members.text('html_content') ?? '{{content}}'
  members.unmapped('text_layout', 'no_equivalent', 'the text part is made from the HTML')
  members.unmapped('footer_links', 'no_equivalent', 'put them into the body')
  const name = members.text('name') ?? id
  members.end()
  intake.define('layout', id, { layoutId: id, name, controlValues: { email: { body, editorType: 'html' } } })
}

/** What the folder has besides. */
function listOthers(intake: Intake, folder: string): void {
  const known = new Set(['workflows', 'layouts', 'partials', 'channels.yaml', 'knock.json', '.gitignore', '.git'])
  for (const name of readdirSync(folder).sort())
    if (!known.has(name))
      intake.report.unmapped({
        ...{ kind: 'file', id: name, path: '', code: 'no_equivalent' },
        why:
          name === 'translations'
            ? 'texts there belong to all workflows; here each has its own'
            : 'there is nothing like it here',
      })
}

function takeUser(intake: Intake, user: Json, channels: ReadonlyMap<string, KnownChannel>): void {
  const subscriberId = String(user.id)
  const { report } = intake
  const members = new Members(user, { report, kind: 'subscribers', id: subscriberId })
  members.renewed(['__typename', '__cursor'])
  members.take('id')
  const name = members.text('name')
  const [firstName, ...rest] = (name ?? '').split(' ')
  if (name !== undefined)
    members.changed('name', {
      to: 'firstName, lastName and data.name',
      why: 'a subscriber has two names; templates keep the one',
    })
  const fields = {
    firstName,
    lastName: rest.join(' '),
    email: members.text('email'),
    phone: members.text('phone_number'),
    avatar: members.text('avatar'),
    locale: members.text('locale'),
    timezone: members.text('timezone'),
    createdAt: members.text('created_at'),
    updatedAt: members.text('updated_at'),
  }
  const channelData = members.take('channel_data')
  const others = Object.fromEntries(members.rest().map((key) => [key, members.take(key)]))
  const data = { ...(name === undefined ? {} : { name }), ...others }
  intake.add('subscribers', {
    subscriberId,
    ...filled(fields),
    ...(Object.keys(data).length > 0 ? { data } : {}),
  })
  if (isJson(channelData)) takeTokens(intake, subscriberId, channelData, channels)
}

function takeTokens(
  intake: Intake,
  subscriberId: string,
  data: Json,
  channels: ReadonlyMap<string, KnownChannel>,
): void {
  for (const [key, value] of Object.entries(data)) {
    const providerId = channels.get(key)?.providerId
    const tokens = isJson(value) && Array.isArray(value.tokens) ? value.tokens.map(String) : []
    if (providerId && tokens.length > 0) intake.add('credentials', { subscriberId, providerId, deviceTokens: tokens })
    else
      intake.report.unmapped({
        ...{ kind: 'credentials', id: subscriberId, path: `channel_data.${key}`, code: 'channel' },
        why: `say the provider of "${key}" in channels.yaml, such as "push apns"`,
      })
  }
}

/** The workflows of each category. */
function categoriesIn(workflows: string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const dir of workflows) {
    const { categories } = readJson(path.join(dir, 'workflow.json'))
    for (const category of Array.isArray(categories) ? categories.map(String) : [])
      found.set(category, [...(found.get(category) ?? []), path.basename(dir)])
  }
  return found
}

const allChannels: ChannelType[] = ['email', 'sms', 'push', 'chat', 'in_app']

function takePreferences(intake: Intake, value: Json, categories: ReadonlyMap<string, string[]>): void {
  const { report } = intake
  const subscriberId = String(value.user_id ?? value.recipient ?? '')
  const members = new Members(value, { report, kind: 'preferences', id: subscriberId })
  members.renewed(['__typename', 'id', 'user_id', 'recipient', '__persistence_strategy__'])
  const list = (at: string, why: string) =>
    report.unmapped({ kind: 'preferences', id: subscriberId, path: at, code: 'no_equivalent', why })
  const channelsOf = (given: unknown, at: string): Json => {
    const channels: Json = {}
    for (const [name, on] of Object.entries(isJson(given) ? given : {})) {
      const type = channelTypes[name]
      if (!type) list(`${at}.${name}`, 'there is no such channel')
      else if (typeof on === 'boolean') channels[type] = on
      else list(`${at}.${name}`, 'a preference has no conditions')
    }
    return channels
  }
  const settingOf = (setting: unknown, at: string): Json => {
    if (typeof setting === 'boolean') return Object.fromEntries(allChannels.map((name) => [name, setting]))
    if (!isJson(setting)) return {}
    if (Array.isArray(setting.conditions) && setting.conditions.length > 0)
      list(`${at}.conditions`, 'a preference has no conditions')
    return channelsOf(setting.channel_types, `${at}.channel_types`)
  }
  const add = (channels: Json, workflowId?: string) => {
    if (Object.keys(channels).length > 0)
      intake.add('preferences', { subscriberId, ...(workflowId ? { workflowId } : {}), channels })
  }
  add(channelsOf(members.take('channel_types'), 'channel_types'))
  const workflows = members.take('workflows')
  const own = new Set(Object.keys(isJson(workflows) ? workflows : {}))
  for (const [category, setting] of Object.entries((members.take('categories') ?? {}) as Json)) {
    const named = categories.get(category)
    if (!named) list(`categories.${category}`, 'no workflow in the folder has this category')
    // What is said of a workflow itself counts more.
    for (const workflowId of named ?? [])
      if (!own.has(workflowId)) add(settingOf(setting, `categories.${category}`), workflowId)
  }
  for (const [workflowId, setting] of Object.entries(isJson(workflows) ? workflows : {}))
    add(settingOf(setting, `workflows.${workflowId}`), workflowId)
  const isSubscribed = members.take('commercial_subscribed')
  if (isSubscribed === false) list('commercial_subscribed', 'put the person on the suppression list')
  members.end()
}
