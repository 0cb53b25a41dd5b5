import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { afterEach, expect, test, vi } from 'vitest'
import { useServer } from '../../../test/server.ts'

const server = useServer()
afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
})

/** From here on every random suffix is the next digit, eight times: `-11111111`, `-22222222`, … */
function countInsteadOfChance(): void {
  let made = 0
  vi.spyOn(crypto, 'randomBytes').mockImplementation(((length: number) => {
    made += 1
    return Buffer.alloc(length, made)
  }) as typeof crypto.randomBytes)
  syncBuiltinESMExports()
}

const tail = (digit: number) => `-${String(digit).repeat(8)}`

test('a workflow with a taken identifier gets a random suffix, with a second try, and is refused after that', async () => {
  const api = await server.freshApi()
  const create = async (workflowId: string) =>
    await api.post('/v2/workflows', { name: 'News', workflowId, steps: [] as object[] })
  await create('news')
  await create(`news${tail(1)}`)
  countInsteadOfChance()
  expect(await create('news')).toMatchObject({ status: 201, body: { workflowId: `news${tail(2)}` } })
  countInsteadOfChance()
  expect(await create('news')).toMatchObject({
    status: 400,
    body: { message: 'Another workflow has the identifier "news"; choose a different one' },
  })
  expect((await api.get('/v2/workflows')).body.totalCount).toBe(3)
})

test('a step with a taken identifier gets a random suffix, with up to five tries, and is refused after that', async () => {
  const api = await server.freshApi()
  const create = async (stepIds: string[]) => {
    const steps = stepIds.map((stepId) => ({ name: 'Text', stepId, type: 'sms', controlValues: { body: 'Hi' } }))
    countInsteadOfChance()
    return await api.post('/v2/workflows', { name: 'Steps', workflowId: 'steps', steps })
  }
  const taken = (count: number) => Array.from({ length: count }, (_, i) => `text${i === 0 ? '' : tail(i)}`)
  expect(await create([...taken(6), 'text'])).toMatchObject({
    status: 400,
    body: { message: 'Another step has the identifier "text"; choose a different one' },
  })
  expect((await api.get('/v2/workflows')).body.totalCount).toBe(0)
  const made = await create([...taken(5), 'text'])
  expect(made.status).toBe(201)
  expect(made.body.steps.map(({ stepId }: { stepId: string }) => stepId)).toEqual([...taken(5), `text${tail(5)}`])
})
