// A disk of a few megabytes that a test can fill completely and empty again.
import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

export class SmallDisk {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** Undefined if mounting is not permitted. */
  static mount(megabytes: number): SmallDisk | undefined {
    const folder = mkdtempSync(path.join(tmpdir(), 'belfry-disk-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'belfry-test', folder], {
        stdio: 'ignore',
      })
    } catch {
      rmdirSync(folder)
      return undefined
    }
    chmodSync(folder, 0o755)
    return new SmallDisk(folder)
  }

  /** Fills it completely. */
  fill(): void {
    const file = openSync(this.#ballast, 'a')
    try {
      for (let size = 1024 * 1024; size >= 1; ) {
        try {
          writeSync(file, Buffer.alloc(size))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
          size = Math.floor(size / 2)
        }
      }
    } finally {
      closeSync(file)
    }
  }

  free(): void {
    rmSync(this.#ballast)
  }

  unmount(): void {
    execFileSync('umount', [this.folder])
    rmdirSync(this.folder)
  }

  get #ballast(): string {
    return path.join(this.folder, 'ballast')
  }
}
