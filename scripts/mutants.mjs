// Plants one fault at a time in a copy of the sources and runs the tests near it. A fault that survives shows a promise no test
// keeps. `npm run mutants`; `-- --only engine`, `--only 17` or `--only trigger.ts` for some, `--sample 20` for a random few.
// The faults are in scripts/mutants/. A full run takes most of an hour, so it is not part of `npm test`.
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { auth } from './mutants/auth.mjs'
import { browser } from './mutants/browser.mjs'
import { compile, Lane, plant, restore } from './mutants/copy.mjs'
import { db } from './mutants/db.mjs'
import { delivery } from './mutants/delivery.mjs'
import { engine } from './mutants/engine.mjs'
import { http } from './mutants/http.mjs'
import { kinds } from './mutants/kinds.mjs'
import { providers } from './mutants/providers.mjs'
import { scenarios } from './mutants/scenarios.mjs'

/**
 * @typedef {{ breaks: string, from: string, to: string, tests?: string[], alone?: boolean, build?: boolean }} Planted `from` occurs
 *   once in its file. `tests` run as well as those near the file, or `alone`. `build` rebuilds what browsers load.
 * @typedef {Planted & { id: number, area: string, file: string }} Fault
 * @typedef {{ fault: Fault, verdict: 'caught' | 'survived' | 'invalid', note: string }} Result
 */

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
/** @type {Record<string, Record<string, Planted[]>>} */
const areas = { auth, engine, delivery, kinds, http, providers, browser, db, scenarios }
/** A fault that survives here may lose a message or let a stranger in. */
const mustCatch = ['auth', 'engine', 'delivery', 'scenarios']
const leastShare = 0.9
const lanes = 2

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    sample: { type: 'string' },
    seconds: { type: 'string', default: '300' },
    check: { type: 'boolean', default: false },
    'skip-checks': { type: 'boolean', default: false },
  },
})

/** @type {Fault[]} */
const faults = Object.entries(areas)
  .flatMap(([area, files]) =>
    Object.entries(files).flatMap(([file, planted]) => planted.map((fault) => ({ area, file, ...fault }))),
  )
  .map((fault, index) => ({ id: index + 1, ...fault }))
const stale = faults.filter(({ file, from }) => {
  const place = path.join(root, file)
  return !existsSync(place) || readFileSync(place, 'utf8').split(from).length !== 2
})

if (options.check) {
  if (stale.length === 0) process.exit(0)
  const names = stale.map((fault) => `  ${nameOf(fault)}`).join('\n')
  stop(`The text of these planted faults is not exactly once in their files; adapt it in scripts/mutants/:\n${names}`)
}

const work = mkdtempSync(path.join(tmpdir(), 'belfry-mutants-'))
// As root, the database runs as a user of its own, who must be able to enter.
chmodSync(work, 0o755)
process.on('exit', () => rmSync(work, { recursive: true, force: true }))
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => process.exit(1))

const chosen = choose()
/** @type {Result[]} */
const results = chosen
  .filter((fault) => stale.includes(fault))
  .map((fault) => ({ fault, verdict: 'invalid', note: 'its text does not occur exactly once' }))
const current = chosen.filter((fault) => !stale.includes(fault))
const runnable = options['skip-checks'] ? current : withoutCompileErrors(current)
if (!options['skip-checks']) await runBaseline()
const queue = [...runnable]
await Promise.all(Array.from({ length: lanes }, (_, index) => runLane(`lane-${index}`)))
process.exit(report() ? 0 : 1)

function choose() {
  const { only, sample } = options
  const isWanted = (/** @type {Fault} */ { id, area, file }) =>
    only.length === 0 || only.some((name) => name === area || name === String(id) || file.endsWith(`/${name}`))
  const wanted = faults.filter(isWanted)
  if (wanted.length === 0) stop(`No fault matches ${only.join(', ')}. The areas are ${Object.keys(areas).join(', ')}.`)
  if (sample === undefined) return wanted
  const lots = wanted.map((fault) => ({ fault, lot: Math.random() })).sort((a, b) => a.lot - b.lot)
  return lots.slice(0, Number(sample)).map(({ fault }) => fault)
}

