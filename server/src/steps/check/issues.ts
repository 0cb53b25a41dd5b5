// The issues of a step, computed when it is shown: a step is stored as it comes, and its author sees what is wrong.
import { Cron } from 'croner'
import { hasPrimary } from '../../db/core/integration-facts.ts'
import { hasLiquid } from '../../render/liquid.ts'
import type { Translator } from '../../render/translations.ts'
import { checkCondition } from '../conditions/check.ts'
import { type ControlValues, type StepKind, type StepType, unitSeconds } from '../contract/kind.ts'
import { allowedValues, compileOwnSchema, compileSchema } from '../json-schema/json-schema.ts'
import { type JsonSchema, type Problem, SchemaCostError, SchemaError } from '../json-schema/run.ts'
import { longestWaitDays, longestWaitMs } from '../kinds/duration.ts'
import { stepKinds } from '../kinds/index.ts'
import { templateIssues } from './template-issues.ts'
import { conditionsIn, stepTemplates } from './templates.ts'
import { allows, tenantVariables } from './variables.ts'

export interface ControlIssue {
  issueType:
    | 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE'
    | 'INVALID_FILTER_ARG_IN_VARIABLE'
    | 'INVALID_URL'
    | 'MISSING_VALUE'
    | 'TIER_LIMIT_EXCEEDED'
  variableName?: string
  message: string
}

export interface IntegrationIssue {
  issueType: 'MISSING_INTEGRATION' | 'INBOX_NOT_CONNECTED'
  message: string
}

/** By the dotted path of the control. */
export type ControlIssues = Record<string, ControlIssue[]>

interface CheckedStep {
  type: string
  controlValues: ControlValues | null
  /** For a step declared in code. */
  controlSchema?: JsonSchema
}

/**
 * @param variables what the step can use; references in it resolve in `payloadSchema`
 * @param translator the texts in the default locale, if its keys are to be checked
 */
export function controlIssues(
  step: CheckedStep,
  variables: JsonSchema,
  payloadSchema: JsonSchema | null,
  translator?: Translator,
): ControlIssues {
  const issues = new Map<string, Map<string, ControlIssue>>()
  let left = mostIssues
  const add = (path: string, issue: ControlIssue) => {
    const others = issues.get(path) ?? new Map<string, ControlIssue>()
    const key = JSON.stringify(issue)
    if (left <= 0 || others.has(key)) return
    left -= 1
    issues.set(path, others.set(key, issue))
  }
  const kind = stepKinds[step.type as StepType] as StepKind | undefined
  const values = step.controlValues ?? {}
  if (step.controlSchema) for (const [path, issue] of declaredIssues(step.controlSchema, values)) add(path, issue)
  else if (kind) for (const [path, issue] of schemaIssues(kind, values)) add(path, issue)
  const readable = readableBy(kind, variables)
  const offered = variables.properties as Record<string, JsonSchema>
  const inConditions = { ...variables, properties: { ...offered, ...kind?.conditionVariables } }
  for (const { path, analysis } of stepTemplates(values, kind))
    for (const issue of templateIssues(analysis, { variables: readable, references: payloadSchema, translator }))
      add(path, issue)
  // What code declared under that name is its own business.
  if (!step.controlSchema)
    for (const { path, rule, isRequired } of conditionsIn(values, kind)) {
      for (const issue of conditionIssues(rule, path === 'skip' ? variables : inConditions, payloadSchema))
        add(path, issue)
      if (isRequired && isEmptyRule(rule))
        add(path, { issueType: 'MISSING_VALUE', variableName: '', message: noCondition })
    }
  return Object.fromEntries([...issues].map(([path, found]) => [path, [...found.values()]]))
}

const noCondition = 'Condition is required: an arm without one always holds'
const isEmptyRule = (rule: unknown) =>
  rule === undefined || rule === null || (typeof rule === 'object' && Object.keys(rule).length === 0)

