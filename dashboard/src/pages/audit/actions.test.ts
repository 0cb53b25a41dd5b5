import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AuditEntry } from '../../api/team.ts'
import { sentenceOf } from './actions.ts'

test('there are words for everything that routes record', () => {
  const routes = join(import.meta.dirname, '../../../../server/src/http')
  const recorded = readdirSync(routes, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(join(routes, file), 'utf8').matchAll(/\bact: '([^']+)'/g)])
    .map(([, action = '']) => action)
  expect(recorded).toContain('rota.created')
  const wordless = recorded.filter((action) => sentenceOf({ action } as AuditEntry) === action)
  expect(wordless).toEqual([])
})
