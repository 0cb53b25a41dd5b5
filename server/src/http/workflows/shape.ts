// Workflows in the API's format: the fields of requests and answers.
import { type Static, type TSchema, type TString, Type } from 'typebox'
import type { Db } from '../../db/core/database.ts'
import { envKeysOf, rotaIdsOf } from '../../db/core/environment-access.ts'
import { quietHours, type Journey as StoredJourney } from '../../db/core/tables.ts'
import { brakeOf } from '../../db/queries/brakes.ts'
import { listIntegrations } from '../../db/queries/integrations.ts'
import { defaultTexts } from '../../db/queries/translations.ts'
import {
  onUnknownChoices,
  type StepVariant,
  switchesOf,
  type WorkflowRow,
  type WorkflowStep,
} from '../../db/queries/workflows.ts'
import { examplePayload } from '../../engine/authoring/payload-example.ts'
import { completePreferences, type WorkflowPreferences } from '../../engine/core/preferences.ts'
import { revisionOf } from '../../engine/definitions/revision.ts'
import { workflowDefinition } from '../../engine/definitions/workflow-definition.ts'
import { type Around, issuesOfSteps, statusOf, variablesOfSteps } from '../../steps/check/inspect.ts'
import { type ActiveIntegration, type ControlIssues, integrationIssues } from '../../steps/check/issues.ts'
import { extensionKinds, type StepType, stepTypes } from '../../steps/contract/kind.ts'
import { withLists } from '../../steps/contract/tree.ts'
import { wireKind, wireSchema, wireType, wireValues } from '../../steps/contract/wire.ts'
import type { JsonSchema } from '../../steps/json-schema/run.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import type { Brand } from '../edge/brand.ts'
import type { Services } from '../edge/resource.ts'
import { Body, Enum, FreeObject, Identifier, Nullable, NullableTimestamp, Timestamp } from '../edge/schema.ts'
import { slugOf } from '../edge/slug.ts'
import { Files, filesOf } from './owned-by-files.ts'
import { OwnStepFilter, StepFilters } from './step-filter.ts'

export const origins = ['svc-cloud', 'svc-cloud-v1', 'external'] as const
/** May be refused (offers, news), or not. */
export const messageClasses = ['transactional', 'commercial'] as const
export const Severity = Enum(['high', 'medium', 'low', 'none'])
const lengthRules = ['minLength', 'maxLength', 'maxItems', 'uniqueItems']

/** May be absent; null means the same. */
export const Maybe = <T extends TSchema>(schema: T) => {
  const { type, enum: values } = schema as { type?: string; enum?: unknown[] }
  const choice = values && {
    enum: [...values, null],
    texts: { enum: `must be one of the following values: ${values.join(', ')}` },
  }
  return Type.Optional(Type.Unsafe<Static<T> | null>({ ...schema, type: [type, 'null'], ...choice }))
}

const separated = '^[a-zA-Z0-9]+(?:[-_.][a-zA-Z0-9]+)*$'
const separatedText =
  'must consist of letters and digits, with single hyphens, underscores or periods between them only'
/** The identifier of a workflow or a step. */
export const OwnIdentifier = Identifier({ pattern: separated, texts: { pattern: separatedText } })

/** Why it cannot be one, for text that no schema has checked. */
export function identifierProblem(text: string): string | undefined {
  if (text.length > 255) return 'must be shorter than or equal to 255 characters'
  return new RegExp(separated).test(text) ? undefined : separatedText
}

const ReplyCallback = Body(
  { active: Type.Optional(Type.Boolean()), url: Type.Optional(Type.String({ maxLength: 2048 })) },
  { description: 'Where replies to its emails go' },
)

