// Courier: a folder of what its API answers: notifications/*.json, brands/*.json, profiles.jsonl, preferences.jsonl.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { ImportSource } from '../commands/import.ts'
import { Failure } from '../failure.ts'
import type { Definition } from '../folder/source.ts'
import { identifierOf, whyRenamed } from './identifier.ts'
import type { Intake } from './intake.ts'
import { linesOf } from './json-lines.ts'
import { filled, isJson, type Json, Members } from './members.ts'

type Channel = 'email' | 'sms' | 'push' | 'chat' | 'in_app'
const channelNames: Record<string, Channel | undefined> = {
  ...{ email: 'email', sms: 'sms', push: 'push', direct_message: 'chat', chat: 'chat', slack: 'chat', msteams: 'chat' },
  ...{ inbox: 'in_app', in_app: 'in_app', inapp: 'in_app', banner: 'in_app', web: 'in_app' },
}
const allChannels: Channel[] = ['email', 'sms', 'push', 'chat', 'in_app']

export function courier(folder: string): ImportSource {
  if (!existsSync(folder)) throw new Failure('usage', 'no_files', `There is no ${folder}`)
  return {
    name: 'courier',
    identity: [path.resolve(folder)],
    async read(intake) {
      intake.listsIssues = true
      const brands = new Set<string>()
      for (const brand of documentsIn(folder, 'brands')) brands.add(takeBrand(intake, brand))
      const topics = new Map<string, string[]>()
      for (const template of documentsIn(folder, 'notifications')) takeTemplate(intake, template, { brands, topics })
      for (const automation of documentsIn(folder, 'automations'))
        intake.report.unmapped({
          ...{ kind: 'automation', id: String(automation.id ?? automation.name ?? ''), path: '', code: 'automation' },
          why: 'automations do not come along; write a workflow with the same steps',
        })
      for await (const profile of linesOf(path.join(folder, 'profiles.jsonl'), intake)) takeProfile(intake, profile)
      for await (const each of linesOf(path.join(folder, 'preferences.jsonl'), intake))
        takePreferences(intake, each, topics)
      listOthers(intake, folder)
    },
  }
}

