// Writes definitions into the folder, in canonical form. Comments in front of members that stay are kept.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Document, isMap, isNode, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml'
import { ordered, writeYaml, yamlDocument } from '../../../server/src/engine/definitions/canonical.ts'
import { filesOfTexts, withReferences } from './bodies.ts'
import { bodyToFile, folderNames, hashOf, isBlockFile, type Kind, listFiles, schemaLine } from './layout.ts'
import type { LocalResource } from './read.ts'
import type { Definition } from './source.ts'

export interface Remote {
  kind: Kind
  id: string
  definition: Definition
}

/** Everything that has to be done, as contents by path below the folder; undefined removes the file. */
export type Edits = Map<string, string | undefined>

interface Old {
  local: LocalResource
  /** What its files mean, without defaults and spellings. */
  meaning: Definition | undefined
}

/**
 * @param local what is there
 * @param written what to write
 * @param removed what to remove
 * @param normal what the files that are there mean; where it is known, YAML that says the same is left alone
 */
export function editsFor(
  dir: string,
  local: readonly LocalResource[],
  written: readonly Remote[],
  removed: readonly LocalResource[],
  normal: ReadonlyMap<string, { definition: Definition }> = new Map(),
): Edits {
  const edits: Edits = new Map()
  const names = { workflow: namesOf('workflow', local, written), layout: namesOf('layout', local, written) }
  for (const { kind, id, definition } of written) {
    const old = local.find((each) => each.kind === kind && each.id === id)
    if (kind === 'workflow' || kind === 'layout') {
      const place = old?.path ?? `${kind}s/${names[kind].get(id) ?? id}/${kind}.yaml`
      const meaning = normal.get(`${kind} ${id}`)?.definition
      const files = filesOf(kind, definition, old && { local: old, meaning })
      const inFolder = (file: string) => `${path.posix.dirname(place)}/${file}`
      for (const [file, text] of files) if (text !== undefined) edits.set(inFolder(file), text)
      for (const file of old?.bodies.values() ?? []) if (!files.has(file)) edits.set(inFolder(file), undefined)
    }
    if (kind === 'translation')
      edits.set(old?.path ?? `translations/${id}.json`, `${JSON.stringify(definition, null, 2)}\n`)
  }
  for (const { kind, path: place, bodies } of removed) {
    if (listFiles[kind]) continue
    edits.set(place, undefined)
    for (const file of bodies.values()) edits.set(`${path.posix.dirname(place)}/${file}`, undefined)
  }
  for (const [kind, { file }] of Object.entries(listFiles) as Array<[Kind, { file: string; idIn: string }]>) {
    const own = written.filter((each) => each.kind === kind)
    const gone = new Set(removed.filter((each) => each.kind === kind).map(({ id }) => id))
    if (own.length + gone.size > 0) edits.set(file, listOf(dir, kind, file, local, own, gone))
  }
  return edits
}

/** The folders of those that have none yet: never one in which another one lies, whatever its name. */
function namesOf(kind: Kind, local: readonly LocalResource[], written: readonly Remote[]): Map<string, string> {
  const there = local.filter((each) => each.kind === kind)
  const ids = [...there, ...written.filter((each) => each.kind === kind)].map(({ id }) => id)
  const taken = new Set(there.map(({ path: place }) => path.posix.basename(path.posix.dirname(place)).toLowerCase()))
  const names = folderNames([...new Set(ids)])
  for (const [id, name] of names) if (taken.has(name.toLowerCase())) names.set(id, `${id}~${hashOf(id)}`)
  return names
}

/** Replaces files by renaming, so that whoever looks sees whole ones. @returns the paths written and removed */
export function applyEdits(dir: string, edits: Edits): { written: string[]; removed: string[] } {
  const done = { written: [] as string[], removed: [] as string[] }
  for (const [name, text] of edits) {
    const place = path.join(dir, ...name.split('/'))
    if (text === undefined) {
      if (!existsSync(place)) continue
      rmSync(place)
      const folder = path.dirname(place)
      if (folder !== dir && readdirSync(folder).length === 0) rmdirSync(folder)
      done.removed.push(path.join(dir, name))
      continue
    }
    if (existsSync(place) && readFileSync(place).equals(Buffer.from(text))) continue
    writeWhole(place, text)
    done.written.push(path.join(dir, name))
  }
  return done
}

/** Where a person wants something written. A link, a device or a pipe, such as /dev/stdout, is written to and stays. */
export function writeOutput(place: string, text: string): void {
  const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink()
  const there = statSync(place, { throwIfNoEntry: false })
  if (isLink || (there && !there.isFile() && !there.isDirectory())) writeFileSync(place, text)
  else writeWhole(place, text)
}

