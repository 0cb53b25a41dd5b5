// What `npm run dev` promises: what is saved is served, and the database does not notice.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { freePort } from '../server/test/free-port.ts'
import { build, databasePid } from '../server/test/program.ts'
import { copyRepository } from './mutants/copy.mjs'

const root = path.dirname(import.meta.dirname)
const ends: Array<() => unknown> = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

function folder(): string {
  const made = realpathSync(mkdtempSync(path.join(tmpdir(), 'belfry-dev-')))
  // The database's own user must be able to enter.
  chmodSync(made, 0o755)
  ends.push(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const textAt = (url: string) =>
  fetch(url, { headers: { Connection: 'close' } }).then(
    (response) => response.text(),
    () => '',
  )
const serves = (url: string, text: string) =>
  vi.waitFor(async () => expect(await textAt(url)).toContain(text), { timeout: 100_000, interval: 100 })

test('saved sources are served, in the service and in the dashboard, on the same database', {
  timeout: 300_000,
}, async () => {
  build()
  const [copy, dataDir] = [path.join(folder(), 'belfry'), folder()]
  copyRepository(root, copy)
  const { PATH = '', HOME = '/' } = process.env
  const env = { PATH, HOME, PORT: String(await freePort()), BELFRY_DATA_DIR: dataDir }
  const dev = spawn(process.execPath, [path.join(copy, 'scripts/dev.mjs')], { cwd: copy, env })
  const ended = new Promise((resolve) => dev.once('close', resolve))
  ends.push(async () => {
    dev.kill('SIGKILL')
    await ended
  })
  let output = ''
  for (const stream of [dev.stdout, dev.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const addressOf = (name: string) =>
    vi.waitFor(
      () => {
        const url = new RegExp(`${name} +(http\\S+)`).exec(output)?.[1]
        expect(url, output).toBeDefined()
        return url as string
      },
      { timeout: 100_000 },
    )
  const edit = (file: string, from: string, to: string) => {
    const before = readFileSync(path.join(copy, file), 'utf8')
    expect(before).toContain(from)
    writeFileSync(path.join(copy, file), before.replace(from, to))
  }

  const [api, dashboard] = [await addressOf('API'), await addressOf('Dashboard')]
  await serves(`${api}/health/live`, '"ok"')
  // What the service answers, the dashboard's address does too.
  await serves(`${dashboard}/health/live`, '"ok"')
  const database = databasePid(dataDir)
  edit('server/src/http/edge/health.ts', "({ status: 'ok' })", "({ status: 'changed' })")
  await serves(`${api}/health/live`, '"changed"')
  expect(databasePid(dataDir)).toBe(database)
  edit('dashboard/index.html', '<title>', '<title>Changed ')
  await serves(dashboard, '<title>Changed ')

  dev.kill('SIGINT')
  expect(await ended, output).toBe(0)
  expect(databasePid(dataDir)).toBeUndefined()
})