/** Adds variables that exist only sometimes, or for this kind only, and are therefore not offered. */
function readableBy(kind: StepKind | undefined, variables: JsonSchema): JsonSchema {
  const offered = variables.properties as Record<string, JsonSchema>
  // The actor has the same variables as the subscriber.
  const besides = { actor: offered.subscriber, tenant: tenantVariables, ...kind?.ownVariables?.schema }
  return { ...variables, properties: { ...offered, ...besides } }
}

/** For one step; nobody reads more. */
const mostIssues = 200

type Found = [path: string, issue: ControlIssue]

function schemaIssues(kind: StepKind, values: ControlValues): Found[] {
  const normal = kind.normalise(values)
  const schema = kind.variantSchema?.(normal) ?? kind.dataSchema
  const problems = compileOwnSchema(schema)(normal)
  const own = (kind.issuesIn?.(normal) ?? []).map(
    ({ path, ...issue }): Found => [path, { ...issue, variableName: path }],
  )
  return [...issuesOf(problems, schema, kind), ...waitIssues(kind.waitOf?.(normal)), ...own]
}

/** For controls declared in code, a blank value counts as absent. */
function declaredIssues(schema: JsonSchema, values: ControlValues): Found[] {
  try {
    return issuesOf(compileSchema(schema)(withoutBlanks(values)), schema, {})
  } catch (error) {
    // It cannot be checked here; the code itself will do it.
    if (error instanceof SchemaError || error instanceof SchemaCostError) return []
    throw error
  }
}

function withoutBlanks(value: unknown): unknown {
  if (typeof value === 'string') return value.trim() === '' ? null : value
  if (Array.isArray(value)) return value.map(withoutBlanks)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutBlanks(member)]))
}

const usualUrlText = 'Invalid URL. Must be a full URL, a path starting with / or start with a {{variable}}'
const isUrl = (path: string) => /(?:^|\.)url$|^avatar$|(?:^|\.)redirect$/.test(path)
/** They only repeat that something inside them failed. */
const unions = new Set(['anyOf', 'oneOf', 'if', 'propertyNames'])

function issuesOf(
  problems: Problem[],
  schema: JsonSchema,
  { missingTexts = {}, urlText = usualUrlText }: Partial<StepKind>,
): Found[] {
  const found: Found[] = []
  const urls = new Set<string>()
  for (const problem of problems) {
    const { keyword, property } = problem
    const named = keyword === 'required' || keyword === 'additionalProperties'
    const path = [...problem.path, ...(named && property !== undefined ? [property] : [])].join('.')
    // Conditions have their own check.
    if (path === 'skip' || path.startsWith('skip.')) continue
    if (isUrl(path) && (keyword === 'pattern' || unions.has(keyword))) {
      if (!urls.has(path)) found.push([path, { issueType: 'INVALID_URL', variableName: path, message: urlText }])
      urls.add(path)
      continue
    }
    if (unions.has(keyword)) continue
    const message = missingTexts[path] ?? textOf(problem, path, schema)
    found.push([path, { issueType: 'MISSING_VALUE', variableName: path, message }])
  }
  return found
}

function textOf(problem: Problem, path: string, schema: JsonSchema): string {
  const { keyword, message } = problem
  const field = wordsOf(path)
  if (keyword === 'required' || keyword === 'minLength') return `${field} is required`
  if (keyword === 'additionalProperties') return `${field} is not a known field`
  const allowed = keyword === 'enum' ? allowedValues(schema, problem) : undefined
  return allowed === undefined ? `${field} ${message}` : `${field} must be one of ${allowed}`
}

/** `primaryAction.label` in words: "Primary action label". */
function wordsOf(path: string): string {
  const words = path.replaceAll('.', ' ').replaceAll(/([a-z\d])([A-Z])/g, (_, before: string, letter: string) => {
    return `${before} ${letter.toLowerCase()}`
  })
  return words === '' ? 'The value' : words.charAt(0).toUpperCase() + words.slice(1)
}

