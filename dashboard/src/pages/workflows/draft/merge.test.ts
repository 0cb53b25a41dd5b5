import { describe, expect, test } from 'vitest'
import type { Draft, DraftStep } from './draft.ts'
import { type Choice, mergeDrafts, noteOf } from './merge.ts'
import { same } from './same.ts'

const step = (
  stepId: string,
  controlValues: Record<string, unknown> = {},
  more: Partial<DraftStep> = {},
): DraftStep => ({
  ...{ _id: `id-${stepId}`, stepId, name: stepId, type: 'email', controlValues },
  ...{ active: true, shouldStopOnFail: false, onUnknown: undefined, replyCallback: null },
  ...more,
})
const added = (stepId: string, controlValues: Record<string, unknown> = {}): DraftStep => {
  const { _id, ...rest } = step(stepId, controlValues)
  return rest
}
const channels = (sms: boolean, email = true) => ({
  ...{ email: { enabled: email }, sms: { enabled: sms } },
  ...{ in_app: { enabled: true }, chat: { enabled: true }, push: { enabled: true } },
})
const preference = (sms: boolean, email = true) => ({
  all: { enabled: true, readOnly: false },
  channels: channels(sms, email),
})
const base: Draft = {
  ...{ name: 'Welcome', description: '', tags: ['a', 'b'], active: true, severity: 'none' },
  ...{ validatePayload: false, isTranslationEnabled: false, messageClass: 'transactional', consentCategory: null },
  payloadSchema: { type: 'object', properties: { n: { type: 'number' } } },
  preferences: { user: null, default: preference(true) },
  journey: null,
  steps: [step('mail', { subject: 'S', body: 'B', editorType: 'html' }), step('wait', { amount: 1, unit: 'hours' })],
}
const withStep = (draft: Draft, stepId: string, controlValues: Record<string, unknown>): Draft => ({
  ...draft,
  steps: draft.steps.map((each) =>
    each.stepId === stepId ? { ...each, controlValues: { ...each.controlValues, ...controlValues } } : each,
  ),
})
const withSteps = (...steps: DraftStep[]): Draft => ({ ...base, steps })
const [mail, wait] = base.steps as [DraftStep, DraftStep]
const orderOf = ({ steps }: Draft) => steps.map(({ stepId }) => stepId)
const paths = (mine: Draft, theirs: Draft) => mergeDrafts(base, mine, theirs).collisions.map(({ path }) => path)