const mostGoals = 5
const Goal = Body(
  {
    name: Type.String({ minLength: 1, maxLength: 64 }),
    for: Type.Optional(
      Type.Array(FreeObject, {
        ...{ minItems: 1, maxItems: 10 },
        description: 'What it waits for, written as that of a step `wait_for_event`',
      }),
    ),
    condition: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        ...FreeObject,
        description: 'Asked of what `for` finds; without `for`, before each step',
      }),
    ),
  },
  { description: 'The first that is met ends the run' },
)

const Journey = Body(
  {
    cancellationKey: Maybe(
      Type.String({
        maxLength: 1024,
        description: 'A template over `payload` and `context`: what runs can be cancelled by',
      }),
    ),
    quietHours: Maybe(
      Enum(quietHours, {
        description:
          'What becomes of steps outside the subscriber’s schedule; left out, as the environment’s guards say',
      }),
    ),
    goals: Maybe(Type.Array(Goal, { maxItems: mostGoals })),
    exemptFromCaps: Maybe(
      Type.Boolean({ description: 'Its messages neither count in caps nor are held back by them' }),
    ),
  },
  { description: 'What concerns its runs as a whole. Left out it stays as it is; null: nothing' },
)

export type JourneyInput = Static<typeof Journey>

const ShownJourney = Type.Object({
  cancellationKey: Type.Optional(Type.String()),
  quietHours: Type.Optional(Enum(quietHours)),
  exemptFromCaps: Type.Optional(Type.Boolean()),
  goals: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String(),
        for: Type.Optional(Type.Array(FreeObject)),
        condition: Type.Optional(FreeObject),
      }),
    ),
  ),
})

const mostVariants = 20
const Variant = Body(
  {
    _id: Maybe(Type.String()),
    name: Maybe(Type.String({ maxLength: 128 })),
    active: Maybe(Type.Boolean()),
    filters: StepFilters,
    controlValues: Maybe(FreeObject),
  },
  {
    description: 'Alternative values of the step; the first variant whose filters pass is used',
  },
)

const Tracking = Body(
  {
    opens: Maybe(Type.Boolean({ description: 'Whether emails have an image that tells when they are opened' })),
    clicks: Maybe(
      Type.Boolean({ description: 'Whether links in emails lead through this service, which counts clicks' }),
    ),
  },
  {
    description:
      'What is counted of its emails; the law may ask for consent. Members left out stay as they are; null counts nothing',
  },
)
export type TrackingInput = Static<typeof Tracking>

/** The fields of a workflow that any write can set. Limits are reported per field of the command. */
export function workflowFields(command: string, under?: string, { anyStepId = false } = {}) {
  const perField = { command, rules: lengthRules, ...(under === undefined ? {} : { under }) }
  const Name = Type.String({ minLength: 1, maxLength: 128, perField })
  const Tag = Type.String({ minLength: 1, maxLength: 64, perField })
  return {
    name: Name,
    description: Type.String({ maxLength: 256, perField }),
    tags: Type.Array(Tag, { maxItems: 16, uniqueItems: true, perField }),
    active: Type.Boolean(),
    validatePayload: Type.Boolean(),
    payloadSchema: FreeObject,
    isTranslationEnabled: Type.Boolean(),
    severity: Severity,
    messageClass: Enum(messageClasses, {
      description:
        'Offers and news are `commercial`: people can unsubscribe. Left out it stays as it is; null: `transactional`',
    }),
    tracking: Tracking,
    journey: Journey,
    consentCategory: Type.String({
      pattern: '^[a-z0-9][a-z0-9_-]{0,63}$',
      description: 'Workflows of one category are unsubscribed together. Left out it stays as it is; null: none',
    }),
    steps: Type.Array(Body(stepFields({ name: Name, anyStepId }))),
  }
}

