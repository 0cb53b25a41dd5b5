import { describe, expect, test } from 'vitest'
import { shortLog, wholeLog } from './step-log.ts'
import type { StoredDetail } from './tables.ts'

const step = { createdAt: new Date('2026-11-17T10:00:00.123Z'), providerId: 'svc', output: null }
const at = step.createdAt.toISOString()
const usual: StoredDetail[] = [
  { at, detail: 'Step queued', status: 'Pending' },
  { at, detail: 'Message created', status: 'Pending', providerId: 'svc' },
  { at, detail: 'Message sent', status: 'Success', providerId: 'svc' },
]

describe('the log of a step', () => {
  test('is stored as numbers where it says nothing new, and read as it was', () => {
    expect(shortLog(usual, step)).toEqual([0, 3, 5])
    expect(wholeLog(shortLog(usual, step), step)).toEqual(usual)
  })

  test('tells of the arm of a branch by its output', () => {
    const branch = { ...step, output: { arm: 'Paid', index: 0, ended: false } }
    const taken = (raw: string): StoredDetail => ({
      ...{ at, detail: 'The run goes on in an arm of the branch', status: 'Success', raw },
    })
    const line = taken('{"arm":"Paid","index":0,"ended":false}')
    expect(shortLog([line], branch)).toEqual([6])
    expect(wholeLog([6], branch)).toEqual([line])
    const others = [taken('{"arm":"Due","index":1,"ended":false}'), { ...line, messageId: 'm' }]
    expect(shortLog(others, branch)).toEqual(others)
  })

  test('keeps every line that differs in anything', () => {
    const others: StoredDetail[] = [
      { at: '2026-11-17T10:00:01.000Z', detail: 'Step queued', status: 'Pending' },
      { at, detail: 'Step queued', status: 'Failed' },
      { at, detail: 'Message sent', status: 'Success', providerId: 'twilio' },
      { at, detail: 'Message sent', status: 'Success', messageId: 'm' },
      { at, detail: 'Message sent', status: 'Success', providerId: 'svc', raw: '{}' },
      { at, detail: 'Filter failed', status: 'Failed' },
    ]
    expect(shortLog(others, step)).toEqual(others)
    expect(wholeLog(others, step)).toBe(others)
  })

  test('may hold lines that were added later, and old logs without numbers', () => {
    const later: StoredDetail = { at: '2026-11-18T10:00:00.000Z', detail: 'Message snoozed', status: 'Pending' }
    expect(wholeLog([0, later], step)).toEqual([usual[0], later])
    expect(wholeLog([], step)).toEqual([])
  })
})
