// Completes package-lock.json for all platforms; run it after each change of dependencies (`npm run lock`). npm records only
// the platform builds of binary packages that it could look up, but `npm ci` refuses a lockfile that does not list them all.
// `--check` writes nothing and fails if the lockfile is incomplete.
import { readFileSync, writeFileSync } from 'node:fs'

const file = 'package-lock.json'
const isCheck = process.argv.includes('--check')
const lock = JSON.parse(readFileSync(file, 'utf8'))
/** @type {Record<string, { version?: string, resolved?: string, link?: boolean, dev?: boolean, optional?: boolean, optionalDependencies?: Record<string, string> }>} */
const packages = lock.packages

/** @type {Record<string, string>} */
const systems = {
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  openharmony: 'openharmony',
  win32: 'win32',
  windows: 'win32',
}
const processors = new Set(['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'])

const missing = Object.entries(packages).flatMap(([place, { dev, optionalDependencies = {} }]) =>
  Object.entries(optionalDependencies)
    .filter(([name]) => !isRecorded(place, name))
    .map(([name, range]) => ({ name, version: range.replace(/^[\^~]/, ''), dev })),
)
const addressed = Object.values(packages).filter(({ resolved, link }) => resolved !== undefined && !link)

if (isCheck) {
  if (missing.length > 0)
    process.stdout.write(`${missing.length} platform builds are missing from ${file}: run npm run lock\n`)
  if (addressed.length > 0)
    process.stdout.write(`${addressed.length} packages in ${file} have a registry address: run npm run lock\n`)
  process.exit(missing.length + addressed.length === 0 ? 0 : 1)
}
for (const { name, version, dev } of missing)
  packages[`node_modules/${name}`] = { version, ...platformOf(name), ...(dev ? { dev } : {}), optional: true }
for (const entry of addressed) delete entry.resolved
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`)
process.stdout.write(`${missing.length} platform builds added to ${file}\n`)

/** Whether the package at this place resolves the dependency in its own folder or a parent. */
function isRecorded(/** @type {string} */ place, /** @type {string} */ name) {
  for (let folder = place; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1))) {
    if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in packages) return true
    if (folder === '') return false
  }
}

/** From the package's name, such as `@scope/binding-linux-arm64-musl`. */
function platformOf(/** @type {string} */ name) {
  const parts = name.split(/[/-]/)
  const os = parts.map((part) => systems[part]).find((system) => system !== undefined)
  const cpu = parts.find((part) => processors.has(part))
  const libc = parts.some((part) => part.startsWith('musl')) ? 'musl' : parts.includes('gnu') ? 'glibc' : undefined
  return { ...(cpu ? { cpu: [cpu] } : {}), ...(libc ? { libc: [libc] } : {}), ...(os ? { os: [os] } : {}) }
}
