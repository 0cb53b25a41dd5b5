// What a run does is decided by files that are handed their clock, their chance and their ids, so that a simulation can hand in
// others. This check finds those that read the process's own.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

/** Folders and files under server/src. */
const handed = [
  'steps',
  'engine/simulation',
  ...['attachments', 'call', 'canceling', 'compose', 'judge', 'members', 'passed-over', 'run', 'windows'].map(
    (name) => `engine/runs/${name}.ts`,
  ),
]

const reads =
  /\bDate\.now\b|\bnew Date\b(?!\s*\(\s*[^\s)])|\bDate\(\s*\)|\bMath\.random\b|\brandom(?:Bytes|UUID|Int)\b/g

/** The places in a source that read the clock or chance of the process, comments aside. */
export function clockReads(/** @type {string} */ source) {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, (comment) =>
    comment.replaceAll(/[^\n]/g, ' '),
  )
  return [...code.matchAll(reads)].map(({ 0: text, index }) => ({
    line: code.slice(0, index).split('\n').length,
    text,
  }))
}

const isMain = process.argv[1] === fileURLToPath(import.meta.url)
if (isMain) {
  const found = handed
    .flatMap(filesOf)
    .flatMap((file) =>
      clockReads(readFileSync(path.join(root, file), 'utf8')).map(
        ({ line, text }) => `${file}:${line}: ${text}: take it from what the file is handed`,
      ),
    )
  for (const line of found) process.stdout.write(`${line}\n`)
  process.exit(found.length === 0 ? 0 : 1)
}

/** @returns {string[]} */
function filesOf(/** @type {string} */ place) {
  const under = path.join('server', 'src', place)
  if (place.endsWith('.ts')) return [under]
  return readdirSync(path.join(root, under), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => path.join(under, file))
}
