import { describe, expect, test } from 'vitest'
import { content, layout, nothing, step, texts, workflow } from '../../../test/environment-content.ts'
import type { EnvironmentContent } from './environment-diff.ts'
import { type NamedResource, type Outcome, type PublishOptions, planPublish, report } from './publish-plan.ts'

const limits = { workflows: 100, layouts: 100 }
const everything: PublishOptions = { resources: undefined, deleteMissing: false, limits }
const withDeletions: PublishOptions = { resources: undefined, deleteMissing: true, limits }
const only = (...resources: Array<Partial<NamedResource> & { resourceId: string }>): PublishOptions => ({
  resources: resources.map((resource) => ({ resourceType: undefined, rowId: undefined, ...resource })),
  deleteMissing: true,
  limits,
})

const unchanged = 'No changes detected'
const kept =
  'Only in the target environment. Nothing is deleted unless deleteMissing is true or the resource is named in resources'

const inShort = (outcomes: Outcome[]) =>
  outcomes.map(({ type, identifier, verdict }) => `${type} ${identifier}: ${Object.values(verdict).join()}`)

const mail = (layoutId: string) => step('mail', { type: 'email', controlValues: { subject: 's', layoutId } })
const changed = { name: 'Changed' }

describe('everything, without and with deletions', () => {
  const source = content(
    [workflow('new'), workflow('same'), workflow('changed', changed)],
    [layout('new'), layout('same'), layout('changed', changed)],
  )
  const target = content(
    [workflow('same'), workflow('changed'), workflow('old')],
    [layout('same'), layout('changed'), layout('old'), layout('home', { is_default: true })],
  )

  test('what the target lacks is created, what differs updated, and nothing deleted', () => {
    expect(inShort(planPublish(source, target, everything))).toEqual([
      'workflow changed: updated',
      'workflow new: created',
      `workflow old: ${kept}`,
      `workflow same: ${unchanged}`,
      'layout changed: updated',
      `layout home: ${kept}`,
      'layout new: created',
      `layout old: ${kept}`,
      `layout same: ${unchanged}`,
    ])
  })

  test('when asked to, what only the target has is deleted, except its default layout', () => {
    expect(inShort(planPublish(source, target, withDeletions))).toEqual([
      'workflow changed: updated',
      'workflow new: created',
      'workflow old: deleted',
      `workflow same: ${unchanged}`,
      'layout changed: updated',
      'layout home: Layout "home" is the default layout of the environment and cannot be deleted',
      'layout new: created',
      'layout old: deleted',
      `layout same: ${unchanged}`,
    ])
  })

  test('a dry run skips everything and says what would happen', () => {
    const { results, summary } = report(planPublish(source, target, withDeletions), { dryRun: true })
    const would = (resourceId: string, reason: string) => ({ resourceId, reason: `Dry run mode: would ${reason}` })
    expect(results).toMatchObject([
      {
        resourceType: 'workflow',
        successful: [],
        failed: [],
        skipped: [
          would('changed', 'be updated'),
          would('new', 'be created'),
          would('old', 'be deleted'),
          { resourceId: 'same', reason: unchanged },
        ],
        totalProcessed: 4,
      },
      {
        resourceType: 'layout',
        successful: [],
        failed: [],
        skipped: [
          would('changed', 'be updated'),
          would('home', 'fail: Layout "home" is the default layout of the environment and cannot be deleted'),
          would('new', 'be created'),
          would('old', 'be deleted'),
          { resourceId: 'same', reason: unchanged },
        ],
        totalProcessed: 5,
      },
    ])
    expect(summary).toEqual({ resources: 9, successful: 0, failed: 0, skipped: 9 })
  })

  test('the report lists each resource under its outcome', () => {
    const { results, summary } = report(planPublish(source, target, withDeletions), { dryRun: false })
    const named = (resourceId: string, resourceName: string) => ({ resourceType: 'layout', resourceId, resourceName })
    expect(results[1]).toEqual({
      resourceType: 'layout',
      successful: [
        { ...named('changed', 'Changed'), action: 'updated' },
        { ...named('new', 'Layout new'), action: 'created' },
        { ...named('old', 'Layout old'), action: 'deleted' },
      ],
      failed: [
        {
          ...named('home', 'Layout home'),
          error: 'Layout "home" is the default layout of the environment and cannot be deleted',
        },
      ],
      skipped: [{ ...named('same', 'Layout same'), reason: unchanged }],
      totalProcessed: 5,
    })
    expect(summary).toEqual({ resources: 9, successful: 6, failed: 1, skipped: 2 })
  })
})

test('an empty plan is an empty report', () => {
  expect(report(planPublish(nothing, nothing, everything), { dryRun: false })).toEqual({
    results: [
      { resourceType: 'workflow', successful: [], failed: [], skipped: [], totalProcessed: 0 },
      { resourceType: 'layout', successful: [], failed: [], skipped: [], totalProcessed: 0 },
    ],
    summary: { resources: 0, successful: 0, failed: 0, skipped: 0 },
  })
})

test('changed texts alone are a reason to update', () => {
  const translated = workflow('w', { is_translation_enabled: true })
  const source = content([translated], [], [texts(translated, 'en_US', { hi: 'Hi' })])
  expect(inShort(planPublish(source, content([translated]), everything))).toEqual(['workflow w: updated'])
})