/** What a request can say of a step. */
export const stepFields = ({ name, anyStepId }: { name: TString; anyStepId: boolean }) => ({
  _id: Maybe(Type.String({ description: 'The id of an existing step, which keeps its `stepId`' })),
  // Code names its steps as it likes; `planSteps` checks the names of new ones.
  stepId: Maybe(anyStepId ? Identifier() : OwnIdentifier),
  name,
  type: Enum([...stepTypes, ...extensionKinds]),
  controlValues: Maybe(FreeObject),
  active: Maybe(Type.Boolean({ description: 'False leaves it out of future runs' })),
  shouldStopOnFail: Maybe(Type.Boolean({ description: 'Whether its failure ends the run' })),
  onUnknown: Maybe(
    Enum(onUnknownChoices, {
      description:
        'After a crash or timeout that leaves open whether the message arrived: `retry` sends it again, `hold` does not. Default: the choice of the integration',
    }),
  ),
  replyCallback: Maybe(ReplyCallback),
  filters: Maybe(StepFilters),
  variants: Maybe(Type.Array(Variant, { maxItems: mostVariants })),
})

/** What a new workflow may say beside its name and steps. */
export const newWorkflowFields = (fields: ReturnType<typeof workflowFields>) => ({
  description: Maybe(fields.description),
  tags: Maybe(fields.tags),
  active: Maybe(fields.active),
  validatePayload: Maybe(fields.validatePayload),
  payloadSchema: Maybe(fields.payloadSchema),
  isTranslationEnabled: Maybe(fields.isTranslationEnabled),
  severity: Maybe(fields.severity),
  messageClass: Maybe(fields.messageClass),
  consentCategory: Maybe(fields.consentCategory),
  tracking: Maybe(fields.tracking),
  journey: Maybe(fields.journey),
  preferences: Maybe(PreferencesInput),
})

export type StepInput = Static<ReturnType<typeof workflowFields>['steps']>[number]

const Switch = Body({ enabled: Type.Optional(Type.Boolean()) })
const perChannel = <T extends TSchema>(schema: T) => ({
  email: schema,
  sms: schema,
  in_app: schema,
  chat: schema,
  push: schema,
})
const PreferenceInput = Body({
  all: Maybe(Body({ ...Switch.properties, readOnly: Type.Optional(Type.Boolean()) })),
  channels: Maybe(Body(perChannel(Maybe(Switch)))),
})
export const PreferencesInput = Body({
  user: Maybe(PreferenceInput),
  workflow: Maybe(PreferenceInput),
  default: Maybe({
    ...PreferenceInput,
    description: 'The same as `workflow`, as answers say it; counts only if `workflow` is absent',
  }),
})

const Preference = Type.Object({
  all: Type.Object({ enabled: Type.Boolean(), readOnly: Type.Boolean() }),
  channels: Type.Object(perChannel(Type.Object({ enabled: Type.Boolean() }))),
})

const Issue = Type.Object({
  issueType: Type.String(),
  variableName: Type.Optional(Type.String()),
  message: Type.String(),
})
const IssueMap = Type.Record(Type.String(), Type.Array(Issue))
export const StepIssues = Type.Object({ controls: Type.Optional(IssueMap), integration: Type.Optional(IssueMap) })
export const User = Type.Object({ _id: Type.String() })
export const Status = Enum(['ACTIVE', 'INACTIVE', 'ERROR'])

export const Step = Type.Object({
  controls: Type.Object({
    dataSchema: Type.Optional(FreeObject),
    uiSchema: Type.Optional(FreeObject),
    values: FreeObject,
  }),
  controlValues: FreeObject,
  variables: FreeObject,
  stepId: Type.String(),
  _id: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  type: Type.String(),
  kind: Type.Optional(
    Type.String({ description: 'Of a kind such as `branch`; where clients know ten types only, its type is `custom`' }),
  ),
  origin: Type.String(),
  workflowId: Type.String(),
  workflowDatabaseId: Type.String(),
  active: Type.Optional(Type.Boolean()),
  shouldStopOnFail: Type.Optional(Type.Boolean()),
  onUnknown: Type.Optional(Enum(onUnknownChoices)),
  replyCallback: Type.Optional(ReplyCallback),
  filters: Type.Optional(Type.Array(OwnStepFilter)),
  variants: Type.Optional(
    Type.Array(
      Type.Object({
        _id: Type.String(),
        name: Type.Optional(Type.String()),
        active: Type.Optional(Type.Boolean()),
        filters: Type.Array(OwnStepFilter),
        controlValues: FreeObject,
      }),
    ),
  ),
  issues: Type.Optional(StepIssues),
})

