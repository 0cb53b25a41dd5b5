// A file of the folder as it is: its YAML document, with the place of every member.
import { readFileSync } from 'node:fs'
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
import type { FileProblem } from './problems.ts'

export type Definition = Record<string, unknown>

export class SourceFile {
  /** Relative to where the command runs. */
  readonly file: string
  readonly text: string
  readonly document: Document.Parsed
  readonly #lines = new LineCounter()

  constructor(file: string, place: string) {
    this.file = file
    this.text = readFileSync(place, 'utf8').replace(/^\uFEFF/, '')
    this.document = parseDocument(this.text, {
      version: '1.2',
      lineCounter: this.#lines,
      prettyErrors: false,
      uniqueKeys: true,
    })
  }

  /** What cannot be read as YAML. */
  problems(): FileProblem[] {
    return this.document.errors.map(({ message, pos }) => ({
      ...{ file: this.file, ...this.#at(pos[0]), severity: 'error' as const },
      ...{ code: 'yaml', message: message.split('\n')[0] ?? message },
    }))
  }

  value(): unknown {
    return this.document.toJS({ maxAliasCount: 1_000 })
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