export function writeWhole(place: string, text: string, mode = 0o666): void {
  mkdirSync(path.dirname(place), { recursive: true })
  const draft = `${place}.${process.pid}.tmp`
  try {
    writeFileSync(draft, text, { mode })
    renameSync(draft, place)
  } catch (error) {
    if (existsSync(draft)) rmSync(draft)
    // Nobody knows the draft.
    throw Object.assign(error as Error, { path: place })
  }
}

/** The YAML of a workflow or layout, and the texts beside it; undefined leaves a file alone that says the same already. */
function filesOf(kind: 'workflow' | 'layout', definition: Definition, old?: Old): Map<string, string | undefined> {
  const texts = new Map<string, string | undefined>()
  const places = filesOfTexts(kind, definition, old?.local)
  const wanted = withReferences(definition, places, (file, text) =>
    texts.set(file, bodyToFile(text, isBlockFile(file))),
  )
  // A block document may be written in other ways.
  if (old)
    withReferences(old.local.definition, old.local.bodies, (file, text) => {
      if (isBlockFile(file) && texts.get(file) === bodyToFile(text, true)) texts.set(file, undefined)
    })
  const isSame = old?.meaning && isDeepStrictEqual(withReferences(old.meaning, old.local.bodies), wanted)
  const document = yamlDocument(ordered(kind, wanted))
  const yaml = withComments(document, old?.local.source.document, schemaLine(`../../.schemas/${kind}.json`))
  return new Map([[`${kind}.yaml`, isSame ? undefined : writeYaml(yaml)], ...texts])
}

/** All of a kind in one file: those that stay as they were written, with their comments. */
function listOf(
  dir: string,
  kind: Kind,
  file: string,
  local: readonly LocalResource[],
  written: readonly Remote[],
  gone: ReadonlySet<string>,
): string {
  const there = local.filter((each) => each.kind === kind)
  const byId = new Map(written.map(({ id, definition }) => [id, definition]))
  const kept = there
    .filter(({ id }) => !gone.has(id))
    .map(({ id, definition }) => [id, byId.get(id) ?? definition] as const)
  const known = new Set(there.map(({ id }) => id))
  const added = written.filter(({ id }) => !known.has(id)).map(({ id, definition }) => [id, definition] as const)
  const all = [...kept, ...added].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const document = yamlDocument(all.map(([, definition]) => ordered(kind, definition)))
  const old = existsSync(path.join(dir, file)) ? there[0]?.source.document : undefined
  return writeYaml(withComments(document, old, schemaLine(`.schemas/${kind}s.json`)))
}

/** Copies comments from the old document to the members that are still there. The line that names the schema comes first. */
function withComments(document: Document, old: Document | undefined, firstLine: string): Document {
  if (old) copyComments(old.contents as Node | null, document.contents as Node | null)
  const [contents, before] = [document.contents as Node | null, old?.contents as Node | null | undefined]
  const own = [old?.commentBefore, before?.commentBefore].flatMap(ownLines)
  // Of the contents, not of the document, which would put an empty line behind it.
  if (contents) contents.commentBefore = [firstLine, ...own].join('\n')
  if (old?.comment) document.comment = old.comment
  return document
}

/** Without the line that names the schema, which is written anew. A parser gives it to the first member. */
const ownLines = (comment: string | null | undefined): string[] =>
  (comment ?? '').split('\n').filter((line) => line.trim() !== '' && !line.startsWith(schemaLine('').slice(0, 22)))

function copyComments(from: Node | null | undefined, to: Node | null | undefined): void {
  if (!isNode(from) || !isNode(to)) return
  if (isMap(from) && isMap(to)) {
    copyBefore(from, to)
    for (const pair of to.items as Pair<Node, Node>[]) {
      const before = pairOf(from, pair.key)
      if (!before) continue
      copyBefore(before.key, pair.key)
      if (isNode(before.value) && isNode(pair.value)) {
        if (isScalar(pair.value) && before.value.comment) pair.value.comment = before.value.comment
        copyComments(before.value, pair.value)
      }
    }
    return
  }
  if (isSeq(from) && isSeq(to))
    for (const [index, item] of to.items.entries()) {
      const id = idOf(item)
      const before = id === undefined ? from.items[index] : from.items.find((each) => idOf(each) === id)
      if (isNode(before) && isNode(item)) {
        copyBefore(before, item)
        copyComments(before, item)
      }
    }
}

function copyBefore(from: Node, to: Node): void {
  const lines = ownLines(from.commentBefore)
  if (lines.length > 0) to.commentBefore = lines.join('\n')
}

const pairOf = (map: YAMLMap, key: Node): Pair<Node, Node> | undefined =>
  (map.items as Pair<Node, Node>[]).find((pair) => isScalar(pair.key) && isScalar(key) && pair.key.value === key.value)

const idOf = (item: unknown): unknown =>
  isMap(item) ? (item.get('stepId') ?? item.get('identifier') ?? item.get('key')) : undefined
