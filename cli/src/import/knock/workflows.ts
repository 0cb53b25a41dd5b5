// Workflows of Knock as definitions.
import path from 'node:path'
import type { Definition } from '../../folder/source.ts'
import { identifierOf, whyRenamed } from '../identifier.ts'
import type { Intake } from '../intake.ts'
import { filled, isEmpty, isJson, type Json, Members } from '../members.ts'
import { jsonIn, jsonObjectIn, wholeTextOf } from '../source-file.ts'
import { conditionOf } from './conditions.ts'
import { type ChannelType, channelTypes, contentOf } from './content.ts'
import { type Around, pathOf, toLiquid } from './texts.ts'

export interface KnockFolder {
  intake: Intake
  /** What each channel is, by its key. */
  channels: ReadonlyMap<string, { type: ChannelType }>
  partials: ReadonlyMap<string, string>
}

/** A workflow that said something which cannot be kept is not active at first. */
interface Mapping {
  folder: KnockFolder
  dir: string
  workflowId: string
  isWhole: boolean
}

export function takeWorkflow(folder: KnockFolder, dir: string): void {
  const { report } = folder.intake
  const value = resolved(jsonObjectIn(path.join(dir, 'workflow.json')), dir)
  const id = String((isJson(value.__readonly) ? value.__readonly.key : undefined) ?? path.basename(dir))
  const members = new Members(value, { report, kind: 'workflow', id })
  members.renewed(['$schema', '__readonly', 'key', 'created_at', 'updated_at', 'valid', 'sha', 'environment'])
  const mapping: Mapping = { folder, dir, workflowId: id, isWhole: true }
  const settings = members.members('settings')
  const isCommercial = settings.flag('is_commercial') === true
  const isUnrefusable = settings.flag('override_preferences') === true
  const isCritical = isUnrefusable && !isCommercial
  if (isUnrefusable && isCommercial)
    settings.lists('override_preferences', 'no_equivalent', 'people can refuse what is commercial')
  settings.end()
  members.unmapped('trigger_frequency', 'no_equivalent', 'use a throttle, or a transactionId that repeats')
  const schema = members.take('trigger_data_json_schema')
  if (!isJson(schema)) members.unmapped('trigger_data_json_schema', 'not_object', 'it is no schema')
  const tags = members.list('categories').map(String)
  const steps = stepsOf(mapping, members.objects('steps'), undefined, 'steps')
  const isActive = members.flag('active') !== false
  if (isActive && !mapping.isWhole)
    report.changed({
      ...{ kind: 'workflow', id, path: 'active', from: true, to: false },
      why: 'a condition could not be kept; look at it, then turn the workflow on',
    })
  folder.intake.define('workflow', id, {
    workflowId: id,
    name: members.text('name') ?? id,
    ...filled({ description: members.text('description') }),
    ...(tags.length > 0 ? { tags } : {}),
    active: isActive && mapping.isWhole,
    validatePayload: isJson(schema),
    ...(isJson(schema) ? { payloadSchema: schema } : {}),
    ...(isCommercial ? { messageClass: 'commercial' } : {}),
    ...(isCritical ? { preferences: { workflow: { all: { readOnly: true } } } } : {}),
    steps,
  })
  members.end()
}

/** Members whose name ends in @ are in files beside it. */
export function resolved(value: Json, dir: string): Json {
  const of = (given: unknown): unknown => {
    if (Array.isArray(given)) return given.map(of)
    if (!isJson(given)) return given
    return Object.fromEntries(
      Object.entries(given).map(([name, member]) => {
        if (!name.endsWith('@') || typeof member !== 'string') return [name, of(member)]
        const place = path.resolve(dir, member)
        // Nothing outside of the folder.
        if (path.relative(dir, place).startsWith('..')) return [name, member]
        return [name.slice(0, -1), place.endsWith('.json') ? of(jsonIn(place)) : wholeTextOf(place)]
      }),
    )
  }
  return of(value) as Json
}