describe('what does not collide is merged:', () => {
  test('the body by one, the subject by the other', () => {
    const { draft, collisions, taken } = mergeDrafts(
      base,
      withStep(base, 'mail', { subject: 'Mine' }),
      withStep(base, 'mail', { body: 'Theirs' }),
    )
    expect(collisions).toEqual([])
    expect(draft.steps[0]?.controlValues).toEqual({ subject: 'Mine', body: 'Theirs', editorType: 'html' })
    expect(taken).toEqual([{ verb: 'changed', what: 'the body of mail' }])
  })

  test('different fields of the workflow', () => {
    const { draft, collisions } = mergeDrafts(base, { ...base, name: 'Mine' }, { ...base, description: 'Theirs' })
    expect([draft.name, draft.description, collisions]).toEqual(['Mine', 'Theirs', []])
  })

  test('tags, as a set', () => {
    const { draft, collisions } = mergeDrafts(
      base,
      { ...base, tags: ['b', 'mine'] },
      { ...base, tags: ['a', 'b', 'c'] },
    )
    expect([draft.tags, collisions]).toEqual([['b', 'c', 'mine'], []])
  })

  test('members of the payload schema', () => {
    const schema = (properties: object) => ({ ...base, payloadSchema: { type: 'object', properties } })
    const n = { type: 'number' }
    const { draft, collisions } = mergeDrafts(base, schema({ n, mine: {} }), schema({ theirs: {} }))
    expect([draft.payloadSchema, collisions]).toEqual([{ type: 'object', properties: { mine: {}, theirs: {} } }, []])
  })

  test('settings of runs, member by member', () => {
    const { draft, collisions } = mergeDrafts(
      { ...base, journey: { cancellationKey: 'a' } },
      { ...base, journey: { cancellationKey: 'a', quietHours: 'hold' } },
      { ...base, journey: { cancellationKey: 'b' } },
    )
    expect([draft.journey, collisions]).toEqual([{ cancellationKey: 'b', quietHours: 'hold' }, []])
  })

  test('preferences by channel, even the first ones of the workflow', () => {
    const set = (user: Draft['preferences']['user']) => ({ ...base, preferences: { ...base.preferences, user } })
    const { draft, collisions } = mergeDrafts(base, set(preference(false)), set(preference(true, false)))
    expect([draft.preferences.user, collisions]).toEqual([preference(false, false), []])
  })

  test('steps added by both at one place, each behind the step that it followed', () => {
    const { draft, collisions, taken } = mergeDrafts(
      base,
      withSteps(mail, added('mine'), wait),
      withSteps(mail, step('theirs'), wait, step('last')),
    )
    expect([orderOf(draft), collisions]).toEqual([['mail', 'theirs', 'mine', 'wait', 'last'], []])
    expect(taken.map(({ verb }) => verb)).toEqual(['added', 'added'])
  })

  test('a step deleted by one, and steps moved by the other', () => {
    const three = withSteps(mail, wait, step('sms'))
    const { draft, collisions } = mergeDrafts(
      three,
      withSteps(wait, step('sms')),
      withSteps(mail, step('sms'), { ...wait, name: 'Pause' }),
    )
    expect([orderOf(draft), collisions]).toEqual([['sms', 'wait'], []])
    expect(draft.steps[1]?.name).toBe('Pause')
  })

  test('two new steps with one stepId are two steps; alike, they are one', () => {
    const two = mergeDrafts(
      base,
      withSteps(mail, wait, added('sms', { body: 'Mine' })),
      withSteps(mail, wait, step('sms', { body: 'Theirs' })),
    )
    expect([orderOf(two.draft), two.renamed]).toEqual([['mail', 'wait', 'sms', 'sms-2'], [['sms', 'sms-2']]])
    expect(two.draft.steps.map(({ _id }) => _id)).toEqual(['id-mail', 'id-wait', 'id-sms', undefined])
    const one = mergeDrafts(base, withSteps(mail, wait, added('sms')), withSteps(mail, wait, step('sms')))
    expect([orderOf(one.draft), one.renamed, one.draft.steps[2]?._id]).toEqual([['mail', 'wait', 'sms'], [], 'id-sms'])
  })

  test('members named like those that every object inherits', () => {
    const { draft, collisions } = mergeDrafts(
      base,
      withStep(base, 'mail', { constructor: 'Mine' }),
      withStep(base, 'mail', { toString: 'Theirs' }),
    )
    expect(collisions).toEqual([])
    expect(draft.steps[0]?.controlValues).toMatchObject({ constructor: 'Mine', toString: 'Theirs' })
  })
})

