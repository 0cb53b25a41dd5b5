// What a change of workflows would do: their last triggers, played by the version of now and by the changed one.
import { neededIn, stepTemplates } from '../../steps/check/templates.ts'
import { read } from '../../steps/conditions/operators.ts'
import { variablesOf } from '../../steps/contract/step-run.ts'
import { allSteps } from '../../steps/contract/tree.ts'
import { stepKinds } from '../../steps/kinds/index.ts'
import type { WorkflowVersion } from '../core/memory.ts'
import { isActive } from '../runs/compose.ts'
import type { RunState } from '../runs/run-state.ts'
import type { TriggerRequest } from '../runs/trigger-request.ts'
import { type Difference, differenceOf, type Kind, keyOf, kinds, type PlayedSide, sidesOf } from './differences.ts'
import { Play } from './play.ts'
import { type Members, type Scenario, SimulationRefused, type Snapshot } from './scenario.ts'
import type { Brand } from './tools.ts'

const mostExamples = 20
const dayMs = 86_400_000
/** As far behind the last trigger as a wait can reach. */
const horizonMs = 366 * dayMs

export interface Waiting {
  runs: number
  steps: Array<{ stepId: string; type: string; runs: number; change: 'none' | 'changed' | 'removed' }>
}

export interface ReplayedTrigger {
  at: number
  request: TriggerRequest
  /** How many who had runs then are gone. */
  gone: number
}

export interface ChangedWorkflow {
  workflowId: string
  version: number | null
  waiting: Waiting
  token: string
  /** Undefined if there was and will be none. */
  after: WorkflowVersion | undefined
}

export interface Impact {
  workflows: ChangedWorkflow[]
  /** Undefined without triggers. */
  replay: Replay | undefined
  brand: Brand
  /** Whether the caller may see what people got. */
  hasExamples: boolean
}

interface Replay {
  scenario: Scenario
  snapshot: Snapshot
  /** In the order they came. */
  triggers: ReplayedTrigger[]
  after: Partial<Pick<Snapshot, 'layouts' | 'translations'>>
}

interface Played {
  triggers: ReplayedTrigger[]
  before: Side
  after: Side
}

interface Side {
  /** By trigger and person. */
  sides: Map<string, PlayedSide>
  runs: Map<string, RunState>
}

/** One answer for each workflow. */
export async function impactOf(impact: Impact): Promise<Members[]> {
  const played = impact.replay && (await replay(impact.replay, impact))
  return impact.workflows.map((workflow) => {
    const { workflowId, version, waiting, token } = workflow
    return {
      ...{ workflowId, version, waiting },
      variables: played ? variablesIn(workflow, played) : [],
      replay: compared(workflowId, played, impact.hasExamples),
      impactToken: token,
    }
  })
}

/** Of what is too large, the newest triggers that fit. */
async function replay(
  { scenario, snapshot, triggers: all, after }: Replay,
  { workflows, brand }: Impact,
): Promise<Played> {
  const changed = new Map(workflows.map((workflow) => [workflow.workflowId, workflow.after]))
  // Triggers name the workflow as it is called now.
  const afterOf = (workflow: WorkflowVersion) => ({
    ...(changed.get(workflow.identifier) ?? workflow),
    identifier: workflow.identifier,
  })
  const later = { ...snapshot, ...after, workflow: afterOf(snapshot.workflow), others: snapshot.others.map(afterOf) }
  for (let triggers = all; ; triggers = triggers.slice(Math.ceil(triggers.length / 2))) {
    const first = triggers[0]?.at ?? 0
    const last = triggers.at(-1)?.at ?? first
    const own = {
      ...{ ...scenario, startAt: first, horizonMs: last - first + horizonMs },
      inputs: scenario.inputs.slice(-triggers.length),
    }
    try {
      return { triggers, before: await sideOf(own, snapshot, brand), after: await sideOf(own, later, brand) }
    } catch (error) {
      const isTooLarge = error instanceof SimulationRefused && error.refusal.code === 'simulation_too_large'
      if (!isTooLarge || triggers.length === 1) throw error
    }
  }
}

