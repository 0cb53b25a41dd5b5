// Workflows of Novu as definitions: those of version 2 as they are, older templates with their filters.
import type { Definition } from '../../folder/source.ts'
import { identifierOf, whyRenamed } from '../identifier.ts'
import type { Intake } from '../intake.ts'
import { filled, isJson, type Json, Members } from '../members.ts'
import type { Report } from '../report.ts'
import { fromHandlebars } from './handlebars.ts'

/** Ids and facts about the place, which every environment has of its own. */
const internal = [
  ...[
    '_id',
    'id',
    '__v',
    '_organizationId',
    '_environmentId',
    '_creatorId',
    '_parentId',
    '_notificationGroupId',
    'slug',
  ],
  ...['createdAt', 'updatedAt', 'updatedBy', 'lastPublishedAt', 'lastPublishedBy', 'lastTriggeredAt', 'status'],
  ...['origin', 'issues', 'version', 'revision', 'files', 'payloadExample', 'publicPayloadExample', 'type', 'brake'],
]

/** A workflow as `GET /v2/workflows/{id}` answers it. */
export function takeWorkflow(intake: Intake, value: Json): void {
  const id = String(value.workflowId)
  const members = new Members(value, { report: intake.report, kind: 'workflow', id })
  members.renewed(internal)
  members.take('workflowId')
  const preferences = members.members('preferences')
  const [user, usual] = [choicesIn(preferences, 'user'), choicesIn(preferences, 'default')]
  preferences.end()
  const kept = [
    ...[
      'name',
      'description',
      'tags',
      'active',
      'validatePayload',
      'payloadSchema',
      'isTranslationEnabled',
      'severity',
    ],
    ...['messageClass', 'consentCategory', 'tracking', 'journey'],
  ]
  const steps = members.objects('steps')
  intake.define('workflow', id, {
    workflowId: id,
    ...Object.fromEntries(
      kept.map((name) => [name, members.take(name)]).filter(([, given]) => given !== undefined && given !== null),
    ),
    ...(user || usual ? { preferences: { ...(user ? { user } : {}), ...(usual ? { workflow: usual } : {}) } } : {}),
    steps: steps.map((step) => stepOf(step, intake.report, id)),
  })
  members.end()
}

/** What holds for all channels, and for each. */
function choicesIn(preferences: Members, name: string): Json | undefined {
  if (!preferences.has(name)) return undefined
  const given = preferences.members(name)
  const switchOf = (members: Members): Json => {
    const made = filled({ enabled: members.take('enabled'), readOnly: members.take('readOnly') })
    members.end('a preference has no such member')
    return made
  }
  const all = given.has('all') ? { all: switchOf(given.members('all')) } : {}
  const channels = given.members('channels')
  const own = channels.rest().flatMap((channel) => {
    const of = channels.members(channel)
    return isJson(channels.take(channel)) ? [[channel, switchOf(of)] as const] : []
  })
  given.end('a preference has no such member')
  return { ...all, ...(own.length > 0 ? { channels: Object.fromEntries(own) } : {}) }
}

const ofSteps = [
  ...['_id', 'slug', 'origin', 'workflowId', 'workflowDatabaseId', 'controls', 'variables', 'issues', 'uuid'],
  ...['createdAt', 'updatedAt', 'stepResolverHash'],
]

function stepOf(step: Json, report: Report, workflowId: string): Definition {
  const stepId = String(step.stepId)
  const members = new Members(step, { report, kind: 'workflow', id: workflowId, path: `steps.${stepId}` })
  members.renewed(ofSteps, 'answers say it; it follows from the rest')
  const { kind, values, beside } = plainValues(
    members.take('controlValues') ?? (step.controls as Json | undefined)?.values,
  )
  for (const name of beside) members.lists(`controlValues.${name}`, 'no_equivalent', 'there is nothing like it here')
  const type = kind ?? members.take('kind') ?? members.take('type')
  members.take('type')
  members.take('kind')
  const variants = members.each('variants')
  const definition = {
    stepId,
    ...filled({
      name: members.take('name'),
      type,
      controlValues: innerValues(values, report, workflowId),
      ...Object.fromEntries(
        ['active', 'shouldStopOnFail', 'onUnknown', 'replyCallback'].map((name) => [name, members.take(name)]),
      ),
      filters: filtersOf(members),
    }),
    ...(variants.length > 0
      ? {
          variants: variants.map((of) => {
            of.renewed(['_id'])
            const given = filled({
              ...{ name: of.take('name'), active: of.take('active'), filters: filtersOf(of) ?? [] },
              controlValues: of.take('controlValues'),
            })
            of.end()
            return given
          }),
        }
      : {}),
  }
  members.take('stepId')
  members.end()
  return definition
}

