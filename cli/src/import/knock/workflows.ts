// Workflows of Knock as definitions.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Definition } from '../../folder/source.ts'
import type { Intake } from '../intake.ts'
import { filled, isJson, type Json, Members } from '../members.ts'
import { conditionOf } from './conditions.ts'
import { type Around, blocksToHtml, markdownToHtml, pathOf, toLiquid } from './texts.ts'

export type ChannelType = 'email' | 'sms' | 'push' | 'chat' | 'in_app'

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
  const value = resolved(JSON.parse(readFileSync(path.join(dir, 'workflow.json'), 'utf8')) as Json, dir)
  const id = String((isJson(value.__readonly) ? value.__readonly.key : undefined) ?? path.basename(dir))
  const members = new Members(value, { report, kind: 'workflow', id })
  members.renewed(['$schema', '__readonly', 'key', 'created_at', 'updated_at', 'valid', 'sha', 'environment'])
  const mapping: Mapping = { folder, dir, workflowId: id, isWhole: true }
  const settings = members.members('settings')
  const isCommercial = settings.take('is_commercial') === true
  const isCritical = settings.take('override_preferences') === true
  settings.end()
  members.unmapped('trigger_frequency', 'no_equivalent', 'use a throttle, or a transactionId that repeats')
  const schema = members.take('trigger_data_json_schema')
  const tags = members.list('categories').map(String)
  const steps = stepsOf(mapping, members.list('steps').filter(isJson), undefined, 'steps')
  const isActive = members.take('active') !== false
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
        const text = readFileSync(place, 'utf8')
        return [name.slice(0, -1), place.endsWith('.json') ? of(JSON.parse(text)) : text]
      }),
    )
  }
  return of(value) as Json
}

const internal = ['ref', 'name', 'type', 'conditions', 'template', 'settings', 'channel_key', 'channel_type']

function stepsOf(mapping: Mapping, steps: Json[], digestBefore: string | undefined, at: string): Definition[] {
  let digestId = digestBefore
  return steps.flatMap((step, index) => {
    const type = String(step.type)
    const stepId = String(step.ref ?? `${type}_${index + 1}`).replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    const around: Around = {
      ...{ report: mapping.folder.intake.report, workflowId: mapping.workflowId, path: `${at}.${stepId}` },
      ...{ partials: mapping.folder.partials, digestId },
    }
    const definition = stepOf(mapping, step, stepId, around)
    if (type === 'batch' && definition) digestId = stepId
    return definition ? [definition] : []
  })
}

function stepOf(mapping: Mapping, step: Json, stepId: string, around: Around): Definition | undefined {
  const { report, workflowId, path: at } = around
  const members = new Members(step, { report, kind: 'workflow', id: workflowId, path: at })
  for (const name of internal) members.take(name)
  const condition = conditionOf(step.conditions, around)
  if (condition === false) mapping.isWhole = false
  const name = typeof step.name === 'string' && step.name !== '' ? step.name : stepId
  const skip = condition ? { skip: condition } : {}
  const settings = members.members('settings')
  const made = (type: string, values: Json): Definition => {
    settings.end()
    members.end()
    return { stepId, name, type, controlValues: { ...skip, ...values } }
  }
  switch (step.type) {
    case 'channel':
      return channelStep(mapping, step, members, around, { stepId, name, skip })
    case 'batch':
      return made('digest', batchOf(settings, around))
    case 'delay': {
      const until = settings.text('delay_until_field_path')
      return made(
        'delay',
        until ? { dynamicKey: pathOf(until, around) } : durationOf(settings.take('delay_for'), around),
      )
    }
    case 'throttle': {
      const key = settings.text('throttle_key')
      const limit = settings.take('throttle_limit')
      return made('throttle', {
        ...inMinutes(durationOf(settings.take('throttle_window'), around), around),
        ...(typeof limit === 'number' ? { threshold: limit } : {}),
        ...(key ? { throttleKey: pathOf(key, around) } : {}),
      })
    }
    case 'http_fetch':
      return made('http_request', requestOf(settings, around))
    case 'trigger_workflow':
      return made('start_workflow', startOf(settings, around))
    case 'branch': {
      const branches = members.list('branches').filter(isJson)
      const arms = branches.map((branch) => {
        const rule = conditionOf(branch.conditions, around)
        if (rule === false) mapping.isWhole = false
        const inner = stepsOf(
          mapping,
          Array.isArray(branch.steps) ? branch.steps.filter(isJson) : [],
          around.digestId,
          at,
        )
        return {
          ...{ name: String(branch.name ?? 'branch'), rule, steps: inner },
          ...(branch.terminates === true ? { end: true } : {}),
        }
      })
      const usual = arms.find(({ rule }) => rule === undefined)
      return made('branch', {
        arms: arms
          .filter((arm) => arm !== usual)
          .map(({ rule, ...arm }) => ({ ...arm, ...(rule ? { condition: rule } : {}) })),
        ...(usual ? { default: { name: usual.name, steps: usual.steps, ...(usual.end ? { end: true } : {}) } } : {}),
      })
    }
    default:
      report.unmapped({
        kind: 'workflow',
        id: workflowId,
        path: at,
        code: 'step',
        why: `a step of type "${String(step.type)}" has no equivalent`,
      })
      return undefined
  }
}

