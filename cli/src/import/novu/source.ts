// Novu: by its address, or from a folder of mongoexport files.
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { ImportSource } from '../../commands/import.ts'
import { Failure } from '../../failure.ts'
import { readApi } from './api.ts'
import { OneEnvironment } from './environment.ts'
import { readMongo } from './mongo.ts'

export interface NovuOptions {
  from: string
  /** The internal id of the environment to read, where files have several. */
  sourceEnvironment?: string
}

export function novu({ from, sourceEnvironment }: NovuOptions, env: NodeJS.ProcessEnv): ImportSource {
  const isUrl = /^https?:\/\//.test(from)
  if (isUrl) {
    if (sourceEnvironment !== undefined)
      throw new Failure('usage', 'source_environment', '--source-environment is for files; a key has one environment')
    const key = env.NOVU_SECRET_KEY
    if (!key) throw new Failure('usage', 'no_source_key', 'Set NOVU_SECRET_KEY to the key of the source')
    return { name: 'novu', identity: [from], read: (intake, terminal) => readApi(intake, terminal, { url: from, key }) }
  }
  if (!existsSync(from) || !statSync(from).isDirectory())
    throw new Failure('usage', 'no_files', `${from} is no address, and no folder`)
  return {
    name: 'novu',
    identity: [path.resolve(from), ...(sourceEnvironment === undefined ? [] : [sourceEnvironment])],
    files: [from],
    read: (intake) => readMongo(intake, from, new OneEnvironment(sourceEnvironment)),
  }
}
