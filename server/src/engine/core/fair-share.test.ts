// One environment's flood does not hold up another's notification: waiting work takes turns between environments.
import { expect, test } from 'vitest'
import { inApp, makeWorkflow, type Step, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { FairShare } from './fair-share.ts'
import { GroupCommit } from './group-commit.ts'

const server = useServer()
const flood = 700

/** Triggers the workflow for everybody in the flood, then for one person in another environment. */
async function floodAndOne(step: Step): Promise<{ flooded: Api; other: Api }> {
  const flooded = (await server.freshOrganization()).development
  const other = (await server.freshOrganization()).development
  for (const api of [flooded, other]) await makeWorkflow(api, 'news', [step])
  for (let at = 0; at < flood; at += 100)
    await trigger(
      flooded,
      'news',
      Array.from({ length: 100 }, (_, index) => person(`many-${at + index}`)),
    )
  await trigger(other, 'news', person('one'))
  return { flooded, other }
}

const person = (subscriberId: string) => ({ subscriberId, phone: '+14155550100' })

const messagesIn = async ({ environmentId }: Api) => {
  const { rows } = await server.database.pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM messages WHERE environment_id = $1',
    [environmentId],
  )
  return rows[0]?.count ?? 0
}

/** Works until the one message is stored. @returns how many of the flood had their message by then */
async function doneBefore({ flooded, other }: { flooded: Api; other: Api }): Promise<number> {
  let before: number | undefined
  await server.drain(async (work) => {
    if (before !== undefined) return
    await work()
    if ((await messagesIn(other)) === 1) before = await messagesIn(flooded)
  })
  return before ?? Number.NaN
}

test('a run in another environment starts before a flood is through', async () => {
  // The first five hundred are no flood yet; none of the later ones starts before.
  expect(await doneBefore(await floodAndOne(inApp()))).toBeLessThanOrEqual(600)
})

test('a message of another environment is sent before those of a flood', async () => {
  const sms = { type: 'sms', controlValues: { body: 'News' } }
  expect(await doneBefore(await floodAndOne(sms))).toBeLessThanOrEqual(600)
})

test('an environment that asks for more falls farther behind, and catches up with time', () => {
  const shares = new FairShare()
  const start = new Date('2026-05-01T10:00:00Z')
  const later = (seconds: number) => new Date(start.getTime() + seconds * 1000)
  expect([250, 250, 500, 1_000, 2_000].map((count) => shares.note('heavy', count, start))).toEqual([0, 0, 1, 2, 3])
  expect(shares.note('light', 1, start)).toBe(0)
  expect(shares.note('heavy', 1_000_000, later(10))).toBe(3)
  expect(shares.note('heavy', 0, later(10))).toBe(9)
  expect(shares.note('heavy', 0, later(200))).toBe(0)
  // A clock that steps back changes nothing.
  expect(shares.note('light', 0, later(-100))).toBe(0)
})

test('a steady ten a second is never behind', () => {
  const shares = new FairShare()
  const levels = new Set<number>()
  for (let tenth = 0; tenth < 10_000; tenth += 1) levels.add(shares.note('steady', 1, new Date(tenth * 100)))
  expect([...levels]).toEqual([0])
})

test('when a commit is too small for all, every environment gets a place in the next one', async () => {
  const commits: string[][] = []
  let release: (() => void) | undefined
  const first = new Promise<void>((resolve) => {
    release = resolve
  })
  const group = new GroupCommit(
    async (items: string[]) => {
      commits.push(items)
      if (commits.length === 1) await first
      return items
    },
    () => true,
    { mostItems: 3, mostSize: 100, sizeOf: () => 1, ownerOf: (item) => item.slice(0, 1) },
  )
  const added = ['a0'].map((item) => group.add(item))
  await expect.poll(() => commits).toHaveLength(1)
  added.push(...['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((item) => group.add(item)))
  release?.()
  await Promise.all(added)
  expect(commits).toEqual([['a0'], ['a1', 'b1', 'c1'], ['a2', 'b2', 'a3'], ['a4']])
})
