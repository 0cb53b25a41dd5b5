// Lists folders and files that may have grown a second subject. Notes, not errors: somebody has to judge.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const mostFiles = 25
const mostLines = 500

/** Single tables, generated or maintained by hand. */
const tables = ['dashboard/src/api/types.ts', 'server/src/db/core/tables.ts', 'server/src/errors.ts']

const listed = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx'], {
  cwd: root,
  encoding: 'utf8',
})
const sources = listed.stdout.split('\n').filter((file) => /\/src\//.test(file) && !/\.test\.tsx?$/.test(file))

/** @type {Map<string, number>} */
const inFolder = new Map()
for (const file of sources) inFolder.set(path.dirname(file), (inFolder.get(path.dirname(file)) ?? 0) + 1)
// One file per vendor or language is fine, however many.
for (const [folder, count] of inFolder)
  if (count > mostFiles && !/\/(providers\/\w+|languages)$/.test(folder))
    process.stdout.write(`note: ${folder} has ${count} sources: is there a second subject in it?\n`)
for (const file of sources.filter((each) => !tables.includes(each))) {
  const lines = readFileSync(path.join(root, file), 'utf8').split('\n').length
  if (lines > mostLines) process.stdout.write(`note: ${file} has ${lines} lines: is there a second subject in it?\n`)
}
