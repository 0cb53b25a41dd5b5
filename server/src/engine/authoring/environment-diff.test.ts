import { describe, expect, test } from 'vitest'
import { content, layout, nothing, step, texts, workflow, written } from '../../../test/environment-content.ts'
import type { LayoutRow } from '../../db/queries/layouts.ts'
import type { WorkflowRow, WorkflowStep } from '../../db/queries/workflows.ts'
import { diffEnvironments, type EnvironmentContent } from './environment-diff.ts'

const published = new Date('2026-04-01T10:00:00.000Z')

/** One resource's differences in short: the change, the resource, and a step's old and new place. */
function inShort(source: EnvironmentContent, target: EnvironmentContent): string[] {
  return diffEnvironments(source, target).resources.flatMap(({ changes }) =>
    changes.map(({ action, resourceType, sourceResource, targetResource, previousIndex, newIndex }) =>
      [
        action,
        resourceType,
        (sourceResource ?? targetResource)?.id,
        ...(resourceType === 'step' ? [`${previousIndex ?? '-'}→${newIndex ?? '-'}`] : []),
      ].join(' '),
    ),
  )
}

test('empty environments do not differ', () => {
  expect(diffEnvironments(nothing, nothing)).toEqual({
    resources: [],
    summary: { totalEntities: 0, totalChanges: 0, hasChanges: false },
  })
})

test('a new workflow counts with its steps, and shows its contents', () => {
  const source = content([workflow('w', { steps: [step('a'), step('b', { type: 'delay', controlValues: null })] })])
  const info = { updatedBy: { _id: 'ada', firstName: '' }, updatedAt: written }
  const added = { action: 'added', targetResource: null }
  const fields = {
    workflowId: 'w',
    name: 'Workflow w',
    description: '',
    tags: [],
    active: true,
    severity: 'none',
    messageClass: 'transactional',
    consentCategory: null,
    preferences: { user: null, default: { all: { enabled: true } } },
    payloadSchema: null,
    validatePayload: false,
    isTranslationEnabled: false,
  }
  expect(diffEnvironments(source, nothing)).toEqual({
    resources: [
      {
        resourceType: 'workflow',
        sourceResource: { id: 'w', name: 'Workflow w', ...info },
        targetResource: null,
        changes: [
          {
            ...added,
            resourceType: 'workflow',
            sourceResource: { id: 'w', name: 'Workflow w', ...info },
            diffs: { previous: null, new: fields },
          },
          {
            ...added,
            resourceType: 'step',
            sourceResource: { id: 'a', name: 'Step a', ...info },
            diffs: {
              previous: null,
              new: { stepId: 'a', name: 'Step a', type: 'in_app', controlValues: { body: 'a' } },
            },
            stepType: 'in_app',
            newIndex: 0,
          },
          {
            ...added,
            resourceType: 'step',
            sourceResource: { id: 'b', name: 'Step b', ...info },
            diffs: { previous: null, new: { stepId: 'b', name: 'Step b', type: 'delay', controlValues: {} } },
            stepType: 'delay',
            newIndex: 1,
          },
        ],
        summary: { added: 3, modified: 0, deleted: 0, unchanged: 0 },
      },
    ],
    summary: { totalEntities: 1, totalChanges: 3, hasChanges: true },
  })
})

test('a workflow that only the target has is one deletion, whatever it contains', () => {
  const target = workflow('w', { steps: [step('a')], is_translation_enabled: true })
  const diff = diffEnvironments(nothing, content([target], [], [texts(target, 'en_US', { hi: 'Hi' })]))
  expect(diff.resources).toMatchObject([
    {
      sourceResource: null,
      targetResource: { id: 'w' },
      changes: [{ resourceType: 'workflow', action: 'deleted', diffs: { previous: { workflowId: 'w' }, new: null } }],
      summary: { added: 0, modified: 0, deleted: 1, unchanged: 0 },
    },
  ])
  expect(diff.resources[0]?.changes).toHaveLength(1)
})

test('settings local to an environment make no difference', () => {
  const source = workflow('w', { steps: [step('a')] })
  const target = workflow('w', {
    environment_id: 'e2',
    id: 'f'.repeat(24),
    steps: [step('a', { _id: 'f'.repeat(24), controlSchema: { type: 'object' } })],
    version: 7,
    created_by: 'bob',
    updated_by: 'bob',
    updated_at: published,
    created_at: published,
    last_published_at: published,
    last_published_by: 'bob',
    last_triggered_at: published,
  })
  const elsewhere = layout('l', { environment_id: 'e2', id: 'e'.repeat(24), is_default: true, updated_at: published })
  expect(diffEnvironments(content([source], [layout('l')]), content([target], [elsewhere]))).toEqual({
    resources: [],
    summary: { totalEntities: 2, totalChanges: 0, hasChanges: false },
  })
})

