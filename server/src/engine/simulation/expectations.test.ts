// What each kind of expectation holds for, and what it says when it does not.
import { describe, expect, test } from 'vitest'
import { checkExpectations, expectations } from './expectations.ts'
import { type Members, SimulationRefused } from './scenario.ts'

const startAt = Date.parse('2026-05-01T10:00:00Z')
const message = (more: Members) => ({ channel: 'email', status: 'sent', subscriberId: 'ada', ...more })
const step = (more: Members) => ({ stepId: 'mail', type: 'email', status: 'completed', reason: null, ...more })
const played: Members = {
  triggers: [{ input: 0, transactionId: 'c-1', status: 'processed', runs: 1 }],
  runs: [
    {
      ...{ transactionId: 'c-1', subscriberId: 'ada', workflowId: 'comments' },
      steps: [
        step({
          waits: [{ from: '2026-05-01T10:00:00.000Z', until: '2026-05-01T10:00:02.000Z', why: 'retry' }],
          beganAt: '2026-05-01T10:00:00.000Z',
        }),
      ],
    },
    {
      ...{ transactionId: 'c-1', subscriberId: 'bo', workflowId: 'comments' },
      steps: [step({ status: 'canceled', reason: 'preference', waits: [] })],
    },
  ],
  windows: [{ id: 'w1', kind: 'digest', stepId: 'collect', openedAt: new Date(startAt), eventCount: 2 }],
  messages: [
    message({ subject: '1 comment', at: '2026-05-01T10:10:00.000Z', inApp: { data: { at: 'noon', kind: '/x/' } } }),
    message({ subject: 'late', status: 'error' }),
    message({ subject: '2 comments', at: '2026-05-01T11:10:00.000Z', to: ['ada@example.com'] }),
  ],
  totals: { triggers: 1, runs: 2, messages: { email: 2 }, reasons: { preference: 1 }, attempts: 3 },
}
const judged = (entry: Members) => {
  checkExpectations([entry], startAt)
  const { expectations: all, passed } = expectations([entry], played, startAt)
  expect(passed).toBe(all[0]?.holds)
  return all[0]
}

test.each<[Members, boolean]>([
  [{ messages: [{ subject: '1 comment' }, { subject: '2 comments', at: '+70m' }] }, true],
  [{ messages: [{ subject: '2 comments' }, { subject: '1 comment' }] }, false],
  [{ messages: [{ subject: '1 comment' }] }, false],
  [{ messages: [{}, {}, {}] }, false],
  [{ message: { subject: '/^\\d comments?$/' } }, true],
  [{ message: { subject: '/^\\d comments?$/' }, count: 2 }, true],
  [{ message: { subject: '/^\\d comments?$/' }, count: 1 }, false],
  [{ message: { status: 'error' }, count: 1 }, true],
  [{ message: { to: ['ada@example.com'] } }, true],
  [{ message: { to: [] } }, false],
  [{ message: { at: '2026-05-01T12:10[Europe/Berlin]' }, count: 1 }, true],
  [{ message: { subject: 'nothing' }, count: 0 }, true],
  [{ noMessage: { channel: 'sms' } }, true],
  [{ noMessage: { subject: 'late' } }, false],
  [{ step: { subscriberId: 'ada', status: 'completed', reason: null } }, true],
  [{ step: { subscriberId: 'ada', waits: [{ until: '+2s', why: 'retry' }] } }, true],
  [{ step: { subscriberId: 'ada', waits: [] } }, false],
  [{ step: { stepId: 'mail', status: 'completed' } }, false],
  [{ step: { stepId: 'nobody' } }, false],
  [{ window: { openedAt: '+0s', eventCount: 2 }, count: 1 }, true],
  [{ window: { kind: 'throttle' } }, false],
  [{ trigger: { transactionId: 'c-1', runs: 1 } }, true],
  [{ trigger: { status: 'error' } }, false],
  [{ totals: { runs: 2, messages: { email: 2, sms: 0 }, reasons: { preference: 1 } } }, true],
  [{ totals: { messages: { sms: 1 } } }, false],
  // Members that are the user's own: what is no moment is a text.
  [{ message: { inApp: { data: { at: 'noon' } } } }, true],
  [{ message: { inApp: { data: { at: 'midnight' } } } }, false],
  [{ message: { inApp: { data: { kind: '/x/' } } } }, true],
])('%j: %s', (entry, holds) => {
  expect(judged(entry)).toMatchObject({ index: 0, holds })
})

