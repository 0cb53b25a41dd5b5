import { describe, expect, test } from 'vitest'
import { layout, step, workflow } from '../../../test/environment-content.ts'
import { plainContent } from '../../db/queries/layouts.ts'
import { layoutDefinition } from './layout-definition.ts'
import { openPayload, workflowDefinition } from './workflow-definition.ts'

const off = { enabled: false }

describe('the definition of a workflow', () => {
  test('leaves out ids, times and what creation takes by default', () => {
    const row = workflow('comments', { name: 'Comments', payload_schema: openPayload, steps: [step('inbox')] })
    expect(workflowDefinition(row)).toEqual({
      ...{ workflowId: 'comments', name: 'Comments', active: true, validatePayload: false },
      steps: [{ stepId: 'inbox', name: expect.any(String), type: 'in_app', controlValues: { body: 'inbox' } }],
    })
  })

  test('says what is not the default, in the words of a creation', () => {
    const row = workflow('comments', {
      ...{ description: 'Tells', tags: ['social'], severity: 'high', is_translation_enabled: true },
      payload_schema: { type: 'object', properties: { b: {}, a: {} } },
      preferences: { all: { enabled: false, readOnly: true }, channels: { sms: { enabled: true } } },
      user_preferences: {},
      steps: [
        step('inbox', {
          ...{ controlValues: null, active: false, shouldStopOnFail: true, onUnknown: 'hold' },
          variants: [{ _id: 'v', name: 'VIP', active: true, filters: [], controlValues: {} }],
        }),
      ],
    })
    expect(workflowDefinition(row)).toMatchObject({
      ...{ description: 'Tells', tags: ['social'], severity: 'high', isTranslationEnabled: true },
      preferences: {
        user: {},
        workflow: { all: { enabled: false, readOnly: true }, channels: { sms: { enabled: true } } },
      },
      steps: [
        {
          ...{ stepId: 'inbox', active: false, shouldStopOnFail: true, onUnknown: 'hold' },
          variants: [{ name: 'VIP', filters: [] }],
        },
      ],
    })
  })

  test('is the same for preferences that mean the same', () => {
    const of = (preferences: object) => workflowDefinition(workflow('w', { preferences } as never))
    const channels = { email: off, sms: off, in_app: off, chat: off, push: off }
    expect(of({ all: { enabled: false, readOnly: false }, channels })).toEqual(of({ all: off }))
    expect(of({ all: { enabled: true } })).not.toHaveProperty('preferences')
  })

  test('spells a block document without spaces', () => {
    const body = '{ "type": "doc",\n "content": [] }'
    const values = (controlValues: Record<string, unknown>) =>
      (
        workflowDefinition(workflow('w', { steps: [step('mail', { type: 'email', controlValues })] })).steps as object[]
      )[0]
    expect(values({ editorType: 'block', body })).toMatchObject({
      controlValues: { body: '{"type":"doc","content":[]}' },
    })
    expect(values({ editorType: 'html', body })).toMatchObject({ controlValues: { body } })
    expect(values({ editorType: 'block', body: '{broken' })).toMatchObject({ controlValues: { body: '{broken' } })
  })
})

describe('the definition of a layout', () => {
  test('leaves out content that only shows the email, and says what is not the default', () => {
    const plain = layout('plain', { name: 'Plain', is_default: false, content: plainContent })
    expect(layoutDefinition(plain)).toEqual({ layoutId: 'plain', name: 'Plain' })
    const email = { body: '<html></html>', editorType: 'html' as const }
    expect(layoutDefinition({ ...plain, is_default: true, is_translation_enabled: true, content: { email } })).toEqual({
      ...{ layoutId: 'plain', name: 'Plain', isDefault: true, isTranslationEnabled: true },
      controlValues: { email },
    })
    expect(layoutDefinition({ ...plain, content: null })).toMatchObject({ controlValues: null })
  })
})