/** A fault the compiler refuses says nothing about the tests. Compiles in rounds, each with at most one fault per file. */
function withoutCompileErrors(/** @type {Fault[]} */ candidates) {
  const copy = path.join(work, 'compiled')
  const refused = new Set()
  const rounds = new Map()
  for (const fault of candidates) {
    const round = candidates.filter(({ id, file }) => id < fault.id && file === fault.file).length
    rounds.set(round, [...(rounds.get(round) ?? []), fault])
  }
  for (const planted of rounds.values())
    for (const { fault, complaint } of compile(root, copy, planted)) {
      refused.add(fault)
      results.push({ fault, verdict: 'invalid', note: complaint })
    }
  rmSync(copy, { recursive: true, force: true })
  return candidates.filter((fault) => !refused.has(fault))
}

/** Tests that fail without a fault would catch everything. */
async function runBaseline() {
  const lane = new Lane(root, path.join(work, 'baseline'))
  const tests = [...new Set(runnable.flatMap(testsNear))]
  const { failed } = await lane.run({ tests, build: runnable.some(({ build }) => build), bail: false, seconds: 7200 })
  await lane.stop()
  if (failed.length > 0) stop(`These fail without any fault:\n  ${failed.join('\n  ')}`)
}

async function runLane(/** @type {string} */ name) {
  const lane = new Lane(root, path.join(work, name))
  for (let fault = queue.shift(); fault; fault = queue.shift()) {
    const tests = testsNear(fault)
    if (tests.length === 0) {
      results.push({ fault, verdict: 'invalid', note: 'no test is near it: name one in `tests`' })
      continue
    }
    const began = performance.now()
    plant(lane.folder, fault)
    const { failed, isLate } = await lane.run({
      tests,
      changed: fault.file,
      build: fault.build ?? false,
      bail: true,
      seconds: Number(options.seconds),
    })
    restore(root, lane.folder, fault)
    const verdict = failed.length > 0 || isLate ? 'caught' : 'survived'
    results.push({ fault, verdict, note: isLate ? 'timed out' : (failed[0] ?? '') })
    const seconds = Math.round((performance.now() - began) / 1000)
    say(`${results.length}/${chosen.length} ${verdict}, ${seconds} s: ${nameOf(fault)}`)
    if (verdict === 'caught') say(`    by ${isLate ? 'its time limit' : failed[0]}`)
  }
  await lane.stop()
}

/** The test beside the file, those in its folder that import it, and those the fault names. */
function testsNear(/** @type {Fault} */ { file, tests = [], alone = false }) {
  if (alone) return tests
  const folder = path.dirname(file)
  const own = file.replace(/\.tsx?$/, '.test.ts')
  const near = readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `${folder}/${name}`)
    .filter(
      (test) => test === own || readFileSync(path.join(root, test), 'utf8').includes(`'./${path.basename(file)}'`),
    )
  return [...new Set([...near, ...tests])]
}

/** @returns whether the tests are good enough */
function report() {
  say('')
  const judged = (/** @type {string} */ area) =>
    results.filter(({ fault, verdict }) => fault.area === area && verdict !== 'invalid')
  for (const area of Object.keys(areas).filter((each) => judged(each).length > 0)) {
    const caught = judged(area).filter(({ verdict }) => verdict === 'caught').length
    say(`${area.padEnd(10)} ${caught} of ${judged(area).length} caught`)
  }
  const survivors = results.filter(({ verdict }) => verdict === 'survived').map(({ fault }) => fault)
  const invalid = results.filter(({ verdict }) => verdict === 'invalid')
  const share = 1 - survivors.length / (results.length - invalid.length || 1)
  say(`${'all'.padEnd(10)} ${(share * 100).toFixed(1)} % of ${results.length - invalid.length} caught`)
  for (const fault of survivors) say(`survived: ${nameOf(fault)}`)
  for (const { fault, note } of invalid) say(`invalid: ${nameOf(fault)} (${note})`)
  return invalid.length === 0 && share >= leastShare && !survivors.some(({ area }) => mustCatch.includes(area))
}

function nameOf(/** @type {Fault} */ { id, area, file, breaks }) {
  return `${id} ${area}, ${file}: ${breaks}`
}

function say(/** @type {string} */ line) {
  process.stdout.write(`${line}\n`)
}

/** @returns {never} */
function stop(/** @type {string} */ message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
