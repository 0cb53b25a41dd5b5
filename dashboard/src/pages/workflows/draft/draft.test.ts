import { describe, expect, test } from 'vitest'
import { ApiError } from '../../../api/client.ts'
import { retryAfterMs, type SaveState } from './draft.ts'

const failed = (error: Error): SaveState => ({ state: 'failed', error })
const answered = (status: number) => failed(new ApiError(status, {}))

describe('autosave', () => {
  test.each([
    ['a 503', answered(503)],
    ['a 500', answered(500)],
    ['no connection', answered(0)],
  ])('tries again five seconds after %s', (_, save) => {
    expect(retryAfterMs(save, true)).toBe(5_000)
  })

  test.each([
    ['a refusal', answered(422)],
    ['a bug', failed(new TypeError('x is undefined'))],
    ['a success', { state: 'saved' } as const],
    ['a save in progress', { state: 'saving' } as const],
  ])('does not try again after %s', (_, save) => {
    expect(retryAfterMs(save, true)).toBeUndefined()
  })

  test('never tries again where the user saves with a button', () => {
    expect(retryAfterMs(answered(503), false)).toBeUndefined()
  })
})
