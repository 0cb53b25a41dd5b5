// The workflow being edited: autosaved, or saved by a button in Production; kept in this browser until the server has it.
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useEffect, useRef, useState } from 'react'
import { cache } from '../../../api/cache.ts'
import { ApiError, api, type Body, currentEnvironment, inEnvironment } from '../../../api/client.ts'
import { type Workflow, workflows } from '../../../api/workflows.ts'
import { useConfirm } from '../../../ui/frame/dialog.tsx'

type Change = Body<'PUT /v2/workflows/{workflowId}'>
type StepInput = Change['steps'][number]
export type ControlValues = Record<string, unknown>

export interface DraftStep {
  /** Only for steps the server has stored. */
  _id?: string
  /** Chosen here for a new step. It never changes, so URLs and React keys use it. */
  stepId: string
  name: string
  type: string
  controlValues: ControlValues
  active: boolean
  shouldStopOnFail: boolean
  /** Undefined: as the integration says. */
  onUnknown: 'retry' | 'hold' | undefined
  replyCallback: { active?: boolean | undefined; url?: string | undefined } | null
}

export interface Draft {
  name: string
  description: string
  tags: string[]
  active: boolean
  severity: Workflow['severity']
  validatePayload: boolean
  payloadSchema: Record<string, unknown> | null
  isTranslationEnabled: boolean
  preferences: Workflow['preferences']
  steps: DraftStep[]
}

export function draftOf(workflow: Workflow): Draft {
  const { name, description, tags, active, severity, validatePayload, payloadSchema, isTranslationEnabled } = workflow
  return {
    ...{ name, description, tags, active, severity, validatePayload, payloadSchema, isTranslationEnabled },
    preferences: workflow.preferences,
    steps: workflow.steps.map((step) => ({
      _id: step._id,
      stepId: step.stepId,
      name: step.name,
      type: step.type,
      controlValues: step.controlValues,
      active: step.active ?? true,
      shouldStopOnFail: step.shouldStopOnFail ?? false,
      onUnknown: step.onUnknown,
      replyCallback: step.replyCallback ?? null,
    })),
  }
}

function changeOf(draft: Draft, origin: string): Change {
  const { preferences, steps, ...fields } = draft
  return {
    ...fields,
    origin: origin as Change['origin'],
    preferences: { workflow: preferences.default, user: preferences.user },
    steps: steps.map(({ type, active, shouldStopOnFail, onUnknown, replyCallback, ...step }) => ({
      ...step,
      type: type as StepInput['type'],
      // Defaults are sent as null.
      active: active ? null : false,
      shouldStopOnFail: shouldStopOnFail ? true : null,
      onUnknown: onUnknown ?? null,
      replyCallback,
    })),
  }
}

/** Keeps what the user typed during a save and takes only the ids of new steps from the answer. */
const withIds = (draft: Draft, saved: Workflow): Draft => ({
  ...draft,
  steps: draft.steps.map((step) => {
    const _id = step._id ?? saved.steps.find(({ stepId }) => stepId === step.stepId)?._id
    return _id === undefined ? step : { ...step, _id }
  }),
})

export type SaveState =
  | { state: 'saved' }
  | { state: 'waiting' }
  | { state: 'saving' }
  | { state: 'failed'; error: Error }

interface StoredDraft {
  draft: Draft
  /** `updatedAt` of the workflow on which the draft is based. */
  updatedAt: string
  at: number
}

const storageKey = (workflowId: string) => `belfry-draft:${currentEnvironment()}:${workflowId}`

function readStored(workflowId: string): StoredDraft | undefined {
  try {
    const stored = JSON.parse(localStorage.getItem(storageKey(workflowId)) ?? 'null') as StoredDraft | null
    return stored && Array.isArray(stored.draft?.steps) ? stored : undefined
  } catch {
    return undefined
  }
}

function writeStored(workflowId: string, stored: StoredDraft | undefined): void {
  try {
    if (stored) localStorage.setItem(storageKey(workflowId), JSON.stringify(stored))
    else localStorage.removeItem(storageKey(workflowId))
  } catch {
    // Storage is full or disabled. Saving to the server works without it.
  }
}

export interface DraftState {
  draft: Draft
  /** The stored workflow, with its issues and variables. */
  saved: Workflow
  save: SaveState
  isDirty: boolean
  /** Unsaved edits of an earlier visit, while the workflow has changed since. The user chooses. */
  conflict: StoredDraft | undefined
  /** Whether unsaved edits of an earlier visit were restored. */
  isRestored: boolean
  change: (work: (draft: Draft) => Draft) => void
  /** Saves at once; resolves to true if everything is saved. */
  flush: () => Promise<boolean>
  discard: () => void
  resolve: (takeMine: boolean) => void
}

