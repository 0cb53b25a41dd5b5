// `test`: plays scenario files, each with its workflow of the folder in the place of the stored one; or lives through them.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { liveThrough } from '../../../scripts/live.mjs'
import {
  filesAt,
  junitOf,
  linesOf,
  type Played,
  type Scenario,
  scenariosIn,
  Unplayable,
} from '../../../scripts/scenario-files.mjs'
import { checkExpectations, expectations } from '../../../server/src/engine/simulation/expectations.ts'
import { momentMs } from '../../../server/src/engine/simulation/moments.ts'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { isObject, readFolder } from '../folder/read.ts'
import type { Definition } from '../folder/source.ts'
import { writeOutput } from '../folder/write.ts'
import { endsGently } from '../interrupts.ts'
import { readEnvironment } from '../remote.ts'
import type { Service } from '../service.ts'
import { refuseErrors } from './push.ts'

interface TestOptions {
  only?: string
  junit?: string
  live?: boolean
}

const rules = { momentMs, checkExpectations, expectations }

export async function test(
  context: Context,
  places: string[],
  { only, junit, live = false }: TestOptions,
): Promise<void> {
  const { terminal, dir } = context
  const drafts = existsSync(dir) ? draftsIn(context) : new Map<string, Definition>()
  const usual = path.join(dir, 'scenarios')
  // A folder that was just pulled has none. Whoever asks for some means them to be there.
  const hasNone = places.length === 0 && only === undefined && existsSync(dir) && !existsSync(usual)
  const scenarios = (hasNone ? [] : readScenarios(places.length > 0 ? places : [usual]))
    .filter(({ name }) => only === undefined || name.includes(only))
    .map((scenario) => withDraft(scenario, drafts))
  if (hasNone) terminal.warn(`There are no scenarios yet: ${usual} does not exist`)
  else if (scenarios.length === 0) throw new Failure('usage', 'no_scenarios', 'No scenario was found')
  const service = context.service()
  const played: Played[] = []
  // What is lived through has no refusals, only problems.
  if (live && scenarios.length > 0) await readEnvironment(service)
  for (const scenario of scenarios) {
    const one = await (live ? liveGently(service, scenario) : play(service, scenario))
    played.push(one)
    terminal.say(linesOf(one).join('\n'))
  }
  if (junit !== undefined) writeOutput(junit, junitOf(played))
  const hasFailed = (each: Played) => each.problem !== undefined || each.failed.length > 0
  const isSkipped = (each: Played) => each.skipped !== undefined
  const failed = played.filter(hasFailed).length
  const skipped = played.filter(isSkipped).length
  const passed = played.length - failed - skipped
  const results = played.map((each) => ({
    ...{ file: each.file, name: each.name, passed: !hasFailed(each) && !isSkipped(each) },
    ...{ problem: each.problem ?? null, skipped: each.skipped ?? null, expectations: each.failed },
  }))
  terminal.result(
    { passed, failed, skipped, results },
    () => `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`,
  )
  if (played.some(({ problem }) => problem !== undefined)) process.exitCode = 2
  else if (failed > 0) process.exitCode = 1
}

function readScenarios(places: string[]): Scenario[] {
  try {
    return places.flatMap(filesAt).flatMap(scenariosIn)
  } catch (error) {
    if (error instanceof Unplayable) throw new Failure('usage', 'scenario_unreadable', error.message)
    throw error
  }
}

/** Refuses files that cannot be read: the stored workflow would be played in their place. */
function draftsIn({ dir, terminal }: Context): Map<string, Definition> {
  const { resources, problems } = readFolder(dir)
  refuseErrors(terminal, problems, 'no scenario was played')
  return new Map(resources.filter(({ kind }) => kind === 'workflow').map(({ id, definition }) => [id, definition]))
}

/** A scenario of a stored version, or with a draft of its own, is played as it is. */
function withDraft(scenario: Scenario, drafts: ReadonlyMap<string, Definition>): Scenario {
  const { workflow } = scenario.body
  if (!isObject(workflow) || 'draft' in workflow || 'version' in workflow) return scenario
  const definition = drafts.get(String(workflow.workflowId))
  if (!definition) return scenario
  const { workflowId, ...draft } = definition
  return { ...scenario, body: { ...scenario.body, workflow: { workflowId, draft } } }
}

/** Ctrl-C ends it, once its environment is deleted. */
async function liveGently(service: Service, scenario: Scenario): Promise<Played> {
  const interrupted = new AbortController()
  const gentle = endsGently(() => interrupted.abort())
  try {
    const { signal } = interrupted
    const played = await liveThrough(service.place, scenario, { ...rules, signal })
    if (signal.aborted) throw new Failure('interrupted', 'interrupted', 'Interrupted')
    return played
  } finally {
    gentle.done()
  }
}

async function play(service: Service, scenario: Scenario): Promise<Played> {
  const { workflow } = scenario.body
  try {
    const answer = await service.post<{ expectations?: Played['failed'] }>('/v1/simulations', scenario.body)
    return { ...scenario, failed: (answer.expectations ?? []).filter(({ holds }) => !holds) }
  } catch (error) {
    // A workflow that was never pushed is played by itself.
    if (
      error instanceof Failure &&
      error.code === 'workflow_not_found' &&
      isObject(workflow) &&
      'workflowId' in workflow &&
      isObject(workflow.draft)
    ) {
      const { workflowId, draft } = workflow
      return play(service, { ...scenario, body: { ...scenario.body, workflow: { draft: { workflowId, ...draft } } } })
    }
    // What the service refuses is this scenario's problem; others may still be played. A key that opens nothing is not.
    const isOfKey = error instanceof Failure && (error.status === 401 || error.status === 403)
    if (error instanceof Failure && error.exitCode === 4 && !isOfKey)
      return { ...scenario, failed: [], problem: error.message }
    throw error
  }
}