describe('what both changed collides:', () => {
  const mine = withStep(base, 'mail', { subject: 'Mine' })
  const theirs = withStep(base, 'mail', { subject: 'Theirs' })

  test('my value stays until one is chosen, or a text written', () => {
    const subjectWith = (choice?: Choice) => {
      const choices = new Map(choice === undefined ? [] : [['steps.mail.controls.subject', choice] as const])
      return mergeDrafts(base, mine, theirs, choices).draft.steps[0]?.controlValues.subject
    }
    expect(mergeDrafts(base, mine, theirs).collisions).toEqual([
      {
        ...{ path: 'steps.mail.controls.subject', what: 'Subject', step: { name: 'mail', type: 'email' } },
        ...{ mine: 'Mine', theirs: 'Theirs' },
      },
    ])
    expect(subjectWith()).toBe('Mine')
    expect(subjectWith('mine')).toBe('Mine')
    expect(subjectWith('theirs')).toBe('Theirs')
    expect(subjectWith({ text: 'Of both' })).toBe('Of both')
  })

  test('a step that one deleted and the other changed', () => {
    const path = 'steps.mail'
    const without = withSteps(wait)
    expect(paths(mine, without)).toEqual([path])
    expect(paths(without, theirs)).toEqual([path])
    const pick = (left: Draft, right: Draft, choice: Choice) =>
      mergeDrafts(base, left, right, new Map([[path, choice]])).draft.steps
    const { _id, ...kept } = mine.steps[0] as DraftStep
    expect(pick(mine, without, 'mine')).toEqual([kept, wait])
    expect(pick(mine, without, 'theirs')).toEqual([wait])
    expect(pick(without, theirs, 'mine')).toEqual([wait])
    expect(pick(without, theirs, 'theirs')).toEqual([theirs.steps[0], wait])
  })

  test('two orders of the steps', () => {
    const sms = step('sms')
    const three = withSteps(mail, wait, sms)
    const [left, right] = [withSteps(sms, mail, wait), withSteps(wait, mail, sms)]
    const merged = (choices?: Map<string, Choice>) => mergeDrafts(three, left, right, choices)
    expect(merged().collisions).toMatchObject([
      { path: 'order', mine: 'sms → mail → wait', theirs: 'wait → mail → sms' },
    ])
    expect(orderOf(merged().draft)).toEqual(['sms', 'mail', 'wait'])
    expect(orderOf(merged(new Map([['order', 'theirs']])).draft)).toEqual(['wait', 'mail', 'sms'])
  })

  test('values that make sense together only', () => {
    const blocks = { body: '{"type":"doc"}', editorType: 'block' }
    expect(paths(withStep(base, 'mail', blocks), withStep(base, 'mail', { body: 'Theirs' }))).toEqual([
      'steps.mail.controls.body',
    ])
    const [left, right] = [withStep(base, 'wait', { amount: 5 }), withStep(base, 'wait', { unit: 'days' })]
    const choices = new Map([['steps.wait.controls.type', 'theirs' as const]])
    expect(paths(left, right)).toEqual(['steps.wait.controls.type'])
    expect(mergeDrafts(base, left, right, choices).draft.steps[1]?.controlValues).toEqual({ amount: 1, unit: 'days' })
  })

  test('one member of a schema, and the rest is merged', () => {
    const schema = (type: string, more: object) => ({
      ...base,
      payloadSchema: { type: 'object', properties: { n: { type } }, ...more },
    })
    const { draft, collisions } = mergeDrafts(base, schema('string', {}), schema('boolean', { title: 'T' }))
    expect(collisions.map(({ path }) => path)).toEqual(['payloadSchema.properties.n.type'])
    expect(draft.payloadSchema).toEqual({ type: 'object', properties: { n: { type: 'string' } }, title: 'T' })
  })
})

describe('for any two edits', () => {
  const cases = Array.from({ length: 1_000 }, (_, seed) => {
    const random = numbers(seed + 1)
    return [seed, edited(base, random, 'mine'), edited(base, random, 'theirs')] as const
  })

  test('an unchanged side gives the other', () => {
    for (const [seed, mine] of cases) {
      const kept = mergeDrafts(base, mine, base)
      const taken = mergeDrafts(base, base, mine)
      expect([seed, kept.collisions, taken.collisions]).toEqual([seed, [], []])
      expect([seed, same(kept.draft, mine), same(taken.draft, mine)]).toEqual([seed, true, true])
      expect([seed, kept.taken]).toEqual([seed, []])
      expect([seed, taken.taken.length > 0]).toEqual([seed, !same(mine, base)])
    }
  })

  test('the same change on both sides is no collision', () => {
    for (const [seed, mine] of cases) {
      const { draft, collisions, taken } = mergeDrafts(base, mine, structuredClone(mine))
      expect([seed, collisions, taken, same(draft, mine)]).toEqual([seed, [], [], true])
    }
  })

  test('every change that does not collide is kept, and every collision has the chosen side', () => {
    let collided = 0
    for (const [seed, mine, theirs] of cases) {
      const { collisions } = mergeDrafts(base, mine, theirs)
      collided += collisions.length > 0 ? 1 : 0
      for (const side of ['mine', 'theirs'] as const) {
        const choices = new Map(collisions.map(({ path }) => [path, side] as const))
        const { draft } = mergeDrafts(base, mine, theirs, choices)
        const [left, right, before] = [leaves(mine), leaves(theirs), leaves(base)]
        const isMerged = (name: string, value: unknown) => {
          const isChanged = (of: Map<string, unknown>) => !same(of.get(name), before.get(name))
          const isOpen = collisions.some(
            ({ path }) => name === path || name.startsWith(`${path}.`) || isOfUnit(path, name),
          )
          if (isOpen) return same(value, (side === 'mine' ? left : right).get(name))
          return same(value, isChanged(left) ? left.get(name) : right.get(name))
        }
        const merged = leaves(draft)
        const names = new Set([...left.keys(), ...right.keys(), ...before.keys()])
        const lost = [...names].filter((name) => !isMerged(name, merged.get(name)))
        expect([seed, side, lost]).toEqual([seed, side, []])
      }
    }
    // Otherwise the cases would prove little.
    expect(collided).toBeGreaterThan(250)
    expect(collided).toBeLessThan(750)
  })

  test('merging again with what was merged changes nothing', () => {
    for (const [seed, mine, theirs] of cases) {
      const { draft } = mergeDrafts(base, mine, theirs)
      const again = mergeDrafts(theirs, draft, theirs)
      expect([seed, again.collisions, same(again.draft, draft)]).toEqual([seed, [], true])
    }
  })
})

