import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { folderInMemory } from './folder-in-memory.ts'

test('what a dead run has left is removed, and what a living one uses is kept', () => {
  const living = folderInMemory()
  // Without room in memory, files are on the disk.
  if (!living) return expect(process.env.TMPDIR ?? '').not.toMatch(/^\/dev\/shm/)
  const dead = living.path.replace(/\d+$/, String(spawnSync('true').pid))
  mkdirSync(`${dead}/cluster`, { recursive: true })
  try {
    expect(folderInMemory()?.path).toBe(living.path)
    expect([existsSync(dead), existsSync(living.path)]).toEqual([false, true])
    living.remove()
    expect(existsSync(living.path)).toBe(false)
  } finally {
    for (const folder of [dead, living.path]) rmSync(folder, { recursive: true, force: true })
  }
})
