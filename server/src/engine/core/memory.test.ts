import { expect, test } from 'vitest'
import { inApp, makeWorkflow } from '../../../test/runs.ts'
import { useServer } from '../../../test/server.ts'
import type { Db } from '../../db/core/database.ts'
import { RememberedEnvironment } from './memory.ts'

const server = useServer()

/** At one revision, whatever changes meanwhile. */
const environmentOf = (id: string, db: Db = server.database.db) =>
  new RememberedEnvironment(db, '0', { id } as RememberedEnvironment['facts'], { hasBranding: true, shadow: undefined })

test('what exists is loaded once; what does not is looked for again', async () => {
  const api = await server.freshApi()
  const environment = environmentOf(api.environmentId)
  expect(await environment.workflow('welcome')).toBeUndefined()
  await makeWorkflow(api, 'welcome', [inApp('Hello')])
  const found = await environment.workflow('welcome')
  expect(found).toMatchObject({ identifier: 'welcome' })
  expect(await environment.workflow('welcome')).toBe(found)
})

test('what could not be loaded is tried again', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'welcome', [inApp('Hello')])
  const { db } = server.database
  let isDown = true
  const flaky = new Proxy(db, {
    get(target, name) {
      if (isDown && name === 'selectFrom') throw new Error('the database cannot be reached')
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const environment = environmentOf(api.environmentId, flaky)
  await expect(environment.workflow('welcome')).rejects.toThrow('cannot be reached')
  isDown = false
  expect(await environment.workflow('welcome')).toMatchObject({ identifier: 'welcome' })
})