describe('the note', () => {
  const changed = (what: string) => ({ verb: 'changed', what }) as const

  test('says who changed what', () => {
    expect(noteOf('Ada', [changed('the body of Email')], true)).toBe('Ada changed the body of Email; both kept.')
    expect(
      noteOf('Ada', [changed('the name'), changed('the tags'), { verb: 'added', what: 'the step “SMS”' }], false),
    ).toBe('Ada changed the name, the tags, and added the step “SMS”.')
  })

  test('stays short', () => {
    const many = ['the name', 'the tags', 'the severity', 'the preferences', 'the description'].map(changed)
    expect(noteOf('Ada', many, false)).toBe('Ada changed the name, the tags, the severity, and 2 more.')
  })
})

/** Pseudo-random numbers below a limit, the same for a seed every time. */
function numbers(seed: number): (limit: number) => number {
  let state = seed * 7_919
  return (limit) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * limit)
  }
}

/** A draft after up to seven random changes. */
function edited(draft: Draft, random: (limit: number) => number, by: string): Draft {
  const next = structuredClone(draft)
  const word = () => `${by}-${random(3)}`
  let made = 0
  const change = [
    () => (next.name = word()),
    () => (next.description = word()),
    () => (next.active = !next.active),
    () => (next.severity = 'high'),
    () => Object.assign((next.payloadSchema?.properties as object) ?? {}, { [`p${random(3)}`]: { type: word() } }),
    () => (next.preferences.default.channels.sms.enabled = random(2) === 0),
    () => next.steps.splice(random(next.steps.length + 1), 0, added(`${by}-step-${made++}`)),
    () => next.steps.splice(random(next.steps.length), 1),
    () => next.steps.reverse(),
    () => onStep((each) => (each.name = word())),
    () => onStep((each) => (each.controlValues.subject = word())),
    () => onStep((each) => (each.controlValues.body = word())),
    () => onStep((each) => Object.assign(each.controlValues, { body: word(), editorType: 'block' })),
    () => onStep((each) => (each.controlValues.amount = random(4))),
    () => onStep((each) => (each.shouldStopOnFail = true)),
    () => onStep((each) => delete each.controlValues.subject),
  ]
  const onStep = (work: (each: DraftStep) => unknown) => {
    const each = next.steps[random(next.steps.length)]
    if (each) work(each)
  }
  for (let count = random(8); count > 0; count -= 1) change[random(change.length)]?.()
  return next
}

/** Every single value by its path, as collisions name them. Ids belong to the server. */
function leaves(draft: Draft): Map<string, unknown> {
  const found = new Map<string, unknown>()
  const walk = (path: string, value: unknown) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      for (const [name, inner] of Object.entries(value)) walk(path === '' ? name : `${path}.${name}`, inner)
    else if (value !== undefined) found.set(path, value)
  }
  const { steps, tags, ...rest } = draft
  walk('', rest)
  for (const tag of tags) found.set(`tags.${tag}`, true)
  for (const { stepId, _id, controlValues, ...fields } of steps) {
    walk(`steps.${stepId}`, fields)
    walk(`steps.${stepId}.controls`, controlValues)
  }
  return found
}

/** A collision of a unit is named after its first control. */
function isOfUnit(path: string, name: string): boolean {
  const [start, first] = path.split('.controls.')
  if (first === 'body') return name === `${start}.controls.editorType`
  return (
    first === 'type' && ['amount', 'unit', 'cron', 'dynamicKey'].some((each) => name === `${start}.controls.${each}`)
  )
}

