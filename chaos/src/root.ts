// The project folder, from the sources or from the built program.
import { existsSync } from 'node:fs'
import path from 'node:path'

function findRoot(): string {
  let folder = import.meta.dirname
  while (!existsSync(path.join(folder, 'package-lock.json'))) folder = path.dirname(folder)
  return folder
}

export const root = findRoot()
