// The branch: the run goes on in the first arm whose condition holds, and then behind it.
import { constantJson, storableJson } from '../../db/core/storable.ts'
import { RenderError } from '../../render/limits.ts'
import { readBy } from '../contract/condition-reads.ts'
import { type ControlValues, objectSchema, openObject, pickFilled, type StepKind, skip } from '../contract/kind.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import { ruleIn, type StepRun, situationOf } from '../contract/step-run.ts'
import { type Arm, armsOf, defaultOf, unnamedDefault } from '../contract/tree.ts'

const name = { type: 'string', minLength: 1, maxLength: 64 }
const steps = { type: 'array', items: openObject }
const end = { type: 'boolean', default: false }

/** What became of an arm: null is "not asked any more". */
interface AskedArm {
  name: string
  held: boolean | null
  read: Record<string, unknown>
}

export const branch: StepKind = {
  type: 'branch',
  isWait: true,
  emptyResult: { arm: null, index: null, ended: false },
  literals: ['arms', 'default'],

  begin(of) {
    const { arms, otherwise } = waysOf(of.step)
    const asked: AskedArm[] = []
    let taken: number | null = null
    for (const [index, { name: armName, condition }] of arms.entries()) {
      if (taken !== null) {
        asked.push({ name: armName, held: null, read: {} })
        continue
      }
      const answer = ask(of, condition)
      if ('error' in answer)
        return failed(answer.error, armName, [
          ...asked,
          ...arms.slice(index).map((arm) => ({ name: arm.name, held: null, read: {} })),
        ])
      asked.push({ name: armName, ...answer })
      if (answer.held) taken = index
    }
    const { output, details } = (taken === null ? undefined : arms[taken]) ?? otherwise
    return { kind: 'enter', arm: taken, output, delivery: { arms: asked }, details }
  },

  conditionsOf: ({ arms }) =>
    (Array.isArray(arms) ? (arms as Array<ControlValues | null>) : []).map((arm, index) => ({
      path: `arms.${index}.condition`,
      rule: arm?.condition,
      isRequired: true,
    })),

  dataSchema: objectSchema(
    {
      skip,
      arms: {
        type: 'array',
        minItems: 1,
        maxItems: 10,
        items: objectSchema({ name, condition: openObject, steps, end }, ['name', 'steps']),
      },
      default: objectSchema({ name, steps, end }, ['steps']),
    },
    ['arms'],
  ),
  normalise: (values) => pickFilled(values, ['skip', 'arms', 'default']),
  resultSchema: () =>
    objectSchema({ arm: { type: 'string' }, index: { type: ['integer', 'null'] }, ended: { type: 'boolean' } }, [
      'arm',
      'index',
      'ended',
    ]),
  /** The steps of its arms have previews of their own. */
  preview: (values) => ({
    arms: armsOf({ type: 'branch', controlValues: values }).map((arm) => ({ name: arm.name })),
  }),
}

/** An arm as runs take it. What it gives is the same for all of them. */
interface Way {
  name: string
  condition: unknown
  output: Record<string, unknown>
  details: Detail[]
}

interface Ways {
  arms: Way[]
  otherwise: Way
}

const ways = new WeakMap<object, Ways>()

function waysOf(step: StepRun['step']): Ways {
  const known = ways.get(step)
  if (known) return known
  const made = {
    arms: armsOf(step).map((arm, index) => wayOf(arm, index)),
    otherwise: wayOf(defaultOf(step) ?? { name: unnamedDefault }, null),
  }
  ways.set(step, made)
  return made
}

function wayOf(
  { name: arm, condition, end: ends }: Pick<Arm<unknown>, 'name' | 'condition' | 'end'>,
  index: number | null,
): Way {
  const output = constantJson({ arm, index, ended: ends === true })
  return { name: arm, condition, output, details: [detail('arm_taken', storableJson(output))] }
}

/** An arm without a condition always holds. */
function ask(
  of: StepRun,
  condition: unknown,
): (Omit<AskedArm, 'name' | 'held'> & { held: boolean }) | { error: string } {
  if (condition === undefined || condition === null) return { held: true, read: {} }
  const known = situationOf(of)
  try {
    const result = ruleIn(condition, known)
    if ('error' in result) return { error: result.error.message }
    return { held: result.holds, read: readBy(condition, known, of.run.environment.secretValues) }
  } catch (error) {
    // A value of the condition may be a template.
    if (error instanceof RenderError) return { error: error.message }
    throw error
  }
}

const failed = (error: string, arm: string, arms: AskedArm[]): StepOutcome => ({
  kind: 'fail',
  reason: 'step_condition',
  error: `The condition of the arm "${arm}" could not be evaluated: ${error}`,
  stops: true,
  delivery: { arms },
  details: [detail('arm_failed', { arm, error })],
})
