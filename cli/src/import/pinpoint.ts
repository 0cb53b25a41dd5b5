// Amazon Pinpoint: endpoints as JSON lines, also compressed, and message templates.
import path from 'node:path'
import type { ImportSource } from '../commands/import.ts'
import type { Definition } from '../folder/source.ts'
import { identifierOf, takeId, whyRenamed } from './identifier.ts'
import type { Intake } from './intake.ts'
import { parsed } from './json-lines.ts'
import { filled, isJson, type Json, Members } from './members.ts'
import { toLiquid } from './mustache.ts'
import { People } from './people.ts'
import { mustBeFile, textLinesOf, wholeTextOf } from './source-file.ts'

export function pinpoint(files: string[]): ImportSource {
  for (const file of files) mustBeFile(file)
  return {
    name: 'pinpoint',
    identity: files.map((file) => path.resolve(file)),
    files,
    async read(intake) {
      intake.listsIssues = true
      const people = new People(intake.report)
      for (const file of files) await readFile(intake, people, file)
      people.addTo(intake)
    },
  }
}

async function readFile(intake: Intake, people: People, file: string): Promise<void> {
  const name = path.basename(file)
  for await (const { line, place } of textLinesOf(file)) {
    if (line.trim() === '') continue
    const value = parsed(line)
    if (isJson(value) && 'ChannelType' in value) {
      takeEndpoint(intake, people, value, `${name} line ${place}`)
      continue
    }
    if (isJson(value) && templateIn(value)) {
      takeTemplate(intake, value)
      continue
    }
    // A template is one value over several lines.
    const whole = place === 1 ? parsed(wholeTextOf(file)) : undefined
    const values = Array.isArray(whole) ? whole : [whole]
    const isKnown = (each: unknown): each is Json => isJson(each) && Boolean(templateIn(each) || 'ChannelType' in each)
    if (values.length > 0 && values.every(isKnown)) {
      for (const [index, each] of values.entries()) {
        if ('ChannelType' in each) takeEndpoint(intake, people, each, `${name} item ${index + 1}`)
        else takeTemplate(intake, each)
      }
      return
    }
    intake.report.unmapped({
      ...{ kind: 'file', id: name, path: `line ${place}`, code: 'not_readable' },
      why: 'it is neither an endpoint nor a template',
    })
  }
}

const pushProviders: Record<string, string | undefined> = { GCM: 'fcm', APNS: 'apns' }
const channels: Record<string, string | undefined> = {
  ...{ EMAIL: 'email', SMS: 'sms', GCM: 'push', APNS: 'push', APNS_SANDBOX: 'push', APNS_VOIP: 'push' },
  ...{ APNS_VOIP_SANDBOX: 'push', ADM: 'push', BAIDU: 'push', VOICE: 'sms', IN_APP: 'in_app' },
}

/** @param place where it stands, for the report */
function takeEndpoint(intake: Intake, people: People, value: Json, place: string): void {
  const { report } = intake
  const user = isJson(value.User) ? value.User : {}
  const given = { Id: value.Id, 'User.UserId': user.UserId }
  const id = takeId(given, ['User.UserId', 'Id'], { report, kind: 'subscribers', place })
  if (id === undefined) return
  const members = new Members(value, { report, kind: 'subscribers', id })
  members.renewed(['ApplicationId', 'RequestId', 'CohortId'])
  if (user.UserId !== undefined && value.Id !== undefined)
    report.renewed('subscribers', 'Id', 'endpoints of one user are one subscriber, under the id of the user')
  members.take('Id')
  const type = members.text('ChannelType') ?? ''
  const address = members.text('Address')
  people.note(id, members.text('CreationDate'), members.text('EffectiveDate'))
  const status = members.text('EndpointStatus')
  if (status === 'INACTIVE') members.lists(`Address (${type})`, 'inactive', 'an INACTIVE address is not taken')
  else if (address) takeAddress(people, members, type, address)
  const optOut = members.text('OptOut')
  const channel = channels[type]
  if (optOut === 'ALL' && channel) people.of(id).off.add(channel)
  else if (optOut !== undefined && optOut !== 'NONE')
    members.lists('OptOut', 'no_equivalent', `"${optOut}" of ${type} has no equivalent`)
  const demographic = members.members('Demographic')
  const [locale, timezone] = [demographic.text('Locale'), demographic.text('Timezone')]
  if (locale) people.set(id, 'locale', locale, 'Demographic.Locale')
  if (timezone) people.set(id, 'timezone', timezone, 'Demographic.Timezone')
  demographic.end('only locale and time zone are taken')
  takeAttributes(intake, people, members.members('Attributes'), 'Attributes')
  takeAttributes(intake, people, members.members('Metrics'), 'Metrics')
  const of = members.members('User')
  of.take('UserId')
  takeAttributes(intake, people, of.members('UserAttributes'), 'User.UserAttributes')
  of.end()
  members.unmapped('Location', 'no_equivalent', 'put it into the data')
  members.end()
}