export const brakeCauses = ['bounces', 'complaints'] as const
export const Brake = Type.Object(
  {
    since: Type.String({ format: 'date-time' }),
    cause: Enum(brakeCauses),
    percent: Type.Number({ description: '`counted` of `sent`' }),
    sent: Type.Integer(),
    counted: Type.Integer(),
  },
  {
    description:
      'Set while a commercial workflow sends no email, because too much of it bounced or was complained about',
  },
)

/** What people may refuse, and what is counted. */
export const consentMembers = {
  messageClass: Enum(messageClasses),
  consentCategory: Nullable(Type.String()),
  tracking: Type.Object({ opens: Type.Boolean(), clicks: Type.Boolean() }),
  brake: Nullable(Brake),
}

export const Workflow = Type.Object({
  _id: Type.String(),
  workflowId: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  description: Type.String(),
  tags: Type.Array(Type.String()),
  active: Type.Boolean(),
  validatePayload: Type.Boolean(),
  payloadSchema: Type.Unsafe<JsonSchema | null>({ type: ['object', 'null'], additionalProperties: true }),
  payloadExample: Type.Optional(FreeObject),
  isTranslationEnabled: Type.Boolean(),
  severity: Severity,
  ...consentMembers,
  journey: Type.Optional(ShownJourney),
  origin: Type.String(),
  status: Status,
  issues: Type.Object({}, { description: 'Always empty: each step has its own issues' }),
  preferences: Type.Object({
    user: Type.Unsafe<WorkflowPreferences | null>({ ...Preference, type: ['object', 'null'] }),
    default: Preference,
  }),
  steps: Type.Array(Step),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  updatedBy: Type.Optional(User),
  lastPublishedAt: NullableTimestamp,
  lastPublishedBy: Type.Optional(User),
  lastTriggeredAt: NullableTimestamp,
  version: Type.Integer({ description: 'Every save that changes something makes the next one' }),
  revision: Type.String({
    description: 'SHA-256 of the definition; the same definition has the same revision in every environment',
  }),
  files: Type.Optional({ ...Files, description: 'Where it is kept in files; absent if they did not push it' }),
})

export const userOf = (name: 'updatedBy' | 'lastPublishedBy', id: string | null) =>
  id === null ? {} : { [name]: { _id: id } }

export const shownConsent = (row: Pick<WorkflowRow, 'message_class' | 'consent_category' | 'tracking' | 'brake'>) => ({
  messageClass: row.message_class === 'commercial' ? ('commercial' as const) : ('transactional' as const),
  consentCategory: row.consent_category,
  tracking: { opens: row.tracking?.opens ?? false, clicks: row.tracking?.clicks ?? false },
  brake: brakeOf(row),
})

/** What a write leaves out stays as it is, also in a PUT: official clients do not know these members. Null resets. */
export const consentAfter = (
  {
    messageClass,
    consentCategory,
    tracking,
  }: {
    messageClass?: string | null | undefined
    consentCategory?: string | null | undefined
    tracking?: TrackingInput | null | undefined
  },
  row?: Pick<WorkflowRow, 'message_class' | 'consent_category' | 'tracking'>,
): Pick<WorkflowRow, 'message_class' | 'consent_category' | 'tracking'> => ({
  message_class: (messageClass === undefined ? row?.message_class : messageClass) ?? 'transactional',
  consent_category: consentCategory === undefined ? (row?.consent_category ?? null) : consentCategory,
  tracking: trackingAfter(tracking, row?.tracking ?? null),
})

