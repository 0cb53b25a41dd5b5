// A disk of a few megabytes that a test can fill completely and empty again.
import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'

export class SmallDisk {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
  }

  /** @returns undefined if mounting is not permitted */
  static mount(folder: string, megabytes: number): SmallDisk | undefined {
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'belfry-test', folder], {
        stdio: 'ignore',
      })
    } catch {
      return undefined
    }
    chmodSync(folder, 0o755)
    return new SmallDisk(folder)
  }

  /** Fills it completely. @returns the bytes it took */
  fill(): number {
    let written = 0
    const file = openSync(this.#ballast, 'a')
    try {
      for (let size = 1024 * 1024; size >= 1; ) {
        try {
          written += writeSync(file, Buffer.alloc(size))
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
          size = Math.floor(size / 2)
        }
      }
    } finally {
      closeSync(file)
    }
    return written
  }

  free(): void {
    rmSync(this.#ballast, { force: true })
  }

  unmount(): void {
    execFileSync('umount', [this.folder])
  }

  get #ballast(): string {
    return path.join(this.folder, 'ballast')
  }
}