function takeAddress(people: People, members: Members, type: string, address: string): void {
  const at = `Address (${type})`
  const field = type === 'EMAIL' ? 'email' : type === 'SMS' || type === 'VOICE' ? 'phone' : undefined
  const providerId = pushProviders[type]
  if (field) people.set(members.id, field, address, at)
  else if (providerId) people.addToken(members.id, providerId, address)
  else members.lists(at, 'no_equivalent', `addresses of ${type} are not taken`)
}

/** Each is a list of texts, or a number; a list of one is its text, so that templates read the same. */
function takeAttributes({ report }: Intake, people: People, given: Members, at: string): void {
  const { id } = given
  for (const name of given.rest()) {
    const values = given.take(name)
    const value: unknown = Array.isArray(values) && values.length === 1 ? values[0] : values
    if (value !== values)
      report.changed({
        ...{ kind: 'subscribers', id, path: `${at}.*`, from: [value], to: value },
        why: 'a list of one becomes its value',
      })
    people.setData(id, name, value, `${at}.${name}`)
  }
}

const longestDescription = 256
const longestTag = 64

const wrappers = {
  EmailTemplateResponse: 'EMAIL',
  SMSTemplateResponse: 'SMS',
  PushNotificationTemplateResponse: 'PUSH',
  InAppTemplateResponse: 'INAPP',
  VoiceTemplateResponse: 'VOICE',
} as const

/** A template, with or without the wrapper of the API's answer. */
function templateIn(value: Json): { type: string; template: Json } | undefined {
  for (const [name, type] of Object.entries(wrappers))
    if (isJson(value[name])) return { type, template: value[name] as Json }
  if (typeof value.TemplateType === 'string') return { type: value.TemplateType, template: value }
  if (typeof value.TemplateName !== 'string') return undefined
  return {
    type: 'HtmlPart' in value || 'Subject' in value ? 'EMAIL' : 'Body' in value ? 'SMS' : 'PUSH',
    template: value,
  }
}

function takeTemplate(intake: Intake, value: Json): void {
  const { type, template } = templateIn(value) ?? { type: '', template: value }
  const { report } = intake
  const said = String(template.TemplateName)
  const id = identifierOf(said)
  for (const name of template === value ? [] : Object.keys(value))
    if (!(name in wrappers)) report.renewed('workflow', name, 'it is of the answer, not of the template')
  if (id !== said)
    report.changed({
      kind: 'workflow',
      id,
      path: 'workflowId',
      from: said,
      to: id,
      why: whyRenamed,
    })
  const members = new Members(template, { report, kind: 'workflow', id })
  members.renewed(['Arn', 'CreationDate', 'LastModifiedDate', 'Version', 'TemplateType', 'TemplateName'])
  members.unmapped('RecommenderId', 'no_equivalent', 'there are no recommendations')
  members.unmapped('Headers', 'no_equivalent', 'set them in the integration')
  const substitutions = members.text('DefaultSubstitutions')
  const defaults = parsed(substitutions ?? '{}')
  if (!isJson(defaults)) members.unmapped('DefaultSubstitutions', 'not_readable', 'it is no JSON object')
  const unused = new Set(Object.keys(isJson(defaults) ? defaults : {}))
  const text = (given: unknown, at: string): string | undefined => {
    if (typeof given !== 'string' || given === '') return undefined
    const { liquid, unknown } = toLiquid(given, {
      pathOf: (name, loop) =>
        pathOf(name, loop, type, (why) => report.unmapped({ kind: 'workflow', id, path: at, code: 'variable', why })),
      defaultOf(name) {
        unused.delete(name)
        return isJson(defaults) && defaults[name] !== undefined ? String(defaults[name]) : undefined
      },
    })
    for (const helper of unknown)
      report.unmapped({
        ...{ kind: 'workflow', id, path: at, code: 'helper' },
        why: `{{${helper}}} has no equivalent; it stays as it is`,
      })
    if (liquid !== given)
      report.changed({ kind: 'workflow', id, path: at, from: given, to: liquid, why: 'other names for the same' })
    return liquid
  }
  const step = stepOf(type, members, text)
  if (!step) {
    const why = `a template of type ${type} has no equivalent`
    report.unmapped({ kind: 'workflow', id, path: '', code: 'no_equivalent', why })
    return
  }
  for (const name of unused) members.lists(`DefaultSubstitutions.${name}`, 'not_used', 'no text uses it')
  const description = members.text('TemplateDescription')
  if (description && description.length > longestDescription)
    members.changed('TemplateDescription', {
      to: description.slice(0, longestDescription),
      why: `a description has ${longestDescription} characters at most`,
    })
  const tags = tagsIn(members)
  members.end()
  intake.define('workflow', id, {
    ...{ workflowId: id, name: said.slice(0, 128), active: true, validatePayload: false },
    ...filled({ description: description?.slice(0, longestDescription) }),
    ...(tags.length > 0 ? { tags } : {}),
    steps: [step],
  })
}

