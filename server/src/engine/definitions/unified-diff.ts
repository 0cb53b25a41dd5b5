// Two definitions, as the differences of their canonical YAML.
import { createTwoFilesPatch } from 'diff'
import type { DefinitionKind } from '../../db/core/tables.ts'
import { canonicalYaml } from './canonical.ts'
import type { Definition } from './workflow-definition.ts'

interface Side {
  name: string
  /** Undefined if it does not exist. */
  definition: Definition | undefined
}

/** As `diff -u` writes it; empty if both are the same. */
export function unifiedDiff(kind: DefinitionKind, from: Side, to: Side): string {
  const textOf = ({ definition }: Side) => (definition ? canonicalYaml(kind, definition) : '')
  const [before, after] = [textOf(from), textOf(to)]
  if (before === after) return ''
  const patch = createTwoFilesPatch(from.name, to.name, before, after, undefined, undefined, { context: 3 })
  // Its first line is a rule of equals signs.
  return patch.slice(patch.indexOf('\n') + 1)
}
