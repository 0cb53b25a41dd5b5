// Reads the folder: what it manages, and every definition in it with its place.
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Node } from 'yaml'
import { notUtf8 } from '../../../scripts/yaml-documents.mjs'
import { Failure } from '../failure.ts'
import { bodyFromFile, type Kind, type KindName, kindNames, listFiles, usualKinds } from './layout.ts'
import type { FileProblem } from './problems.ts'
import { type Definition, SourceFile } from './source.ts'

export interface FolderSettings {
  kinds: readonly KindName[]
  environments: Array<{ name: string; url: string }>
  source: { repository?: string; url?: string }
}

export interface LocalResource {
  kind: Kind
  id: string
  /** Below the folder, with slashes. */
  path: string
  source: SourceFile
  /** Where the definition begins in its file. */
  node: Node | null
  /** With the contents of `$file`. */
  definition: Definition
  /** Files beside it, by the place of the member that names them, as `placeKey` writes it. */
  bodies: Map<string, string>
}

export interface Folder {
  /** As given, for messages. */
  dir: string
  settings: FolderSettings
  resources: LocalResource[]
  problems: FileProblem[]
}

/** @param shouldExist whether a folder that is missing is a mistake */
export function readFolder(dir: string, { shouldExist = true } = {}): Folder {
  const problems: FileProblem[] = []
  const isMissing = !isThere(dir)
  if (shouldExist && isMissing)
    throw new Failure('usage', 'no_folder', `There is no folder ${dir}; run "belfry init", or say --dir`)
  if (!isMissing && !statSync(dir).isDirectory())
    throw new Failure('usage', 'no_folder', `${dir} is a file, and has to be a folder`)
  const settings = readSettings(dir, problems)
  const resources = settings.kinds.flatMap((name) => resourcesOf(dir, name, problems))
  reportRepeats(resources, problems)
  return { dir, settings, resources, problems }
}