test('key order, and null against empty values, make no difference', () => {
  const source = workflow('w', {
    payload_schema: { type: 'object', properties: {} },
    steps: [step('a', { controlValues: null }), step('b', { controlValues: { body: '1', skip: { and: [] } } })],
  })
  const target = workflow('w', {
    payload_schema: { properties: {}, type: 'object' },
    steps: [step('a', { controlValues: {} }), step('b', { controlValues: { skip: { and: [] }, body: '1' } })],
  })
  expect(inShort(content([source]), content([target]))).toEqual([])
  const layouts = [layout('l', { content: null }), layout('l', { content: {} })] as const
  expect(inShort(content([], [layouts[0]]), content([], [layouts[1]]))).toEqual([])
})

test.each<[keyof WorkflowRow, Partial<WorkflowRow>]>([
  ['name', { name: 'Other' }],
  ['description', { description: 'Other' }],
  ['tags', { tags: ['other'] }],
  ['active', { active: false }],
  ['severity', { severity: 'high' }],
  ['message_class', { message_class: 'commercial' }],
  ['consent_category', { consent_category: 'offers' }],
  ['tracking', { tracking: { opens: true, clicks: false } }],
  ['preferences', { preferences: { all: { enabled: false } } }],
  ['user_preferences', { user_preferences: { all: { enabled: false } } }],
  ['payload_schema', { payload_schema: { type: 'object' } }],
  ['validate_payload', { validate_payload: true }],
])('a changed %s of a workflow is a modification', (_, changes) => {
  const { resources, summary } = diffEnvironments(content([workflow('w', changes)]), content([workflow('w')]))
  expect(resources).toHaveLength(1)
  expect(resources[0]).toMatchObject({
    changes: [{ resourceType: 'workflow', action: 'modified', diffs: { previous: {}, new: {} } }],
    summary: { added: 0, modified: 1, deleted: 0, unchanged: 0 },
  })
  expect(resources[0]?.changes[0]?.diffs?.previous).not.toEqual(resources[0]?.changes[0]?.diffs?.new)
  expect(summary).toEqual({ totalEntities: 1, totalChanges: 1, hasChanges: true })
})

test.each<[string, Partial<LayoutRow>]>([
  ['name', { name: 'Other' }],
  ['content', { content: { email: { body: '<b>{{content}}</b>', editorType: 'html' } } }],
])('a changed %s of a layout is a modification', (_, changes) => {
  expect(inShort(content([], [layout('l', changes)]), content([], [layout('l')]))).toEqual(['modified layout l'])
})

describe('steps, source against target', () => {
  test.each<[string, WorkflowStep[], WorkflowStep[], string[]]>([
    ['are the same', [step('a'), step('b')], [step('a'), step('b')], []],
    ['one is new at the end', [step('a'), step('b')], [step('a')], ['added step b -→1']],
    ['one is new in front', [step('b'), step('a')], [step('a')], ['added step b -→0', 'moved step a 0→1']],
    ['one is deleted', [step('b')], [step('a'), step('b')], ['moved step b 1→0', 'deleted step a 0→-']],
    ['two change places', [step('b'), step('a')], [step('a'), step('b')], ['moved step b 1→0', 'moved step a 0→1']],
    ['one is renamed', [step('a', { name: 'Other' })], [step('a')], ['modified step a 0→0']],
    ['one has other values', [step('a', { controlValues: {} })], [step('a')], ['modified step a 0→0']],
    ['one is of another kind', [step('a', { type: 'sms' })], [step('a')], ['modified step a 0→0']],
    [
      'one changes and moves',
      [step('b'), step('a', { name: 'Other' })],
      [step('a'), step('b')],
      ['moved step b 1→0', 'modified step a 0→1'],
    ],
  ])('%s', (_, here, there, expected) => {
    const source = content([workflow('w', { steps: here })])
    const target = content([workflow('w', { steps: there })])
    expect(inShort(source, target)).toEqual(expected)
    const { resources } = diffEnvironments(source, target)
    if (expected.length > 0) expect(resources[0]?.summary).toEqual({ added: 0, modified: 1, deleted: 0, unchanged: 0 })
  })

  test('a step that only moved shows no contents', () => {
    const source = content([workflow('w', { steps: [step('b'), step('a'), step('new')] })])
    const target = content([workflow('w', { steps: [step('a', { name: 'Old' }), step('b'), step('x'), step('y')] })])
    const changes = diffEnvironments(source, target).resources[0]?.changes ?? []
    expect(changes.map(({ action, diffs }) => [action, diffs?.previous?.stepId, diffs?.new?.stepId])).toEqual([
      ['moved', undefined, undefined],
      ['modified', 'a', 'a'],
      ['added', undefined, 'new'],
      ['deleted', 'x', undefined],
      ['deleted', 'y', undefined],
    ])
    expect(changes[0]).not.toHaveProperty('diffs')
  })
})

