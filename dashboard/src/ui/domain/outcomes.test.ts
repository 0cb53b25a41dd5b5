import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { runOutcome, stepOutcome } from './outcomes.tsx'

type Outcome = Parameters<typeof runOutcome>[0]
const job = (status: string, more: object = {}) =>
  ({ status, type: 'email', messages: [], ...more }) as unknown as Outcome['jobs'][number]
const run = (status: string, lifecycle: string, jobs: Outcome['jobs']) =>
  runOutcome({ status, deliveryLifecycle: { status: lifecycle }, jobs } as Outcome).word

describe('one word for one outcome', () => {
  test.each([
    ['skipped', 'canceled'],
    ['canceled', 'canceled'],
    ['skipped', 'skipped'],
  ])('a run that is %s, with a step that is %s, is skipped; so is the step', (lifecycle, status) => {
    expect([run('completed', lifecycle, [job(status)]), stepOutcome(job(status)).word]).toEqual(['Skipped', 'Skipped'])
  })

  test.each([
    ['processing', 'pending', [job('delayed')], 'In progress'],
    ['completed', 'sent', [job('completed')], 'Sent'],
    ['completed', 'interacted', [job('completed')], 'Seen'],
    // What a preference turned off was not meant to arrive.
    ['completed', 'sent', [job('completed'), job('canceled', { reason: 'preference' })], 'Sent'],
    ['error', 'sent', [job('completed'), job('failed', { type: 'sms' })], 'Partly sent'],
    ['completed', 'sent', [job('completed', { reason: 'missing_push_token', type: 'push' })], 'Partly sent'],
    ['completed', 'sent', [job('completed'), job('completed', { messages: [{ status: 'error' }] })], 'Partly sent'],
    ['completed', 'errored', [job('completed', { type: 'update_subscriber' })], 'Done'],
    // A goal was met.
    ['completed', 'errored', [job('failed')], 'Done'],
    ['error', 'errored', [job('failed')], 'Failed'],
    ['error', 'errored', [job('completed', { type: 'digest' }), job('failed')], 'Failed'],
  ])('a run %s, %s', (status, lifecycle, jobs, word) => {
    expect(run(status, lifecycle, jobs)).toBe(word)
  })

  test.each([
    [job('completed'), 'Sent'],
    [job('completed', { type: 'delay' }), 'Done'],
    [job('completed', { messages: [{ status: 'error' }] }), 'Failed'],
    [job('queued'), 'Pending'],
    [job('merged'), 'Merged'],
  ])('a step', (one, word) => expect(stepOutcome(one).word).toBe(word))

  test('no screen has words of its own', () => {
    const source = path.join(import.meta.dirname, '../..')
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
      /(?<!\.test)\.tsx?$/.test(file),
    )
    const own = files.filter((file) =>
      /(skipped|canceled|merged|interacted): \{ ?(word|tone)/.test(readFileSync(path.join(source, file), 'utf8')),
    )
    expect(own).toEqual(['ui/domain/outcomes.tsx'])
  })
})