function stepsOf(mapping: Mapping, steps: Json[], digestBefore: string | undefined, at: string): Definition[] {
  const { report } = mapping.folder.intake
  let digestId = digestBefore
  return steps.flatMap((step, index) => {
    const type = String(step.type)
    const said = String(step.ref ?? `${type}_${index + 1}`)
    const stepId = identifierOf(said) || `step-${index + 1}`
    if (stepId !== said)
      report.changed({
        ...{
          kind: 'workflow',
          id: mapping.workflowId,
          path: `${at}.${stepId}`,
          from: said,
          to: stepId,
          why: whyRenamed,
        },
      })
    const around: Around = {
      ...{ report, kind: 'workflow', id: mapping.workflowId, path: `${at}.${stepId}` },
      ...{ partials: mapping.folder.partials, digestId },
    }
    const definition = stepOf(mapping, step, stepId, around)
    if (type === 'batch' && definition) digestId = stepId
    return definition ? [definition] : []
  })
}

function stepOf(mapping: Mapping, step: Json, stepId: string, around: Around): Definition | undefined {
  const { report, kind, id, path: at } = around
  const values = valuesOf(mapping, step, around)
  if (values === undefined) {
    const why = `a step of type "${String(step.type)}" has no equivalent`
    report.unmapped({ kind, id, path: at, code: 'step', why })
    return undefined
  }
  const { type, members, own } = values
  const condition = conditionOf(members.take('conditions'), around)
  if (condition === false) mapping.isWhole = false
  const name = members.text('name') ?? stepId
  for (const known of ['ref', 'type']) members.take(known)
  members.end()
  return type === undefined
    ? undefined
    : { stepId, name, type, controlValues: { ...(condition ? { skip: condition } : {}), ...own } }
}

interface Values {
  members: Members
  /** Undefined if the step cannot come along, which is listed. */
  type?: string
  own: Json
}

/** What a step does. Undefined if its kind is not known here. */
function valuesOf(mapping: Mapping, step: Json, around: Around): Values | undefined {
  const { report, kind, id, path: at } = around
  const members = new Members(step, { report, kind, id, path: at })
  const made = (type: string, of: (settings: Members) => Json): Values => {
    const settings = members.members('settings')
    const own = of(settings)
    settings.end()
    return { members, type, own }
  }
  switch (step.type) {
    case 'channel':
      return channelValues(mapping, members, around)
    case 'batch':
      return made('digest', (settings) => batchOf(settings, around))
    case 'delay':
      return made('delay', (settings) => {
        const until = settings.text('delay_until_field_path')
        return until ? { dynamicKey: pathOf(until, around) } : durationOf(settings, 'delay_for', around)
      })
    case 'throttle':
      return made('throttle', (settings) => {
        const key = settings.text('throttle_key')
        const limit = settings.take('throttle_limit')
        if (typeof limit !== 'number') settings.unmapped('throttle_limit', 'not_number', 'it is no number')
        return {
          ...inMinutes(durationOf(settings, 'throttle_window', around), around),
          ...(typeof limit === 'number' ? { threshold: limit } : {}),
          ...(key ? { throttleKey: pathOf(key, around) } : {}),
        }
      })
    case 'http_fetch':
      return made('http_request', (settings) => requestOf(settings, around))
    case 'trigger_workflow':
      return made('start_workflow', (settings) => startOf(settings, around))
    case 'branch':
      return { members, type: 'branch', own: branchOf(mapping, members, around) }
    default:
      return undefined
  }
}

function branchOf(mapping: Mapping, members: Members, around: Around): Json {
  const arms = members.each('branches').map((branch) => {
    const rule = conditionOf(branch.take('conditions'), around)
    if (rule === false) mapping.isWhole = false
    const arm = {
      ...{ name: branch.text('name') ?? 'branch', rule },
      steps: stepsOf(mapping, branch.objects('steps'), around.digestId, around.path),
      ...(branch.flag('terminates') === true ? { end: true } : {}),
    }
    branch.end()
    return arm
  })
  const usual = arms.find(({ rule }) => rule === undefined)
  return {
    arms: arms
      .filter((arm) => arm !== usual)
      .map(({ rule, ...arm }) => ({ ...arm, ...(rule ? { condition: rule } : {}) })),
    ...(usual ? { default: { name: usual.name, steps: usual.steps, ...(usual.end ? { end: true } : {}) } } : {}),
  }
}

