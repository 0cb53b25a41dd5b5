import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { HeldMoment, realOf } from '../../db/core/held-clock.ts'
import { newId, timeOfId } from '../../db/core/ids.ts'

test('an id made at a moment of a held clock has the real time', () => {
  const real = new Date('2026-05-01T10:00:00Z')
  const held = new HeldMoment(new Date('2031-01-01T00:00:00Z'), real)
  expect(timeOfId(newId(held))).toEqual(real)
  expect(timeOfId(newId(real))).toEqual(real)
  expect(realOf(held)).toBe(real)
  expect(held.toISOString()).toBe('2031-01-01T00:00:00.000Z')
})

/** What reads the database's clock: when a job of the queue is due, which is its own affair. */
const ofQueue = /queue_job\(|graphile_worker\.|FROM workers|run_at = now\(\)|locked_at/

test('no statement of the engine reads the clock of the database for its own times', () => {
  const folder = new URL('../', import.meta.url)
  const files = ['core', 'runs', 'consent'].flatMap((room) =>
    readdirSync(new URL(`${room}/`, folder))
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
      .map((file) => `${room}/${file}`),
  )
  const found = files.flatMap((file) => {
    const text = readFileSync(new URL(file, folder), 'utf8')
    const statements = [...text.matchAll(/`[^`]*`/g)].map(([each]) => each)
    return statements
      .filter((each) =>
        /\b(now|clock_timestamp|statement_timestamp|transaction_timestamp)\(\)|\bcurrent_(timestamp|time|date)\b/i.test(
          each,
        ),
      )
      .filter((each) => !ofQueue.test(each))
      .map((each) => `${file}: ${each.slice(0, 100)}`)
  })
  expect(found).toEqual([])
})