/** Kinds that public clients do not know come as custom steps, which have nothing beside their values. */
function plainValues(values: unknown): { kind?: unknown; values: Json; beside: string[] } {
  if (!isJson(values)) return { values: {}, beside: [] }
  const { custom, ...others } = values
  if (!isJson(custom) || !('$kind' in custom)) return { values, beside: [] }
  const { $kind: kind, ...rest } = custom
  return { kind, values: rest, beside: Object.keys(others) }
}

/** The steps in the arms of a branch. */
function innerValues(values: Json, report: Report, workflowId: string): Json {
  const list = (steps: unknown) =>
    Array.isArray(steps) ? steps.filter(isJson).map((step) => stepOf(step, report, workflowId)) : steps
  const arm = (given: unknown) => (isJson(given) && given.steps ? { ...given, steps: list(given.steps) } : given)
  return {
    ...values,
    ...(Array.isArray(values.arms) ? { arms: values.arms.map(arm) } : {}),
    ...(isJson(values.default) ? { default: arm(values.default) } : {}),
  }
}

/** A template of version 1: a step has its content in `template`, and its conditions in `filters`. */
export function takeTemplate(intake: Intake, value: Json, around: { layoutOf(id: string): string | undefined }): void {
  const { report } = intake
  const [trigger] = Array.isArray(value.triggers) ? value.triggers.filter(isJson) : []
  const id = String(trigger?.identifier ?? value._id)
  const members = new Members(value, { report, kind: 'workflow', id })
  members.renewed([
    ...internal,
    'triggers',
    'deleted',
    'deletedAt',
    'deletedBy',
    'isBlueprint',
    'blueprintId',
    'draft',
    '_notificationGroup',
  ])
  members.renewed(['notificationGroup', 'workflowIntegrationStatus'], 'answers say it; it follows from the rest')
  members.unmapped('data', 'no_equivalent', 'a workflow has no data of its own here')
  const isCritical = members.take('critical') === true
  const settings = members.members('preferenceSettings')
  const channels = Object.fromEntries(
    settings.rest().flatMap((name) => (settings.flag(name) === false ? [[name, { enabled: false }]] : [])),
  )
  const workflow = filled({
    all: isCritical ? { readOnly: true } : undefined,
    channels: Object.keys(channels).length > 0 ? channels : undefined,
  })
  const steps = members.objects('steps')
  const digest: { id?: string } = {}
  const definition = {
    workflowId: id,
    ...filled({ name: members.text('name') ?? id, description: members.text('description') }),
    ...filled({ tags: members.take('tags') }),
    active: members.take('active') !== false,
    validatePayload: false,
    ...(Object.keys(workflow).length > 0 ? { preferences: { workflow } } : {}),
    steps: steps.map((step, index) => oldStep(step, index, { report, workflowId: id, digest, ...around })),
  }
  intake.define('workflow', id, definition)
  members.end()
}

interface OldStep {
  report: Report
  workflowId: string
  /** The digest before, whose events texts mean. */
  digest: { id?: string }
  layoutOf(id: string): string | undefined
}

const ofOldSteps = ['_id', '_templateId', '_parentId', 'uuid', 'type', 'id', '_organizationId', '_environmentId', '__v']