const longestWaitSeconds = longestWaitMs / 1000
const longestCron = 255

function waitIssues(wait: ReturnType<NonNullable<StepKind['waitOf']>>): Found[] {
  if (!wait) return []
  const limit = (path: string): Found => [
    path,
    {
      issueType: 'TIER_LIMIT_EXCEEDED',
      variableName: path,
      message: `The maximum is ${longestWaitDays} days`,
    },
  ]
  if ('amount' in wait) {
    const seconds = Number(wait.amount) * (unitSeconds[wait.unit as keyof typeof unitSeconds] ?? 0)
    return seconds > longestWaitSeconds ? [limit('amount'), limit('unit')] : []
  }
  const { cron } = wait
  if (typeof cron !== 'string' || hasLiquid(cron)) return []
  const gap = longestGapOf(cron)
  if (gap === undefined) {
    const message = 'Cron is not an expression that ever matches'
    return [['cron', { issueType: 'MISSING_VALUE', variableName: 'cron', message }]]
  }
  return gap > longestWaitSeconds ? [limit('cron')] : []
}

/** Any date will do: from the start of a leap year, two years or fifty matches show the longest gap. */
const from = Date.UTC(2024, 0, 1)
const until = Date.UTC(2026, 0, 1)

/** The longest gap between two matches in seconds; undefined for an invalid expression or one that never matches. */
function longestGapOf(expression: string): number | undefined {
  if (expression.length > longestCron) return undefined
  try {
    const cron = new Cron(expression, { utcOffset: 0 })
    let [last, longest] = [cron.nextRun(new Date(from)), 0]
    if (!last) return undefined
    for (let i = 0; i < 50 && last && last.getTime() < until; i += 1) {
      const next = cron.nextRun(last)
      longest = Math.max(longest, next ? (next.getTime() - last.getTime()) / 1000 : Number.POSITIVE_INFINITY)
      last = next
    }
    return longest
  } catch {
    return undefined
  }
}

function conditionIssues(rule: unknown, variables: JsonSchema, payloadSchema: JsonSchema | null): ControlIssue[] {
  if (rule === undefined || rule === null) return []
  return checkCondition(rule, (field) => allows(variables, field.split('.'), payloadSchema)).map(
    ({ path, kind, message }) => ({ issueType: kind, variableName: path, message }),
  )
}

export interface ActiveIntegration {
  channel: string
  is_primary: boolean
  provider_id?: string
  /** Whether an inbox client has ever connected. */
  connected: boolean
}

/** By the type of the step. */
export function integrationIssues(
  type: string,
  active: readonly ActiveIntegration[],
): Record<string, IntegrationIssue[]> | undefined {
  const channel = stepKinds[type as StepType]?.channel
  if (channel === undefined) return undefined
  const own = active.filter((integration) => integration.channel === channel)
  const issue = issueOf(channel, own)
  // With a sandbox integration somebody is trying things out; an inbox that is not built yet is no issue.
  if (issue?.issueType === 'INBOX_NOT_CONNECTED' && active.some(isSandbox)) return undefined
  return issue && { [type]: [issue] }
}

const isSandbox = ({ provider_id }: ActiveIntegration) => provider_id?.startsWith('svc-') === true

function issueOf(channel: string, own: readonly ActiveIntegration[]): IntegrationIssue | undefined {
  if (hasPrimary(channel))
    return own.some((integration) => integration.is_primary)
      ? undefined
      : { issueType: 'MISSING_INTEGRATION', message: 'Missing active primary integration provider' }
  if (own.length === 0) return { issueType: 'MISSING_INTEGRATION', message: 'Missing active integration provider' }
  if (channel !== 'in_app' || own.some((integration) => integration.connected)) return undefined
  return { issueType: 'INBOX_NOT_CONNECTED', message: 'No inbox has connected to this environment yet' }
}
