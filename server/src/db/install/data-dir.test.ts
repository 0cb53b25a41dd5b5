import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { StartError } from '../../errors.ts'
import { claimDataDir } from './data-dir.ts'

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'belfry-data-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test("a claim that names another program's process is no claim", async () => {
  const dataDir = newFolder()
  // These processes live, but started at another time than the claim says.
  for (const pid of [process.pid, process.ppid])
    writeFileSync(path.join(dataDir, `belfry-${pid}-0123456789ab.lock`), '')
  const claim = await claimDataDir(dataDir)
  expect(readdirSync(dataDir)).toEqual([expect.stringMatching(`^belfry-${process.pid}-(?!0123456789ab)`)])
  claim.release()
  expect(readdirSync(dataDir)).toEqual([])
})

test('a data folder that cannot be created is named', async () => {
  const file = path.join(newFolder(), 'file')
  writeFileSync(file, '')
  const refusal = await claimDataDir(path.join(file, 'data')).catch((error: unknown) => error)
  expect(refusal).toBeInstanceOf(StartError)
  const { message, cause } = refusal as StartError
  expect(message).toBe(`The data folder ${file}/data cannot be used. Set BELFRY_DATA_DIR to another one.`)
  expect(cause).toMatchObject({ code: 'ENOTDIR' })
})