/** Member by member; nothing is stored where nothing is counted. */
function trackingAfter(
  given: TrackingInput | null | undefined,
  before: WorkflowRow['tracking'],
): WorkflowRow['tracking'] {
  if (given === undefined) return before
  const opens = given?.opens ?? (given && before?.opens) ?? false
  const clicks = given?.clicks ?? (given && before?.clicks) ?? false
  return opens || clicks ? { opens, clicks } : null
}

/** The same for what concerns the runs. Without members there is nothing. */
export function journeyAfter(
  given: JourneyInput | null | undefined,
  row?: Pick<WorkflowRow, 'journey'>,
): Pick<WorkflowRow, 'journey'> {
  if (given === undefined) return { journey: row?.journey ?? null }
  const { cancellationKey, quietHours: quiet, exemptFromCaps, goals } = given ?? {}
  const journey: StoredJourney = {
    ...(cancellationKey ? { cancellationKey } : {}),
    ...(quiet ? { quietHours: quiet } : {}),
    ...(exemptFromCaps ? { exemptFromCaps } : {}),
    ...(goals && goals.length > 0 ? { goals: goals as NonNullable<StoredJourney['goals']> } : {}),
  }
  return { journey: Object.keys(journey).length > 0 ? journey : null }
}

/** Leaves out empty lists. */
export function shownIssues(
  controls: ControlIssues,
  integration?: Static<typeof IssueMap>,
): { issues?: Static<typeof StepIssues> } {
  const issues = {
    ...(Object.keys(controls).length > 0 ? { controls } : {}),
    ...(integration ? { integration } : {}),
  }
  return Object.keys(issues).length > 0 ? { issues } : {}
}

interface StepInsight {
  variables: JsonSchema
  controls: ControlIssues
  integration?: Static<typeof IssueMap> | undefined
  /** Of the steps in its arms. */
  issuesOf(step: WorkflowStep): { issues?: Static<typeof StepIssues> }
}

/** What is in its arms, like the step itself: `_id`s can be sent back, the rest is dropped then. */
const shownValues = (step: WorkflowStep, issuesOf: StepInsight['issuesOf']): Record<string, unknown> =>
  withLists(step, (steps) =>
    steps.map((inner) => ({
      ...{ _id: inner._id, stepId: inner.stepId, slug: slugOf(inner.name, 'st', inner._id) },
      ...{ name: inner.name, type: inner.type, controlValues: shownValues(inner, issuesOf) },
      ...shownSwitches(inner),
      ...issuesOf(inner),
    })),
  ).controlValues ?? {}

function toStep(step: WorkflowStep, row: WorkflowRow, brand: Brand, insight: StepInsight): Static<typeof Step> {
  const kind = stepKinds[step.type as StepType]
  const values = wireValues(step.type, shownValues(step, insight.issuesOf), brand.word)
  const { controlSchema } = step
  return {
    controls: {
      dataSchema: controlSchema ?? wireSchema(step.type, kind?.dataSchema ?? {}, brand.word),
      ...(controlSchema || !kind?.uiSchema ? {} : { uiSchema: kind.uiSchema as object as Record<string, unknown> }),
      values,
    },
    controlValues: values,
    variables: insight.variables,
    stepId: step.stepId,
    _id: step._id,
    name: step.name,
    slug: slugOf(step.name, 'st', step._id),
    type: wireType(step.type, brand.word),
    ...wireKind(step.type),
    origin: brand.toWire(row.origin),
    workflowId: row.identifier,
    workflowDatabaseId: row.id,
    ...shownSwitches(step),
    ...shownIssues(insight.controls, insight.integration),
  }
}

function shownSwitches(step: WorkflowStep) {
  const { filters, variants, ...rest } = switchesOf(step)
  return {
    ...rest,
    ...(filters ? { filters: filters as OwnStepFilter[] } : {}),
    ...(variants ? { variants: variants.map(shownVariant) } : {}),
  }
}

