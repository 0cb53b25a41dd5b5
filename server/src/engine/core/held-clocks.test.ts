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

const source = new URL('../../', import.meta.url)
const filesIn = (folder: string) =>
  readdirSync(new URL(`${folder}/`, source), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => `${folder}/${file}`)
const textOf = (file: string) => readFileSync(new URL(file, source), 'utf8')

const databaseClock =
  /(?<![.\w])(now|clock_timestamp|statement_timestamp|transaction_timestamp)\(\)|\bcurrent_(timestamp|time|date)\b|\blocaltimestamp\b/i

/** When a job of the queue is due is the queue's own affair. */
const ofQueue = /queue_job\(|graphile_worker\.|FROM workers|run_at = now\(\)|locked_at/
/** Others whose times are no environment's. */
const ofProcesses: Record<string, string> = {
  'db/core/migrate.ts': 'when a migration was applied',
  'db/queries/inbox-presence.ts': 'which processes are alive',
  'http/edge/idempotency.ts': 'idempotency keys go by the real clock',
  'http/edge/metrics.ts': 'how long calls of an application have waited',
  'engine/outbox/other-database.ts': 'how long calls are kept in the database of an application',
}

test('no statement reads the clock of the database for times of an environment', () => {
  const found = ['engine', 'steps', 'db', 'http', 'providers', 'render'].flatMap(filesIn).flatMap((file) => {
    const statements = [...textOf(file).matchAll(/`[^`]*`|'[^'\n]*'/g)].map(([each]) =>
      each.replaceAll(/\$\{[^}]*\}/g, '$'),
    )
    return statements
      .filter((each) => databaseClock.test(each) && !ofQueue.test(each))
      .map((each) => `${file}: ${each.slice(0, 100)}`)
  })
  expect(found.filter((each) => ofProcesses[each.split(':', 1)[0] ?? ''] === undefined)).toEqual([])
  // The list has no entry that is out of date.
  for (const file of Object.keys(ofProcesses)) expect(found.join('\n')).toContain(file)
})

test('no function or default in the database reads its clock, but for the queue', () => {
  const schema = textOf('db/schema.sql')
  const functions = [
    ...schema.matchAll(/^CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) ([\w.]+)[\s\S]*?\$(\w*)\$[\s\S]*?\$\2\$/gm),
  ]
  expect(functions.length).toBeGreaterThan(5)
  const reading = functions.filter(([text]) => databaseClock.test(text)).map(([, name]) => name)
  // An application's call and who is allowed to call are of its database; the first of ours only counts how long it waits.
  expect(reading.sort()).toEqual(['belfry.add_call', 'belfry.allow', 'public.hold_suppressed', 'public.queue_job'])
  const rest = functions.reduce((text, [each]) => text.replace(each, ''), schema)
  const defaults = rest.split('\n').filter((line) => databaseClock.test(line))
  // When a migration was applied, and an id that is random.
  expect(defaults.map((line) => line.trim().split(' ', 1)[0])).toEqual(['id', 'applied_at'])
})

/** Rooms whose rows are an environment's: a request there goes by `request.now()`. What else reads the real clock, and why. */
const real: Record<string, string> = {
  'http/subscribers/data.ts': 'the audit log, and when an export was made',
  'http/workflows/sync.ts': 'only where the target has a clock of its own',
  'http/workflows/preview.ts': 'the signature of a request that is really made',
  'http/workflows/shape.ts': 'dates in made-up examples',
  'http/workflows/presence.ts': 'who has an editor open',
  'http/integrations/inbound-webhooks.ts': 'reports of real providers',
  'http/integrations/deliverability.ts': 'when the DNS was asked',
  'http/integrations/test-message.ts': 'evidence of health',
  'http/integrations/chat-oauth.ts': 'real providers',
  'http/integrations/chat-oauth-callback.ts': 'real providers',
  'http/inbox/bot-links.ts': 'real providers',
  'http/inbox/limit.ts': 'rate limits',
  'http/inbox/session.ts': 'when a page was last connected, and keys',
  'http/inbox/token.ts': 'sessions',
  'http/inbox/sockets.ts': 'sessions, and which processes are alive',
  'http/questions/answer-page.ts': 'rate limits',
  'http/consent/settings.ts': 'settings of the environment itself',
  'http/consent/links.ts': 'only where the environment has no clock of its own',
  'http/consent/preferences.ts': 'only where the environment has no clock of its own',
}

test('requests go by the clock of their environment', () => {
  const rooms = [
    'activity',
    'consent',
    'content',
    'inbox',
    'integrations',
    'questions',
    'subscribers',
    'triggers',
    'workflows',
  ]
  const found = rooms.flatMap((room) => filesIn(`http/${room}`)).filter((file) => /\bclock\.now\(\)/.test(textOf(file)))
  expect(found.sort()).toEqual(Object.keys(real).sort())
})