function oldStep(step: Json, index: number, around: OldStep): Definition {
  const { report, workflowId, digest } = around
  const template = isJson(step.template) ? step.template : {}
  const type = String(template.type ?? step.type ?? '')
  const said = typeof step.stepId === 'string' ? step.stepId : String(step.uuid ?? `${type}-${index + 1}`)
  const stepId = identifierOf(said) || `step-${index + 1}`
  const path = `steps.${stepId}`
  const members = new Members(step, { report, kind: 'workflow', id: workflowId, path })
  if (stepId !== said)
    report.changed({ ...{ kind: 'workflow', id: workflowId, path, from: said, to: stepId }, why: whyRenamed })
  members.renewed(ofOldSteps)
  members.renewed(['controlVariables', 'output', 'bridgeUrl', 'inputs'])
  members.take('stepId')
  const variants = members.each('variants')
  const definition = {
    stepId,
    type,
    ...filled({
      name: members.text('name') ?? stepId,
      controlValues: oldValues(members, type, around),
      filters: filtersOf(members),
      active: members.flag('active') === false ? false : undefined,
      shouldStopOnFail: members.flag('shouldStopOnFail') === true ? true : undefined,
      replyCallback: members.take('replyCallback'),
    }),
    ...(variants.length > 0 ? { variants: variants.map((variant) => oldVariant(variant, type, around)) } : {}),
  }
  members.end()
  if (type === 'digest') digest.id = stepId
  return definition
}

function oldVariant(members: Members, type: string, around: OldStep): Json {
  members.renewed(ofOldSteps)
  members.renewed(['stepId', 'shouldStopOnFail', 'replyCallback', 'variants'], 'it is of the step, not of a variant')
  const variant = filled({
    name: members.text('name'),
    active: members.flag('active') === false ? false : undefined,
    filters: filtersOf(members) ?? [],
    controlValues: oldValues(members, type, around),
  })
  members.end()
  return variant
}

const ofConditions = ['on', 'field', 'value', 'operator', 'webhookUrl', 'timeOperator', 'step', 'stepType']

/** Groups of conditions, without internal ids. */
function filtersOf(of: Members): Json[] | undefined {
  const groups = of.each('filters').map((group) => {
    group.renewed(['_id', 'id'])
    const said = filled(Object.fromEntries(['isNegated', 'type', 'value'].map((name) => [name, group.take(name)])))
    const children = group.each('children').map((child) => {
      child.renewed(['_id', 'id'])
      const condition = filled(Object.fromEntries(ofConditions.map((name) => [name, child.take(name)])))
      child.end('a condition has no such member')
      return condition
    })
    group.end('a group of conditions has no such member')
    return { isNegated: false, type: 'GROUP', value: 'AND', ...said, children }
  })
  return groups.length > 0 ? groups : undefined
}

const ofTemplates = [
  ...['_id', 'id', '__v', '_organizationId', '_environmentId', '_creatorId', '_parentId', 'createdAt', 'updatedAt'],
  ...['type', 'active', 'stepId', 'name', 'deleted', 'inputs', 'controls', 'output'],
]

type Text = (members: Members, name: string) => string | undefined

/** What a step or a variant of it says: `template` has its texts, `metadata` how long it waits. */
function oldValues(of: Members, type: string, around: OldStep): Json | undefined {
  const { digest } = around
  const template = of.members('template')
  template.renewed(ofTemplates)
  template.renewed(['variables'], 'variables are found in the texts')
  const text: Text = (members, name) => {
    const given = members.text(name)
    if (given === undefined) return undefined
    const { liquid, unknown } = fromHandlebars(given, digest.id)
    for (const helper of unknown) members.lists(name, 'helper', `{{${helper}}} has no equivalent; it stays as it is`)
    if (liquid !== given)
      members.changed(name, { to: liquid, why: 'Handlebars becomes Liquid, and the payload is under payload' })
    return liquid
  }
  const values = isWait(type) ? waitOf(of) : valuesOf(type, template, text, around)
  if (!isWait(type)) of.unmapped('metadata', 'no_equivalent', 'only digests and delays have it')
  template.unmapped('preheader', 'no_equivalent', 'put it into the body')
  template.unmapped('_feedId', 'no_equivalent', 'there are no feeds; use tags')
  template.unmapped('actor', 'no_equivalent', 'set the avatar in the step')
  template.end()
  return values
}