async function sideOf(scenario: Scenario, snapshot: Snapshot, brand: Brand): Promise<Side> {
  const play = new Play(scenario, snapshot, brand)
  const sides = sidesOf(await play.all())
  const runs = new Map(
    [...play.runs.record.runs.values()].map(({ run }) => [keyOf(run.transactionId, run.subscriber.subscriber_id), run]),
  )
  return { sides, runs }
}

/** Everybody whom these triggers reached. */
const reachedBy = (triggers: ReplayedTrigger[]): Array<{ transactionId: string; subscriberId: string }> =>
  triggers.flatMap(({ request: { transactionId = '', recipients } }) =>
    (recipients ?? []).flatMap((each) =>
      'subscriberId' in each ? [{ transactionId, subscriberId: String(each.subscriberId) }] : [],
    ),
  )

function compared(workflowId: string, played: Played | undefined, hasExamples: boolean): Members {
  const triggers = (played?.triggers ?? []).filter(({ request }) => request.name === workflowId)
  const reached = reachedBy(triggers)
  const found = reached.flatMap((each) => {
    const key = keyOf(each.transactionId, each.subscriberId)
    const difference = differenceOf(played?.before.sides.get(key), played?.after.sides.get(key))
    return difference ? [{ ...each, ...difference }] : []
  })
  return {
    triggers: triggers.length,
    runs: reached.length,
    same: reached.length - found.length,
    different: found.length,
    left: triggers.reduce((sum, { gone }) => sum + gone, 0),
    kinds: Object.fromEntries(kinds.map((kind) => [kind, found.filter((each) => each.kind === kind).length])),
    examples: hasExamples ? examplesOf(found) : [],
  }
}

/** Some of every kind: one of each in turn. */
function examplesOf<Each extends Difference>(found: Each[]): Each[] {
  const of = new Map<Kind, Each[]>(kinds.map((kind) => [kind, found.filter((each) => each.kind === kind)]))
  const examples: Each[] = []
  for (let place = 0; place < mostExamples; place += 1)
    for (const kind of kinds) {
      const example = of.get(kind)?.[place]
      if (example && examples.length < mostExamples) examples.push(example)
    }
  return examples
}

/** What people write into templates: steps, and links that are made for each message, fill themselves. */
const roots: ReadonlySet<string> = new Set(['payload', 'subscriber', 'context', 'tenant', 'actor', 'env'])

/** What the changed workflow reads and some triggers leave empty. */
function variablesIn({ workflowId, after }: ChangedWorkflow, { triggers: all, ...played }: Played): Members[] {
  const triggers = all.filter(({ request }) => request.name === workflowId)
  const data = triggers.map((trigger) =>
    reachedBy([trigger]).flatMap(({ transactionId, subscriberId }) => {
      const key = keyOf(transactionId, subscriberId)
      const run = played.after.runs.get(key) ?? played.before.runs.get(key)
      return run ? [variablesOf(run)] : []
    }),
  )
  return allSteps(after?.steps ?? [])
    .filter(isActive)
    .flatMap(({ stepId, type, controlValues }) => {
      const { skip: _, ...texts } = controlValues ?? {}
      const paths = neededIn(stepTemplates(texts, stepKinds[type as keyof typeof stepKinds]))
        .filter(
          (path) => path.length > 1 && path.every((part) => typeof part === 'string') && roots.has(String(path[0])),
        )
        .map((path) => path.map(String))
      return [...new Map(paths.map((path) => [path.join('.'), path]))].flatMap(([name, path]) => {
        const missingIn = data.filter((people) => people.some((each) => isEmpty(read(each, path)))).length
        return missingIn === 0 ? [] : [{ stepId, name, missingIn, of: triggers.length }]
      })
    })
}

const isEmpty = (value: unknown) => value === undefined || value === null || value === ''
