// What the controls of the selected step share: values, setter, variables and issues.
import { createContext, use } from 'react'
import type { StepCheck } from '../../../api/workflows.ts'
import type { Variable } from '../../../ui/code/liquid.ts'
import type { ControlValues, DraftStep } from './draft.ts'
import type { Issue } from './steps.ts'

export interface StepEditing {
  step: DraftStep
  values: ControlValues
  /** Undefined removes a value. A function gets the values as they are by then. */
  set: (patch: ControlValues | ((values: ControlValues) => ControlValues)) => void
  variables: readonly Variable[]
  /** Including fields of list items, for blocks inside a repeat. */
  variablesInLists: readonly Variable[]
  issues: readonly Issue[]
  /** What the step would do with the example of the preview. */
  check: StepCheck | undefined
  /** The digests before this step. */
  digests: readonly string[]
  /** The steps before this one that send a message, and whose results it may read. */
  sends: ReadonlyArray<Pick<DraftStep, 'stepId' | 'name' | 'type'>>
  readOnly: boolean
}

export const StepContext = createContext<StepEditing | undefined>(undefined)

export function useStep(): StepEditing {
  const editing = use(StepContext)
  if (!editing) throw new Error('useStep needs a StepContext around it.')
  return editing
}

/** Issues at a path or below it. */
export const issuesAt = (issues: readonly Issue[], path: string): Issue[] =>
  issues.filter((issue) => issue.path === path || issue.path?.startsWith(`${path}.`))

/** Whether nothing is filled in. */
export const isBlank = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '')

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

export const objectOf = (value: unknown): ControlValues =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ControlValues) : {}
