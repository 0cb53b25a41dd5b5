// The rules of a cancel over runs in memory; cancel.test.ts has the cancel as a caller sees it.
import { describe, expect, test } from 'vitest'
import { cancelWaits, type OutlinedJob } from './canceling.ts'

const now = new Date('2026-11-18T12:00:00.000Z')
const later = new Date('2026-11-18T13:00:00.000Z')

function job(status: OutlinedJob['status'], dueAt: Date | null = null): OutlinedJob {
  return { position: 0, type: 'email', status, reason: null, error: null, dueAt, details: [], isChanged: false }
}
const cancel = (jobs: OutlinedJob[], isCollected = false) => {
  const run = { id: 'run', status: 'processing' as const, jobs }
  return { canceled: cancelWaits([run], () => isCollected, now).map((each) => each.job), run }
}

describe('canceling a trigger', () => {
  test('with nothing that waits leaves its later steps alone', () => {
    const jobs = [job('running'), job('pending'), job('pending')]
    expect(cancel(jobs)).toMatchObject({ canceled: [], run: { status: 'processing' } })
    expect(jobs).toEqual([job('running'), job('pending'), job('pending')])
  })

  test('ends what waits, and the steps after it', () => {
    const jobs = [job('completed'), job('delayed', later), job('pending')]
    expect(cancel(jobs).canceled).toEqual(jobs.slice(1))
    for (const each of jobs.slice(1))
      expect(each).toMatchObject({ status: 'canceled', reason: 'canceled_by_user', dueAt: null })
    expect(jobs[0]).toEqual(job('completed'))
  })

  test('ends a call that waits to be made again, not one under way', () => {
    expect(cancel([job('queued', later)]).canceled).toHaveLength(1)
    expect(cancel([job('queued')]).canceled).toEqual([])
  })

  test('takes its event out of a digest only while that collects', () => {
    expect(cancel([job('merged')], true).canceled).toHaveLength(1)
    expect(cancel([job('merged')], false).canceled).toEqual([])
  })
})