/** A file that may not be looked at is no missing one: what it defines would count as removed. */
function isThere(place: string): boolean {
  try {
    statSync(place)
    return true
  } catch (error) {
    // The second is a file among the folders.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** Passed over, it would count as removed too. */
function isThereAsYaml(place: string, problems: FileProblem[], code: 'settings' | 'shape'): boolean {
  if (isThere(place)) return true
  const file = place.replace(/\.yaml$/, '.yml')
  if (isThere(file))
    problems.push({
      ...{ file, line: 1, column: 1, severity: 'error', code },
      message: `it is not read; name it ${path.basename(place)}`,
    })
  return false
}

function readSettings(dir: string, problems: FileProblem[]): FolderSettings {
  const usual: FolderSettings = { kinds: usualKinds, environments: [], source: {} }
  const place = path.join(dir, 'belfry.yaml')
  if (!isThereAsYaml(place, problems, 'settings')) return usual
  const source = new SourceFile(place, place)
  const found = source.problems()
  problems.push(...found)
  const report = (at: string[], message: string) =>
    problems.push({ file: place, ...source.at(at), severity: 'error', code: 'settings', message })
  const given = found.length > 0 ? {} : (source.value() ?? {})
  if (!isObject(given)) {
    report([], 'must be an object')
    return usual
  }
  const { format = 1, kinds = usualKinds, environments = [], source: origin = {}, ...others } = given
  if (format !== 1) report(['format'], 'must be 1; a newer belfry reads newer formats')
  for (const name of Object.keys(others)) report([name], `there is no setting "${name}"`)
  const isKnown = Array.isArray(kinds) && kinds.every((kind) => Object.hasOwn(kindNames, String(kind)))
  if (!isKnown) report(['kinds'], `must be a list of ${Object.keys(kindNames).join(', ')}`)
  return {
    kinds: isKnown ? (kinds as KindName[]) : usualKinds,
    environments: Array.isArray(environments)
      ? environments.filter(isObject).map(({ name, url }) => ({ name: String(name ?? ''), url: String(url ?? '') }))
      : [],
    source: isObject(origin) ? (origin as FolderSettings['source']) : {},
  }
}

function resourcesOf(dir: string, name: KindName, problems: FileProblem[]): LocalResource[] {
  const kind = kindNames[name]
  const list = listFiles[kind]
  if (list) return itemsOf(dir, kind, list, problems)
  if (kind === 'translation')
    return filesIn(path.join(dir, name), (file) => file.endsWith('.json')).flatMap((file) =>
      one(dir, kind, `${name}/${file}`, path.basename(file, '.json'), problems),
    )
  return filesIn(path.join(dir, name), (file) =>
    isThereAsYaml(path.join(dir, name, file, `${kind}.yaml`), problems, 'shape'),
  ).flatMap((folder) => one(dir, kind, `${name}/${folder}/${kind}.yaml`, undefined, problems))
}

const filesIn = (place: string, test: (file: string) => boolean): string[] =>
  isThere(place) ? readdirSync(place).filter(test).sort() : []

function one(dir: string, kind: Kind, place: string, id: string | undefined, problems: FileProblem[]): LocalResource[] {
  const file = path.join(dir, ...place.split('/'))
  const source = new SourceFile(file, file)
  const found = source.problems()
  problems.push(...found)
  if (found.length > 0) return []
  const value = source.value()
  const report = (at: string[], code: string, message: string) =>
    problems.push({ file, ...source.at(at), severity: 'error', code, message })
  if (!isObject(value)) {
    report([], 'shape', 'must be an object')
    return []
  }
  const own = id ?? value[`${kind}Id`]
  if (typeof own !== 'string') {
    report([`${kind}Id`], 'shape', noText(`${kind}Id`, own))
    return []
  }
  const bodies = new Map<string, string>()
  // Translations have no bodies; theirs are texts.
  const definition =
    kind === 'translation' ? value : withFiles(value, file, bodies, (at, message) => report(at, 'file', message))
  return [{ kind, id: own, path: place, source, node: source.document.contents, definition, bodies }]
}

/** Why it is no identifier. Without quotes, `007` is a number. */
const noText = (member: string, value: unknown): string =>
  value === undefined || value === null
    ? `must have the member ${member}`
    : `${member} must be a text, and is a ${Array.isArray(value) ? 'list' : typeof value}; put quotes around it`

function itemsOf(
  dir: string,
  kind: Kind,
  { file: name, idIn }: { file: string; idIn: string },
  problems: FileProblem[],
): LocalResource[] {
  const file = path.join(dir, name)
  if (!isThereAsYaml(file, problems, 'shape')) return []
  const source = new SourceFile(file, file)
  const found = source.problems()
  problems.push(...found)
  if (found.length > 0) return []
  const value = source.value() ?? []
  const report = (at: string[], message: string) =>
    problems.push({ file, ...source.at(at), severity: 'error', code: 'shape', message })
  if (!Array.isArray(value)) {
    report([], 'must be a list')
    return []
  }
  return value.flatMap((definition: unknown, index) => {
    const id = isObject(definition) ? definition[idIn] : undefined
    if (!isObject(definition) || typeof id !== 'string') {
      report([String(index), idIn], noText(idIn, id))
      return []
    }
    const node = source.document.getIn([index], true) as Node | null
    return [{ kind, id, path: name, source, node, definition, bodies: new Map<string, string>() }]
  })
}

/** Puts the contents of files in the place of `{$file: name}`. */
function withFiles(
  value: Definition,
  own: string,
  bodies: Map<string, string>,
  report: (at: string[], message: string) => void,
): Definition {
  const textAt = (at: string[], name: string): string => {
    // Nothing is ever written or removed by a name that leads elsewhere.
    if (!isFileName(name)) report(at, `"${name}" must be the name of a file in the same folder`)
    else if (name.toLowerCase() === path.basename(own).toLowerCase()) report(at, `"${name}" is this file itself`)
    else {
      bodies.set(placeKey(at), name)
      return textOf(path.dirname(own), name, (message) => report(at, message))
    }
    return ''
  }
  const walk = (inner: unknown, at: string[]): unknown => {
    if (Array.isArray(inner)) return inner.map((item, index) => walk(item, [...at, nameOf(item, index)]))
    if (!isObject(inner)) return inner
    if (typeof inner.$file === 'string' && Object.keys(inner).length === 1) return textAt(at, inner.$file)
    return Object.fromEntries(
      Object.entries(inner).map(([name, member]) => [
        name,
        // A schema may have a member of any name.
        name === 'payloadSchema' && at.length === 0 ? member : walk(member, [...at, name]),
      ]),
    )
  }
  return walk(value, []) as Definition
}

/** Steps by their `stepId`, other items by their index. */
export const nameOf = (item: unknown, index: number): string =>
  isObject(item) && typeof item.stepId === 'string' ? item.stepId : String(index)

/** Names of members may have dots, so a dotted path would not do. */
export const placeKey = (at: readonly string[]): string => JSON.stringify(at)

const isFileName = (name: string) => name !== '' && name !== '.' && name !== '..' && !/[/\\]/.test(name)

function textOf(folder: string, name: string, report: (message: string) => void): string {
  const place = path.join(folder, name)
  if (!existsSync(place)) report(`there is no file "${name}"`)
  else if (!lstatSync(realpathSync(place)).isFile()) report(`"${name}" is no file`)
  else if (path.dirname(realpathSync(place)) !== realpathSync(folder)) report(`"${name}" leads out of its folder`)
  else {
    const bytes = readFileSync(place)
    const wrong = notUtf8(bytes)
    if (wrong) report(`"${name}" is not UTF-8: line ${wrong.line}, column ${wrong.column}`)
    return bodyFromFile(bytes.toString('utf8'), name)
  }
  return ''
}

function reportRepeats(resources: LocalResource[], problems: FileProblem[]): void {
  const seen = new Map<string, LocalResource>()
  for (const resource of resources) {
    const key = `${resource.kind} ${resource.id}`
    const first = seen.get(key)
    if (first)
      problems.push({
        ...{ file: resource.source.file, ...resource.source.at([], resource.node), severity: 'error' },
        ...{ code: 'duplicate', message: `${first.source.file} has the same ${resource.kind} "${resource.id}"` },
      })
    else seen.set(key, resource)
  }
}

export const isObject = (value: unknown): value is Definition =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
