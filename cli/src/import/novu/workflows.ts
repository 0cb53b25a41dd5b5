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
  const [user, usual] = [preferences.take('user'), preferences.take('default')]
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
  const steps = members.list('steps').filter(isJson)
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

const ofSteps = [
  ...['_id', 'slug', 'origin', 'workflowId', 'workflowDatabaseId', 'controls', 'variables', 'issues', 'uuid'],
  ...['createdAt', 'updatedAt', 'stepResolverHash'],
]

function stepOf(step: Json, report: Report, workflowId: string): Definition {
  const stepId = String(step.stepId)
  const members = new Members(step, { report, kind: 'workflow', id: workflowId, path: `steps.${stepId}` })
  members.renewed(ofSteps, 'answers say it; it follows from the rest')
  const { kind, values } = plainValues(members.take('controlValues') ?? (step.controls as Json | undefined)?.values)
  const type = kind ?? members.take('kind') ?? members.take('type')
  members.take('type')
  members.take('kind')
  const variants = members.list('variants').filter(isJson)
  const definition = {
    stepId,
    ...filled({
      name: members.take('name'),
      type,
      controlValues: innerValues(values, report, workflowId),
      ...Object.fromEntries(
        ['active', 'shouldStopOnFail', 'onUnknown', 'replyCallback', 'filters'].map((name) => [
          name,
          members.take(name),
        ]),
      ),
    }),
    ...(variants.length > 0
      ? {
          variants: variants.map((variant) => {
            const of = new Members(variant, {
              report,
              kind: 'workflow',
              id: workflowId,
              path: `steps.${stepId}.variants`,
            })
            of.renewed(['_id'])
            const given = filled({
              ...{ name: of.take('name'), active: of.take('active'), filters: of.take('filters') },
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

/** Kinds that public clients do not know come as custom steps. */
function plainValues(values: unknown): { kind?: unknown; values: Json } {
  if (!isJson(values)) return { values: {} }
  const { custom } = values
  if (!isJson(custom) || !('$kind' in custom)) return { values }
  const { $kind: kind, ...rest } = custom
  return { kind, values: rest }
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
  const settings = members.take('preferenceSettings')
  const channels = isJson(settings)
    ? Object.fromEntries(
        Object.entries(settings)
          .filter(([, on]) => on === false)
          .map(([name]) => [name, { enabled: false }]),
      )
    : {}
  const workflow = filled({
    all: isCritical ? { readOnly: true } : undefined,
    channels: Object.keys(channels).length > 0 ? channels : undefined,
  })
  const steps = members.list('steps').filter(isJson)
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

function oldStep(step: Json, index: number, around: OldStep): Definition {
  const { report, workflowId, digest } = around
  const template = isJson(step.template) ? step.template : {}
  const type = String(template.type ?? step.type ?? '')
  const said = typeof step.stepId === 'string' ? step.stepId : String(step.uuid ?? `${type}-${index + 1}`)
  const stepId = identifierOf(said) || `step-${index + 1}`
  const path = `steps.${stepId}`
  const members = new Members(step, { report, kind: 'workflow', id: workflowId, path })
  if (stepId !== said)
    report.changed({
      kind: 'workflow',
      id: workflowId,
      path,
      from: said,
      to: stepId,
      why: whyRenamed,
    })
  members.renewed(['_id', '_templateId', '_parentId', 'uuid', 'type', 'id', '_organizationId', '_environmentId', '__v'])
  members.renewed(['controlVariables', 'output', 'bridgeUrl', 'inputs'])
  for (const name of ['stepId', 'template', 'metadata']) members.take(name)
  const variants = members.list('variants').filter(isJson)
  const definition = {
    stepId,
    type,
    ...filled({
      name: members.text('name') ?? stepId,
      controlValues: oldValues(template, step.metadata, { ...around, path }),
      filters: filtersOf(members.take('filters')),
      active: members.take('active') === false ? false : undefined,
      shouldStopOnFail: members.take('shouldStopOnFail') === true ? true : undefined,
      replyCallback: members.take('replyCallback'),
    }),
    ...(variants.length > 0
      ? {
          variants: variants.map((variant) =>
            filled({
              name: variant.name,
              active: variant.active === false ? false : undefined,
              filters: filtersOf(variant.filters) ?? [],
              controlValues: oldValues(isJson(variant.template) ? variant.template : {}, variant.metadata, {
                ...around,
                path: `${path}.variants`,
              }),
            }),
          ),
        }
      : {}),
  }
  members.end()
  if (type === 'digest') digest.id = stepId
  return definition
}

/** Without internal ids. */
function filtersOf(filters: unknown): unknown {
  if (!Array.isArray(filters) || filters.length === 0) return undefined
  return filters.filter(isJson).map(({ _id: _, id: __, children, ...group }) => ({
    ...{ isNegated: false, type: 'GROUP', value: 'AND', ...filled(group) },
    children: Array.isArray(children)
      ? children.filter(isJson).map(({ _id: _a, id: _b, ...child }) => filled(child))
      : [],
  }))
}

const ofTemplates = [
  ...['_id', 'id', '__v', '_organizationId', '_environmentId', '_creatorId', '_parentId', 'createdAt', 'updatedAt'],
  ...['type', 'active', 'stepId', 'name', 'deleted', 'inputs', 'controls', 'output'],
]

function oldValues(template: Json, metadata: unknown, around: OldStep & { path: string }): Json | undefined {
  const { report, workflowId, path } = around
  const members = new Members(template, { report, kind: 'workflow', id: workflowId, path: `${path}.template` })
  members.renewed(ofTemplates)
  members.renewed(['variables'], 'variables are found in the texts')
  const text = (name: string): string | undefined => {
    const given = members.text(name)
    if (given === undefined) return undefined
    const { liquid, unknown } = fromHandlebars(given, around.digest.id)
    for (const helper of unknown)
      report.unmapped({
        ...{ kind: 'workflow', id: workflowId, path: `${path}.template.${name}`, code: 'helper' },
        why: `{{${helper}}} has no equivalent; it stays as it is`,
      })
    if (liquid !== given)
      report.changed({
        ...{ kind: 'workflow', id: workflowId, path: `${path}.template.${name}`, from: given, to: liquid },
        why: 'Handlebars becomes Liquid, and the payload is under payload',
      })
    return liquid
  }
  const type = String(template.type ?? '')
  const values = valuesOf(type, members, text, metadata, around)
  members.unmapped('preheader', 'no_equivalent', 'put it into the body')
  members.unmapped('_feedId', 'no_equivalent', 'there are no feeds; use tags')
  members.unmapped('actor', 'no_equivalent', 'set the avatar in the step')
  members.end()
  return values
}

function valuesOf(
  type: string,
  members: Members,
  text: (name: string) => string | undefined,
  metadata: unknown,
  { layoutOf, digest }: OldStep,
): Json | undefined {
  if (type === 'digest' || type === 'delay') return isJson(metadata) ? withoutIds(metadata) : undefined
  if (type === 'email') {
    const layoutId = members.text('layoutId') ?? members.text('_layoutId')
    members.take('_layoutId')
    members.take('contentType')
    const blocks = members.take('content')
    const layout = layoutId === undefined ? undefined : layoutOf(layoutId)
    const senderName = members.text('senderName')
    return filled({
      subject: text('subject'),
      editorType: 'html',
      body: Array.isArray(blocks) ? blocksToHtml(blocks.filter(isJson), digest.id) : text('content'),
      layoutId: layout,
      from: senderName ? { name: senderName } : undefined,
    })
  }
  members.take('contentType')
  if (type === 'push') return filled({ subject: text('title'), body: text('content') })
  if (type !== 'in_app') return filled({ body: text('content') })
  const cta = members.members('cta')
  const [data, action] = [cta.take('data'), cta.take('action')]
  cta.take('type')
  cta.end()
  const buttons = isJson(action) && Array.isArray(action.buttons) ? action.buttons.filter(isJson) : []
  const url = isJson(data) && typeof data.url === 'string' ? fromHandlebars(data.url, digest.id).liquid : ''
  const button = (wanted: string) => {
    const found = buttons.find((each) => each.type === wanted)
    return found && typeof found.content === 'string' && found.content !== ''
      ? { label: fromHandlebars(found.content, digest.id).liquid }
      : undefined
  }
  return filled({
    subject: text('subject'),
    body: text('content'),
    avatar: members.text('avatar'),
    redirect: url === '' ? undefined : { url },
    primaryAction: button('primary'),
    secondaryAction: button('secondary'),
  })
}

const withoutIds = ({ _id: _, ...rest }: Json): Json => filled(rest)

/** The simple editor of version 1 knows texts and buttons. */
function blocksToHtml(blocks: Json[], digestId: string | undefined): string {
  return blocks
    .map((block) => {
      const content = fromHandlebars(String(block.content ?? ''), digestId).liquid
      const url = fromHandlebars(String(block.url ?? ''), digestId).liquid
      return block.type === 'button' ? `<p><a href="${url}">${content}</a></p>` : `<p>${content}</p>`
    })
    .join('\n')
}
