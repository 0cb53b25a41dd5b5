// A file of the folder as it is: its YAML document, with the place of every member.
import { readFileSync, statSync } from 'node:fs'
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { notUtf8, wrongAlias } from '../../../scripts/yaml-documents.mjs'
import type { FileProblem } from './problems.ts'

export type Definition = Record<string, unknown>

export class SourceFile {
  /** Relative to where the command runs. */
  readonly file: string
  readonly text: string
  readonly document: Document.Parsed
  readonly #lines = new LineCounter()
  readonly #isFolder: boolean
  readonly #notUtf8: { line: number; column: number } | undefined

  constructor(file: string, place: string) {
    this.file = file
    this.#isFolder = statSync(place).isDirectory()
    const bytes = this.#isFolder ? Buffer.alloc(0) : readFileSync(place)
    this.#notUtf8 = notUtf8(bytes)
    this.text = bytes.toString('utf8').replace(/^\uFEFF/, '')
    this.document = parseDocument(this.text, {
      version: '1.2',
      lineCounter: this.#lines,
      prettyErrors: false,
      uniqueKeys: true,
    })
  }

  /** Why it cannot be read as YAML. */
  problems(): FileProblem[] {
    const problem = (place: { line: number; column: number }, message: string): FileProblem => ({
      ...{ file: this.file, ...place, severity: 'error', code: 'yaml', message },
    })
    if (this.#isFolder) return [problem({ line: 1, column: 1 }, 'it is a folder, and has to be a file')]
    if (this.#notUtf8) return [problem(this.#notUtf8, 'the file is not UTF-8')]
    const errors = this.document.errors.map(({ code, message, pos }) =>
      problem(this.#at(pos[0]), code === 'MULTIPLE_DOCS' ? 'a second document begins; a file has one' : message),
    )
    const alias = errors.length === 0 ? wrongAlias(this.document) : undefined
    return alias ? [problem(this.#at(alias.offset), alias.message)] : errors
  }

  /** Of a file without problems. */
  value(): unknown {
    return this.document.toJS({ maxAliasCount: -1 })
  }

  /** Where a path leads, as far as it does: steps by their `stepId`, other lists by index. `from` is where it begins. */
  at(path: readonly string[], from: Node | null = this.document.contents): { line: number; column: number } {
    let node: Node | null = from
    let start = node?.range?.[0] ?? 0
    for (const name of path) {
      const next = isNode(node) ? memberOf(node, name) : undefined
      if (!next) break
      start = next.start
      node = next.node
    }
    return this.#at(start)
  }

  #at(offset: number): { line: number; column: number } {
    const { line, col } = this.#lines.linePos(offset)
    return { line, column: col }
  }
}

/** A member with the place of its name, or an item with its own. */
function memberOf(node: Node, name: string): { node: Node | null; start: number } | undefined {
  if (isMap(node)) {
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name)
    if (!pair) return undefined
    const key = pair.key as Node
    return { node: isNode(pair.value) ? pair.value : null, start: key.range?.[0] ?? 0 }
  }
  if (!isSeq(node)) return undefined
  const item = stepIn(node, name) ?? node.items[Number(name)]
  return isNode(item) ? { node: item, start: item.range?.[0] ?? 0 } : undefined
}

/** A path names a step by its `stepId` alone, however deep in the arms of branches it is. */
function stepIn(steps: YAMLSeq, stepId: string): YAMLMap | undefined {
  const own = steps.items.filter((item): item is YAMLMap => isMap(item))
  const found = own.find((step) => step.get('stepId') === stepId)
  if (found) return found
  for (const step of own) {
    const arms = step.getIn(['controlValues', 'arms'])
    for (const arm of [...(isSeq(arms) ? arms.items : []), step.getIn(['controlValues', 'default'])]) {
      const inner = isMap(arm) ? arm.get('steps') : undefined
      const deeper = isSeq(inner) ? stepIn(inner, stepId) : undefined
      if (deeper) return deeper
    }
  }
  return undefined
}
