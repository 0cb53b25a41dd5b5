// The two-minute version of `npm run chaos`, with a seed that stays: everything that was accepted happens, once. And the
// account it is judged by is shown to notice what it is there for.
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Finding } from '../src/account.ts'
import { Chaos, type Outcome } from '../src/chaos.ts'
import { faultKinds, fingerprint, makePlan } from '../src/plan.ts'
import { reportLines } from '../src/report.ts'
import { root } from '../src/root.ts'

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

const options = { seed: 'npm test', minutes: 1.2, perSecond: 1.2, people: 9, pauseMs: 1_200 }
const plan = makePlan(options)
const lines: string[] = []
let chaos: Chaos
let outcome: Outcome

beforeAll(async () => {
  execFileSync(process.execPath, [path.join(root, 'scripts/setup.mjs'), 'start'])
  const say = (line: string) => void lines.push(line)
  chaos = new Chaos({ plan, roles: ['api', 'all', 'worker'], settleMs: 400_000, megabytes: 500, say })
  await chaos.start()
  await chaos.run()
  outcome = await chaos.account()
})

afterAll(() => chaos?.stop())

test('a plan follows from its seed alone', () => {
  expect(fingerprint(makePlan(options))).toBe(fingerprint(plan))
  expect(fingerprint(makePlan({ ...options, seed: 'another' }))).not.toBe(fingerprint(plan))
  const first = plan.faults.slice(0, faultKinds.length).map(({ kind }) => kind)
  expect(new Set(first).size).toBe(first.length)
})

test('nothing that was accepted is lost, doubled or stuck, whatever happens to the service', () => {
  const told = [...lines, ...reportLines(plan, outcome)].join('\n')
  expect(outcome.account.findings, told).toEqual([])
  const { sent, accepted } = Object.values(outcome.account.triggers).reduce((sum, row) => ({
    sent: sum.sent + row.sent,
    accepted: sum.accepted + row.accepted,
    runs: sum.runs + row.runs,
  }))
  expect(accepted).toBe(sent)
  expect(Object.values(outcome.faults).filter((times) => times > 0).length, told).toBeGreaterThan(5)
})

/** What is found after somebody meddled with the database. */
async function findingsAfter(meddle: string): Promise<Finding[]> {
  const rows = await chaos.database.query(meddle)
  expect(rows, meddle).toHaveLength(1)
  return (await chaos.account()).account.findings
}

/** One row of a table, once more under another id. */
const again = (table: string, where: string) => `
  INSERT INTO ${table}
  SELECT (jsonb_populate_record(NULL::${table}, to_jsonb(t) || jsonb_build_object('id', overlay(t.id placing 'ffffff' from 19)))).*
  FROM ${table} t WHERE ${where} ORDER BY t.id LIMIT 1 RETURNING 1`

const one = (table: string, where: string) =>
  `id = (SELECT id FROM ${table} WHERE ${where} ORDER BY id DESC LIMIT 1) RETURNING 1`

test.each<[what: string, meddle: string, finding: { kind: Finding['kind']; what: RegExp }]>([
  [
    'a message that is gone',
    `DELETE FROM messages WHERE ${one('messages', "channel = 'in_app' AND workflow = 'delayed'")}`,
    { kind: 'lost', what: /with 0 messages/ },
  ],
  [
    'a message that is there twice',
    again('messages', "channel = 'in_app' AND workflow = 'inbox'"),
    { kind: 'duplicated', what: /has 2 messages/ },
  ],
  [
    'an event that is in no digest',
    `UPDATE messages SET content = regexp_replace(content, '\\d+,$', '')
     WHERE ${one('messages', "channel = 'in_app' AND workflow = 'digested'")}`,
    { kind: 'lost', what: /is in no digest/ },
  ],
  [
    'an event that is in two digests',
    `UPDATE messages SET content = regexp_replace(content, '(\\d+,)$', '\\1\\1')
     WHERE id = (SELECT id FROM messages WHERE channel = 'in_app' AND content ~ ',$' ORDER BY id LIMIT 1) RETURNING 1`,
    { kind: 'duplicated', what: /times in digests/ },
  ],
  [
    'a run that is there twice',
    again('notifications', "status = 'completed' AND transaction_id LIKE 't-%'"),
    { kind: 'duplicated', what: /has 2 runs/ },
  ],
  [
    'one too many behind a throttle',
    `UPDATE jobs SET status = 'completed', reason = NULL
     WHERE ${one('jobs', "type = 'throttle' AND reason = 'throttled'")}`,
    { kind: 'duplicated', what: /passed the throttle/ },
  ],
  [
    'an attempt that is not shown',
    `UPDATE jobs SET details = (SELECT jsonb_agg(line) FROM jsonb_array_elements(details) line
                                WHERE line ->> 'detail' <> 'Message sent')
     WHERE ${one('jobs', "type = 'email' AND status = 'completed' AND details @> '[{\"detail\": \"Message sent\"}]' AND provider_id = 'email-webhook'")}`,
    { kind: 'duplicated', what: /was asked for/ },
  ],
  [
    'a step that never ends',
    `UPDATE jobs SET status = 'queued' WHERE ${one('jobs', "type = 'custom'")}`,
    { kind: 'stuck', what: /is still queued/ },
  ],
])('the account notices %s', async (_, meddle, finding) => {
  const { kind, what } = finding
  expect(await findingsAfter(meddle)).toContainEqual({ kind, what: expect.stringMatching(what) })
})
