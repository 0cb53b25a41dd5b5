// The variables that templates and conditions of a workflow are offered.
import { useMemo } from 'react'
import type { Workflow } from '../../../api/workflows.ts'
import { type Variable, variablesIn, variablesOfExample } from '../../../ui/code/liquid.ts'
import { useExamplePayload } from './preview-data.ts'
import { useTextKeys } from './text-keys.ts'

interface Offered {
  variables: readonly Variable[]
  /** Including fields of list items, for blocks inside a repeat. */
  variablesInLists: readonly Variable[]
  /** The payload as the templates of the workflow read it: a schema that allows anything names nothing. */
  example: Record<string, unknown>
}

export function useVariables(workflow: Workflow, schema: unknown): Offered {
  const keys = useTextKeys(workflow)
  const example = useExamplePayload(workflow)
  const variables = useMemo(() => offered({ schema, example, keys }), [schema, example, keys])
  const variablesInLists = useMemo(() => offered({ schema, example, keys, inLists: true }), [schema, example, keys])
  return { variables, variablesInLists, example }
}

interface Known {
  schema: unknown
  example: Record<string, unknown>
  keys: readonly Variable[]
  inLists?: boolean
}

function offered({ schema, example, keys, inLists = false }: Known): Variable[] {
  const declared = variablesIn(schema, { inLists })
  const known = new Set(declared.map(({ path }) => path))
  const read = variablesOfExample(example, 'payload', { inLists }).filter(({ path }) => !known.has(path))
  return [...declared, ...read, ...keys]
}