const units = new Set(['seconds', 'minutes', 'hours', 'days', 'weeks', 'months'])

function durationOf(given: unknown, { report, workflowId: id, path: at }: Around): Json {
  if (isJson(given) && typeof given.value === 'number' && units.has(String(given.unit)))
    return { amount: given.value, unit: given.unit }
  if (isJson(given) && given.type === 'dynamic' && typeof given.key === 'string')
    return { dynamicKey: given.key.replace(/^data\./, 'payload.') }
  report.unmapped({
    kind: 'workflow',
    id,
    path: at,
    code: 'duration',
    why: `${JSON.stringify(given ?? null)} is no duration that can be said here`,
  })
  return {}
}

/** A throttle counts in minutes, hours or days. */
function inMinutes({ amount, unit, ...others }: Json, { report, workflowId: id, path: at }: Around): Json {
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
      kind: 'workflow',
      id,
      path: at,
      from: { amount, unit },
      to,
      why: 'a throttle counts in minutes, hours or days',
    })
  return to
}

function batchOf(settings: Members, around: Around): Json {
  const key = settings.text('batch_key')
  const window = durationOf(settings.take('batch_window'), around)
  const isSliding = settings.take('batch_window_type') === 'sliding'
  const limit = settings.take('batch_window_extension_limit')
  const mode = settings.take('batch_execution_mode')
  const order = settings.take('batch_order')
  return {
    ...window,
    ...(key ? { digestKey: pathOf(key, around) } : {}),
    ...(order === 'desc' ? { order: 'newest' } : {}),
    ...(mode === 'flush_leading' ? { flushFirst: true } : {}),
    ...(isSliding
      ? { window: 'sliding', maxWindow: isJson(limit) ? durationOf(limit, around) : { amount: 1, unit: 'days' } }
      : {}),
  }
}

function requestOf(settings: Members, around: Around): Json {
  const pairs = (given: unknown): Array<{ key: string; value: string }> =>
    (Array.isArray(given)
      ? given.filter(isJson).map(({ key, value }) => ({ key: String(key), value: String(value ?? '') }))
      : isJson(given)
        ? Object.entries(given).map(([key, value]) => ({ key, value: String(value) }))
        : []
    ).map(({ key, value }) => ({ key, value: toLiquid(value, around) }))
  const query = pairs(settings.take('query_params')).map(({ key, value }) => `${encodeURIComponent(key)}=${value}`)
  const url = toLiquid(settings.text('url') ?? '', around)
  const headers = pairs(settings.take('headers'))
  const body = settings.take('body')
  around.report.changed({
    ...{
      kind: 'workflow',
      id: around.workflowId,
      path: around.path,
      from: 'data',
      to: `steps.${around.path.split('.').at(-1) ?? ''}`,
    },
    why: 'the answer is under the step; it is not merged into the payload',
  })
  return {
    method: String(settings.take('method') ?? 'get').toUpperCase(),
    url: query.length > 0 ? `${url}${url.includes('?') ? '&' : '?'}${query.join('&')}` : url,
    ...(headers.length > 0 ? { headers } : {}),
    ...(typeof body === 'string' && body !== '' ? { body: toLiquid(body, around) } : {}),
  }
}