describe('named resources', () => {
  const source = content(
    [workflow('a', { steps: [mail('l')] }), workflow('b', changed), workflow('both')],
    [layout('l', changed), layout('m'), layout('both'), layout('mixed')],
  )
  const target = content([workflow('b'), workflow('old'), workflow('mixed')], [layout('l'), layout('old')])

  test.each<[string, PublishOptions, string[]]>([
    ['an empty list publishes nothing', only(), []],
    ['others are untouched', only({ resourceType: 'workflow', resourceId: 'b' }), ['workflow b: updated']],
    [
      'a workflow brings its layouts',
      only({ resourceType: 'workflow', resourceId: 'a' }),
      ['workflow a: created', 'layout l: updated'],
    ],
    ['a layout brings nothing', only({ resourceType: 'layout', resourceId: 'm' }), ['layout m: created']],
    [
      'a resource that the source no longer has is deleted',
      only({ resourceType: 'workflow', resourceId: 'old' }),
      ['workflow old: deleted'],
    ],
    ['a name may be an internal id', only({ resourceId: 'x', rowId: workflow('b').id }), ['workflow b: updated']],
    ['an identifier counts before an id', only({ resourceId: 'b', rowId: workflow('a').id }), ['workflow b: updated']],
    ['without a type it is the workflow of that name', only({ resourceId: 'both' }), ['workflow both: created']],
    ['or else the layout', only({ resourceId: 'm' }), ['layout m: created']],
    ['but not when a type is given', only({ resourceType: 'layout', resourceId: 'both' }), ['layout both: created']],
    ['one of the source counts before one to delete', only({ resourceId: 'mixed' }), ['layout mixed: created']],
    [
      'an ambiguous name deletes nothing',
      only({ resourceId: 'old' }),
      [
        'workflow old: The target environment has both a workflow and a layout "old"; set resourceType to say which one',
      ],
    ],
    [
      'a resource named twice counts once',
      only({ resourceId: 'b' }, { resourceType: 'workflow', resourceId: 'b' }),
      ['workflow b: updated'],
    ],
    [
      'a resource that exists nowhere fails, and the others go on',
      only({ resourceId: 'b' }, { resourceId: 'nope' }, { resourceType: 'layout', resourceId: 'a' }),
      [
        'workflow b: updated',
        'workflow nope: Neither environment has a workflow "nope"',
        'layout a: Neither environment has a layout "a"',
      ],
    ],
  ])('%s', (_, options, expected) => {
    expect(inShort(planPublish(source, target, options))).toEqual(expected)
  })

  test('those of another origin fail', () => {
    const elsewhere = content([workflow('code', { origin: 'external' })])
    expect(inShort(planPublish(elsewhere, nothing, only({ resourceId: 'code' })))).toEqual([
      'workflow code: Workflow "code" cannot be copied to another environment: only workflows made in the dashboard or with the API can',
    ])
    expect(planPublish(elsewhere, nothing, everything)).toEqual([])
  })
})

describe('a layout to be deleted', () => {
  const user = workflow('w', { steps: [mail('l')] })
  const target = content([user], [layout('l')])
  const stays = 'layout l: Workflows of the target environment still use the layout: w'

  test.each<[string, EnvironmentContent, PublishOptions, string[]]>([
    ['stays while a remaining workflow uses it', nothing, only({ resourceType: 'layout', resourceId: 'l' }), [stays]],
    ['is deleted with its last user', nothing, withDeletions, ['workflow w: deleted', 'layout l: deleted']],
    [
      'is deleted once its user no longer names it',
      content([workflow('w')]),
      withDeletions,
      ['workflow w: updated', 'layout l: deleted'],
    ],
    [
      'stays if its user is published and still names it',
      content([workflow('w', { steps: [mail('l')], name: 'Changed' })]),
      withDeletions,
      ['workflow w: updated', stays],
    ],
  ])('%s', (_, source, options, expected) => {
    expect(inShort(planPublish(source, target, options))).toEqual(expected)
  })

  test('also stays for a workflow defined in code', () => {
    const code = workflow('code', { origin: 'external', steps: [mail('l')] })
    expect(inShort(planPublish(nothing, content([code], [layout('l')]), withDeletions))).toEqual([
      'layout l: Workflows of the target environment still use the layout: code',
    ])
  })
})

test('a workflow of another origin is never overwritten: the whole publish is refused', () => {
  const source = content([workflow('w'), workflow('x')])
  const target = content([workflow('w', { origin: 'external' })])
  expect(() => planPublish(source, target, everything)).toThrow(
    expect.objectContaining({
      code: 'published_identifier_taken',
      message: expect.stringContaining('already has a workflow "w" of another origin'),
    }),
  )
  expect(inShort(planPublish(source, target, only({ resourceId: 'x' })))).toEqual(['workflow x: created'])
})

test('the target gets no more layouts than an environment may have', () => {
  const many = (count: number, prefix: string) =>
    Array.from({ length: count }, (_, index) => layout(`${prefix}${index}`))
  const target = content([], many(99, 't'))
  expect(planPublish(content([], many(1, 's')), target, everything)).toHaveLength(100)
  expect(() => planPublish(content([], many(2, 's')), target, everything)).toThrow(
    expect.objectContaining({ code: 'too_many_layouts', ctx: { currentCount: 101, limit: 100 } }),
  )
  expect(planPublish(content([], many(2, 's')), target, withDeletions)).toHaveLength(101)
})
