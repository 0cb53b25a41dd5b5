// The code of the Inbox page: each hash program prints what the server expects, wherever this machine can run it.
import { execFile, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  frameworks,
  type HashLanguage,
  hashCode,
  hashLanguages,
  type InboxSettings,
  installCode,
} from '../src/pages/inbox/install.ts'

const run = promisify(execFile)
const secret = 'a secret'
const expected = createHmac('sha256', secret).update('ada').digest('hex')
const here = (command: string, ...args: string[]) => spawnSync(command, args).status === 0

const programs: Record<HashLanguage, { file: string; command: string; args: string[]; isHere: boolean }> = {
  node: { file: 'hash.mjs', command: process.execPath, args: [], isHere: true },
  python: { file: 'hash.py', command: 'python3', args: [], isHere: here('python3', '--version') },
  ruby: { file: 'hash.rb', command: 'ruby', args: [], isHere: here('ruby', '--version') },
  php: { file: 'hash.php', command: 'php', args: [], isHere: here('php', '--version') },
  go: { file: 'hash.go', command: 'go', args: ['run'], isHere: here('go', 'version') },
  java: { file: 'SubscriberHash.java', command: 'java', args: [], isHere: here('javac', '--version') },
}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hashes-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe('the code for HMAC', () => {
  test.each(hashLanguages.filter(({ value }) => programs[value].isHere))(
    '$label prints the hash',
    async ({ value }) => {
      const { file, command, args } = programs[value]
      const place = path.join(folder, file)
      await writeFile(place, hashCode[value])
      const env = { ...process.env, BELFRY_INBOX_SECRET: secret }
      const { stdout } = await run(command, [...args, place], { env })
      expect(stdout.trim()).toBe(expected)
    },
    120_000,
  )

  test.each(hashLanguages)('$label is HMAC with SHA-256 and the secret as its key, in hexadecimal', ({ value }) => {
    const code = hashCode[value]
    for (const part of [/hmac/i, /sha-?256/i, /BELFRY_INBOX_SECRET/, /['"]ada['"]/]) expect(code).toMatch(part)
    if (value !== 'php') expect(code).toMatch(/hex/i)
  })
})

const place = { origin: 'https://belfry.example.com', applicationIdentifier: 'aB3dE5fG7h', requiresHash: true }
const plain: InboxSettings = { theme: 'system', placement: 'bottom-end', locale: '', tabs: [] }

describe('the code for a page', () => {
  test.each(frameworks)('$label has the identifier, the server and the hash', ({ value }) => {
    const code = installCode(value, plain, place)
    for (const part of [place.origin, place.applicationIdentifier, /subscriber.?hash/i]) expect(code).toMatch(part)
    expect(installCode(value, plain, { ...place, requiresHash: false })).not.toMatch(/hash/i)
    if (value.startsWith('novu')) expect(code).toContain('socketUrl')
    expect(code).not.toContain('theme')
  })

  test('HTML has the settings that differ from the usual, quoted as HTML needs it', () => {
    const settings: InboxSettings = { theme: 'dark', placement: 'top-start', locale: 'ar', tabs: ["it's", 'alerts'] }
    const code = installCode('html', settings, place)
    expect(code).toContain('theme="dark"')
    expect(code).toContain('placement="top-start"')
    expect(code).toContain('locale="ar"')
    const [, tabs = ''] = /tabs='([^']*)'/.exec(code) ?? []
    expect(JSON.parse(tabs.replaceAll('&#39;', "'").replaceAll('&amp;', '&'))).toEqual([
      { label: 'All', filter: {} },
      { label: "It's", filter: { tags: ["it's"] } },
      { label: 'Alerts', filter: { tags: ['alerts'] } },
    ])
  })
})
