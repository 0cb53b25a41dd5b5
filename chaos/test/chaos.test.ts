// A short `npm run chaos` with a fixed seed: every fault is played briefly, and everything accepted happens once. Also shows
// that the account notices each kind of failure.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { allSteps } from '../../server/src/steps/contract/tree.ts'
import { stepKinds } from '../../server/src/steps/kinds/index.ts'
import { build } from '../../server/test/program.ts'
import type { Finding } from '../src/books.ts'
import { Chaos, type Outcome } from '../src/chaos.ts'
import { statements } from '../src/faults.ts'
import { type FaultKind, faultKinds, fingerprint, makePlan } from '../src/plan.ts'
import { root } from '../src/processes.ts'
import { reportLines } from '../src/report.ts'
import { stepsOf } from '../src/workflows.ts'

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

const options = { seed: 'in the tests', minutes: 1.2, perSecond: 1.2, people: 9, pauseMs: 600, mostMs: 1_500 }
const plan = makePlan(options)
const lines: string[] = []
let chaos: Chaos
let outcome: Outcome

beforeAll(async () => {
  build()
  const say = (line: string) => void lines.push(line)
  chaos = new Chaos({ plan, roles: ['api', 'all', 'worker'], settleMs: 400_000, megabytes: 500, say })
  await chaos.start()
  await chaos.run()
  outcome = await chaos.account()
})

// biome-ignore lint/correctness/noEmptyPattern: vitest reads the pattern; the suite comes second
afterAll(async ({}, suite) => {
  const failed = suite.tasks.some((task) => task.result?.state === 'fail')
  await chaos?.stop({ keep: failed })
  // The last line says where the logs are.
  if (failed) process.stderr.write(`${lines.at(-1)}\n`)
})

test('a plan depends on its seed alone', () => {
  expect(fingerprint(makePlan(options))).toBe(fingerprint(plan))
  expect(fingerprint(makePlan({ ...options, seed: 'another' }))).not.toBe(fingerprint(plan))
  const first = plan.faults.slice(0, faultKinds.length).map(({ kind }) => kind)
  expect(new Set(first).size).toBe(faultKinds.length)
})

test('the workload has every kind of step, and processes are killed at statements that exist', () => {
  const types = new Set(Object.values(stepsOf('')).flatMap((steps) => allSteps(steps).map(({ type }) => type)))
  expect([...types].sort()).toEqual(Object.keys(stepKinds).sort())
  // And what of a kind has windows, tries or people of its own.
  const values = JSON.stringify(stepsOf(''))
  for (const name of ['retry', 'flushFirst', 'maxEvents', 'maxWindow', 'rota', 'topicKey', 'reminders'])
    expect(values).toContain(`"${name}"`)
  const folder = path.join(root, 'server/src/engine/core')
  const queries = readdirSync(folder)
    .filter((file) => file.endsWith('statements.ts'))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'))
    .join('')
  expect(Object.values(statements).filter((name) => !queries.includes(`'${name}'`))).toEqual([])
})

test('nothing accepted is lost, duplicated or stuck, whatever happens to the service', () => {
  const told = [...lines, ...reportLines(plan, outcome)].join('\n')
  expect(outcome.account.findings, told).toEqual([])
  const { sent, accepted } = Object.values(outcome.account.triggers).reduce((sum, row) => ({
    sent: sum.sent + row.sent,
    accepted: sum.accepted + row.accepted,
    runs: sum.runs + row.runs,
  }))
  expect(accepted).toBe(sent)
  // Events, answers and cancels by key were among it.
  expect(new Set(plan.followUps.map(({ kind }) => kind))).toEqual(new Set(['event', 'answer', 'cancel by key']))
})

/** These wait for a moment that may not come in time; and a small disk needs the right to mount one. */
const ambushes: FaultKind[] = [
  'kill between two statements',
  'kill after a call, before its record',
  'kill during a call',
  'kill after a commit, before its answer',
]
const mayBeMissed = new Set<FaultKind>([...ambushes, 'fill the disk'])

