// Plays every scenario of the documentation.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { useServer } from './server.ts'

const server = useServer()
const folder = new URL('../../docs/scenarios/', import.meta.url)

const scenarios = readdirSync(folder)
  .filter((file) => file.endsWith('.scenario.yaml'))
  .flatMap((file) =>
    [...parseAllDocuments(readFileSync(new URL(file, folder), 'utf8'))].map((document) => {
      const { name, ...body } = document.toJS() as { name: string }
      return { file, name, body }
    }),
  )

test('there is a scenario for everything that takes days', () => {
  expect([...new Set(scenarios.map(({ file }) => file.split('.')[0]))]).toEqual([
    ...[
      'cancel',
      'digest-windows',
      'digest',
      'dst',
      'failover',
      'gates',
      'quiet-hours',
      'reminder',
      'retries',
      'throttle',
    ],
  ])
})

test.each(scenarios)('$file › $name', async ({ body }) => {
  const answer = await server.api.post('/v1/simulations', body)
  expect(answer.status, answer.text.slice(0, 1_000)).toBe(200)
  expect(answer.body.expectations.filter(({ holds }: { holds: boolean }) => !holds)).toEqual([])
  expect(answer.body.passed).toBe(true)
})