/** Each file has one document, or a list under `results`. */
function documentsIn(folder: string, name: string): Json[] {
  const place = path.join(folder, name)
  if (!existsSync(place)) return []
  return readdirSync(place)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .flatMap((file) => {
      const value = JSON.parse(readFileSync(path.join(place, file), 'utf8')) as unknown
      if (isJson(value) && Array.isArray(value.results)) return value.results.filter(isJson)
      return Array.isArray(value) ? value.filter(isJson) : isJson(value) ? [value] : []
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

const ofProfiles: Record<string, string> = {
  ...{ email: 'email', phone_number: 'phone', given_name: 'firstName', family_name: 'lastName', picture: 'avatar' },
  ...{ locale: 'locale', zoneinfo: 'timezone', user_id: 'subscriberId', id: 'subscriberId' },
}

/** `{name}` in the designer, `{{name}}` in Elemental; the data stands at the root, the recipient under `profile`. */
export function toLiquid(text: string): string {
  return text.replaceAll(
    /\{\{\s*([\w.$-]+)\s*\}\}|\{([A-Za-z_][\w.-]*)\}/g,
    (_, double: string | undefined, single: string | undefined) => {
      const name = (double ?? single ?? '').replace(/^\$\./, '')
      if (name === 'content') return '{{content}}'
      const own = name.match(/^profile\.(.+)$/)?.[1]
      if (own) return `{{subscriber.${ofProfiles[own] ?? `data.${own}`}}}`
      return `{{payload.${name.replace(/^data\./, '')}}}`
    },
  )
}

function takeBrand(intake: Intake, brand: Json): string {
  const said = String(brand.id)
  const id = identifierOf(said)
  const { report } = intake
  const members = new Members(brand, { report, kind: 'layout', id })
  members.renewed(['id', 'created', 'updated', 'published', 'version'])
  if (id !== said)
    report.changed({
      kind: 'layout',
      id,
      path: 'layoutId',
      from: said,
      to: id,
      why: whyRenamed,
    })
  const settings = members.members('settings')
  const email = settings.members('email')
  const header = email.members('header')
  const logo = header.take('logo')
  header.end('only the logo is taken')
  const footer = email.members('footer')
  const content = footer.text('markdown') ?? footer.text('content')
  footer.take('content')
  footer.end('only the text is taken')
  email.unmapped('templateOverride', 'no_equivalent', 'write the layout by hand')
  email.end()
  settings.unmapped('colors', 'no_equivalent', 'put them into the styles of the layout')
  settings.end()
  members.unmapped('snippets', 'no_equivalent', 'write them where they are used')
  const image = isJson(logo) && typeof logo.image === 'string' ? logo.image : undefined
  const href = isJson(logo) && typeof logo.href === 'string' ? logo.href : undefined
  const picture = image ? `<img src="${image}" alt="">` : ''
  const body = [
    ...(picture ? [`<p>${href ? `<a href="${href}">${picture}</a>` : picture}</p>`] : []),
    '{{content}}',
    ...(content ? [`<p>${toLiquid(content)}</p>`] : []),
  ].join('\n')
  intake.define('layout', id, {
    ...{ layoutId: id, name: members.text('name') ?? id, controlValues: { email: { body, editorType: 'html' } } },
  })
  members.end()
  return id
}

interface Around {
  brands: ReadonlySet<string>
  /** Workflows by the topic that people subscribe to. */
  topics: Map<string, string[]>
}

function takeTemplate(intake: Intake, value: Json, { brands, topics }: Around): void {
  const { report } = intake
  const said = String(value.id)
  const id = identifierOf(said)
  if (id !== said)
    report.changed({
      kind: 'workflow',
      id,
      path: 'workflowId',
      from: said,
      to: id,
      why: whyRenamed,
    })
  const members = new Members(value, { report, kind: 'workflow', id })
  members.renewed(['id', 'created_at', 'updated_at', 'published', 'version', 'state', 'created', 'updated'])
  members.unmapped('routing', 'no_equivalent', 'each channel became a step; all of them run')
  members.unmapped('event_ids', 'no_equivalent', 'trigger the workflow by its id')
  const brand = members.take('brand')
  const brandId = identifierOf(String(isJson(brand) ? brand.id : (brand ?? members.take('brand_id') ?? '')))
  members.take('brand_id')
  const topic = members.take('topic') ?? members.take('subscription')
  members.take('subscription')
  const topicId = isJson(topic) ? (topic.id ?? topic.topic_id) : topic
  if (typeof topicId === 'string') topics.set(topicId, [...(topics.get(topicId) ?? []), id])
  const tags = members.take('tags')
  const names = (isJson(tags) && Array.isArray(tags.data) ? tags.data : Array.isArray(tags) ? tags : []).map((tag) =>
    isJson(tag) ? String(tag.name ?? tag.id) : String(tag),
  )
  const given = members.take('content')
  const content = isJson(given)
    ? given
    : {
        ...filled({ elements: members.take('elements') }),
        ...filled({ blocks: members.take('blocks'), channels: members.take('channels') }),
      }
  const list = (at: string, why: string) =>
    report.unmapped({ kind: 'workflow', id, path: at, code: 'no_equivalent', why })
  const steps = Array.isArray(content.elements) ? elementalSteps(content, list) : designerSteps(content, list)
  intake.define('workflow', id, {
    ...{ workflowId: id, name: (members.text('title') ?? members.text('name') ?? id).slice(0, 128) },
    ...{ active: true, validatePayload: false },
    ...(names.length > 0 ? { tags: names.slice(0, 16) } : {}),
    steps: steps.map((step) =>
      step.type === 'email'
        ? {
            ...step,
            controlValues: { ...(step.controlValues as Json), layoutId: brands.has(brandId) ? brandId : null },
          }
        : step,
    ),
  })
  for (const name of ['name', 'title']) members.take(name)
  members.end()
}

type List = (at: string, why: string) => void

function stepFor(
  channel: Channel,
  { title, html, text }: { title: string | undefined; html: string; text: string },
): Definition {
  const name = { email: 'Email', sms: 'SMS', push: 'Push', chat: 'Chat', in_app: 'In-app' }[channel]
  const stepId = channel.replace('_', '-')
  const values =
    channel === 'email'
      ? filled({ subject: title, editorType: 'html', body: html })
      : channel === 'push' || channel === 'in_app'
        ? filled({ subject: title, body: text })
        : filled({ body: text })
  return { stepId, name, type: channel, controlValues: values }
}

/** Elemental: a list of elements, for all channels or inside one of them. */
function elementalSteps({ elements }: Json, list: List): Definition[] {
  const all = (Array.isArray(elements) ? elements : []).filter(isJson)
  const own = all.filter(({ type }) => type === 'channel')
  const common = all.filter(({ type }) => type !== 'channel')
  const groups =
    own.length > 0
      ? own.map((each) => ({ channel: String(each.channel), elements: elementsOf(each) }))
      : [{ channel: 'email', elements: [] as Json[] }]
  const seen = new Set<Channel>()
  return groups.flatMap(({ channel, elements: inner }) => {
    const type = channelNames[channel]
    if (!type || seen.has(type)) {
      list(`elements.${channel}`, type ? 'a workflow has one step for this channel' : 'there is no such channel')
      return []
    }
    seen.add(type)
    const shown = [...common, ...inner]
    const meta = shown.findLast((each) => each.type === 'meta')
    const parts = shown.filter((each) => each.type !== 'meta').map((each) => elementOf(each, list))
    return [
      stepFor(type, {
        title: typeof meta?.title === 'string' ? toLiquid(meta.title) : undefined,
        html: parts.map(({ html }) => html).join('\n'),
        text: parts
          .map(({ text }) => text)
          .filter((part) => part !== '')
          .join('\n'),
      }),
    ]
  })
}

const elementsOf = (of: Json): Json[] => (Array.isArray(of.elements) ? of.elements.filter(isJson) : [])

function elementOf(element: Json, list: List): { html: string; text: string } {
  const content = toLiquid(String(element.content ?? ''))
  for (const name of ['if', 'loop', 'ref', 'channels'])
    if (element[name] !== undefined && element[name] !== '')
      list(`elements.${String(element.type)}.${name}`, 'a part of a text has no condition of its own')
  switch (element.type) {
    case 'text':
      return { html: element.text_style === 'h1' ? `<h1>${content}</h1>` : `<p>${content}</p>`, text: content }
    case 'action': {
      const href = toLiquid(String(element.href ?? ''))
      return { html: `<p><a href="${href}">${content}</a></p>`, text: `${content}: ${href}` }
    }
    case 'image':
      return {
        html: `<p><img src="${toLiquid(String(element.src ?? ''))}" alt="${String(element.alt_text ?? '')}"></p>`,
        text: '',
      }
    case 'divider':
      return { html: '<hr>', text: '' }
    case 'quote':
      return { html: `<blockquote>${content}</blockquote>`, text: content }
    case 'html':
      return { html: content, text: '' }
    case 'group': {
      const inner = elementsOf(element).map((each) => elementOf(each, list))
      return { html: inner.map(({ html }) => html).join('\n'), text: inner.map(({ text }) => text).join('\n') }
    }
    default:
      list(`elements.${String(element.type)}`, 'there is no such element')
      return { html: '', text: '' }
  }
}

/** The designer: blocks, and channels that use them, with a subject or title. */
function designerSteps({ blocks, channels }: Json, list: List): Definition[] {
  const all = (Array.isArray(blocks) ? blocks : []).filter(isJson)
  const seen = new Set<Channel>()
  return (Array.isArray(channels) ? channels : []).filter(isJson).flatMap((channel) => {
    const name = String(channel.type ?? channel.id)
    const type = channelNames[name]
    if (!type || seen.has(type)) {
      list(`channels.${name}`, type ? 'a workflow has one step for this channel' : 'there is no such channel')
      return []
    }
    seen.add(type)
    const content = isJson(channel.content) ? channel.content : {}
    const title = content.subject ?? content.title
    const used = Array.isArray(channel.block_ids)
      ? all.filter((block) => (channel.block_ids as unknown[]).includes(block.id))
      : all
    const parts = used.map((block) => blockOf(block, list))
    return [
      stepFor(type, {
        title: typeof title === 'string' ? toLiquid(title) : undefined,
        html: parts.map(({ html }) => html).join('\n'),
        text: parts
          .map(({ text }) => text)
          .filter((part) => part !== '')
          .join('\n'),
      }),
    ]
  })
}

function blockOf(block: Json, list: List): { html: string; text: string } {
  const content = toLiquid(typeof block.content === 'string' ? block.content : '')
  if (block.content !== undefined && typeof block.content !== 'string')
    list(`blocks.${String(block.id)}.content`, 'it has parts')
  switch (block.type) {
    case 'text':
    case 'markdown':
    case 'template':
      return { html: `<p>${content}</p>`, text: content }
    case 'action': {
      const href = toLiquid(String(block.href ?? ''))
      return { html: `<p><a href="${href}">${content}</a></p>`, text: content }
    }
    case 'line':
    case 'divider':
      return { html: '<hr>', text: '' }
    default:
      list(`blocks.${String(block.type)}`, 'there is no such block')
      return { html: '', text: '' }
  }
}

function takeProfile(intake: Intake, value: Json): void {
  const { report } = intake
  const subscriberId = String(value.id ?? value.recipient_id ?? value.user_id)
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
  if (name !== undefined && fields.firstName === undefined) {
    const [first = '', ...rest] = name.split(' ')
    fields.firstName = first
    if (rest.length > 0) fields.lastName = rest.join(' ')
    members.changed('name', { to: 'firstName and lastName', why: 'a subscriber has two names' })
  }
  const tokens: Array<[string, unknown]> = [
    ['fcm', members.take('firebaseToken')],
    [
      'apns',
      isJson(members.take('apn'))
        ? (((value.profile as Json).apn as Json).token ?? ((value.profile as Json).apn as Json).tokens)
        : undefined,
    ],
    [
      'expo',
      isJson(members.take('expo'))
        ? (((value.profile as Json).expo as Json).token ?? ((value.profile as Json).expo as Json).tokens)
        : undefined,
    ],
  ]
  for (const provider of ['slack', 'ms_teams', 'discord', 'airship', 'webhook', 'target_arn', 'address'])
    members.unmapped(provider, 'no_equivalent', 'connect the chat anew, or put it into the data')
  const data = Object.fromEntries(members.rest().map((key) => [key, members.take(key)]))
  intake.add('subscribers', { subscriberId, ...fields, ...(Object.keys(data).length > 0 ? { data } : {}) })
  for (const [providerId, given] of tokens) {
    const deviceTokens = (Array.isArray(given) ? given : given ? [given] : []).map(String)
    if (deviceTokens.length > 0) intake.add('credentials', { subscriberId, providerId, deviceTokens })
  }
}

function takePreferences(intake: Intake, value: Json, topics: ReadonlyMap<string, string[]>): void {
  const { report } = intake
  const subscriberId = String(value.user_id ?? value.id)
  for (const item of (Array.isArray(value.items) ? value.items : []).filter(isJson)) {
    const topicId = String(item.topic_id)
    const members = new Members(item, { report, kind: 'preferences', id: subscriberId, path: topicId })
    members.renewed(['topic_id', 'topic_name', 'default_status'])
    const status = members.take('status')
    const isCustom = members.take('has_custom_routing') === true
    const wanted = members.list('custom_routing').map((name) => channelNames[String(name)])
    members.end()
    const workflows = topics.get(topicId)
    if (!workflows) {
      report.unmapped({
        ...{ kind: 'preferences', id: subscriberId, path: topicId, code: 'topic' },
        why: 'no template in the folder has this topic',
      })
      continue
    }
    const channels = Object.fromEntries(
      allChannels.map((name) => [name, status === 'OPTED_OUT' ? false : !isCustom || wanted.includes(name)]),
    )
    for (const workflowId of workflows) intake.add('preferences', { subscriberId, workflowId, channels })
  }
}
