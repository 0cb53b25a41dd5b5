import { expect, test } from 'vitest'
import type { DraftStep } from './draft.ts'
import { allItems, armsAround, emptyArm, itemAfter, itemBefore, itemBeside, spotOfItem } from './flow-items.ts'
import { deepestBranch, moveStep, nestingOf, spotToward, stepsBefore, wrapStep } from './tree.ts'

const step = (stepId: string, more: Partial<DraftStep> = {}): DraftStep => ({
  ...{ stepId, name: stepId, type: 'in_app', controlValues: {}, active: true },
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

// a, b (arm 0: c, d (arm 0: e); arm 1: nothing; else: f), g
const tree = [step('a'), branch('b', [[step('c'), branch('d', [[step('e')]])], []], [step('f')]), step('g')]
const idsFrom = (id: string, next: (id: string) => string | undefined) => {
  const found: string[] = []
  for (let at: string | undefined = id; at !== undefined; at = next(at)) found.push(at)
  return found
}

test('down and up go along the flow, through the arm that was visited last', () => {
  expect(idsFrom('a', (id) => itemAfter(tree, id, {}))).toEqual(['a', 'b', 'c', 'd', 'e', 'g'])
  expect(idsFrom('g', (id) => itemBefore(tree, id, {}))).toEqual(['g', 'e', 'd', 'c', 'b', 'a'])
  expect(idsFrom('a', (id) => itemAfter(tree, id, { b: 'default' }))).toEqual(['a', 'b', 'f', 'g'])
  expect(idsFrom('g', (id) => itemBefore(tree, id, { b: 1 }))).toEqual(['g', 'b:1', 'b', 'a'])
})

test('left and right go from arm to arm, at the same height where there is one', () => {
  expect(itemBeside(tree, 'd', 1)).toBe(emptyArm({ stepId: 'b', arm: 1 }))
  expect(itemBeside(tree, 'b:1', 1)).toBe('f')
  expect(itemBeside(tree, 'b:1', -1)).toBe('c')
  expect(itemBeside(tree, 'f', 1)).toBeUndefined()
  expect(itemBeside(tree, 'e', 1)).toBeUndefined()
  expect(itemBeside(tree, 'a', 1)).toBeUndefined()
  expect(armsAround(tree, 'e')).toEqual({ d: 0, b: 0 })
  expect(spotOfItem(tree, 'b:0')).toBeUndefined()
  expect(allItems(tree)).toEqual(['a', 'b', 'c', 'd', 'e', 'b:1', 'f', 'g'])
})

test('a step moves along its list, out of its arm, and into the arm beside', () => {
  const moved = (stepId: string, to: Parameters<typeof spotToward>[2]) => {
    const spot = spotToward(tree, stepId, to)
    return spot && spotOfItem(moveStep(tree, stepId, spot), stepId)
  }
  expect(moved('a', 'down')).toMatchObject({ at: 1 })
  expect(moved('a', 'up')).toBeUndefined()
  expect(moved('c', 'up')).toEqual({ within: undefined, at: 1 })
  expect(moved('d', 'down')).toEqual({ within: undefined, at: 2 })
  expect(moved('e', 'down')).toEqual({ within: { stepId: 'b', arm: 0 }, at: 2 })
  expect(moved('c', 'right')).toEqual({ within: { stepId: 'b', arm: 1 }, at: 0 })
  expect(moved('f', 'left')).toEqual({ within: { stepId: 'b', arm: 1 }, at: 0 })
  expect(moved('f', 'right')).toBeUndefined()
  expect(moved('a', 'right')).toEqual({ within: { stepId: 'b', arm: 0 }, at: 0 })
  expect(moved('g', 'right')).toEqual({ within: { stepId: 'b', arm: 0 }, at: 2 })
  expect(moved('a', 'left')).toBeUndefined()
})

test('a step is wrapped in a branch, and nesting is counted', () => {
  expect([nestingOf([step('a')]), nestingOf(tree)]).toEqual([0, 2])
  const wrapped = wrapStep(tree, 'e', branch('new', [[]], []))
  expect(spotOfItem(wrapped, 'e')).toEqual({ within: { stepId: 'new', arm: 0 }, at: 0 })
  expect(nestingOf(wrapped)).toBe(deepestBranch)
})

test('a step may read what is on its way, and all arms of branches that are over', () => {
  const before = (id: string) => stepsBefore(tree, id).map(({ stepId }) => stepId)
  expect(before('e')).toEqual(['a', 'b', 'c', 'd'])
  expect(before('f')).toEqual(['a', 'b'])
  expect(before('g')).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})