interface Options {
  canEdit: boolean
  /** Off for active workflows in Production, which need a click on Save: real recipients get the result. */
  autosaves: boolean
}

const pauseMs = 700

/** When autosave tries again after a failure. Temporary errors only: after a refusal the user has to change something. */
export function retryAfterMs(save: SaveState, autosaves: boolean): number | undefined {
  if (!autosaves || save.state !== 'failed' || !(save.error instanceof ApiError)) return undefined
  const { status } = save.error
  return status === 0 || status >= 500 ? 5_000 : undefined
}

export function useDraft(workflow: Workflow, { canEdit, autosaves }: Options): DraftState {
  const { workflowId } = workflow
  const [stored] = useState(() => (canEdit ? readStored(workflowId) : undefined))
  const fits = stored !== undefined && stored.updatedAt === workflow.updatedAt
  const [draft, setDraft] = useState<Draft>(() => (stored && fits ? stored.draft : draftOf(workflow)))
  const [conflict, setConflict] = useState(() => (stored && !fits ? stored : undefined))
  const [saved, setSaved] = useState(workflow)
  const [save, setSave] = useState<SaveState>({ state: 'saved' })
  const latest = useRef(draft)
  latest.current = draft
  const savedText = useRef('')
  if (savedText.current === '') savedText.current = JSON.stringify(draftOf(workflow))
  const isDirty = canEdit && JSON.stringify(draft) !== savedText.current

  const adopt = useCallback((answer: Workflow, sent?: Draft) => {
    savedText.current = JSON.stringify(draftOf(answer))
    setSaved(answer)
    // The server may change what it stores. Text typed during the save wins.
    setDraft((now) => (sent === undefined || now === sent ? draftOf(answer) : withIds(now, answer)))
  }, [])

  // Another user saved it, or an integration changed: take the new version unless there are unsaved edits.
  const dirty = useRef(isDirty)
  dirty.current = isDirty
  const running = useRef<Promise<boolean> | undefined>(undefined)
  useEffect(() => {
    if (!dirty.current && !running.current) adopt(workflow)
  }, [workflow, adopt])

  const send = useCallback(async (): Promise<boolean> => {
    const sent = latest.current
    if (JSON.stringify(sent) === savedText.current) return true
    setSave({ state: 'saving' })
    try {
      const body = changeOf(sent, saved.origin)
      const answer = await api('PUT /v2/workflows/{workflowId}', { path: { workflowId }, body })
      adopt(answer, sent)
      cache.setQueryData(workflows.one(workflowId).queryKey, answer)
      void cache.invalidateQueries({ queryKey: inEnvironment('workflows', 'list') })
      setSave({ state: 'saved' })
      return latest.current === sent
    } catch (error) {
      setSave({ state: 'failed', error: error as Error })
      return false
    }
  }, [workflowId, saved.origin, adopt])

  const flush = useCallback(async (): Promise<boolean> => {
    while (running.current) await running.current
    const attempt = send().finally(() => {
      running.current = undefined
    })
    running.current = attempt
    return attempt
  }, [send])

  useEffect(() => {
    if (!isDirty) {
      if (!conflict) writeStored(workflowId, undefined)
      return
    }
    writeStored(workflowId, { draft, updatedAt: saved.updatedAt, at: Date.now() })
    if (!autosaves || conflict) return
    setSave((before) => (before.state === 'failed' ? before : { state: 'waiting' }))
    const pause = setTimeout(() => void flush(), pauseMs)
    return () => clearTimeout(pause)
  }, [draft, isDirty, autosaves, conflict, workflowId, saved.updatedAt, flush])

  useEffect(() => {
    const retryMs = retryAfterMs(save, autosaves)
    if (retryMs === undefined) return
    const pause = setTimeout(() => void flush(), retryMs)
    return () => clearTimeout(pause)
  }, [save, autosaves, flush])

  const ask = useConfirm()
  useBlocker({
    disabled: !isDirty,
    enableBeforeUnload: () => isDirty,
    shouldBlockFn: async ({ current, next }) => {
      if (current.pathname === next.pathname) return false
      if (autosaves && (await flush())) return false
      return !(await ask({
        title: 'Leave with unsaved changes?',
        body: 'They stay in this browser for your next visit, but nobody else sees them and runs do not use them.',
        confirm: 'Leave',
        danger: false,
      }))
    },
  })

  return {
    draft,
    saved,
    save,
    isDirty,
    conflict,
    isRestored: fits,
    flush,
    change: useCallback((work) => setDraft(work), []),
    discard: () => {
      writeStored(workflowId, undefined)
      setDraft(draftOf(saved))
      setSave({ state: 'saved' })
    },
    resolve: (takeMine) => {
      if (takeMine && conflict) setDraft(withIds(conflict.draft, saved))
      else writeStored(workflowId, undefined)
      setConflict(undefined)
    },
  }
}
