// What a start prints.
import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { welcome } from './welcome.ts'

const first = { url: 'http://127.0.0.1:3000', setUpToken: 'token', needsOwner: true, created: undefined }
const printed = (env: Record<string, string>) =>
  welcome(
    first,
    readConfig({ DATABASE_URL: 'postgres://somewhere', BELFRY_SECRET_KEY: 'a1'.repeat(32), ...env }).config,
  )

test('a first start in a terminal prints the keys', () => {
  const { config } = readConfig({})
  const created = [{ id: '1', name: 'Development', apiKey: 'the-key', identifier: 'app' }]
  expect(welcome({ ...first, created }, config)).toContain('\n    Development  the-key\n')
})

test('the first start prints a link to a process that serves pages, also if a worker seeded the database', () => {
  expect(printed({})).toContain('http://127.0.0.1:3000/setup#token')
  const worker = printed({ BELFRY_ROLE: 'worker' })
  expect(worker).toContain('http://<address of an API process>/setup#token')
  expect(worker).not.toContain('127.0.0.1:3000/setup')
  expect(printed({ BELFRY_ROLE: 'worker', BELFRY_PUBLIC_URL: 'https://bell.example.com' })).toContain(
    'https://bell.example.com/setup#token',
  )
})
