// The lock of `.belfry/`, with processes that run, that are gone, and that come at once.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { rolldown } from 'rolldown'
import { beforeEach, expect, test } from 'vitest'
import { lock, unlock, withLock } from '../src/folder/lock.ts'
import { useCommand } from './command.ts'

const command = useCommand()
let folder: string
let place: string

beforeEach(() => {
  folder = command.newFolder()
  place = path.join(folder, 'some.lock')
})

const heldBy = (pid: number | undefined) => `${place}.${pid}-other`
const gone = () => spawnSync(process.execPath, ['--version']).pid

test('what another process has is not got, and nothing is left of the attempt', () => {
  const file = heldBy(process.ppid)
  writeFileSync(file, '')
  expect(lock(place, 0)).toEqual({ pid: process.ppid, file })
  expect(readdirSync(folder)).toEqual([path.basename(file)])
})

test('what a process left that is gone, or that had the number of this one, is removed', () => {
  for (const pid of [gone(), process.pid]) writeFileSync(heldBy(pid), '')
  expect(lock(place, 0)).toBeUndefined()
  expect(readdirSync(folder)).toHaveLength(1)
  unlock(place)
  expect(readdirSync(folder)).toEqual([])
})

test('work waits for the process that has it', () => {
  const file = heldBy(process.ppid)
  writeFileSync(file, '')
  const ended = path.join(folder, 'ended')
  const script = 'const fs = require("node:fs"); fs.writeFileSync(process.argv[1], ""); fs.rmSync(process.argv[2])'
  spawn(process.execPath, ['-e', script, ended, file])
  withLock(place, () => expect(existsSync(ended)).toBe(true))
  expect(readdirSync(folder)).toEqual(['ended'])
})

test('several that find a lock that was left do not work at once', async () => {
  const entry = path.join(folder, 'entry.ts')
  const [counter, bundle] = [path.join(folder, 'counter'), path.join(folder, 'entry.mjs')]
  const [processes, rounds] = [4, 25]
  writeFileSync(counter, '0')
  writeFileSync(
    entry,
    `import { readFileSync, writeFileSync } from 'node:fs'
    import { withLock } from ${JSON.stringify(path.join(import.meta.dirname, '../src/folder/lock.ts'))}
    const [place, counter, left] = process.argv.slice(2)
    for (let round = 0; round < ${rounds}; round += 1)
      withLock(place, () => {
        writeFileSync(counter, String(Number(readFileSync(counter, 'utf8')) + 1))
        writeFileSync(left, '')
      })`,
  )
  const built = await rolldown({ input: entry, platform: 'node' })
  await built.write({ file: bundle, format: 'esm' })
  const children = Array.from({ length: processes }, () =>
    spawn(process.execPath, [bundle, place, counter, heldBy(gone())], { stdio: 'inherit' }),
  )
  const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number))
  expect(codes).toEqual(children.map(() => 0))
  expect(readFileSync(counter, 'utf8')).toBe(String(processes * rounds))
})