function channelValues({ folder }: Mapping, members: Members, around: Around): Values {
  const key = members.text('channel_key') ?? members.text('channel_group_key') ?? ''
  const said = members.text('channel_type')
  const type = said === undefined ? folder.channels.get(key)?.type : channelTypes[said]
  if (type === undefined) {
    const why = said === undefined ? `channels.yaml does not say what "${key}" is` : `there is no channel "${said}"`
    around.report.unmapped({ kind: around.kind, id: around.id, path: around.path, code: 'channel', why })
    for (const name of members.rest()) members.take(name)
    return { members, own: {} }
  }
  members.unmapped('send_windows', 'no_equivalent', 'use the schedule of subscribers')
  members.unmapped('channel_overrides', 'no_equivalent', 'set it in the integration')
  members.unmapped('settings', 'no_equivalent', 'set it in the integration')
  const template = members.members('template')
  const own = contentOf(type, template, around)
  template.end()
  return { members, type, own }
}

const units = new Set(['seconds', 'minutes', 'hours', 'days', 'weeks', 'months'])

function durationOf(settings: Members, name: string, around: Around): Json {
  const given = settings.take(name)
  const { value, unit, type, key, ...others } = isJson(given) ? given : {}
  for (const other of Object.keys(others))
    settings.lists(`${name}.${other}`, 'no_equivalent', 'a duration has an amount and a unit')
  if (typeof value === 'number' && units.has(String(unit))) return { amount: value, unit }
  if (type === 'dynamic' && typeof key === 'string') return { dynamicKey: pathOf(key, around) }
  settings.lists(name, 'duration', `${JSON.stringify(given ?? null)} is no duration that can be said here`)
  return {}
}

/** A throttle counts in minutes, hours or days. */
function inMinutes({ amount, unit, ...others }: Json, { report, kind, id, path }: Around): Json {
  if (typeof amount !== 'number') return others
  const to =
    unit === 'seconds'
      ? { amount: Math.ceil(amount / 60), unit: 'minutes' }
      : unit === 'weeks'
        ? { amount: amount * 7, unit: 'days' }
        : unit === 'months'
          ? { amount: amount * 30, unit: 'days' }
          : { amount, unit }
  if (to.unit !== unit)
    report.changed({
      ...{ kind, id, path, from: { amount, unit }, to },
      why: 'a throttle counts in minutes, hours or days',
    })
  return to
}

function batchOf(settings: Members, around: Around): Json {
  const key = settings.text('batch_key')
  const window = durationOf(settings, 'batch_window', around)
  const isSliding = choiceIn(settings, 'batch_window_type', ['fixed', 'sliding']) === 'sliding'
  const mode = choiceIn(settings, 'batch_execution_mode', ['accumulate', 'flush_leading'])
  const order = choiceIn(settings, 'batch_order', ['asc', 'desc'])
  return {
    ...window,
    ...(key ? { digestKey: pathOf(key, around) } : {}),
    ...(order === 'desc' ? { order: 'newest' } : {}),
    ...(mode === 'flush_leading' ? { flushFirst: true } : {}),
    ...(isSliding
      ? {
          window: 'sliding',
          maxWindow: settings.has('batch_window_extension_limit')
            ? durationOf(settings, 'batch_window_extension_limit', around)
            : { amount: 1, unit: 'days' },
        }
      : {}),
  }
}

/** One of these words; another one is listed. */
function choiceIn(settings: Members, name: string, words: string[]): string | undefined {
  const given = settings.text(name)
  if (given === undefined || words.includes(given)) return given
  settings.lists(name, 'no_equivalent', `"${given}" has no equivalent`)
  return undefined
}

