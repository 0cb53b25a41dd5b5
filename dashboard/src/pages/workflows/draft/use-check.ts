// What the steps would do with the example of the preview: conditions that hold, content that fails.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type StepCheck, type Workflow, workflows } from '../../../api/workflows.ts'
import { type Draft, plainStep, type StoredStep } from './draft.ts'
import { type PreviewData, previewPayloadOf } from './preview-data.ts'
import { same } from './same.ts'
import { type Issue, issuesOf } from './steps.ts'
import { allSteps } from './tree.ts'
import { useDebounced } from './use-debounced.ts'

export interface Check {
  /** By `stepId`: those of the saved workflow, and what fails with the example. */
  issues: ReadonlyMap<string, readonly Issue[]>
  steps: ReadonlyMap<string, StepCheck>
}

export function useCheck(saved: Workflow, draft: Draft, data: PreviewData): Check {
  const request = useDebounced(
    { controlValues: unsavedValues(saved, draft), previewPayload: previewPayloadOf(data) },
    400,
  )
  const { data: answer } = useQuery({
    ...workflows.check(saved.workflowId, request, saved.version),
    enabled: saved.origin !== 'external' && saved.steps.length > 0,
  })
  return useMemo(() => {
    const steps = new Map((answer?.steps ?? []).map((step) => [step.stepId, step]))
    const issues = new Map(
      savedSteps(saved).map(({ stepId, issues: found }) => {
        const known = issuesOf(found)
        return [stepId, [...known, ...issuesOfCheck(steps.get(stepId), known)]] as const
      }),
    )
    return { issues, steps }
  }, [answer, saved])
}

/** With those in arms. */
const savedSteps = ({ steps }: Workflow): StoredStep[] => allSteps<StoredStep>(steps.map(plainStep))

/** What the server has not stored yet: in Production that needs a click. */
function unsavedValues(saved: Workflow, draft: Draft): Record<string, Record<string, unknown>> {
  const stored = new Map(savedSteps(saved).map(({ stepId, controlValues }) => [stepId, controlValues]))
  // The arms of a branch count once they are saved.
  const unsaved = allSteps(draft.steps).filter(
    ({ stepId, type, controlValues }) =>
      type !== 'branch' && stored.has(stepId) && !same(stored.get(stepId), controlValues),
  )
  return Object.fromEntries(unsaved.map(({ stepId, controlValues }) => [stepId, controlValues]))
}

/** An issue of a control says more than the failure it leads to, so the failure is left out. */
export function issuesOfCheck(check: StepCheck | undefined, known: readonly Issue[]): Issue[] {
  if (!check) return []
  const named = new Set(known.map(({ variableName }) => variableName))
  const variables = check.unknownVariables
    .filter((name) => !named.has(name))
    .map((name): Issue => ({ ...ofExample, variableName: name, message: `No payload so far has “${name}”` }))
  const hasControlIssue = known.some(({ path }) => path !== undefined)
  const failure = check.error && !hasControlIssue ? [{ ...ofExample, message: check.error.message }] : []
  return [...variables, ...failure]
}

const ofExample = { path: undefined, isOfExample: true }