test('every fault was played, and the provider answered in every manner', () => {
  const told = lines.join('\n')
  expect(told).not.toContain('could not be played')
  const { faults } = outcome
  expect(
    faultKinds.filter((kind) => faults[kind].done + faults[kind].missed === 0),
    told,
  ).toEqual([])
  expect(
    faultKinds.filter((kind) => !mayBeMissed.has(kind) && faults[kind].done === 0),
    told,
  ).toEqual([])
  expect(ambushes.filter((kind) => faults[kind].done > 0).length, told).toBeGreaterThan(1)
  expect(Object.keys(outcome.manners).sort()).toEqual(
    ['half answered', 'limited', 'lost after', 'lost before', 'refused', 'slow', 'taken', 'unanswered'].sort(),
  )
})

/** Copies one row of a table under another id. */
const again = (table: string, where: string, end = 'ffffff') => `
  INSERT INTO ${table}
  SELECT (jsonb_populate_record(NULL::${table}, to_jsonb(t) || jsonb_build_object('id', overlay(t.id placing '${end}' from 19)))).*
  FROM ${table} t WHERE ${where} ORDER BY t.id LIMIT 1 RETURNING 1`

const one = (table: string, where: string) =>
  `id = (SELECT id FROM ${table} WHERE ${where} ORDER BY id DESC LIMIT 1) RETURNING 1`

/** A mail that the provider accepted at the first attempt, according to its log. */
const mailed = `type = 'email' AND status = 'completed' AND provider_id = 'email-webhook' AND attempts = 1
  AND details @> '[{"detail": "Message sent"}]' AND NOT details @> '[{"isRetry": true}]'`
const refusal = '{"detail": "The provider did not accept the message", "raw": "{\\"name\\": \\"rejected\\"}"}'