describe('two people who edit one branch:', () => {
  interface Arm {
    name: string
    condition?: unknown
    end?: boolean
    steps: DraftStep[]
  }
  const arm = (name: string, steps: DraftStep[], more: Partial<Arm> = {}): Arm => ({ name, steps, ...more })
  const branch = (arms: Arm[], otherwise: Arm = arm('Else', [])): DraftStep =>
    step('paid', { arms, default: otherwise }, { type: 'branch' })
  const hi = step('hi', { body: 'Hi' })
  const bye = step('bye', { body: 'Bye' })
  const before = withSteps(branch([arm('Paid', [hi]), arm('Large', [bye])]))
  const merged = (mine: DraftStep, theirs: DraftStep) => {
    const { draft, collisions, renamed } = mergeDrafts(before, withSteps(mine), withSteps(theirs))
    const { arms, default: otherwise } = (draft.steps[0]?.controlValues ?? {}) as { arms: Arm[]; default: Arm }
    return { arms, otherwise, paths: collisions.map(({ path }) => path), renamed }
  }

  test('steps in different arms, and different parts of one arm, are both kept', () => {
    const { arms, otherwise, paths } = merged(
      branch([arm('Paid', [step('hi', { body: 'Mine' })], { end: true }), arm('Large', [bye])]),
      branch([arm('Payed', [hi, step('more')]), arm('Large', [step('bye', { body: 'Theirs' })])], arm('Else', [wait])),
    )
    expect(paths).toEqual([])
    expect(
      arms.map(({ name, end, steps }) => [name, end, ...steps.map(({ controlValues }) => controlValues.body)]),
    ).toEqual([
      ['Payed', true, 'Mine', undefined],
      ['Large', undefined, 'Theirs'],
    ])
    expect(otherwise.steps.map(({ stepId }) => stepId)).toEqual(['wait'])
  })

  test('an arm added by one is kept beside what the other changed', () => {
    const { arms, paths } = merged(
      branch([arm('Paid', [step('hi', { body: 'Mine' })]), arm('Large', [bye])]),
      branch([arm('Large', [bye]), arm('New', []), arm('Paid', [hi])]),
    )
    expect([arms.map(({ name }) => name), paths]).toEqual([['Large', 'New', 'Paid'], []])
    expect(arms[2]?.steps[0]?.controlValues.body).toBe('Mine')
  })

  test('the same text collides alone; a removed arm that the other changed, and arms that both sorted, as a whole', () => {
    const changed = (body: string) => branch([arm('Paid', [step('hi', { body })]), arm('Large', [bye])])
    expect(merged(changed('Mine'), changed('Theirs')).paths).toEqual(['steps.hi.controls.body'])
    expect(merged(changed('Mine'), branch([arm('Large', [bye])])).paths).toEqual(['steps.paid.controls.arms'])
    const sorted = branch([arm('Large', [bye]), arm('Paid', [hi])])
    expect(merged(sorted, branch([arm('Paid', [hi])])).paths).toEqual(['steps.paid.controls.arms'])
  })

  test('a condition that one removed stays removed', () => {
    const known = withSteps(branch([arm('Paid', [], { condition: { '!!': [1] } })]))
    const mine = withSteps(branch([arm('Paid', [])]))
    const theirs = withSteps(branch([arm('Paid', [hi], { condition: { '!!': [1] } })]))
    const { draft, collisions } = mergeDrafts(known, mine, theirs)
    expect(collisions).toEqual([])
    const [paid] = (draft.steps[0]?.controlValues.arms ?? []) as Arm[]
    expect([paid?.condition, paid?.steps.length]).toEqual([undefined, 1])
  })

  test('new steps with one stepId in arms are two steps; one that moved and was changed is not there twice', () => {
    const two = merged(
      branch([arm('Paid', [hi, added('sms', { body: 'Mine' })]), arm('Large', [bye])]),
      branch([arm('Paid', [hi]), arm('Large', [bye, step('sms', { body: 'Theirs' })])]),
    )
    expect([two.renamed, two.paths]).toEqual([[['sms', 'sms-2']], []])
    const moved = merged(
      branch([arm('Paid', []), arm('Large', [bye, hi])]),
      branch([arm('Paid', [step('hi', { body: 'Theirs' })]), arm('Large', [bye])]),
    )
    expect(moved.paths).toEqual(['steps.paid.controls.arms'])
  })
})
