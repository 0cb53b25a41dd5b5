// The folder of the whole project, from wherever this runs: the sources or what is built of them.
import { existsSync } from 'node:fs'
import path from 'node:path'

function findRoot(): string {
  let folder = import.meta.dirname
  while (!existsSync(path.join(folder, 'package-lock.json'))) folder = path.dirname(folder)
  return folder
}

export const root = findRoot()
