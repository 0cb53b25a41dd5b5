// Amazon Pinpoint: endpoints as JSON lines, also compressed, and message templates.
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip, gunzipSync } from 'node:zlib'
import type { ImportSource } from '../commands/import.ts'
import { Failure } from '../failure.ts'
import type { Definition } from '../folder/source.ts'
import { identifierOf, whyRenamed } from './identifier.ts'
import type { Intake } from './intake.ts'
import { filled, isJson, type Json, Members } from './members.ts'
import { toLiquid } from './mustache.ts'
import { People } from './people.ts'

export function pinpoint(files: string[]): ImportSource {
  for (const file of files) if (!existsSync(file)) throw new Failure('usage', 'no_files', `There is no ${file}`)
  return {
    name: 'pinpoint',
    identity: files.map((file) => path.resolve(file)),
    async read(intake) {
      intake.listsIssues = true
      const people = new People()
      for (const file of files) await readFile(intake, people, file)
      people.addTo(intake)
    },
  }
}

async function readFile(intake: Intake, people: People, file: string): Promise<void> {
  const isPacked = file.endsWith('.gz')
  const input = isPacked ? createReadStream(file).pipe(createGunzip()) : createReadStream(file)
  let place = 0
  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    place += 1
    if (line.trim() === '') continue
    const value = parsed(line)
    if (isJson(value) && 'ChannelType' in value) {
      takeEndpoint(intake, people, value)
      continue
    }
    if (isJson(value) && templateIn(value)) {
      takeTemplate(intake, value)
      continue
    }
    // A template is one value over several lines.
    const whole =
      place === 1
        ? parsed(isPacked ? gunzipSync(readFileSync(file)).toString() : readFileSync(file, 'utf8'))
        : undefined
    const values = Array.isArray(whole) ? whole.filter(isJson) : isJson(whole) ? [whole] : []
    if (values.length > 0 && values.every((each) => templateIn(each) || 'ChannelType' in each)) {
      for (const each of values) {
        if ('ChannelType' in each) takeEndpoint(intake, people, each)
        else takeTemplate(intake, each)
      }
      return
    }
    intake.report.unmapped({
      ...{ kind: 'file', id: path.basename(file), path: `line ${place}`, code: 'not_readable' },
      why: 'it is neither an endpoint nor a template',
    })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const pushProviders: Record<string, string | undefined> = { GCM: 'fcm', APNS: 'apns' }
const channels: Record<string, string | undefined> = {
  ...{ EMAIL: 'email', SMS: 'sms', GCM: 'push', APNS: 'push', APNS_SANDBOX: 'push', APNS_VOIP: 'push' },
  ...{ APNS_VOIP_SANDBOX: 'push', ADM: 'push', BAIDU: 'push', VOICE: 'sms', IN_APP: 'in_app' },
}

function takeEndpoint(intake: Intake, people: People, value: Json): void {
  const { report } = intake
  const user = isJson(value.User) ? value.User : {}
  const id = String(user.UserId ?? value.Id)
  const members = new Members(value, { report, kind: 'subscribers', id })
  members.renewed(['ApplicationId', 'RequestId', 'CohortId'])
  if (user.UserId !== undefined && value.Id !== undefined)
    report.renewed('subscribers', 'Id', 'endpoints of one user are one subscriber, under the id of the user')
  members.take('Id')
  const type = members.text('ChannelType') ?? ''
  const address = members.text('Address')
  people.note(id, members.text('CreationDate'), members.text('EffectiveDate'))
  const person = people.of(id)
  const list = (at: string, code: string, why: string) =>
    report.unmapped({ kind: 'subscribers', id, path: at, code, why })
  const isInactive = members.take('EndpointStatus') === 'INACTIVE'
  if (isInactive) list(`Address (${type})`, 'inactive', 'an INACTIVE address is not taken')
  else if (address) takeAddress(people, id, type, address, list)
  const optOut = members.text('OptOut')
  const channel = channels[type]
  if (optOut === 'ALL' && channel) person.off.add(channel)
  const demographic = members.members('Demographic')
  const [locale, timezone] = [demographic.text('Locale'), demographic.text('Timezone')]
  if (locale) person.fields.locale = locale
  if (timezone) person.fields.timezone = timezone
  demographic.end('only locale and time zone are taken')
  takeAttributes(intake, person.data, id, members.take('Attributes'), 'Attributes')
  const metrics = members.take('Metrics')
  if (isJson(metrics)) Object.assign(person.data, metrics)
  const of = members.members('User')
  of.take('UserId')
  takeAttributes(intake, person.data, id, of.take('UserAttributes'), 'User.UserAttributes')
  of.end()
  members.unmapped('Location', 'no_equivalent', 'put it into the data')
  members.end()
}

function takeAddress(
  people: People,
  id: string,
  type: string,
  address: string,
  list: (at: string, code: string, why: string) => void,
): void {
  const field = type === 'EMAIL' ? 'email' : type === 'SMS' || type === 'VOICE' ? 'phone' : undefined
  if (field) {
    if (people.replaceAddress(id, field, address))
      list(`Address (${type})`, 'second_address', 'a subscriber has one; the last in the files is taken')
    return
  }
  const providerId = pushProviders[type]
  if (providerId) people.addToken(id, providerId, address)
  else list(`Address (${type})`, 'no_equivalent', `addresses of ${type} are not taken`)
}

/** Each is a list of texts; a list of one is its text, so that templates read the same. */
function takeAttributes({ report }: Intake, data: Json, id: string, given: unknown, at: string): void {
  for (const [name, values] of Object.entries(isJson(given) ? given : {})) {
    const value = Array.isArray(values) && values.length === 1 ? values[0] : values
    if (value !== values)
      report.changed({
        kind: 'subscribers',
        id,
        path: `${at}.*`,
        from: [value],
        to: value,
        why: 'a list of one becomes its value',
      })
    data[name] = value
  }
}

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
  const defaults = parsed(String(members.take('DefaultSubstitutions') ?? '{}'))
  const text = (given: unknown, at: string): string | undefined => {
    if (typeof given !== 'string' || given === '') return undefined
    const { liquid, unknown } = toLiquid(given, {
      pathOf: (name, loop) =>
        pathOf(name, loop, type, (why) => report.unmapped({ kind: 'workflow', id, path: at, code: 'variable', why })),
      defaultOf: (name) => (isJson(defaults) && defaults[name] !== undefined ? String(defaults[name]) : undefined),
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
  const [name, description] = [said, members.text('TemplateDescription')]
  const tags = members.take('tags') ?? members.take('Tags')
  members.take('Tags')
  members.end()
  if (!step) {
    report.unmapped({
      kind: 'workflow',
      id,
      path: '',
      code: 'no_equivalent',
      why: `a template of type ${type} has no equivalent`,
    })
    return
  }
  intake.define('workflow', id, {
    ...{ workflowId: id, name: name.slice(0, 128), active: true, validatePayload: false },
    ...filled({ description: description?.slice(0, 256) }),
    ...(isJson(tags) && Object.keys(tags).length > 0
      ? { tags: Object.entries(tags).map(([key, tagged]) => `${key}:${String(tagged)}`.slice(0, 64)) }
      : {}),
    steps: [step],
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

function stepOf(
  type: string,
  members: Members,
  text: (given: unknown, at: string) => string | undefined,
): Definition | undefined {
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
    case 'PUSH': {
      const usual = members.members('Default')
      const values = filled({
        subject: text(usual.take('Title'), 'Default.Title'),
        body: text(usual.take('Body'), 'Default.Body'),
      })
      usual.end('push messages have a subject and a body')
      for (const name of ['APNS', 'GCM', 'ADM', 'Baidu'])
        members.unmapped(name, 'no_equivalent', 'all providers get the same text')
      return { stepId: 'push', name: 'Push', type: 'push', controlValues: values }
    }
    case 'INAPP': {
      const [first] = members.list('Content').filter(isJson)
      const config = (name: string) => (isJson(first?.[name]) ? (first[name] as Json) : {})
      members.unmapped('Layout', 'no_equivalent', 'the inbox lays out its messages')
      members.unmapped('CustomConfig', 'no_equivalent', 'use the data of the step')
      const values = filled({
        subject: text(config('HeaderConfig').Header, 'Content.HeaderConfig.Header'),
        body: text(config('BodyConfig').Body, 'Content.BodyConfig.Body'),
      })
      return { stepId: 'in-app', name: 'In-app', type: 'in_app', controlValues: values }
    }
    default:
      return undefined
  }
}
