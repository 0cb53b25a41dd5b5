// Makes `npm start` and `npm test` work on a machine with only Node.js: installs what is missing, builds what is stale. It
// runs before the installation, so it may use only Node itself, and old versions must be able to parse it.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { installChromium } from './chromium.mjs'
import { installNginx } from './nginx.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const inRoot = (/** @type {string[]} */ ...parts) => path.join(root, ...parts)

const compiler = inRoot('node_modules', 'typescript', 'bin', 'tsc')
const vite = inRoot('node_modules', 'vite', 'bin', 'vite.js')

/**
 * What to build, from which sources, and how. Each build goes into a draft folder that is moved into place when complete.
 * @type {{ name: string, sources: string[], steps: (draft: string) => string[][] }[]}
 */
const parts = [
  {
    name: 'server',
    sources: ['server/src', 'server/tsconfig.json', 'tsconfig.base.json', 'scripts/bundle.mjs', 'scripts/launch.mjs'],
    steps: (draft) => [
      [compiler, '-p', inRoot('server'), '--outDir', draft],
      [inRoot('scripts', 'bundle.mjs'), draft],
    ],
  },
  {
    name: 'inbox',
    sources: ['inbox/src', 'inbox/build.mjs'],
    steps: (draft) => [[inRoot('inbox', 'build.mjs'), draft]],
  },
  {
    name: 'dashboard',
    sources: ['dashboard/src', 'dashboard/public', 'dashboard/index.html', 'dashboard/vite.config.ts'],
    steps: (draft) => [[vite, 'build', inRoot('dashboard'), '--outDir', draft, '--emptyOutDir', '--logLevel', 'warn']],
  },
  {
    name: 'cli',
    sources: ['cli/src', 'cli/build.mjs', 'server/src', 'scripts', 'package.json'],
    steps: (draft) => [[inRoot('cli', 'build.mjs'), draft]],
  },
]

refuseOldNode()
const forTests = !['start', 'dev', 'cli'].includes(process.argv[2] ?? '')
const isForCli = process.argv[2] === 'cli'
// Whoever starts the service needs no command line tool, and the other way round.
const ours = parts.filter(({ name }) => (name === 'cli') === isForCli)
const stale = ours.filter((part) => existsSync(inRoot(part.name, 'src')) && !isBuilt(part))
// A release that is already built needs no build tools.
installIfNeeded({ withTools: process.argv[2] !== 'start' || stale.length > 0 })
// Tests run the server from its sources, but the browser programs as built.
const wanted = forTests ? stale.filter(({ name }) => name !== 'server') : stale
if (wanted.length > 0) say('Building…')
for (const part of wanted) build(part)
if (forTests && existsSync(inRoot('server', 'test'))) {
  for (const install of [installChromium, installNginx]) {
    const complaint = install()
    if (complaint) stop(complaint)
  }
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    stop(`Belfry needs Node.js 20.19 or newer; this is ${process.versions.node}.`)
}

function installIfNeeded(/** @type {{ withTools: boolean }} */ { withTools }) {
  if (isInstalled(withTools)) return
  say('Installing dependencies, once…')
  // Set by npm.
  const { npm_execpath: npm = '' } = process.env
  const command = npm.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm']
  // NODE_ENV=production would omit the build tools.
  const options = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=warn']
  runOrStop([...command, 'ci', ...options], 'The dependencies could not be installed.')
}

/** Compares the lockfile with npm's record of node_modules. */
function isInstalled(/** @type {boolean} */ withTools) {
  const record = inRoot('node_modules', '.package-lock.json')
  if (!existsSync(record)) return false
  const installed = readPackages(record)
  return Object.entries(readPackages(inRoot('package-lock.json'))).every(([place, wanted]) => {
    if (!place.includes('node_modules/')) return true
    const found = installed[place]
    // Optional packages may be for another platform, and npm versions record them differently.
    if (!found) return wanted.optional || wanted.peer || (!withTools && (wanted.dev || wanted.devOptional))
    return found.version === wanted.version && found.integrity === wanted.integrity
  })
}

/** @returns {Record<string, { version?: string, integrity?: string, optional?: boolean, peer?: boolean, dev?: boolean, devOptional?: boolean }>} */
function readPackages(/** @type {string} */ file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

/** @typedef {(typeof parts)[number]} Part */

function isBuilt(/** @type {Part} */ part) {
  const stamp = inRoot(part.name, 'dist', 'built-from')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(part)
}

/** Hashes everything the build reads. Contents, not times: a checkout changes all times. */
function fingerprint(/** @type {Part} */ { sources }) {
  const hash = createHash('sha256')
  for (const file of [...sources.flatMap(filesOf), 'package-lock.json'])
    hash
      .update(`${file}\0`)
      .update(readFileSync(inRoot(file)))
      .update('\0')
  return hash.digest('hex')
}

/** A file, or all files of a folder except tests and migrations, which no build reads. @returns {string[]} */
function filesOf(/** @type {string} */ source) {
  if (!existsSync(inRoot(source))) return []
  if (!statSync(inRoot(source)).isDirectory()) return [source]
  return readdirSync(inRoot(source), { recursive: true, withFileTypes: true })
    .filter((file) => !file.isDirectory() && !/\.test\.tsx?$|\.sql$/.test(file.name))
    .map((file) => path.relative(root, path.join(file.parentPath, file.name)))
    .sort()
}

function build(/** @type {Part} */ part) {
  const builtFrom = fingerprint(part)
  // Build aside and move into place when complete, so that an interrupted or parallel build leaves no mixture.
  const draft = `${inRoot(part.name, 'dist')}-${process.pid}`
  for (const step of part.steps(draft))
    runOrStop([process.execPath, ...step], `The ${part.name} could not be built.`, () =>
      rmSync(draft, { recursive: true, force: true }),
    )
  writeFileSync(path.join(draft, 'built-from'), builtFrom)
  moveTo(part, draft)
}

/** A parallel build, as in tests, may have moved its result there first; it is equally good. */
function moveTo(/** @type {Part} */ part, /** @type {string} */ draft) {
  const dist = inRoot(part.name, 'dist')
  const old = `${draft}-old`
  while (existsSync(draft) && !isBuilt(part)) {
    // Rename first: two processes removing the same folder would collide.
    renameUnless(['ENOENT'], dist, old)
    renameUnless(['ENOTEMPTY', 'EEXIST'], draft, dist)
    rmSync(old, { recursive: true, force: true })
  }
  rmSync(draft, { recursive: true, force: true })
}

function renameUnless(/** @type {string[]} */ codes, /** @type {string} */ from, /** @type {string} */ to) {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!codes.includes(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')) throw error
  }
}

function runOrStop(
  /** @type {string[]} */ [program = '', ...args],
  /** @type {string} */ complaint,
  /** @type {() => void} */ cleanUp = () => undefined,
) {
  // Build for production, even when started from tests.
  const env = { ...process.env, NODE_ENV: 'production' }
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8', env })
  if (status === 0) return
  cleanUp()
  stop(`${stdout}${stderr}${error ? `${error.message}\n` : ''}${complaint}`)
}

/** The tool's own answer may be read by a program. */
function say(/** @type {string} */ line) {
  const stream = isForCli ? process.stderr : process.stdout
  stream.write(`  ${line}\n`)
}

function stop(/** @type {string} */ message) {
  process.stderr.write(`\n${message}\n`)
  process.exit(1)
}
