// Knock: the folder that its command line tool pulls, and users and preferences as JSON lines.
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { parseDocument } from 'yaml'
import { ask } from '../../ask.ts'
import type { ImportSource } from '../../commands/import.ts'
import { Failure } from '../../failure.ts'
import { writeWhole } from '../../folder/write.ts'
import { takeId } from '../identifier.ts'
import type { Intake } from '../intake.ts'
import { type Line, linesOf } from '../json-lines.ts'
import { filled, isJson, type Json, Members } from '../members.ts'
import { jsonObjectIn, mustBeFile, mustBeFolder, wholeTextOf } from '../source-file.ts'
import { type ChannelType, channelTypes } from './content.ts'
import { toLiquid } from './texts.ts'
import { resolved, takeWorkflow } from './workflows.ts'

export interface KnockOptions {
  users?: string
  preferences?: string
}

export interface KnownChannel {
  type: ChannelType
  /** For device tokens of users. */
  providerId?: string
}

/** @param answer who is asked what a channel is */
export function knock(folder: string, { users, preferences }: KnockOptions, answer: Ask = askPerson): ImportSource {
  mustBeFolder(folder)
  for (const file of [users, preferences]) if (file !== undefined) mustBeFile(file)
  return {
    name: 'knock',
    identity: [folder, users ?? '', preferences ?? ''].map((file) => path.resolve(file)),
    files: [folder, users, preferences].filter((file) => file !== undefined),
    async read(intake, terminal, { isDry }) {
      intake.listsIssues = true
      const workflows = foldersIn(path.join(folder, 'workflows'), 'workflow.json')
      const { channels, answers } = await channelsIn(folder, keysIn(workflows), answer)
      if (!isDry) keepAnswers(folder, answers)
      else if (answers.size > 0) {
        const lines = [...answers].map(([key, said]) => `  ${key}: ${said}`)
        terminal.say(['Put this into channels.yaml, or you will be asked again:', ...lines].join('\n'))
      }
      const partials = partialsIn(intake, folder)
      for (const dir of foldersIn(path.join(folder, 'layouts'), 'layout.json')) takeLayout(intake, dir, partials)
      for (const dir of workflows) takeWorkflow({ intake, channels, partials }, dir)
      listOthers(intake, folder)
      if (users) for await (const line of linesOf(users, intake)) takeUser(intake, line, channels)
      if (preferences) {
        const categories = categoriesIn(workflows)
        for await (const line of linesOf(preferences, intake)) takePreferences(intake, line, categories)
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
  for (const dir of workflows) walk(jsonObjectIn(path.join(dir, 'workflow.json')))
  return [...keys].sort()
}

/** Undefined if there is no answer. */
type Ask = (question: string) => Promise<string | undefined>

/** Undefined where nobody can answer. */
const askPerson: Ask = async (question) => (process.stdin.isTTY ? ask(question) : undefined)

const kinds = 'email, sms, push, chat or in_app'

/** As a document, so that remarks in it stay. */
function channelsFile(folder: string) {
  const file = path.join(folder, 'channels.yaml')
  const document = parseDocument(existsSync(file) ? wholeTextOf(file) : '')
  const [problem] = document.errors
  const content: unknown = document.toJS()
  if (problem || !(content === null || isJson(content)))
    throw new Failure('usage', 'channels_unknown', `${file} cannot be read: ${problem?.message ?? 'it is no map'}`)
  return { file, document, given: { ...content } as Json }
}

/** From `channels.yaml`: `in-app: in_app`, `apns: push apns`. What it does not say is asked for, and returned beside. */
export async function channelsIn(
  folder: string,
  keys: string[],
  answer: Ask,
): Promise<{ channels: Map<string, KnownChannel>; answers: Map<string, string> }> {
  const { file, given } = channelsFile(folder)
  const answers = new Map<string, string>()
  const missing: string[] = []
  for (const key of keys) {
    if (key in given) continue
    const said = (await answer(`What is the channel "${key}": ${kinds}? `))?.trim()
    if (said) answers.set(key, said)
    else missing.push(key)
  }
  if (missing.length > 0)
    throw new Failure(
      'usage',
      'channels_unknown',
      `${file} has to say what these channels are (${kinds}): ${missing.map((key) => `"${key}: …"`).join(', ')}`,
    )
  const channels = new Map<string, KnownChannel>()
  for (const [key, value] of [...Object.entries(given), ...answers]) {
    const [type = '', providerId] = String(value).split(/\s+/)
    const known = channelTypes[type]
    if (!known) throw new Failure('usage', 'channels_unknown', `${file}: "${key}" must be ${kinds}, not "${type}"`)
    channels.set(key, { type: known, ...(providerId ? { providerId } : {}) })
  }
  return { channels, answers }
}

/** So that nobody is asked twice. */
export function keepAnswers(folder: string, answers: ReadonlyMap<string, string>): void {
  if (answers.size === 0) return
  const { file, document } = channelsFile(folder)
  for (const [key, said] of answers) document.set(key, said)
  writeWhole(file, document.toString())
}

function partialsIn({ report }: Intake, folder: string): Map<string, string> {
  return new Map(
    foldersIn(path.join(folder, 'partials'), 'partial.json').map((dir) => {
      const key = path.basename(dir)
      const value = resolved(jsonObjectIn(path.join(dir, 'partial.json')), dir)
      const members = new Members(value, { report, kind: 'file', id: `partials/${key}` })
      const content = members.take('content')
      members.renewed(members.rest(), 'there are no partials; their content is inlined')
      return [key, typeof content === 'string' ? content : JSON.stringify(content ?? '')]
    }),
  )
}

function takeLayout(intake: Intake, dir: string, partials: ReadonlyMap<string, string>): void {
  const id = path.basename(dir)
  const value = resolved(jsonObjectIn(path.join(dir, 'layout.json')), dir)
  const { report } = intake
  const members = new Members(value, { report, kind: 'layout', id })
  members.renewed(['$schema', '__readonly', 'key', 'created_at', 'updated_at', 'sha', 'environment'])
  const html = members.text('html_layout') ?? members.text('html_content') ?? '{{content}}'
  const body = toLiquid(html, { report, kind: 'layout', id, path: 'html_layout', partials, digestId: undefined })
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

function takeUser(intake: Intake, { value, place }: Line, channels: ReadonlyMap<string, KnownChannel>): void {
  const { report } = intake
  const subscriberId = takeId(value, ['id'], { report, kind: 'subscribers', place })
  if (subscriberId === undefined) return
  const members = new Members(value, { report, kind: 'subscribers', id: subscriberId })
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
  const channelData = members.members('channel_data')
  const others = Object.fromEntries(members.rest().map((key) => [key, members.take(key)]))
  const data = { ...(name === undefined ? {} : { name }), ...others }
  const isTaken = intake.add('subscribers', {
    subscriberId,
    ...filled(fields),
    ...(Object.keys(data).length > 0 ? { data } : {}),
  })
  if (isTaken) takeTokens(intake, channelData, channels, fields.updatedAt)
}

/** Device tokens, also with what is known of each device. */
function takeTokens(
  intake: Intake,
  data: Members,
  channels: ReadonlyMap<string, KnownChannel>,
  updatedAt: string | undefined,
): void {
  for (const key of data.rest()) {
    const providerId = channels.get(key)?.providerId
    const whole = data.members(key)
    const inner = whole.has('data') ? whole.members('data') : whole
    const devices = inner.each('devices').flatMap((device) => {
      const token = device.text('token')
      device.end('only the token of a device is taken')
      return token ?? []
    })
    const deviceTokens = [...new Set([...inner.list('tokens').map(String), ...devices])]
    if (providerId && deviceTokens.length > 0)
      intake.add('credentials', {
        ...{ subscriberId: data.id, providerId, deviceTokens },
        ...(updatedAt ? { updatedAt } : {}),
      })
    else
      intake.report.unmapped({
        ...{ kind: 'credentials', id: data.id, path: `channel_data.${key}`, code: 'channel' },
        why:
          deviceTokens.length > 0
            ? `say the provider of "${key}" in channels.yaml, such as "push apns"`
            : 'only device tokens are taken; connect a chat anew',
      })
    for (const members of [inner, whole]) members.end('only device tokens are taken')
  }
}

/** The workflows of each category. */
function categoriesIn(workflows: string[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const dir of workflows) {
    const { categories } = jsonObjectIn(path.join(dir, 'workflow.json'))
    for (const category of Array.isArray(categories) ? categories.map(String) : [])
      found.set(category, [...(found.get(category) ?? []), path.basename(dir)])
  }
  return found
}

const allChannels: ChannelType[] = ['email', 'sms', 'push', 'chat', 'in_app']

function takePreferences(intake: Intake, { value, place }: Line, categories: ReadonlyMap<string, string[]>): void {
  const { report } = intake
  const subscriberId = takeId(value, ['user_id', 'recipient'], { report, kind: 'preferences', place })
  if (subscriberId === undefined) return
  const members = new Members(value, { report, kind: 'preferences', id: subscriberId })
  members.renewed(['__typename', 'user_id', 'recipient', '__persistence_strategy__'])
  const set = members.text('id') ?? 'default'
  if (set !== 'default') {
    members.lists('id', 'preference_set', `"${set}" is for a tenant or another case; only the default set is taken`)
    return
  }
  const add = (channels: Json, workflowId?: string) => {
    if (Object.keys(channels).length > 0)
      intake.add('preferences', { subscriberId, ...(workflowId ? { workflowId } : {}), channels })
  }
  add(choicesIn(members, 'channel_types'))
  const workflows = members.members('workflows')
  const own = new Set(workflows.rest())
  const chosen = members.members('categories')
  for (const category of chosen.rest()) {
    const named = categories.get(category)
    if (!named) chosen.unmapped(category, 'no_equivalent', 'no workflow in the folder has this category')
    else {
      const channels = settingIn(chosen, category)
      // What is said of a workflow itself counts more.
      for (const workflowId of named) if (!own.has(workflowId)) add(channels, workflowId)
    }
  }
  for (const workflowId of workflows.rest()) add(settingIn(workflows, workflowId), workflowId)
  if (members.flag('commercial_subscribed') === false)
    members.lists('commercial_subscribed', 'no_equivalent', 'put the person on the suppression list')
  members.end()
}

/** True or false for each channel. */
function choicesIn(of: Members, name: string): Json {
  const given = of.members(name)
  const channels: Json = {}
  for (const key of given.rest()) {
    const type = channelTypes[key]
    const on = given.take(key)
    if (!type) given.unmapped(key, 'no_equivalent', 'there is no such channel')
    else if (typeof on === 'boolean') channels[type] = on
    else given.unmapped(key, 'no_equivalent', 'a preference has no conditions')
  }
  return channels
}

/** Of a workflow or category: for all channels, or each. */
function settingIn(of: Members, name: string): Json {
  const setting = of.take(name)
  if (typeof setting === 'boolean') return Object.fromEntries(allChannels.map((channel) => [channel, setting]))
  const members = of.members(name)
  const channels = choicesIn(members, 'channel_types')
  members.unmapped('conditions', 'no_equivalent', 'a preference has no conditions')
  members.end()
  return channels
}
