import { describe, expect, test } from 'vitest'
import {
  channelNames,
  completePreferences,
  filteredTexts,
  layerNames,
  type PreferenceLayers,
  resolvePreference,
  resolveSubscription,
} from './preferences.ts'

const on = { email: { enabled: true } }
const off = { email: { enabled: false } }

describe('whether an email may be sent', () => {
  test.each<[string, PreferenceLayers, boolean, string, string]>([
    ['nobody said anything', {}, true, 'nobody', 'workflow'],
    ['empty layers say nothing', { workflow: {}, user: {}, subscriberGlobal: {} }, true, 'nobody', 'subscriberGlobal'],
    ['the workflow says no', { workflow: { channels: off } }, false, 'workflow by channel', 'workflow'],
    ['the workflow says no to all', { workflow: { all: { enabled: false } } }, false, 'workflow by all', 'workflow'],
    [
      'no to all, yes to this channel',
      { workflow: { all: { enabled: false }, channels: on } },
      true,
      'workflow by channel',
      'workflow',
    ],
    [
      'a user overrides the workflow',
      { workflow: { channels: off }, user: { channels: on } },
      true,
      'user by channel',
      'user',
    ],
    ['a user says no', { workflow: { channels: on }, user: { channels: off } }, false, 'user by channel', 'user'],
    [
      'a user says no to all, the workflow names the channel',
      { workflow: { channels: on }, user: { all: { enabled: false } } },
      true,
      'workflow by channel',
      'user',
    ],
    [
      'a user says no to all',
      { workflow: { all: { enabled: true } }, user: { all: { enabled: false } } },
      false,
      'user by all',
      'user',
    ],
    [
      'the subscriber wants none',
      { workflow: { channels: on }, subscriberGlobal: { email: false } },
      false,
      'subscriberGlobal by channel',
      'subscriberGlobal',
    ],
    [
      'the subscriber wants what is off',
      { workflow: { channels: off }, user: { channels: off }, subscriberGlobal: { email: true } },
      true,
      'subscriberGlobal by channel',
      'subscriberGlobal',
    ],
    [
      'for this workflow, unlike in general',
      { subscriberGlobal: { email: false }, subscriberWorkflow: { email: true } },
      true,
      'subscriberWorkflow by channel',
      'subscriberWorkflow',
    ],
    [
      'not for this workflow',
      { subscriberGlobal: { email: true }, subscriberWorkflow: { email: false } },
      false,
      'subscriberWorkflow by channel',
      'subscriberWorkflow',
    ],
    [
      'another channel of the workflow, so the general choice counts',
      { subscriberGlobal: { email: false }, subscriberWorkflow: { sms: true } },
      false,
      'subscriberGlobal by channel',
      'subscriberWorkflow',
    ],
    [
      'a critical workflow does not ask the subscriber',
      {
        workflow: { all: { readOnly: true }, channels: on },
        subscriberGlobal: { email: false },
        subscriberWorkflow: { email: false },
      },
      true,
      'workflow by channel, critical',
      'workflow',
    ],
    [
      'nor does one that is marked critical',
      { isMarkedCritical: true, subscriberWorkflow: { email: false } },
      true,
      'nobody, critical',
      'workflow',
    ],
    [
      'nor does one that a user made critical',
      { workflow: { channels: on }, user: { all: { readOnly: true } }, subscriberWorkflow: { email: false } },
      true,
      'workflow by channel, critical',
      'user',
    ],
    [
      'nor does one that only its author made critical',
      {
        workflow: { all: { readOnly: true } },
        user: { all: { readOnly: false }, channels: off },
        subscriberWorkflow: { email: true },
      },
      false,
      'user by channel, critical',
      'user',
    ],
    [
      'null layers count as absent',
      { workflow: null, user: null, subscriberGlobal: null, subscriberWorkflow: null },
      true,
      'nobody',
      'workflow',
    ],
  ])('%s', (_, layers, enabled, decided, mostSpecific) => {
    const resolution = resolvePreference(layers, 'email')
    const { reason, critical } = resolution
    const through = reason.decidedBy === 'nobody' ? '' : ` by ${reason.through}`
    expect([
      resolution.enabled,
      `${reason.decidedBy}${through}${critical ? ', critical' : ''}`,
      resolution.mostSpecific,
    ]).toEqual([enabled, decided, mostSpecific])
  })

  test('each channel is its own', () => {
    const layers = { workflow: { channels: { sms: { enabled: false } } }, subscriberGlobal: { push: false } }
    const enabled = channelNames.map((channel) => resolvePreference(layers, channel).enabled)
    expect(enabled).toEqual([true, false, true, true, false])
  })

  test('each layer has its sentence', () => expect(Object.keys(filteredTexts)).toEqual([...layerNames]))
})

describe('completing preferences', () => {
  const all = (enabled: boolean) => Object.fromEntries(channelNames.map((channel) => [channel, { enabled }]))
  test.each([
    [undefined, { all: { enabled: true, readOnly: false }, channels: all(true) }],
    [null, { all: { enabled: true, readOnly: false }, channels: all(true) }],
    [{}, { all: { enabled: true, readOnly: false }, channels: all(true) }],
    [{ all: { enabled: false } }, { all: { enabled: false, readOnly: false }, channels: all(false) }],
    [
      { all: { enabled: false, readOnly: true }, channels: { in_app: { enabled: true }, sms: {} } },
      { all: { enabled: false, readOnly: true }, channels: { ...all(false), in_app: { enabled: true } } },
    ],
    [
      { channels: { email: { enabled: false } } },
      { all: { enabled: true, readOnly: false }, channels: { ...all(true), email: { enabled: false } } },
    ],
  ])('%j', (given, expected) => expect(completePreferences(given)).toEqual(expected))
})

describe('whether a topic subscription lets a workflow through', () => {
  const now = new Date('2026-05-01T10:00:00Z')
  const condition = { '>': [{ var: 'payload.total' }, 10] }
  test.each([
    ['nothing is stored', undefined, {}, { passes: true, reason: 'no_choice' }],
    ['enabled', { enabled: true, condition: null }, {}, { passes: true, reason: 'enabled' }],
    ['disabled', { enabled: false, condition: null }, {}, { passes: false, reason: 'disabled' }],
    ['the condition holds', { enabled: true, condition }, { total: 11 }, { passes: true, reason: 'condition_met' }],
    ['it decides alone', { enabled: false, condition }, { total: 11 }, { passes: true, reason: 'condition_met' }],
    ['it does not hold', { enabled: true, condition }, { total: 10 }, { passes: false, reason: 'condition_not_met' }],
    ['an empty one holds', { enabled: false, condition: {} }, {}, { passes: true, reason: 'condition_met' }],
    [
      'its value is not a boolean',
      { enabled: true, condition: { var: 'payload.total' } },
      { total: 11 },
      { passes: false, reason: 'condition_failed' },
    ],
    ['it fails', { enabled: true, condition: { log: 1 } }, {}, { passes: false, reason: 'condition_failed' }],
    [
      'it sees only the payload',
      { enabled: true, condition: { '==': [{ var: 'subscriber' }, null] } },
      {},
      { passes: true, reason: 'condition_met' },
    ],
  ])('%s', (_, choice, payload, expected) => expect(resolveSubscription(choice, { payload, now })).toEqual(expected))
})