describe('what does not hold says so, with the nearest that was found', () => {
  test.each<[Members, string, object | null]>([
    [{ messages: [{}] }, '1 message was expected, and 2 messages are sent', { subject: '2 comments' }],
    [
      { messages: [{ subject: 'a' }, {}] },
      'message 1 of 2 is not as expected: {"subject":"a"}',
      { subject: '1 comment' },
    ],
    [
      { message: { subject: '2 comments', to: ['bo'] } },
      'at least one of message {"subject":"2 comments","to":["bo"]} was expected, and 0 found',
      { subject: '2 comments' },
    ],
    [{ noMessage: { subject: 'late' } }, 'a message is {"subject":"late"}, and none should be', { subject: 'late' }],
    [
      { step: { subscriberId: 'bo', status: 'completed' } },
      'a step {"subscriberId":"bo"} is not {"subscriberId":"bo","status":"completed"}',
      { reason: 'preference' },
    ],
    [{ step: { stepId: 'nobody' } }, 'there is no step {"stepId":"nobody"}', { stepId: 'mail' }],
    [{ totals: { messages: { sms: 1 } } }, 'totals.messages.sms is 0, not 1', { runs: 2 }],
  ])('%j', (entry, text, nearest) => {
    expect(judged(entry)).toMatchObject({ holds: false, text, nearest })
  })
})

test.each<[Members, string]>([
  [{}, 'expect[0]'],
  [{ message: {}, step: {} }, 'expect[0]'],
  [{ messages: {} }, 'expect[0].messages'],
  [{ message: [] }, 'expect[0].message'],
  [{ message: {}, count: -1 }, 'expect[0].count'],
  [{ message: { at: 'soon' } }, 'expect[0].message.at'],
  [{ messages: [{ subject: '/(/' }] }, 'expect[0].messages[0].subject'],
  [{ message: { to: ['/[/'] } }, 'expect[0].message.to[0]'],
  [{ message: { inApp: { data: { kind: '/(/' } } } }, 'expect[0].message.inApp.data.kind'],
  [{ step: { stepId: 'mail', waits: [{ until: 'soon' }] } }, 'expect[0].step.waits[0].until'],
  [{ step: { attempts: [{ outcome: '/*/' }] } }, 'expect[0].step.attempts[0].outcome'],
  [{ message: { subject: '/(?=a)b/' } }, 'expect[0].message.subject'],
  [{ message: { subject: `/${'a'.repeat(1_001)}/` } }, 'expect[0].message.subject'],
])('%j is refused at %s', (entry, where) => {
  const refusal = () => checkExpectations([entry], startAt)
  expect(refusal).toThrow(SimulationRefused)
  try {
    refusal()
  } catch (error) {
    expect((error as SimulationRefused).refusal.params).toMatchObject({ where })
  }
})

describe('regular expressions take time in proportion to the text', () => {
  const of = (text: string, pattern: string) =>
    expectations([{ message: { text: pattern } }], { messages: [{ text }] }, startAt).passed

  test('also where the usual engine would try every way to match', () => {
    expect(of(`${'a'.repeat(50_000)}!`, '/^(a+)+$/')).toBe(false)
    expect(of('a'.repeat(50_000), '/^(a+)+$/')).toBe(true)
  })

  test('and all of them together are bounded', () => {
    const texts = Array.from({ length: 4 }, () => ({ text: 'ab'.repeat(100_000) }))
    const sum = () => expectations([{ noMessage: { text: '/^c(a{1,900})+$/' } }], { messages: texts }, startAt)
    expect(sum).toThrow(SimulationRefused)
  })
})
