// What `npm run pack` makes can be installed without a compiler and without a registry: files.md §8.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../server/test/free-port.ts'
import { createTestDatabase, dropTestDatabase, secretKey } from '../server/test/server.ts'

const root = path.join(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
const folder = mkdtempSync(path.join(tmpdir(), 'belfry-packages-'))
const release = path.join(folder, 'release')
const home = path.join(folder, 'home')
const own = { PATH: process.env.PATH ?? '', HOME: home }
const run = (cwd: string, program: string, ...args: string[]) =>
  execFileSync(program, args, { cwd, encoding: 'utf8', env: own, stdio: ['ignore', 'pipe', 'pipe'] })
const pack = (to: string) => run(root, process.execPath, path.join(root, 'scripts', 'pack.mjs'), to)
/** Where a package lies that another one needs. */
function packageFolder(name: string, from: string): string {
  for (let at = from; ; at = path.dirname(at)) {
    const place = path.join(at, 'node_modules', name)
    if (existsSync(place)) return place
    if (at === path.dirname(at)) throw new Error(`There is no package ${name}.`)
  }
}
const packages = ['cli', 'inbox', 'server'].map((name) => `belfry-${name}-${version}.tgz`)

beforeAll(() => {
  mkdirSync(home)
  pack(release)
  writeFileSync(path.join(home, 'package.json'), '{ "private": true }')
  // Nothing may be fetched; the embedded database is optional.
  const options = ['--offline', '--omit=optional', '--ignore-scripts', '--no-audit', '--no-fund']
  run(home, 'npm', 'install', ...options, ...packages.map((file) => path.join(release, file)))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the checksums are right, the origin is named, and packing again gives the same bytes', () => {
  const lines = readFileSync(path.join(release, 'SHA256SUMS'), 'utf8').trim().split('\n')
  expect(lines.map((line) => line.split('  ')[1]).sort()).toEqual(packages)
  for (const line of lines) {
    const [hash = '', file = ''] = line.split('  ')
    expect(
      createHash('sha256')
        .update(readFileSync(path.join(release, file)))
        .digest('hex'),
    ).toBe(hash)
  }
  const { predicate, predicateType } = JSON.parse(readFileSync(path.join(release, 'provenance.json'), 'utf8'))
  expect(predicateType).toBe('https://slsa.dev/provenance/v1')
  expect(predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit).toMatch(/^[0-9a-f]{40}$/)
  const again = path.join(folder, 'again')
  pack(again)
  expect(readFileSync(path.join(again, 'SHA256SUMS'), 'utf8').trim().split('\n')).toEqual(lines)
})

test('a version whose changes are not written down is not packed', () => {
  // The script alone in a folder: once it lets the version pass, it misses the next one that it runs.
  const copy = path.join(folder, 'copy')
  const script = path.join(copy, 'scripts', 'pack.mjs')
  cpSync(path.join(root, 'scripts', 'pack.mjs'), script)
  writeFileSync(path.join(copy, 'package.json'), '{ "version": "1.2.3" }')
  const refusalOf = (changelog: string) => {
    writeFileSync(path.join(copy, 'CHANGELOG.md'), changelog)
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd: copy, encoding: 'utf8', env: own })
    return { status, stderr }
  }
  for (const changelog of ['', '# Changelog\n\n## 1.2.30\n\n## 1.2 – unreleased\n\nAfter 1.2.3.\n\n## 0.1.2.3\n'])
    expect(refusalOf(changelog)).toEqual({ status: 1, stderr: 'CHANGELOG.md has no entry for 1.2.3.\n' })
  expect(existsSync(path.join(copy, 'release'))).toBe(false)
  for (const entry of ['## 1.2.3', '## 1.2.3 – unreleased', '## [1.2.3] - 2026-01-31'])
    expect(refusalOf(`# Changelog\n\n${entry}\n`).stderr).toMatch(/Cannot find module .*setup\.mjs/)
})