describe('translations', () => {
  const on = workflow('w', { is_translation_enabled: true })
  const off = workflow('w')
  const english = texts(on, 'en_US', { hi: 'Hi', bye: { late: 'Good night' } })
  const german = texts(on, 'de_DE', { hi: 'Hallo' })

  test.each<[string, EnvironmentContent, EnvironmentContent, string[]]>([
    ['are the same', content([on], [], [english, german]), content([on], [], [german, english]), []],
    [
      'have a new locale',
      content([on], [], [english, german]),
      content([on], [], [english]),
      ['modified localization_group w'],
    ],
    [
      'lost a locale',
      content([on], [], [english]),
      content([on], [], [english, german]),
      ['modified localization_group w'],
    ],
    [
      'have another text',
      content([on], [], [english]),
      content([on], [], [texts(on, 'en_US', { hi: 'Hello' })]),
      ['modified localization_group w'],
    ],
    [
      'are turned on',
      content([on], [], [english]),
      content([off]),
      ['modified workflow w', 'added localization_group w'],
    ],
    [
      'are turned off',
      content([off]),
      content([on], [], [english]),
      ['modified workflow w', 'deleted localization_group w'],
    ],
    [
      'come with a new workflow',
      content([on], [], [english]),
      nothing,
      ['added workflow w', 'added localization_group w'],
    ],
    ['are left over while turned off', content([off], [], [english]), content([off]), []],
  ])('%s', (_, source, target, expected) => {
    expect(inShort(source, target)).toEqual(expected)
  })

  test('are shown by locale, and add nothing to the count of their resource', () => {
    const { resources } = diffEnvironments(content([on], [], [english, german]), nothing)
    expect(resources[0]?.summary).toEqual({ added: 1, modified: 0, deleted: 0, unchanged: 0 })
    expect(resources[0]?.changes[1]).toMatchObject({
      sourceResource: { id: 'w', name: 'Workflow w' },
      targetResource: null,
      diffs: { previous: null, new: { en_US: { hi: 'Hi', bye: { late: 'Good night' } }, de_DE: { hi: 'Hallo' } } },
    })
  })

  test('of a layout belong to the layout, even where a workflow has the same id', () => {
    const twin = layout('w', { id: on.id, is_translation_enabled: true })
    const source = content([on], [twin], [texts(twin, 'en_US', { footer: 'Bye' })])
    expect(inShort(source, content([on], [twin]))).toEqual(['modified localization_group w'])
    expect(diffEnvironments(source, content([on], [twin])).resources).toMatchObject([{ resourceType: 'layout' }])
  })
})

describe('dependencies', () => {
  const mail = (layoutId: unknown) => step('mail', { type: 'email', controlValues: { subject: 's', layoutId } })
  const user = workflow('w', { steps: [mail('l')] })

  test('a layout the target lacks blocks the workflow, one it has does not', () => {
    const dependency = { resourceType: 'layout', resourceId: 'l', resourceName: 'Layout l' }
    expect(diffEnvironments(content([user], [layout('l')]), nothing).resources[0]?.dependencies).toEqual([
      { ...dependency, isBlocking: true, reason: 'LAYOUT_REQUIRED_FOR_WORKFLOW' },
    ])
    expect(
      diffEnvironments(content([user], [layout('l')]), content([], [layout('l')])).resources[0]?.dependencies,
    ).toEqual([{ ...dependency, isBlocking: false, reason: 'LAYOUT_EXISTS_IN_TARGET' }])
  })

  test('each layout is named once, and one that exists nowhere not at all', () => {
    const twice = workflow('w', {
      steps: [mail('l'), { ...mail('l'), stepId: 'again' }, { ...mail('x'), stepId: 'x' }],
    })
    const { dependencies } = diffEnvironments(content([twice], [layout('l')]), nothing).resources[0] ?? {}
    expect(dependencies?.map(({ resourceId }) => resourceId)).toEqual(['l'])
  })

  test.each([[null], [undefined]])('a step whose layout is %j depends on none', (layoutId) => {
    const source = content([workflow('w', { steps: [mail(layoutId)] })])
    expect(diffEnvironments(source, nothing).resources[0]).not.toHaveProperty('dependencies')
  })

  test("a deleted layout lists the target's workflows that still use it", () => {
    const { resources } = diffEnvironments(content([user]), content([user, workflow('other')], [layout('l')]))
    expect(resources.find(({ resourceType }) => resourceType === 'layout')).toMatchObject({
      summary: { deleted: 1 },
      dependencies: [
        {
          resourceType: 'workflow',
          resourceId: 'w',
          resourceName: 'Workflow w',
          isBlocking: true,
          reason: 'LAYOUT_REQUIRED_FOR_WORKFLOW',
        },
      ],
    })
  })
})

test('workflows defined in code and older ones are not compared', () => {
  const source = content([workflow('code', { origin: 'external' }), workflow('old', { origin: 'svc-cloud-v1' })])
  const target = content([workflow('other', { origin: 'external' })])
  expect(diffEnvironments(source, target).summary).toEqual({ totalEntities: 0, totalChanges: 0, hasChanges: false })
})

test('workflows come first, then layouts, each by identifier', () => {
  const source = content([workflow('b'), workflow('a')], [layout('0')])
  const target = content([workflow('aa')], [layout('1')])
  expect(inShort(source, target)).toEqual([
    'added workflow a',
    'deleted workflow aa',
    'added workflow b',
    'added layout 0',
    'deleted layout 1',
  ])
})
