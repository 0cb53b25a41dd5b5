// Novu: by its address, or from a folder of mongoexport files.
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import type { ImportSource } from '../../commands/import.ts'
import { Failure } from '../../failure.ts'
import { readApi } from './api.ts'
import { readMongo } from './mongo.ts'

export function novu(from: string, env: NodeJS.ProcessEnv): ImportSource {
  const isUrl = /^https?:\/\//.test(from)
  if (isUrl) {
    const key = env.NOVU_SECRET_KEY
    if (!key) throw new Failure('usage', 'no_source_key', 'Set NOVU_SECRET_KEY to the key of the source')
    return { name: 'novu', identity: [from], read: (intake, terminal) => readApi(intake, terminal, { url: from, key }) }
  }
  if (!existsSync(from) || !statSync(from).isDirectory())
    throw new Failure('usage', 'no_files', `${from} is no address, and no folder`)
  return { name: 'novu', identity: [path.resolve(from)], read: (intake) => readMongo(intake, from) }
}
