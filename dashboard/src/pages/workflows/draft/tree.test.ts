import { expect, test } from 'vitest'
import type { DraftStep } from './draft.ts'
import { allSteps, changeStep, insertStep, listAt, moveStep, renamedCopy, spotOf } from './tree.ts'

const step = (stepId: string, more: Partial<DraftStep> = {}): DraftStep => ({
  ...{ _id: `id of ${stepId}`, stepId, name: stepId, type: 'in_app', controlValues: {}, active: true },
  ...{ shouldStopOnFail: false, onUnknown: undefined, replyCallback: null },
  ...more,
})
const branch = (stepId: string, arms: DraftStep[][], otherwise?: DraftStep[]): DraftStep =>
  step(stepId, {
    type: 'branch',
    controlValues: {
      arms: arms.map((steps, index) => ({ name: `${index}`, steps })),
      ...(otherwise ? { default: { name: 'else', steps: otherwise } } : {}),
    },
  })

const tree = [step('a'), branch('b', [[step('c'), branch('d', [[step('e')]])], []], [step('f')]), step('g')]
const names = (steps: readonly DraftStep[]) => allSteps(steps).map(({ stepId }) => stepId)

test('steps are listed in the order of the flow', () => {
  expect(names(tree)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
})

test('a step is changed, removed, added and moved wherever it stands', () => {
  const renamed = changeStep(tree, 'e', (one) => ({ ...one, name: 'E' }))
  expect(allSteps(renamed).find(({ stepId }) => stepId === 'e')?.name).toBe('E')
  expect(renamed[0]).toBe(tree[0])
  expect(names(changeStep(tree, 'd', () => undefined))).toEqual(['a', 'b', 'c', 'f', 'g'])
  expect(names(insertStep(tree, { at: 1 }, step('x')))).toEqual(['a', 'x', 'b', 'c', 'd', 'e', 'f', 'g'])
  const inArm = { within: { stepId: 'b', arm: 1 }, at: 0 }
  expect(listAt(insertStep(tree, inArm, step('x')), inArm.within).map(({ stepId }) => stepId)).toEqual(['x'])
  const toDefault = moveStep(tree, 'c', { within: { stepId: 'b', arm: 'default' }, at: 1 })
  expect(names(toDefault)).toEqual(['a', 'b', 'd', 'e', 'f', 'c', 'g'])
  expect(spotOf(tree, 'e')).toEqual({ within: { stepId: 'd', arm: 0 }, at: 0 })
  expect(spotOf(tree, 'nowhere')).toBeUndefined()
})

test('a copy of a branch has other ids throughout, and none of the server', () => {
  const taken = new Set(names(tree))
  const copy = renamedCopy(tree[1] as DraftStep, taken)
  expect(names([copy])).toEqual(['b-copy', 'c-copy', 'd-copy', 'e-copy', 'f-copy'])
  expect(allSteps([copy]).every(({ _id }) => _id === undefined)).toBe(true)
  expect(taken.size).toBe(12)
})