describe('installed', () => {
  test('the tool is one file without dependencies', () => {
    expect(run(home, path.join(home, 'node_modules', '.bin', 'belfry'), '--version').trim()).toBe(version)
    run(home, path.join(home, 'node_modules', '.bin', 'belfry'), 'init')
    expect(run(home, path.join(home, 'node_modules', '.bin', 'belfry'), 'validate')).toContain('0 errors')
    expect(readdirSync(path.join(home, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@belfry'])
  })

  test('the inbox can be imported without a DOM and without React', () => {
    const program = `const parts = await Promise.all([import('@belfry/inbox'), import('@belfry/inbox/elements')])
      console.log(parts.map((part) => typeof part.InboxClient).join())`
    expect(run(home, process.execPath, '--input-type=module', '-e', program).trim()).toBe('function,function')
    const inbox = path.join(home, 'node_modules', '@belfry', 'inbox')
    expect(readFileSync(path.join(inbox, 'dist', 'inbox', 'react.js'), 'utf8')).toMatch(/from\s*["']react["']/)
    for (const file of ['dist/cdn.js', 'dist/types/headless.d.ts', 'dist/types/main.d.ts', 'dist/types/react.d.ts'])
      expect(readFileSync(path.join(inbox, file), 'utf8')).not.toBe('')
  })

  test.each([
    ['18', 'react-18', 'react-dom-18'],
    ['19', 'react', 'react-dom'],
  ])('the inbox renders on a server with React %s, of which there is one', (major, react, dom) => {
    const app = path.join(folder, `react-${major}`)
    const modules = path.join(app, 'node_modules')
    mkdirSync(path.join(modules, '@belfry'), { recursive: true })
    writeFileSync(path.join(app, 'package.json'), '{ "private": true, "type": "module" }')
    cpSync(path.join(home, 'node_modules', '@belfry', 'inbox'), path.join(modules, '@belfry', 'inbox'), {
      recursive: true,
    })
    // The packages of the application, as npm would lay them out.
    const take = (name: string, from: string, found: string) => {
      const place = packageFolder(found, from)
      if (existsSync(path.join(modules, name))) return
      cpSync(place, path.join(modules, name), { recursive: true })
      const { dependencies = {} } = JSON.parse(readFileSync(path.join(place, 'package.json'), 'utf8'))
      for (const needed of Object.keys(dependencies)) take(needed, place, needed)
    }
    take('react', path.join(root, 'inbox'), react)
    take('react-dom', path.join(root, 'inbox'), dom)
    writeFileSync(
      path.join(app, 'app.js'),
      `import { createElement, version } from 'react'
import { renderToString } from 'react-dom/server'
import { Inbox, InboxProvider, useInbox } from '@belfry/inbox/react'
import { createRequire } from 'node:module'
const of = (file) => createRequire(file).resolve('react')
function State() { return createElement('b', null, typeof useInbox().client) }
const props = { applicationIdentifier: 'app', subscriber: 'ada', backendUrl: 'http://127.0.0.1:1' }
const html = renderToString(createElement(InboxProvider, props, createElement(Inbox, null), createElement(State, null)))
console.log(JSON.stringify({ version, html, isOne: of(import.meta.url) === of(import.meta.resolve('@belfry/inbox/react')) }))
`,
    )
    const { version: used, html, isOne } = JSON.parse(run(app, process.execPath, 'app.js'))
    expect(used).toMatch(new RegExp(`^${major}\\.`))
    expect(html).toContain('<belfry-inbox')
    expect(html).toContain('<b>object</b>')
    expect(isOne).toBe(true)
  })

  test('the server starts with a database of its own, and serves the dashboard, the inbox and the reference', async () => {
    const name = `t_${randomBytes(6).toString('hex')}`
    const url = await createTestDatabase(name)
    const port = await freePort()
    const env = { ...own, DATABASE_URL: url, BELFRY_SECRET_KEY: secretKey, PORT: String(port) }
    const child = spawn(path.join(home, 'node_modules', '.bin', 'belfry-server'), ['start'], { cwd: home, env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    const ended = new Promise((resolve) => child.once('close', resolve))
    try {
      await expect.poll(() => output, { timeout: 60_000 }).toContain('Belfry is ready')
      for (const place of ['/', '/inbox.js', '/docs/scalar.js', '/openapi.json'])
        expect((await fetch(`http://127.0.0.1:${port}${place}`)).status, place).toBe(200)
      expect(
        run(
          home,
          'env',
          `DATABASE_URL=${url}`,
          `BELFRY_SECRET_KEY=${secretKey}`,
          path.join(home, 'node_modules', '.bin', 'belfry-server'),
          'doctor',
        ),
      ).toContain('ok  The schema is up to date')
    } finally {
      child.kill('SIGINT')
      await ended
      await dropTestDatabase(name)
    }
  })
})
