import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { expect, test } from 'vitest'

test('the bill of materials names what the service runs on, with hashes, and no tools of development', () => {
  const root = path.join(import.meta.dirname, '..')
  const text = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: root, encoding: 'utf8' })
  const { bomFormat, components } = JSON.parse(text) as {
    bomFormat: string
    components: Array<{ name: string; version: string; hashes?: unknown[] }>
  }
  expect(bomFormat).toBe('CycloneDX')
  const named = (name: string) => components.find((each) => each.name === name)
  expect(named('fastify')).toMatchObject({ version: expect.stringMatching(/^\d/), hashes: [{ alg: 'SHA-512' }] })
  expect(named('vitest')).toBeUndefined()
})
