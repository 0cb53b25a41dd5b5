// What each step of a workflow would do with one example: whether its condition holds, row by row, why its content could not be
// rendered, and which variables no known payload has. Nothing is sent or stored.
import { sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import type { WorkflowRow, WorkflowStep } from '../../db/queries/workflows.ts'
import { RenderError } from '../../render/limits.ts'
import type { Situation } from '../../render/liquid.ts'
import { type Path, stepTemplates } from '../../steps/check/templates.ts'
import type { ControlValues, StepType } from '../../steps/contract/kind.ts'
import { ruleIn } from '../../steps/contract/step-run.ts'
import { allSteps, mapSteps } from '../../steps/contract/tree.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import { dataFor, previewHere, type Surroundings, situationFor, Texts } from './preview.ts'
import type { PreviewError } from './preview-error.ts'
import type { PreviewPayload } from './preview-example.ts'

interface Checked {
  workflow: WorkflowRow
  /** Instead of the stored ones, by `stepId`. */
  controlValues: Readonly<Record<string, ControlValues>>
  previewPayload: PreviewPayload
}

export interface StepCheck {
  stepId: string
  /** Whether the step's condition holds; null if it cannot be evaluated. */
  holds: boolean | null
  /** The same for each row and group of the condition, by its place: `0.1` is the second row of the first group. */
  rows: Record<string, boolean | null>
  /** Why the content cannot be rendered. */
  error?: PreviewError
  /** Variables of the payload that none of the known payloads has. */
  unknownVariables: string[]
}

export async function checkSteps(surroundings: Surroundings, checked: Checked): Promise<StepCheck[]> {
  const { db, access, now } = surroundings
  const { controlValues, previewPayload } = checked
  const steps = mapSteps(checked.workflow.steps, (step) => withGiven(step, controlValues[step.stepId]))
  const workflow = { ...checked.workflow, steps }
  const texts = new Texts(db, access.id, workflow)
  const payloads = [...(previewPayload.payload ? [previewPayload.payload] : []), ...(await lastPayloads(db, workflow))]
  const found: StepCheck[] = []
  for (const step of allSteps(steps)) {
    // Rendering is work of the processor: others get their turn in between.
    await new Promise(setImmediate)
    const values = step.controlValues ?? {}
    const data = dataFor(access, { workflow, step, values, given: previewPayload, now, isExact: true })
    const task = { workflow, step, values, data }
    const of = situationFor(task, now, surroundings.linkBase)
    const rows: StepCheck['rows'] = {}
    const holds = isEmptyRule(values.skip) ? true : judge(values.skip, of, '', rows)
    const { error } = await previewHere(surroundings, task, texts)
    const unknownVariables = payloads.length === 0 ? [] : unknownIn(step, payloads)
    found.push({ stepId: step.stepId, holds, rows, ...(error ? { error } : {}), unknownVariables })
  }
  return found
}

/** The steps in the arms of a branch are given by their own ids. */
function withGiven(step: WorkflowStep, given: ControlValues | undefined): WorkflowStep {
  if (!given) return step
  return { ...step, controlValues: step.type === 'branch' ? { ...step.controlValues, skip: given.skip } : given }
}

const mostPayloads = 5

/** Of the last triggers that began a run. */
async function lastPayloads(db: Db, { environment_id, id }: WorkflowRow): Promise<unknown[]> {
  const { rows } = await sql<{ payload: unknown }>`
    SELECT e.payload FROM (
      SELECT DISTINCT event_id FROM (
        SELECT event_id FROM notifications WHERE environment_id = ${environment_id} AND workflow_id = ${id}
        ORDER BY id DESC LIMIT ${mostPayloads}) last) last
      JOIN events e ON e.environment_id = ${environment_id} AND e.id = last.event_id`.execute(db)
  return rows.map(({ payload }) => payload)
}

const isEmptyRule = (rule: unknown) =>
  rule === undefined || rule === null || (typeof rule === 'object' && Object.keys(rule).length === 0)

/** The places are those of `checkCondition`. */
function judge(rule: unknown, of: Situation, path: string, rows: StepCheck['rows']): boolean | null {
  const { and, or } = (typeof rule === 'object' && rule !== null ? rule : {}) as Record<string, unknown>
  for (const [index, member] of Array.isArray(and ?? or) ? ((and ?? or) as unknown[]).entries() : [])
    judge(member, of, path === '' ? `${index}` : `${path}.${index}`, rows)
  const result = attempt(() => ruleIn(rule, of))
  const holds = result && 'holds' in result ? result.holds : null
  rows[path] = holds
  return holds
}

/** A value of the condition may be a template that cannot be rendered. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof RenderError) return undefined
    throw error
  }
}

const mostVariables = 50

function unknownIn({ type, controlValues }: WorkflowStep, payloads: readonly unknown[]): string[] {
  const found = new Set<string>()
  for (const { path, analysis } of stepTemplates(controlValues ?? {}, stepKinds[type as StepType])) {
    if (path === 'skip' || path.endsWith('.condition')) continue
    const optional = new Set(analysis.optional)
    for (const variable of analysis.variables) {
      const [root, ...rest] = variable.segments
      if (root !== 'payload' || rest.length === 0 || optional.has(variable.path)) continue
      if (!payloads.some((payload) => has(payload, rest))) found.add(variable.path)
    }
  }
  return [...found].slice(0, mostVariables)
}

const listMembers = new Set(['size', 'length', 'first', 'last'])

function has(value: unknown, [first, ...rest]: Path): boolean {
  if (first === undefined) return value !== undefined && value !== null
  if (first === null) return true
  if (typeof value === 'string') return first === 'size'
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) {
    if (typeof first === 'number' || listMembers.has(first)) return true
    // Blocks name an item's members as if they were the list's.
    return value.length === 0 || value.some((item) => has(item, [first, ...rest]))
  }
  return Object.hasOwn(value, first) && has((value as Record<string, unknown>)[first], rest)
}