const tamperings: Array<[what: string, meddle: string, finding: { kind: Finding['kind']; what: RegExp }]> = [
  [
    'a missing message',
    `DELETE FROM messages WHERE ${one('messages', "channel = 'in_app' AND workflow = 'delayed'")}`,
    { kind: 'lost', what: /is completed .* with 0 messages/ },
  ],
  [
    'a duplicate message',
    again('messages', "channel = 'in_app' AND workflow = 'inbox'"),
    { kind: 'duplicated', what: /has 2 messages/ },
  ],
  [
    'an event missing from all digests',
    `UPDATE messages SET content = regexp_replace(content, '\\d+,$', '')
     WHERE ${one('messages', "channel = 'in_app' AND workflow = 'digested'")}`,
    { kind: 'lost', what: /is in no digest/ },
  ],
  [
    'an event in two digests',
    `UPDATE messages SET content = regexp_replace(content, '(\\d+,)$', '\\1\\1')
     WHERE id = (SELECT id FROM messages WHERE channel = 'in_app' AND content ~ ',$' ORDER BY id LIMIT 1) RETURNING 1`,
    { kind: 'duplicated', what: /times in digests/ },
  ],
  [
    'a duplicate run',
    again('notifications', "status = 'completed' AND transaction_id LIKE 't-%'"),
    { kind: 'duplicated', what: /has 2 runs/ },
  ],
  [
    'one too many past a throttle',
    `UPDATE jobs SET status = 'completed', reason = NULL
     WHERE ${one('jobs', "type = 'throttle' AND reason = 'throttled'")}`,
    { kind: 'duplicated', what: /passed the throttle/ },
  ],
  [
    'an attempt missing from the log',
    `UPDATE jobs SET details = (SELECT jsonb_agg(line) FROM jsonb_array_elements(details) line
                                WHERE line ->> 'detail' <> 'Message sent')
     WHERE ${one('jobs', mailed)}`,
    { kind: 'duplicated', what: /reached the provider .* its log shows 0 attempts/ },
  ],
  [
    'an accepted message shown as refused',
    `UPDATE jobs SET details = (
       SELECT jsonb_agg(CASE line ->> 'detail' WHEN 'Message sent' THEN line || '${refusal}' ELSE line END)
       FROM jsonb_array_elements(details) line)
     WHERE ${one('jobs', mailed)}`,
    { kind: 'duplicated', what: /unknown outcome: 0/ },
  ],
  [
    'a message sent although it was held back',
    `UPDATE jobs SET status = 'skipped', reason = 'merged_into_digest' WHERE ${one('jobs', mailed)}`,
    { kind: 'duplicated', what: /was merged_into_digest, but reached/ },
  ],
  [
    'an unknown outcome without a doubtful call',
    `UPDATE jobs SET status = 'failed', reason = 'outcome_unknown'
     WHERE ${one('jobs', "type = 'sms' AND status = 'completed' AND details::text !~ 'timeout|lost|unreadable|stopped'")}`,
    { kind: 'lost', what: /no call was in doubt/ },
  ],
  [
    'a run without its last step',
    // Of another run than the missing message, which would not be missed without its step.
    "DELETE FROM jobs WHERE id = (SELECT id FROM jobs WHERE step_id = 'after' ORDER BY id LIMIT 1) RETURNING 1",
    { kind: 'lost', what: /has no step after/ },
  ],
  [
    'a request that no step accounts for',
    `DELETE FROM jobs WHERE ${one('jobs', mailed)}`,
    { kind: 'duplicated', what: /which no step accounts for/ },
  ],
  [
    'an event that ended nothing',
    `UPDATE jobs SET output = NULL WHERE ${one('jobs', "type = 'wait_for_event' AND output ->> 'outcome' = 'event'")}`,
    { kind: 'lost', what: /did not end the wait/ },
  ],
  [
    'an event that counts waits which do not exist',
    `UPDATE posted_events SET matched = matched + 10 WHERE ${one('posted_events', 'matched > 0')}`,
    { kind: 'wrong', what: /ended 1\d waits, and \d+ say so/ },
  ],
  [
    'an answer that did not count',
    `UPDATE jobs SET output = jsonb_set(output::jsonb, '{answer}', '"neither"')
     WHERE ${one('jobs', "type = 'ask' AND output ->> 'outcome' = 'answered'")}`,
    { kind: 'lost', what: /and its step says neither/ },
  ],
  [
    'somebody who was asked twice',
    again('messages', "channel = 'in_app' AND workflow = 'answered' AND step_id = 'question'", 'eeeeee'),
    { kind: 'duplicated', what: /copies of its question/ },
  ],
  [
    'a run that a cancel by key has left',
    `WITH run AS (
       SELECT n.id FROM notifications n JOIN events e ON e.id = n.event_id
       WHERE e.cancellation_key LIKE 'k-%' AND EXISTS (
         SELECT FROM jobs j WHERE j.notification_id = n.id AND j.reason = 'canceled_by_user') ORDER BY n.id LIMIT 1
     ), changed AS (
       UPDATE jobs j SET reason = NULL FROM run WHERE j.notification_id = run.id
     )
     SELECT id FROM run`,
    { kind: 'lost', what: /the cancel of k-\d+ did not end/ },
  ],
  [
    'an overdue wake',
    `INSERT INTO graphile_worker._private_jobs (task_id, run_at, locked_by, locked_at)
     SELECT id, now() - interval '1 minute', 'nobody', now() FROM graphile_worker._private_tasks
     WHERE identifier = 'wake' RETURNING 1`,
    { kind: 'stuck', what: /1 jobs of the queue are left/ },
  ],
  [
    'a timer of a wait that is over',
    `INSERT INTO timers (environment_id, subject_id, position, kind, due_at)
     SELECT environment_id, notification_id, position, 'step', now() + interval '30 days' FROM jobs
     WHERE step_id = 'pause' AND status = 'completed' LIMIT 1 RETURNING 1`,
    {
      kind: 'stuck',
      what: /a timer is left: step due 20.*: run of \w+ \(completed\) .*, step pause \(delay, completed\) at \d+/,
    },
  ],
  [
    'a step that never ends',
    `UPDATE jobs SET status = 'queued' WHERE ${one('jobs', "type = 'custom'")}`,
    { kind: 'stuck', what: /is still queued/ },
  ],
]

// An account reads everything, so there is one for all of them. Each is found by words of its own.
describe('after tampering with the database', () => {
  const found = new Map<string, number>()
  let findings: Finding[]

  beforeAll(async () => {
    for (const [what, meddle] of tamperings) found.set(what, (await chaos.database.query(meddle)).length)
    findings = (await chaos.account()).account.findings
  })

  test.each(tamperings)('the account notices %s', (name, meddle, { kind, what }) => {
    expect(found.get(name), meddle).toBe(1)
    expect(findings).toContainEqual({ kind, what: expect.stringMatching(what) })
  })
})