function startOf(settings: Members, around: Around): Json {
  const { report, workflowId: id, path: at } = around
  const recipients = settings.take('recipients')
  const to =
    recipients === undefined ||
    recipients === null ||
    recipients === '' ||
    /^\s*\{\{\s*recipient(?:\.id)?\s*\}\}\s*$|^recipient$/.test(String(recipients))
      ? '{{subscriber.subscriberId}}'
      : toLiquid(String(recipients), around)
  const data = settings.take('data')
  let payload: unknown = data
  if (typeof data === 'string' && data !== '') {
    try {
      payload = JSON.parse(toLiquid(data, around))
    } catch {
      payload = undefined
      report.unmapped({
        kind: 'workflow',
        id,
        path: `${at}.settings.data`,
        code: 'template',
        why: 'it is no JSON before it is rendered',
      })
    }
  }
  const key = settings.text('cancellation_key')
  return {
    workflowId: settings.text('workflow_key') ?? '',
    to,
    ...(isJson(payload) ? { payload } : {}),
    ...(key ? { cancellationKey: toLiquid(key, around) } : {}),
  }
}

function channelStep(
  { folder }: Mapping,
  step: Json,
  members: Members,
  around: Around,
  { stepId, name, skip }: { stepId: string; name: string; skip: Json },
): Definition | undefined {
  const { report, workflowId, path: at } = around
  const key = String(step.channel_key ?? step.channel_group_key ?? '')
  members.take('channel_group_key')
  const type = typeof step.channel_type === 'string' ? channelTypes[step.channel_type] : folder.channels.get(key)?.type
  if (type === undefined) {
    report.unmapped({
      kind: 'workflow',
      id: workflowId,
      path: at,
      code: 'channel',
      why: `channels.yaml does not say what "${key}" is`,
    })
    return undefined
  }
  members.unmapped('send_windows', 'no_equivalent', 'use the schedule of subscribers')
  members.unmapped('channel_overrides', 'no_equivalent', 'set it in the integration')
  const template = members.members('template')
  const values = contentOf(type, template, around)
  template.end()
  members.end()
  return { stepId, name, type, controlValues: { ...skip, ...values } }
}

export const channelTypes: Record<string, ChannelType | undefined> = {
  ...{ email: 'email', sms: 'sms', push: 'push', chat: 'chat', in_app: 'in_app' },
  ...{ in_app_feed: 'in_app', in_app_guide: undefined },
}

function contentOf(type: ChannelType, template: Members, around: Around): Json {
  const text = (name: string) => {
    const given = template.text(name)
    return given === undefined ? undefined : toLiquid(given, around)
  }
  if (type === 'email') {
    const settings = template.members('settings')
    const layout = settings.text('layout_key')
    settings.unmapped('attachment_key', 'no_equivalent', 'a trigger has its files in attachments')
    settings.unmapped('pre_content', 'no_equivalent', 'put it into the layout')
    settings.end()
    const blocks = template.take('visual_blocks')
    const markdown = template.text('markdown_body')
    const html = Array.isArray(blocks)
      ? toLiquid(blocksToHtml(blocks.filter(isJson), around), around)
      : markdown
        ? toLiquid(markdownToHtml(markdown), around)
        : text('html_body')
    template.unmapped('text_body', 'no_equivalent', 'the text part is made from the HTML')
    return { ...filled({ subject: text('subject'), editorType: 'html', body: html }), layoutId: layout ?? null }
  }
  if (type === 'in_app') {
    const url = text('action_url')
    const buttons = template.list('action_buttons').filter(isJson)
    const [primary, secondary] = buttons.map(({ label, action }) => ({
      label: toLiquid(String(label ?? ''), around),
      ...(typeof action === 'string' && action !== '' ? { redirect: { url: toLiquid(action, around) } } : {}),
    }))
    return filled({
      subject: text('title'),
      body: text('markdown_body') ?? text('text_body'),
      redirect: url ? { url } : undefined,
      primaryAction: primary,
      secondaryAction: secondary,
    })
  }
  if (type === 'push') {
    const settings = template.members('settings')
    settings.unmapped('payload_overrides', 'no_equivalent', 'a trigger can override what a provider gets')
    settings.end()
    return filled({ subject: text('title'), body: text('text_body') })
  }
  template.unmapped('json_body', 'no_equivalent', 'blocks of a chat service are no text')
  template.unmapped('settings', 'no_equivalent', 'it is of the provider')
  template.unmapped('summary', 'no_equivalent', 'it is of the provider')
  return filled({ body: text('markdown_body') ?? text('text_body') })
}