const isWait = (type: string) => type === 'digest' || type === 'delay'

const ofWaits = [
  ...['type', 'amount', 'unit', 'digestKey', 'delayPath', 'backoff', 'backoffAmount', 'backoffUnit', 'timed'],
  ...['cron', 'dynamicKey', 'lookBackWindow', 'extendToSchedule'],
]

/** How long a digest or delay waits. */
function waitOf(of: Members): Json | undefined {
  const metadata = of.members('metadata')
  metadata.renewed(['_id'])
  const values = filled(Object.fromEntries(ofWaits.map((name) => [name, metadata.take(name)])))
  metadata.end('digests and delays have no such value')
  return Object.keys(values).length > 0 ? values : undefined
}

function valuesOf(type: string, members: Members, text: Text, { layoutOf }: OldStep): Json {
  members.take('contentType')
  switch (type) {
    case 'email':
      return emailOf(members, text, layoutOf)
    case 'push':
      return filled({ subject: text(members, 'title'), body: text(members, 'content') })
    case 'in_app':
      return inAppOf(members, text)
    default:
      return filled({ body: text(members, 'content') })
  }
}

function emailOf(members: Members, text: Text, layoutOf: OldStep['layoutOf']): Json {
  const layoutId = members.text('layoutId') ?? members.text('_layoutId')
  members.take('_layoutId')
  const layout = layoutId === undefined ? undefined : layoutOf(layoutId)
  if (layoutId !== undefined && layout === undefined)
    members.lists('_layoutId', 'not_found', 'the layout is not in the export')
  const senderName = text(members, 'senderName')
  return filled({
    subject: text(members, 'subject'),
    editorType: 'html',
    body: Array.isArray(members.take('content'))
      ? blocksToHtml(members.each('content'), text)
      : text(members, 'content'),
    layoutId: layout,
    from: senderName ? { name: senderName } : undefined,
  })
}

/** The simple editor of version 1 knows texts and buttons. */
function blocksToHtml(blocks: Members[], text: Text): string {
  return blocks
    .map((block) => {
      const type = block.text('type') ?? 'text'
      const [content, url] = [text(block, 'content') ?? '', text(block, 'url')]
      block.renewed(['_id', 'id'])
      if (type !== 'text' && type !== 'button')
        block.lists('type', 'no_equivalent', `there is no block "${type}"; it is a text here`)
      if (type !== 'button') block.unmapped('url', 'no_equivalent', 'a text has no link')
      block.end('the HTML has no such style')
      return type === 'button' ? `<p><a href="${url ?? ''}">${content}</a></p>` : `<p>${content}</p>`
    })
    .join('\n')
}

function inAppOf(members: Members, text: Text): Json {
  const cta = members.members('cta')
  const data = cta.members('data')
  const url = text(data, 'url')
  data.end()
  const action = cta.members('action')
  action.renewed(['status', 'result'], 'they are of a message')
  const found = new Map<string, Json>()
  for (const button of action.each('buttons')) {
    const type = button.text('type') ?? ''
    const [label, link] = [text(button, 'content'), text(button, 'url')]
    button.renewed(['_id', 'id'])
    button.unmapped('resultContent', 'no_equivalent', 'a pressed button keeps its label')
    button.end('a button has a label and an address')
    const isKnown = (type === 'primary' || type === 'secondary') && !found.has(type)
    if (!isKnown) button.lists('type', 'no_equivalent', 'a message has a primary and a secondary button')
    else if (label !== undefined) found.set(type, { label, ...(link ? { redirect: { url: link } } : {}) })
  }
  action.end()
  cta.take('type')
  cta.end()
  return filled({
    subject: text(members, 'subject'),
    body: text(members, 'content'),
    avatar: text(members, 'avatar'),
    redirect: url === undefined ? undefined : { url },
    primaryAction: found.get('primary'),
    secondaryAction: found.get('secondary'),
  })
}
