// Packs what people install: `npm run pack` writes the server, the command line tool and the inbox as npm packages into `release/`,
// with their checksums and where they come from. The same commit gives the same bytes.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const inRoot = (/** @type {string[]} */ ...parts) => path.join(root, ...parts)
const readJson = (/** @type {string} */ file) => JSON.parse(readFileSync(file, 'utf8'))
const { version, license, engines, description } = readJson(inRoot('package.json'))
const common = { version, license, type: 'module', engines }

/** They find files of their own by their place on disk, so they cannot be part of the bundle (scripts/bundle.mjs). */
const unbundled = ['pino', 'pino-pretty', 'thread-stream']

const [out = inRoot('release')] = process.argv.slice(2)
refuseWithoutChange()
run([process.execPath, inRoot('scripts', 'setup.mjs'), 'start'])
const staging = mkdtempSync(path.join(tmpdir(), 'belfry-pack-'))
try {
  const packages = [serverPackage(), cliPackage(), inboxPackage()]
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const files = packages.map(pack)
  writeFileSync(
    path.join(out, 'SHA256SUMS'),
    files.map((file) => `${hashOf(path.join(out, file))}  ${file}\n`).join(''),
  )
  writeFileSync(path.join(out, 'provenance.json'), `${JSON.stringify(provenanceOf(files), null, 2)}\n`)
  process.stdout.write(`${files.map((file) => path.join(path.relative(process.cwd(), out), file)).join('\n')}\n`)
} finally {
  rmSync(staging, { recursive: true, force: true })
}

