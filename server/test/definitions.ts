// Definitions as files hold them, and calls that push and read them, for tests.
import { expect } from 'vitest'
import type { Api } from './server.ts'

type Definition = Record<string, unknown>
export const mail = (more: object = {}) => ({
  ...{ stepId: 'mail', name: 'Mail', type: 'email' },
  controlValues: { subject: 'Hi', body: '<p>Hi</p>', editorType: 'html', ...more },
})
export const comments = (more: Definition = {}) => ({
  ...{ workflowId: 'comments', name: 'Comments', active: true, validatePayload: true, steps: [mail()] },
  ...more,
})
export const html = (text: string) => `<html><body>${text}{{content}}</body></html>`
export const brand = (text = 'A', more: Definition = {}) => ({
  ...{ layoutId: 'brand', name: 'Brand', controlValues: { email: { body: html(text), editorType: 'html' } } },
  ...more,
})
export const workflow = (definition: Definition = comments(), more: object = {}) => ({
  ...{ kind: 'workflow', id: definition.workflowId, definition },
  ...more,
})
export const layout = (definition: Definition = brand(), more: object = {}) => ({
  ...{ kind: 'layout', id: definition.layoutId, definition },
  ...more,
})
export const german = (workflows: Definition, more: object = {}) => ({
  ...{ kind: 'translation', id: 'de_DE', definition: { workflows, layouts: {} } },
  ...more,
})

/** @param usual where they go unless a call names another */
export function definitionsOf(usual: () => Api) {
  const push = (resources: object[], more: object = {}, to = usual()) =>
    to.post('/v2/definitions/push', { resources, ...more })
  const read = async (query = '', from = usual()) => (await from.get(`/v2/definitions${query}`)).body
  return {
    push,
    async pushed(resources: object[], more: object = {}, to = usual()) {
      const answer = await push(resources, more, to)
      expect(answer).toMatchObject({ status: 200 })
      return answer.body
    },
    read,
    one: async (kind: string, id: string, from = usual()) =>
      (await read(`?kinds=${kind}&ids=${id}`, from)).resources[0],
  }
}
