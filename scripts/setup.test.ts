// What runs before `npm start` and `npm test`, on a small sample project.
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
let project: string

vi.setConfig({ testTimeout: 60_000 })

const place = (file: string) => path.join(project, file)
const write = (file: string, text: string | object) =>
  writeFileSync(place(file), typeof text === 'string' ? text : JSON.stringify(text))

function setUp(purpose: 'start' | 'test' | 'cli', ...nodeOptions: string[]): { code: number | null; output: string } {
  const args = [...nodeOptions, place('scripts/setup.mjs'), purpose]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { code: status, output: stdout + stderr }
}

beforeEach(() => {
  project = realpathSync(mkdtempSync(path.join(tmpdir(), 'belfry-setup-')))
  mkdirSync(place('server/src/engine/simulation'), { recursive: true })
  for (const script of ['setup', 'chromium', 'nginx', 'debian-package', 'bundle', 'launch'])
    cpSync(path.join(root, `scripts/${script}.mjs`), place(`scripts/${script}.mjs`))
  write('package.json', { name: 'small', version: '1.0.0', scripts: { start: 'node --no-deprecation main.js' } })
  write('package-lock.json', { name: 'small', version: '1.0.0', lockfileVersion: 3, packages: {} })
  write('server/package.json', { name: 'server' })
  write('tsconfig.base.json', { compilerOptions: { strict: true, types: [], skipLibCheck: true } })
  write('server/tsconfig.json', {
    extends: '../tsconfig.base.json',
    compilerOptions: { rootDir: 'src', outDir: 'dist' },
    include: ['src'],
  })
  write('server/src/main.ts', 'export const answer: number = 42\n')
  write('server/src/engine/simulation/thread.ts', 'export {}\n')
})

afterEach(() => rmSync(project, { recursive: true, force: true }))

/** As after an installation: npm's record, the compiler and the bundler. */
function pretendInstalled(): void {
  mkdirSync(place('node_modules'))
  write('node_modules/.package-lock.json', { packages: {} })
  for (const tool of ['typescript', 'rolldown'])
    symlinkSync(path.join(root, 'node_modules', tool), place(`node_modules/${tool}`))
}

test('an old Node is refused in one sentence', () => {
  const old = 'Object.defineProperty(process, "versions", { value: { node: "18.20.4" } })'
  expect(setUp('start', '--import', `data:text/javascript,${encodeURIComponent(old)}`)).toEqual({
    code: 1,
    output: '\nBelfry needs Node.js 20.19 or newer; this is 18.20.4.\n',
  })
})

test('missing dependencies are installed, once', () => {
  const little = { name: 'little', version: '1.0.0' }
  mkdirSync(place('little'))
  write('little/package.json', little)
  write('package.json', { name: 'small', dependencies: { little: 'file:little' } })
  const packages = {
    '': { name: 'small', dependencies: { little: 'file:little' } },
    little,
    'node_modules/little': { resolved: 'little', link: true },
  }
  write('package-lock.json', { name: 'small', lockfileVersion: 3, packages })
  expect(setUp('test')).toEqual({ code: 0, output: '  Installing dependencies, once…\n' })
  expect(existsSync(place('node_modules/little'))).toBe(true)
  expect(setUp('test')).toEqual({ code: 0, output: '' })

  const changed = { ...packages, 'node_modules/little': { ...packages['node_modules/little'], version: '1.0.1' } }
  write('package-lock.json', { name: 'small', lockfileVersion: 3, packages: changed })
  expect(setUp('test').output).toContain('Installing dependencies, once…\n')
})

test('dependencies installed by hand are not installed again', () => {
  pretendInstalled()
  expect(setUp('test')).toEqual({ code: 0, output: '' })
})

test('a failed installation says why', () => {
  write('package.json', { name: 'small', version: '1.0.0', dependencies: { nothing: '1.0.0' } })
  const { code, output } = setUp('test')
  expect(code).toBe(1)
  expect(output).toContain('npm error')
  expect(output).toMatch(/The dependencies could not be installed\.\n$/)
})

test('the server is rebuilt only when its sources differ', () => {
  pretendInstalled()
  write('server/src/other.ts', 'export {}\n')
  expect(setUp('start')).toEqual({ code: 0, output: '  Building…\n' })
  expect(existsSync(place('server/dist/other.js'))).toBe(true)
  expect(existsSync(place('server/dist/bundle/main.js'))).toBe(true)
  expect(setUp('start')).toEqual({ code: 0, output: '' })

  rmSync(place('server/src/other.ts'))
  expect(setUp('start').output).toBe('  Building…\n')
  expect(existsSync(place('server/dist/other.js'))).toBe(false)
  write('server/src/main.test.ts', 'export {}\n')
  expect(setUp('start').output).toBe('')
})

test('the command line tool is rebuilt when a script differs that it shares', () => {
  pretendInstalled()
  mkdirSync(place('cli/src'), { recursive: true })
  write('cli/build.mjs', 'import { mkdirSync } from "node:fs"\nmkdirSync(process.argv[2])\n')
  expect(setUp('cli')).toEqual({ code: 0, output: '  Building…\n' })
  expect(setUp('cli')).toEqual({ code: 0, output: '' })
  write('scripts/shared.mjs', 'export {}\n')
  expect(setUp('cli')).toEqual({ code: 0, output: '  Building…\n' })
})

test('browser programs are built for production, even by tests', () => {
  pretendInstalled()
  for (const folder of ['dashboard/src', 'node_modules/vite/bin']) mkdirSync(place(folder), { recursive: true })
  // Stands in for the real one: `vite build <folder> --outDir <draft> …`.
  write(
    'node_modules/vite/bin/vite.js',
    'const fs = require("fs"), draft = process.argv[5]; fs.mkdirSync(draft); fs.writeFileSync(draft + "/env", process.env.NODE_ENV)',
  )
  expect(process.env.NODE_ENV).toBe('test')
  expect(setUp('test')).toEqual({ code: 0, output: '  Building…\n' })
  expect(readFileSync(place('dashboard/dist/env'), 'utf8')).toBe('production')
})

test("a failed build shows the compiler's output and keeps the last build", () => {
  pretendInstalled()
  setUp('start')
  write('server/src/main.ts', 'export const answer: number = "42"\n')
  const { code, output } = setUp('start')
  expect(code).toBe(1)
  expect(output).toContain("Type 'string' is not assignable to type 'number'")
  expect(output).toMatch(/The server could not be built\.\n$/)
  expect(readFileSync(place('server/dist/bundle/service.cjs'), 'utf8')).toContain('42')
  write('server/src/main.ts', 'export const answer: number = 42\n')
  expect(setUp('start')).toEqual({ code: 0, output: '' })
})
