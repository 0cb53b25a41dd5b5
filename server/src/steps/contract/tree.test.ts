import { expect, test } from 'vitest'
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import { allSteps, mapSteps, placeOf, placesOf, someStep, stepsIn } from './tree.ts'

const step = (stepId: string, more: Partial<WorkflowStep> = {}): WorkflowStep => ({
  ...{ _id: `id-${stepId}`, stepId, name: stepId, type: 'in_app', controlValues: null },
  ...more,
})
const branch = (stepId: string, arms: WorkflowStep[][], otherwise?: WorkflowStep[], more: Partial<WorkflowStep> = {}) =>
  step(stepId, {
    type: 'branch',
    controlValues: {
      arms: arms.map((steps, index) => ({ name: `arm ${index}`, steps })),
      ...(otherwise ? { default: { name: 'else', steps: otherwise } } : {}),
    },
    ...more,
  })

const tree = [
  step('a'),
  branch('b', [[step('c'), branch('d', [[step('e')]])], [step('f', { active: false })]], [step('g')]),
  branch('h', [[step('i')]], undefined, { active: false }),
  step('j'),
]

test('a list has the positions it always had: those of its active steps', () => {
  const list = [step('a'), step('b', { active: false }), step('c')]
  expect(placesOf(list).map(({ position }) => position)).toEqual([0, undefined, 1])
  expect(stepsIn(list).map((place) => [place.step.stepId, place.position])).toEqual([
    ['a', 0],
    ['c', 1],
  ])
})

test('the positions of an arm lie between its branch and what follows', () => {
  expect(placesOf(tree).map(({ step: { stepId }, position }) => `${stepId} ${position ?? '-'}`)).toEqual([
    ...['a 0', 'b 1', 'c 2', 'd 3', 'e 4', 'f -', 'g 5', 'h -', 'i -', 'j 6'],
  ])
  const idsIn = (within?: { id: string; arm: number | null }) => stepsIn(tree, within).map((one) => one.step.stepId)
  expect(idsIn()).toEqual(['a', 'b', 'j'])
  expect(idsIn({ id: 'id-b', arm: 0 })).toEqual(['c', 'd'])
  expect(idsIn({ id: 'id-b', arm: 1 })).toEqual([])
  expect(idsIn({ id: 'id-b', arm: null })).toEqual(['g'])
})

test('a path names the arms, and a step knows what it can read', () => {
  expect(placeOf(tree, 'id-e')?.path).toEqual([
    { stepId: 'b', arm: 'arm 0' },
    { stepId: 'd', arm: 'arm 0' },
  ])
  const earlier = (id: string) => placeOf(tree, id)?.earlier.map(({ stepId }) => stepId)
  expect(earlier('id-e')).toEqual(['a', 'b', 'c', 'd'])
  expect(earlier('id-g')).toEqual(['a', 'b'])
  expect(earlier('id-j')).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'])
})

test('all steps are found and changed in the order of the flow; other kinds may have arms of their own', () => {
  const seen: string[] = []
  const changed = mapSteps(tree, (one) => {
    seen.push(one.stepId)
    return { ...one, name: one.name.toUpperCase() }
  })
  expect(seen).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'])
  expect(allSteps(changed).map(({ name }) => name)).toEqual(seen.map((name) => name.toUpperCase()))
  expect(allSteps(tree).map(({ name }) => name)).toEqual(seen)
  expect(someStep(tree, ({ stepId }) => stepId === 'i')).toBe(true)
  const custom = step('x', { type: 'custom', controlValues: { arms: [{ steps: [step('y')] }] } })
  expect(allSteps([custom])).toEqual([custom])
})
