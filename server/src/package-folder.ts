// Where this package lies. Its code runs from src/ and from one bundle in dist/, so paths that start at a source file would
// differ between the two.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

function findPackageFolder(): string {
  let folder = import.meta.dirname
  while (!existsSync(path.join(folder, 'package.json'))) folder = path.dirname(folder)
  return folder
}

/** The folder `server/`; the built dashboard and inbox lie beside it. */
export const packageFolder = pathToFileURL(`${findPackageFolder()}/`)
