// Scenario files: found, read and played, and what to say about them. The command line tool has them too, so only Node and a
// parser of YAML are needed here.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { isMap, isScalar, LineCounter, parseAllDocuments } from 'yaml'
import { refusalIn } from './answers.mjs'
import { notUtf8, wrongAlias } from './yaml-documents.mjs'

const suffix = '.scenario.yaml'

/** Of a scenario. A misspelled one would be passed over, and what it expects too. */
const members = new Set([
  ...['name', 'workflow', 'startAt', 'horizon', 'seed', 'subscribers', 'topics', 'integrations', 'answers'],
  ...['inputs', 'expect', 'details'],
])

/**
 * @typedef {{ file: string, name: string, body: Record<string, unknown> }} Scenario
 * @typedef {{ index: number, holds: boolean, text: string, nearest: unknown }} Expectation
 * @typedef {Scenario & { problem?: string, skipped?: string, failed: Expectation[] }} Played
 * @typedef {{ message?: string, expectations?: Expectation[] }} Answer
 * @typedef {{ url: string, key: string }} Place
 */

/** A file that cannot be read or played. */
export class Unplayable extends Error {}

/** All scenario files at this place. @returns {string[]} */
export function filesAt(/** @type {string} */ place) {
  if (!existsSync(place)) throw new Unplayable(`${place}: there is no such file or folder`)
  if (!statSync(place).isDirectory()) return [place]
  return readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(suffix) && !file.includes('node_modules'))
    .sort()
    .map((file) => path.join(place, file))
}

/** @returns {Scenario[]} */
export function scenariosIn(/** @type {string} */ file) {
  if (statSync(file).isDirectory()) throw new Unplayable(`${file}: it is a folder, and has to be a file`)
  const bytes = readFileSync(file)
  const wrong = notUtf8(bytes)
  if (wrong) throw new Unplayable(`${file}:${wrong.line}:${wrong.column} the file is not UTF-8`)
  const lineCounter = new LineCounter()
  return [...parseAllDocuments(bytes.toString('utf8'), { lineCounter, prettyErrors: false })].map((document, index) => {
    const placeOf = (/** @type {number} */ offset) => {
      const { line, col } = lineCounter.linePos(offset)
      return `${file}:${line}:${col}`
    }
    const [error] = document.errors
    if (error) throw new Unplayable(`${placeOf(error.pos[0])} ${error.message}`)
    const alias = wrongAlias(document)
    if (alias) throw new Unplayable(`${placeOf(alias.offset)} ${alias.message}`)
    const given = document.toJS({ maxAliasCount: -1 })
    if (typeof given !== 'object' || given === null || Array.isArray(given))
      throw new Unplayable(`${file}: scenario ${index + 1} is not an object`)
    const unknown = isMap(document.contents)
      ? document.contents.items.map(({ key }) => key).find((key) => isScalar(key) && !members.has(String(key.value)))
      : undefined
    if (isScalar(unknown))
      throw new Unplayable(
        `${placeOf(unknown.range?.[0] ?? 0)} there is no member "${String(unknown.value)}"; a scenario has ${[...members].join(', ')}`,
      )
    const { name = `scenario ${index + 1}`, ...body } = given
    return { file, name: String(name), body: { ...body, workflow: workflowOf(body.workflow, file) } }
  })
}

/** A draft may lie in a file beside the scenario. */
function workflowOf(/** @type {unknown} */ workflow, /** @type {string} */ file) {
  if (typeof workflow !== 'object' || workflow === null || !('file' in workflow)) return workflow
  const { file: beside, ...rest } = workflow
  const place = path.resolve(path.dirname(file), String(beside))
  try {
    const bytes = readFileSync(place)
    if (notUtf8(bytes)) throw new Error('it is not UTF-8')
    return { ...rest, draft: JSON.parse(bytes.toString('utf8')) }
  } catch (error) {
    throw new Unplayable(`${file}: ${String(beside)} cannot be read: ${String(error)}`)
  }
}

/** @returns {Promise<Played>} */
export async function play(/** @type {Place} */ { url, key }, /** @type {Scenario} */ scenario) {
  const response = await fetch(`${url}/v1/simulations`, {
    method: 'POST',
    headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(scenario.body),
  })
  const answer = /** @type {Answer & { data?: Answer }} */ (await response.json().catch(() => ({})))
  const told = answer.data ?? answer
  if (!response.ok) return { ...scenario, failed: [], problem: `${response.status} ${refusalIn(told) || 'no answer'}` }
  return { ...scenario, failed: (told.expectations ?? []).filter(({ holds }) => !holds) }
}

/** The lines of one that was played. @returns {string[]} */
export function linesOf(/** @type {Played} */ { file, name, problem, skipped, failed, body }) {
  if (skipped !== undefined) return [`skipped ${file} › ${name}: ${skipped}`]
  if (problem === undefined && failed.length === 0) return [`ok ${file} › ${name}`]
  const expected = /** @type {unknown[]} */ (body.expect ?? [])
  return [
    `not ok ${file} › ${name}`,
    ...(problem === undefined ? [] : [`  ${problem}`]),
    ...failed.flatMap(({ index, text, nearest }) => [
      `  ${text}`,
      `    expected ${JSON.stringify(expected[index])}`,
      `    found    ${JSON.stringify(nearest)}`,
    ]),
  ]
}

/** Control characters and halves of pairs, which XML does not have, escaped or not. */
const noXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

/** @returns {string} */
export function junitOf(/** @type {Played[]} */ played) {
  const escaped = (/** @type {string} */ text) =>
    text.replace(noXml, '\ufffd').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  const cases = played.map((each) => {
    const [, ...lines] = linesOf(each)
    const named = `  <testcase classname="${escaped(each.file)}" name="${escaped(each.name)}"`
    if (each.skipped !== undefined) return `${named}><skipped message="${escaped(each.skipped)}"/></testcase>`
    if (lines.length === 0) return `${named}/>`
    return `${named}><failure message="${escaped(lines[0]?.trim() ?? '')}">${escaped(lines.join('\n'))}</failure></testcase>`
  })
  const failures = played.filter((each) => linesOf(each).length > 1).length
  const skipped = played.filter((each) => each.skipped !== undefined).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="scenarios" tests="${played.length}" failures="${failures}" skipped="${skipped}">`,
    ...cases,
    '</testsuite>',
    '',
  ].join('\n')
}
