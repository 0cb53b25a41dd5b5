// What every control of the selected step needs: its values, a way to change them, what they may read, what is wrong.
import { createContext, use } from 'react'
import type { Variable } from '../../../ui/code/liquid.ts'
import type { ControlValues, DraftStep } from './draft.ts'
import type { Issue } from './steps.ts'

export interface StepEditing {
  step: DraftStep
  values: ControlValues
  /** Undefined removes a value. */
  set: (patch: ControlValues) => void
  variables: readonly Variable[]
  /** With what the items of lists have, for blocks inside a repeat. */
  variablesInLists: readonly Variable[]
  issues: readonly Issue[]
  readOnly: boolean
}

export const StepContext = createContext<StepEditing | undefined>(undefined)

export function useStep(): StepEditing {
  const editing = use(StepContext)
  if (!editing) throw new Error('There is no step around this control.')
  return editing
}

/** What is wrong at a path or below it. */
export const issuesAt = (issues: readonly Issue[], path: string): Issue[] =>
  issues.filter((issue) => issue.path === path || issue.path?.startsWith(`${path}.`))

export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

export const objectOf = (value: unknown): ControlValues =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ControlValues) : {}
