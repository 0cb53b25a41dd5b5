// Makes `npm start` and `npm test` work on a machine that has only Node.js: installs what is missing, builds what is stale.
// Runs before anything is installed, so it may use nothing but Node itself; older versions must be able to read it too.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const inRoot = (/** @type {string[]} */ ...parts) => path.join(root, ...parts)

refuseOldNode()
if (process.argv[2] === 'start') {
  const isStale = !isBuilt()
  // A release that is built already runs without the tools that built it.
  installIfNeeded({ withTools: isStale })
  if (isStale) build()
} else {
  installIfNeeded({ withTools: true })
}

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19))
    stop(`Belfry needs Node.js 20.19 or newer; this is ${process.versions.node}.`)
}

function installIfNeeded(/** @type {{ withTools: boolean }} */ { withTools }) {
  if (isInstalled(withTools)) return
  say('Installing dependencies, once…')
  // Named by npm when it runs us.
  const { npm_execpath: npm = '' } = process.env
  const command = npm.endsWith('npm-cli.js') ? [process.execPath, npm] : ['npm']
  // NODE_ENV=production would leave out the tools that are needed to build.
  const options = ['--include=dev', '--no-audit', '--no-fund', '--loglevel=warn']
  runOrStop([...command, 'ci', ...options], 'The dependencies could not be installed.')
}

/** Compares the lockfile with npm's own record of what is in node_modules. */
function isInstalled(/** @type {boolean} */ withTools) {
  const record = inRoot('node_modules', '.package-lock.json')
  if (!existsSync(record)) return false
  const installed = readPackages(record)
  return Object.entries(readPackages(inRoot('package-lock.json'))).every(([place, wanted]) => {
    if (!place.includes('node_modules/')) return true
    const found = installed[place]
    // What is optional may be for another platform, and other versions of npm record it differently.
    if (!found) return wanted.optional || wanted.peer || (!withTools && (wanted.dev || wanted.devOptional))
    return found.version === wanted.version && found.integrity === wanted.integrity
  })
}

/** @returns {Record<string, { version?: string, integrity?: string, optional?: boolean, peer?: boolean, dev?: boolean, devOptional?: boolean }>} */
function readPackages(/** @type {string} */ file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

function isBuilt() {
  const stamp = inRoot('server', 'dist', 'built-from')
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint()
}

/** Of everything the build reads. Contents, not times: a checkout gives every file a new time. */
function fingerprint() {
  const sources = readdirSync(inRoot('server', 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => path.join('server', 'src', file))
  const hash = createHash('sha256')
  for (const file of [
    ...sources.sort(),
    'server/tsconfig.json',
    'tsconfig.base.json',
    'scripts/bundle.mjs',
    'package-lock.json',
  ])
    hash
      .update(`${file}\0`)
      .update(readFileSync(inRoot(file)))
      .update('\0')
  return hash.digest('hex')
}

function build() {
  say('Building…')
  const builtFrom = fingerprint()
  // Beside its place and moved there when whole: a build that was cut short, or a second one, leaves no mixture.
  const dist = inRoot('server', 'dist')
  const draft = `${dist}-${process.pid}`
  const compiler = inRoot('node_modules', 'typescript', 'bin', 'tsc')
  runOrStop(
    [process.execPath, compiler, '-p', inRoot('server'), '--outDir', draft],
    'The server could not be built.',
    () => rmSync(draft, { recursive: true, force: true }),
  )
  runOrStop([process.execPath, inRoot('scripts', 'bundle.mjs'), draft], 'The server could not be bundled.', () =>
    rmSync(draft, { recursive: true, force: true }),
  )
  writeFileSync(path.join(draft, 'built-from'), builtFrom)
  moveTo(dist, draft)
}

/** Somebody who builds at the same moment, as tests of the program do, may put theirs there first; it is as good. */
function moveTo(/** @type {string} */ dist, /** @type {string} */ draft) {
  const old = `${draft}-old`
  while (existsSync(draft) && !isBuilt()) {
    // Aside first: two who remove the same folder get in each other's way.
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
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' })
  if (status === 0) return
  cleanUp()
  stop(`${stdout}${stderr}${error ? `${error.message}\n` : ''}${complaint}`)
}

function say(/** @type {string} */ line) {
  process.stdout.write(`  ${line}\n`)
}

function stop(/** @type {string} */ message) {
  process.stderr.write(`\n${message}\n`)
  process.exit(1)
}