/** `team: growth` becomes `team:growth`. */
function tagsIn(members: Members): string[] {
  const given = members.members(members.has('tags') ? 'tags' : 'Tags')
  return given.rest().map((key) => {
    const whole = `${key}:${String(given.take(key))}`
    const tag = whole.slice(0, longestTag)
    if (tag !== whole) given.changed(key, { to: tag, why: `a tag has ${longestTag} characters at most` })
    return tag
  })
}

function pathOf(name: string, loop: string | undefined, type: string, list: (why: string) => void): string {
  if (name === 'Address') return type === 'SMS' ? 'subscriber.phone' : 'subscriber.email'
  if (name === 'Id' || name === 'User.UserId') return 'subscriber.subscriberId'
  if (name === 'Demographic.Locale') return 'subscriber.locale'
  if (name === 'Demographic.Timezone') return 'subscriber.timezone'
  const attribute = name.match(/^(?:User\.UserAttributes|Attributes|Metrics)\.(.+)$/)?.[1]
  if (attribute) return `subscriber.data.${attribute}`
  if (/^(?:Recommendations|Location|Demographic)\b/.test(name)) list(`{{${name}}} is not known here`)
  return `${loop ?? 'payload'}.${name}`
}

function stepOf(type: string, members: Members, text: Text): Definition | undefined {
  switch (type) {
    case 'EMAIL': {
      const html = text(members.take('HtmlPart'), 'HtmlPart')
      const plain = members.take('TextPart')
      if (html !== undefined) members.unmapped('TextPart', 'no_equivalent', 'the text part is made from the HTML')
      const body = html ?? `<pre>${text(plain, 'TextPart') ?? ''}</pre>`
      const subject = text(members.take('Subject'), 'Subject')
      return {
        stepId: 'email',
        name: 'Email',
        type: 'email',
        controlValues: { ...filled({ subject, editorType: 'html', body }), layoutId: null },
      }
    }
    case 'SMS':
      return {
        stepId: 'sms',
        name: 'SMS',
        type: 'sms',
        controlValues: filled({ body: text(members.take('Body'), 'Body') }),
      }
    case 'PUSH':
      return { stepId: 'push', name: 'Push', type: 'push', controlValues: pushValues(members, text) }
    case 'INAPP':
      return { stepId: 'in-app', name: 'In-app', type: 'in_app', controlValues: inAppValues(members, text) }
    default:
      return undefined
  }
}

type Text = (given: unknown, at: string) => string | undefined

/** The text for all services, else that of the first service that has one. Others are listed. */
function pushValues(members: Members, text: Text): Json {
  const services = ['Default', 'APNS', 'GCM', 'ADM', 'Baidu']
  const used = services.find((name) => members.has(name)) ?? 'Default'
  const own = members.members(used)
  const values = filled({
    subject: text(own.take('Title'), `${used}.Title`),
    body: text(own.take('Body'), `${used}.Body`),
  })
  own.end('push messages have a subject and a body')
  for (const name of services)
    if (name !== used) members.unmapped(name, 'no_equivalent', 'all providers get the same text')
  return values
}

/** Of several pages the first becomes the message. */
function inAppValues(members: Members, text: Text): Json {
  const [first, ...others] = members.each('Content')
  for (const [index] of others.entries())
    members.lists(`Content.${index + 1}`, 'no_equivalent', 'a message has one page')
  members.unmapped('Layout', 'no_equivalent', 'the inbox lays out its messages')
  const custom = members.members('CustomConfig')
  const data = Object.fromEntries(
    custom.rest().map((name) => [name, text(custom.take(name), `CustomConfig.${name}`) ?? '']),
  )
  if (!first) return filled({ data: Object.keys(data).length > 0 ? data : undefined })
  const part = (config: string, name: string) => {
    const own = first.members(config)
    const found = text(own.take(name), `Content.0.${config}.${name}`)
    own.end('the inbox has its own styles')
    return found
  }
  const values = filled({
    subject: part('HeaderConfig', 'Header'),
    body: part('BodyConfig', 'Body'),
    primaryAction: buttonOf(first, 'PrimaryBtn', text),
    secondaryAction: buttonOf(first, 'SecondaryBtn', text),
    data: Object.keys(data).length > 0 ? data : undefined,
  })
  first.unmapped('ImageUrl', 'no_equivalent', 'a message has an avatar, and no picture')
  first.end('the inbox has its own styles')
  return values
}

function buttonOf(page: Members, name: 'PrimaryBtn' | 'SecondaryBtn', text: Text): Json | undefined {
  const button = page.members(name)
  const usual = button.members('DefaultConfig')
  const label = text(usual.take('Text'), `Content.0.${name}.DefaultConfig.Text`)
  const url = text(usual.take('Link'), `Content.0.${name}.DefaultConfig.Link`)
  const action = usual.text('ButtonAction')
  if (action !== undefined && action !== 'LINK' && action !== 'DEEP_LINK')
    usual.lists('ButtonAction', 'no_equivalent', `a button follows a link; it cannot "${action}"`)
  usual.end('the inbox has its own styles')
  button.end('all devices get the same button')
  return label === undefined ? undefined : { label, ...(url === undefined ? {} : { redirect: { url } }) }
}
