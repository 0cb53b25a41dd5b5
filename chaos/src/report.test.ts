import { expect, test } from 'vitest'
import type { Account } from './account.ts'
import type { Finding } from './books.ts'
import type { Outcome } from './chaos.ts'
import { type FaultKind, faultKinds, makePlan } from './plan.ts'
import { neverPlayed, reportLines, verdictOf } from './report.ts'

const command = 'npm run chaos -- --seed x'

function outcomeWith(findings: Finding[], faults: Partial<Outcome['faults']> = {}): Outcome {
  const triggers = { inbox: { sent: 7, accepted: 7, runs: 7 } } as Account['triggers']
  return {
    account: {
      findings,
      triggers,
      steps: {},
      canceled: 0,
      reports: { sent: 0, understood: 0 },
      refusals: 0,
      inboxes: 0,
    },
    faults: { ...played(1), ...faults },
    settledInMs: 3_000,
    statuses: new Map([[201, 7]]),
    manners: { taken: 7 },
    deaths: 0,
    logged: {},
  } as unknown as Outcome
}

const played = (done: number) =>
  Object.fromEntries(faultKinds.map((kind) => [kind, { done, missed: 3 }])) as Outcome['faults']

test('a run without findings exits with 0 and prints nothing more', () => {
  expect(verdictOf(outcomeWith([]), command)).toEqual({ exitCode: 0, lines: [] })
})

test.each<Finding['kind']>(['lost', 'duplicated', 'wrong', 'stuck'])(
  'one %s finding is printed, and the run exits with 1',
  (kind) => {
    const outcome = outcomeWith([{ kind, what: 'the mail of t-7' }])
    expect(verdictOf(outcome, command)).toEqual({ exitCode: 1, lines: [`Repeat it with: ${command}`] })
    const plan = makePlan({ seed: 'x', minutes: 0.1, perSecond: 1, people: 2, pauseMs: 1_000 })
    const lines = reportLines(plan, outcome)
    expect(lines).toContain(`  ${kind}: the mail of t-7`)
    expect(lines.find((line) => line.startsWith('lost '))).toContain(`${kind} 1`)
  },
)

test('a fault that was due but never played makes the run exit with 1', () => {
  const outcome = outcomeWith([], { 'kill during a call': { done: 0, missed: 3 } })
  expect(verdictOf(outcome, command)).toEqual({
    exitCode: 1,
    lines: ['Never played, though due: kill during a call', `Repeat it with: ${command}`],
  })
})

test('a fault with few turns, or without the right to mount a disk, is not reported', () => {
  const faults = played(1)
  for (const kind of ['kill a worker', 'fill the disk'] satisfies FaultKind[])
    faults[kind] = { done: 0, missed: kind === 'fill the disk' ? 9 : 2 }
  expect(neverPlayed({ faults })).toEqual([])
})