const shownVariant = ({ filters, controlValues, ...variant }: StepVariant) => ({
  ...variant,
  filters: filters as OwnStepFilter[],
  controlValues: controlValues ?? {},
})

/** What the steps of an environment can name. */
export async function aroundOf(db: Db, environmentId: string): Promise<Around> {
  const [envKeys, rotas] = await Promise.all([envKeysOf(db, environmentId), rotaIdsOf(db, environmentId)])
  return { envKeys, rotas }
}

/** One step with its issues; issues of integrations are shown with the whole workflow only. */
export async function showStep(
  db: Db,
  brand: Brand,
  row: WorkflowRow,
  step: WorkflowStep,
): Promise<Static<typeof Step>> {
  const [around, texts] = await Promise.all([aroundOf(db, row.environment_id), textsOf(db, row)])
  const variables = variablesOfSteps(row, around.envKeys).get(step._id) ?? {}
  const issues = issuesOfSteps(row, around, texts)
  const controlsOf = ({ _id }: WorkflowStep) => issues.get(_id) ?? {}
  return toStep(step, row, brand, {
    ...{ variables, controls: controlsOf(step) },
    issuesOf: (inner) => shownIssues(controlsOf(inner)),
  })
}

const textsOf = async (db: Db, { id, environment_id, is_translation_enabled }: WorkflowRow) =>
  is_translation_enabled ? (await defaultTexts(db, environment_id, [id])).get(id) : undefined

/** The whole workflow; its issues reflect the environment's current integrations, variables and texts. */
export async function showWorkflow(
  { db, brand, clock }: Pick<Services, 'db' | 'brand' | 'clock'>,
  row: WorkflowRow,
): Promise<Static<typeof Workflow>> {
  const revision = revisionOf(workflowDefinition(row))
  const [around, files, active, texts] = await Promise.all([
    aroundOf(db, row.environment_id),
    filesOf(db, row.environment_id, { kind: 'workflow', id: row.identifier, revision }),
    listIntegrations(db, row.environment_id, { onlyActive: true }) as Promise<ActiveIntegration[]>,
    textsOf(db, row),
  ])
  const variables = variablesOfSteps(row, around.envKeys)
  const issues = issuesOfSteps(row, around, texts)
  const isLegacy = row.origin === 'svc-cloud-v1'
  const insightOf = (step: WorkflowStep) => ({
    controls: issues.get(step._id) ?? {},
    integration: integrationIssues(step.type, active),
  })
  const issuesOf = (step: WorkflowStep) => {
    const { controls, integration } = insightOf(step)
    return shownIssues(controls, integration)
  }
  return {
    _id: row.id,
    workflowId: row.identifier,
    slug: slugOf(row.name, 'wf', row.id),
    name: row.name,
    description: row.description,
    tags: row.tags,
    active: row.active,
    validatePayload: row.validate_payload,
    payloadSchema: row.payload_schema,
    ...(row.payload_schema && !isLegacy ? { payloadExample: examplePayload(row.payload_schema, clock.now()) } : {}),
    isTranslationEnabled: row.is_translation_enabled,
    severity: row.severity as Static<typeof Severity>,
    ...shownConsent(row),
    ...(row.journey ? { journey: row.journey } : {}),
    origin: brand.toWire(row.origin),
    status: statusOf(row, issues),
    issues: {},
    preferences: {
      user: row.user_preferences && completePreferences(row.user_preferences),
      default: completePreferences(row.preferences),
    },
    steps: row.steps.map((step) =>
      toStep(step, row, brand, { variables: variables.get(step._id) ?? {}, ...insightOf(step), issuesOf }),
    ),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...userOf('updatedBy', row.updated_by),
    lastPublishedAt: row.last_published_at,
    ...userOf('lastPublishedBy', row.last_published_by),
    lastTriggeredAt: row.last_triggered_at,
    version: row.version,
    revision,
    ...files,
  }
}
