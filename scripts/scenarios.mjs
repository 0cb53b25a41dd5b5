// Plays scenario files: `npm run scenarios -- path/…`. Against BELFRY_URL with BELFRY_API_KEY, or against a service of its own in
// a folder that goes away. `--live` lives through them in an environment whose clock is held, `--only <text>` chooses by name,
// `--junit <file>` writes a report.
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { rolldown } from 'rolldown'
import { liveThrough } from './live.mjs'
import { filesAt, junitOf, linesOf, play, scenariosIn, Unplayable } from './scenario-files.mjs'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

/**
 * @typedef {import('./scenario-files.mjs').Played} Played
 * @typedef {{ url: string, key: string, stop: () => Promise<void> }} Service
 */

/** @returns {Promise<import('./live.mjs').Rules>} */
async function rulesOfService() {
  const folder = path.join(root, 'server', 'src', 'engine', 'simulation')
  const parts = await Promise.all(
    ['moments.ts', 'expectations.ts'].map(async (file) => {
      const bundle = await rolldown({ input: path.join(folder, file), platform: 'node' })
      const { output } = await bundle.generate({ format: 'esm', codeSplitting: false })
      return import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString('base64')}`)
    }),
  )
  return Object.assign({}, ...parts)
}

/** @returns {Promise<Service>} */
async function serviceOf(/** @type {{ isLive: boolean }} */ { isLive }) {
  const { BELFRY_URL: url, BELFRY_API_KEY: key } = process.env
  if (url && key) return { url, key, stop: async () => undefined }
  if (url || key) throw new Unplayable('BELFRY_URL and BELFRY_API_KEY belong together; give both or neither')
  const own = await ownService()
  if (!isLive) return own
  try {
    return { ...own, key: await organizationKey(own.url, own.told) }
  } catch (error) {
    await own.stop()
    throw error
  }
}

/** A key that may make environments, from the owner of a new service. @returns {Promise<string>} */
async function organizationKey(/** @type {string} */ url, /** @type {string} */ told) {
  const token = /\/setup[#?](?:token=)?([\w-]+)/.exec(told)?.[1]
  const post = (
    /** @type {string} */ place,
    /** @type {object} */ body,
    /** @type {Record<string, string>} */ headers = {},
  ) =>
    fetch(url + place, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const owner = { name: 'Owner', email: 'owner@example.com', password: `${randomUUID()} Aa1` }
  const session = await post('/v1/auth/set-up', { token, ...owner })
  const cookie = session.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ')
  const environments = await fetch(`${url}/v1/environments`, { headers: { cookie } })
  const [{ _id = '' } = {}] = /** @type {Array<{ _id?: string }>} */ (await environments.json())
  const given = { name: 'Scenarios', scopes: ['administer'], isOrganizationWide: true }
  const made = await post('/v2/api-keys', given, { cookie, 'belfry-environment': _id })
  const { key } = /** @type {{ key?: string }} */ (await made.json())
  if (key === undefined)
    throw new Unplayable(`No key for environments could be made: ${session.status}, ${made.status}`)
  return key
}

/** @returns {Promise<Service & { told: string }>} */
async function ownService() {
  const built = spawnSync(process.execPath, [path.join(root, 'scripts', 'setup.mjs'), 'start'], { encoding: 'utf8' })
  if (built.status !== 0) throw new Unplayable(`The service could not be built:\n${built.stdout}${built.stderr}`)
  const folder = mkdtempSync(path.join(tmpdir(), 'belfry-scenarios-'))
  const port = await freePort()
  const { PATH = '', HOME = '/' } = process.env
  const child = spawn(process.execPath, [path.join(root, 'server', 'dist', 'bundle', 'main.js')], {
    env: { PATH, HOME, PORT: String(port), BELFRY_DATA_DIR: folder },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
  const ended = new Promise((resolve) => child.once('close', resolve))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  while (!/Belfry is ready at[\s\S]*\n\n/.test(output)) {
    if (child.exitCode !== null) throw new Unplayable(`The service did not start:\n${output}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const file = /^ {4}(\/\S+first-start\.txt)$/m.exec(output)?.[1]
  const told = output + (file === undefined ? '' : readFileSync(file, 'utf8'))
  const key = /^ {4}Development +(\S+)$/m.exec(told)?.[1]
  if (key !== undefined) return { url: `http://127.0.0.1:${port}`, key, stop, told }
  await stop()
  throw new Unplayable('The service told no key.')
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** What is no fault of the files has its place in the program. @returns {string} */
function sayingOf(/** @type {unknown} */ error) {
  if (!(error instanceof Error)) return String(error)
  return error instanceof Unplayable ? error.message : (error.stack ?? error.message)
}

/** @returns {Promise<number>} */
async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { only: { type: 'string' }, junit: { type: 'string' }, live: { type: 'boolean', default: false } },
  })
  const places = positionals.length > 0 ? positionals : ['.']
  const scenarios = places
    .flatMap(filesAt)
    .flatMap(scenariosIn)
    .filter(({ name }) => values.only === undefined || name.includes(values.only))
  if (scenarios.length === 0) throw new Unplayable(`No scenario was found in ${places.join(', ')}`)
  const rules = values.live ? await rulesOfService() : undefined
  const service = await serviceOf({ isLive: values.live })
  /** @type {Played[]} */
  const played = []
  const interrupted = new AbortController()
  const { signal } = interrupted
  // A held environment is deleted first. The second Ctrl-C ends the program at once.
  process.once('SIGINT', () => interrupted.abort())
  try {
    for (const scenario of scenarios) {
      const one = await (rules ? liveThrough(service, scenario, { ...rules, signal }) : play(service, scenario))
      if (signal.aborted) return 130
      played.push(one)
      process.stdout.write(`${linesOf(one).join('\n')}\n`)
    }
  } finally {
    await service.stop()
  }
  const failed = played.filter((each) => linesOf(each).length > 1).length
  const skipped = played.filter((each) => each.skipped !== undefined).length
  const more = skipped === 0 ? '' : `, ${skipped} skipped`
  process.stdout.write(`${played.length - failed - skipped} passed, ${failed} failed${more}\n`)
  if (values.junit !== undefined) {
    mkdirSync(path.dirname(values.junit), { recursive: true })
    writeFileSync(values.junit, junitOf(played))
  }
  return played.some(({ problem }) => problem !== undefined) ? 2 : failed === 0 ? 0 : 1
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  main().then(
    (code) => process.exit(code),
    (/** @type {unknown} */ error) => {
      process.stderr.write(`${sayingOf(error)}
`)
      process.exit(2)
    },
  )