/** Texts anywhere in it are templates. */
function toLiquidDeep(value: unknown, around: Around): unknown {
  if (typeof value === 'string') return toLiquid(value, around)
  if (Array.isArray(value)) return value.map((each) => toLiquidDeep(each, around))
  if (!isJson(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, toLiquidDeep(member, around)]))
}

/** As a text of a request: what is no text becomes JSON. */
const textOf = (value: unknown, around: Around): string =>
  typeof value === 'string' ? toLiquid(value, around) : JSON.stringify(toLiquidDeep(value ?? '', around))

/** A list of keys and values, or an object. */
function pairsIn(settings: Members, name: string, around: Around): Array<{ key: string; value: string }> {
  if (!Array.isArray(settings.take(name))) {
    const given = settings.members(name)
    return given.rest().map((key) => ({ key, value: textOf(given.take(key), around) }))
  }
  return settings.each(name).map((pair) => {
    const made = { key: pair.text('key') ?? '', value: textOf(pair.take('value'), around) }
    pair.end()
    return made
  })
}

function requestOf(settings: Members, around: Around): Json {
  const query = pairsIn(settings, 'query_params', around).map(({ key, value }) => `${encodeURIComponent(key)}=${value}`)
  const url = toLiquid(settings.text('url') ?? '', around)
  const headers = pairsIn(settings, 'headers', around)
  const body = settings.take('body')
  const { report, kind, id, path: at } = around
  report.changed({
    ...{ kind, id, path: at, from: 'data', to: `steps.${at.split('.').at(-1) ?? ''}` },
    why: 'the answer is under the step; it is not merged into the payload',
  })
  return {
    method: (settings.text('method') ?? 'get').toUpperCase(),
    url: query.length > 0 ? `${url}${url.includes('?') ? '&' : '?'}${query.join('&')}` : url,
    ...(headers.length > 0 ? { headers } : {}),
    ...(isEmpty(body) ? {} : { body: textOf(body, around) }),
  }
}

const theRecipient = /^\s*\{\{\s*recipient(?:\.id)?\s*\}\}\s*$|^recipient$/

function startOf(settings: Members, around: Around): Json {
  const key = settings.text('cancellation_key')
  const payload = payloadIn(settings, around)
  return {
    workflowId: settings.text('workflow_key') ?? '',
    to: recipientsIn(settings, around),
    ...(payload ? { payload } : {}),
    ...(key ? { cancellationKey: toLiquid(key, around) } : {}),
  }
}

/** A template, or a list of ids; objects there have no id in one of them. */
function recipientsIn(settings: Members, around: Around): unknown {
  const given = settings.take('recipients')
  if (isEmpty(given)) return '{{subscriber.subscriberId}}'
  const one = (recipient: unknown, at: string): string[] => {
    if (typeof recipient === 'string')
      return [theRecipient.test(recipient) ? '{{subscriber.subscriberId}}' : toLiquid(recipient, around)]
    if (isJson(recipient) && typeof recipient.id === 'string') {
      const { id, ...others } = recipient
      for (const name of Object.keys(others))
        settings.lists(`${at}.${name}`, 'no_equivalent', 'a recipient is its id; subscribers are written beforehand')
      return [toLiquid(id, around)]
    }
    settings.lists(at, 'no_equivalent', 'a recipient is an id')
    return []
  }
  if (!Array.isArray(given)) return one(given, 'recipients')[0] ?? ''
  return given.flatMap((each, index) => one(each, `recipients.${index}`))
}

/** An object, or a template of its JSON. */
function payloadIn(settings: Members, around: Around): Json | undefined {
  const given = settings.take('data')
  const parsed = typeof given === 'string' ? parsedOr(toLiquid(given, around)) : toLiquidDeep(given, around)
  if (isJson(parsed)) return parsed
  const why = typeof given === 'string' ? 'it is no JSON object before it is rendered' : 'it is no object'
  settings.unmapped('data', 'template', why)
  return undefined
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
