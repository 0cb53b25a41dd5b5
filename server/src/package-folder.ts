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

/** Beside the program of the installed package lies its command. */
const isPackage = existsSync(path.join(path.dirname(process.argv[1] ?? ''), '../../../bin/belfry-server.mjs'))
/** How somebody types a command here. */
export const named = (command: string, args = ''): string =>
  isPackage ? `belfry-server ${command}${args && ` ${args}`}` : `npm run ${command}${args && ` -- ${args}`}`
export const linkCommand = named('sign-in-link')
