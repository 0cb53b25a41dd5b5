import { expect, test, vi } from 'vitest'
import { GroupCommit } from './group-commit.ts'

/** Commits that end when the test says so. */
function useCommits(limits: {
  lanes?: number
  lanesWhenFull?: number
  leastShare?: number
  mostItems: number
  mostItemsWhenFull?: number
  isSlow?(): boolean
  paceMs?: number
}) {
  const under: Array<{ items: number[]; end(): void; fail(error: Error): void }> = []
  const commits = new GroupCommit<number, string>(
    (items) =>
      new Promise((resolve, reject) => {
        const leave = () => under.splice(under.indexOf(one), 1)
        const one = {
          items,
          end() {
            leave()
            resolve(items.map((item) => `stored ${item}`))
          },
          fail(error: Error) {
            leave()
            reject(error)
          },
        }
        under.push(one)
      }),
    (error) => (error as Error).message === 'outage',
    { ...limits, mostSize: Number.POSITIVE_INFINITY, sizeOf: () => 1 },
  )
  const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const endAll = async () => {
    while (under.length > 0) {
      under[0]?.end()
      await settled()
    }
  }
  return { commits, under, settled, endAll, sizes: () => under.map(({ items }) => items.length) }
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

test('items that arrive together share a commit; those that arrive during it share the next', async () => {
  const { commits, under, settled, sizes } = useCommits({ mostItems: 10 })
  const first = numbers(3).map((number) => commits.add(number))
  await settled()
  const second = commits.add(3)
  await settled()
  expect(sizes()).toEqual([3])
  under[0]?.end()
  expect(await Promise.all(first)).toEqual(['stored 0', 'stored 1', 'stored 2'])
  await settled()
  expect(sizes()).toEqual([1])
  under[0]?.end()
  expect(await second).toBe('stored 3')
})

test('more lanes open only while whole groups wait, and the rest is still committed', async () => {
  const { commits, under, settled, endAll, sizes } = useCommits({ lanes: 2, lanesWhenFull: 4, mostItems: 10 })
  const all = numbers(55).map((number) => commits.add(number))
  await settled()
  expect(sizes()).toEqual([10, 10, 10, 10])
  // Fifteen wait: one whole group, then half of one, for which the two busy lanes are enough.
  under[0]?.end()
  await settled()
  expect(sizes()).toEqual([10, 10, 10, 10])
  under[0]?.end()
  await settled()
  expect(sizes()).toEqual([10, 10, 10])
  under[0]?.end()
  await settled()
  expect(sizes()).toEqual([10, 10])
  under[0]?.end()
  await settled()
  expect(sizes()).toEqual([10, 5])
  await endAll()
  expect(await Promise.all(all)).toEqual(numbers(55).map((number) => `stored ${number}`))
})

test('another lane begins once a share of what is committed waits; the same lane goes on with less', async () => {
  const { commits, under, settled, endAll, sizes } = useCommits({ lanes: 2, leastShare: 0.5, mostItems: 10 })
  const all = numbers(8).map((number) => commits.add(number))
  await settled()
  all.push(...numbers(3).map((number) => commits.add(number)))
  await settled()
  expect(sizes()).toEqual([8])
  all.push(commits.add(0))
  await settled()
  expect(sizes()).toEqual([8, 4])
  // For the second lane one is too few beside eight. Of the first it is the next, once all eight are stored.
  all.push(commits.add(0))
  under[1]?.end()
  await settled()
  expect(sizes()).toEqual([8])
  under[0]?.end()
  await settled()
  expect(sizes()).toEqual([1])
  await endAll()
  expect(await Promise.all(all)).toHaveLength(13)
})

test('groups grow when enough items wait for another one', async () => {
  const { commits, under, settled, endAll, sizes } = useCommits({ lanes: 2, mostItems: 10, mostItemsWhenFull: 20 })
  const all = numbers(49).map((number) => commits.add(number))
  await settled()
  expect(sizes()).toEqual([20, 10])
  const more = numbers(11).map((number) => commits.add(number))
  under[0]?.end()
  await settled()
  expect(sizes()).toEqual([10, 20])
  await endAll()
  expect(await Promise.all([...all, ...more])).toHaveLength(60)
})

test('a group ends before it grows too large, and what is too large by itself goes alone', async () => {
  const groups: number[][] = []
  const commits = new GroupCommit<number, number>(
    async (items) => {
      groups.push(items)
      return items
    },
    () => true,
    { mostItems: 100, mostSize: 10, sizeOf: (item) => item },
  )
  await Promise.all([4, 4, 4, 25, 6, 4].map((size) => commits.add(size)))
  expect(groups).toEqual([[4, 4], [4], [25], [6, 4]])
})

test('one lane and no larger groups while isSlow says so', async () => {
  let isSlow = true
  const many = { lanes: 2, lanesWhenFull: 3, mostItems: 10, mostItemsWhenFull: 20 }
  const { commits, under, settled, endAll, sizes } = useCommits({ ...many, isSlow: () => isSlow })
  const all = numbers(60).map((number) => commits.add(number))
  await settled()
  expect(sizes()).toEqual([10])
  isSlow = false
  under[0]?.end()
  await settled()
  expect(sizes()).toEqual([20])
  await endAll()
  expect(await Promise.all(all)).toHaveLength(60)
})

test('paced items gather for a while, unless a whole group waits', async () => {
  const { commits, under, settled, sizes } = useCommits({ mostItems: 3, paceMs: 500 })
  const all = [commits.add(0)]
  await settled()
  under[0]?.end()
  await settled()
  all.push(commits.add(1))
  await settled()
  all.push(commits.add(2))
  await vi.waitFor(() => expect(sizes()).toEqual([2]), { timeout: 10_000 })
  all.push(...numbers(3).map((number) => commits.add(number)))
  under[0]?.end()
  await settled()
  expect(sizes()).toEqual([3])
  under[0]?.end()
  expect(await Promise.all(all)).toHaveLength(6)
})

test('an item that cannot be stored fails alone; an outage fails all', async () => {
  const { commits, under, settled } = useCommits({ mostItems: 10 })
  const results = Promise.allSettled(numbers(2).map((number) => commits.add(number)))
  await settled()
  under[0]?.fail(new Error('not this'))
  await settled()
  expect(under.map(({ items }) => items)).toEqual([[0]])
  under[0]?.fail(new Error('not this'))
  await settled()
  under[0]?.end()
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])

  const lost = Promise.allSettled(numbers(2).map((number) => commits.add(number)))
  await settled()
  under[0]?.fail(new Error('outage'))
  expect((await lost).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
})