/** Nobody should install a version whose changes are not written down. */
function refuseWithoutChange() {
  const entries = readFileSync(inRoot('CHANGELOG.md'), 'utf8').match(/^## \[?[\d.]+/gm) ?? []
  if (!entries.some((entry) => entry.replace(/^## \[?/, '') === version))
    stop(`CHANGELOG.md has no entry for ${version}.`)
}

/** The server with everything that it serves; laid out as in the repository. */
function serverPackage() {
  const folder = newFolder('server')
  const bundle = path.join(folder, 'server', 'dist', 'bundle')
  copy(inRoot('server', 'dist', 'bundle'), bundle, (file) => !file.endsWith('.cache') && !file.endsWith('.map'))
  copy(inRoot('server', 'src', 'db', 'migrations'), path.join(folder, 'server', 'src', 'db', 'migrations'))
  for (const part of ['dashboard', 'inbox'])
    copy(inRoot(part, 'dist'), path.join(folder, part, 'dist'), (file) => path.basename(file) !== 'built-from')
  copy(inRoot('docs'), path.join(folder, 'docs'), (file) => !file.includes(`${path.sep}images`))
  for (const file of ['LICENSE', 'README.md', 'CHANGELOG.md']) cpSync(inRoot(file), path.join(folder, file))
  // Code finds its files from the nearest package.json.
  writeJson(path.join(folder, 'server', 'package.json'), { name: '@belfry/server', version, type: 'module' })
  const bin = path.join(folder, 'bin', 'belfry-server.mjs')
  mkdirSync(path.dirname(bin))
  cpSync(inRoot('scripts', 'belfry-server.mjs'), bin)
  chmodSync(bin, 0o755)
  const modules = vendored(folder)
  writeJson(path.join(folder, 'package.json'), {
    name: '@belfry/server',
    description,
    ...common,
    bin: { 'belfry-server': 'bin/belfry-server.mjs' },
    // They are in the package itself: nothing is fetched for them.
    dependencies: modules,
    bundleDependencies: Object.keys(modules),
    optionalDependencies: readJson(inRoot('server', 'package.json')).optionalDependencies,
  })
  return folder
}

/** Copies the unbundled packages and all that they need. @returns {Record<string, string>} names and versions */
function vendored(/** @type {string} */ folder) {
  /** @type {Map<string, string>} */
  const versions = new Map()
  const isLeftOut = (/** @type {string} */ file) =>
    /(?:\.map|\.d\.[cm]?ts|\.md)$|^(?:test|tests|docs|benchmarks|examples|node_modules)$/.test(file)
  const take = (/** @type {string} */ name, /** @type {string} */ from, /** @type {string} */ into) => {
    const place = packagePlace(name, from)
    const { version: found, dependencies = {} } = readJson(path.join(place, 'package.json'))
    const known = versions.get(name)
    if (known === found) return
    // Another version than the first lies with the package that needs it.
    const target = path.join(known === undefined ? folder : into, 'node_modules', name)
    if (known === undefined) versions.set(name, found)
    copy(place, target, (file) => file === place || !isLeftOut(path.relative(place, file)))
    for (const needed of Object.keys(dependencies)) take(needed, place, target)
  }
  for (const name of unbundled) take(name, inRoot('server'), folder)
  // Of this one only the browser's file is served.
  const reference = '@scalar/fastify-api-reference'
  const place = packagePlace(reference, inRoot('server'))
  const { version: ofReference } = readJson(path.join(place, 'package.json'))
  const copied = path.join(folder, 'node_modules', reference)
  mkdirSync(path.join(copied, 'dist', 'js'), { recursive: true })
  cpSync(path.join(place, 'dist', 'js', 'standalone.js'), path.join(copied, 'dist', 'js', 'standalone.js'))
  writeFileSync(path.join(copied, 'dist', 'index.js'), '')
  writeJson(path.join(copied, 'package.json'), { name: reference, version: ofReference, main: 'dist/index.js' })
  versions.set(reference, ofReference)
  return Object.fromEntries([...versions].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** @returns {string} */
function packagePlace(/** @type {string} */ name, /** @type {string} */ from) {
  const places = createRequire(path.join(from, 'package.json')).resolve.paths(name) ?? []
  const found = places
    .map((place) => path.join(place, name))
    .find((place) => existsSync(path.join(place, 'package.json')))
  if (found === undefined) stop(`${name} is not installed.`)
  return realpathSync(/** @type {string} */ (found))
}

function cliPackage() {
  const folder = newFolder('cli')
  run([process.execPath, inRoot('cli', 'build.mjs'), path.join(folder, 'dist')])
  cpSync(inRoot('LICENSE'), path.join(folder, 'LICENSE'))
  cpSync(inRoot('docs', 'cli.md'), path.join(folder, 'README.md'))
  writeJson(path.join(folder, 'package.json'), {
    name: '@belfry/cli',
    description: 'Notifications as files: pull, review, test and push what an environment of Belfry defines.',
    ...common,
    bin: { belfry: 'dist/belfry.mjs' },
  })
  return folder
}

/** Modules for bundlers and for rendering on servers, and one script for a page. */
function inboxPackage() {
  const folder = newFolder('inbox')
  const { exports, peerDependencies, peerDependenciesMeta } = readJson(inRoot('inbox', 'package.json'))
  copy(
    inRoot('inbox', 'dist', 'inbox'),
    path.join(folder, 'dist', 'inbox'),
    (file) => path.basename(file) !== 'demo.js',
  )
  copy(inRoot('inbox', 'dist', 'types'), path.join(folder, 'dist', 'types'))
  cpSync(inRoot('inbox', 'dist', 'inbox.js'), path.join(folder, 'dist', 'cdn.js'))
  cpSync(inRoot('LICENSE'), path.join(folder, 'LICENSE'))
  cpSync(inRoot('docs', 'inbox.md'), path.join(folder, 'README.md'))
  writeJson(path.join(folder, 'package.json'), {
    name: '@belfry/inbox',
    description: "Belfry's inbox for web pages: a headless client, elements, and React components.",
    ...common,
    ...{ exports, peerDependencies, peerDependenciesMeta },
    unpkg: 'dist/cdn.js',
  })
  return folder
}

/** @returns {string} */
function newFolder(/** @type {string} */ name) {
  const folder = path.join(staging, name)
  mkdirSync(folder)
  return folder
}

function copy(
  /** @type {string} */ from,
  /** @type {string} */ to,
  /** @type {(file: string) => boolean} */ filter = () => true,
) {
  if (!existsSync(from)) stop(`${path.relative(root, from)} is missing.`)
  cpSync(from, to, { recursive: true, dereference: true, filter })
}

function writeJson(/** @type {string} */ file, /** @type {object} */ value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)
}

/** npm packs the same files into the same bytes: it leaves out times and owners. @returns {string} the file's name */
function pack(/** @type {string} */ folder) {
  const answer = run(npm('pack', folder, '--json', '--ignore-scripts', '--pack-destination', out))
  const [{ filename }] = JSON.parse(answer)
  const file = filename.replace('@', '').replace('/', '-')
  if (!existsSync(path.join(out, file))) stop(`npm wrote no ${file}.`)
  return file
}

/** @returns {string[]} */
function npm(/** @type {string[]} */ ...args) {
  const { npm_execpath: program = '' } = process.env
  return program.endsWith('npm-cli.js') ? [process.execPath, program, ...args] : ['npm', ...args]
}

/** @returns {string} */
function hashOf(/** @type {string} */ file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

/** SLSA v1: what was built from what, by which tools. */
function provenanceOf(/** @type {string[]} */ files) {
  const git = (/** @type {string[]} */ ...args) =>
    spawnSync('git', ['-C', root, ...args], { encoding: 'utf8' }).stdout.trim()
  const tools = ['rolldown', 'typescript', 'vite']
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map((name) => ({ name, digest: { sha256: hashOf(path.join(out, name)) } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'npm run pack',
        externalParameters: { version },
        resolvedDependencies: [
          { uri: 'git', digest: { gitCommit: git('rev-parse', 'HEAD') } },
          { uri: 'package-lock.json', digest: { sha256: hashOf(inRoot('package-lock.json')) } },
          ...tools.map((name) => ({
            uri: `pkg:npm/${name}@${readJson(inRoot('node_modules', name, 'package.json')).version}`,
          })),
        ],
      },
      runDetails: {
        builder: { id: `node ${process.version}` },
        metadata: { invocationId: git('status', '--porcelain') === '' ? 'clean' : 'with uncommitted changes' },
      },
    },
  }
}

/** @returns {string} what it wrote */
function run(/** @type {string[]} */ [program = '', ...args]) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 })
  if (status !== 0) stop(`${stdout}${stderr}${error?.message ?? ''}`)
  return stdout
}

/** @returns {never} */
function stop(/** @type {string} */ message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
