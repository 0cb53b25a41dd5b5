// The workflow as it is being edited: saved by itself while it is a draft, kept on this device until it is, and never lost.
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
  /** Of a step the server knows. */
  _id?: string
  /** Chosen here for a new step; it never changes, so URLs and keys go by it. */
  stepId: string
  name: string
  type: string
  controlValues: ControlValues
  active: boolean
  shouldStopOnFail: boolean
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
    steps: steps.map(({ type, active, shouldStopOnFail, replyCallback, ...step }) => ({
      ...step,
      type: type as StepInput['type'],
      // What is as usual is not written down.
      active: active ? null : false,
      shouldStopOnFail: shouldStopOnFail ? true : null,
      replyCallback,
    })),
  }
}

/** What was typed while a save was under way stays; only the ids of new steps are learned from its answer. */
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

interface Kept {
  draft: Draft
  /** Of the workflow it was made from. */
  updatedAt: string
  at: number
}

const placeOf = (workflowId: string) => `belfry-draft:${currentEnvironment()}:${workflowId}`

function readKept(workflowId: string): Kept | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(placeOf(workflowId)) ?? 'null') as Kept | null
    return kept && Array.isArray(kept.draft?.steps) ? kept : undefined
  } catch {
    return undefined
  }
}

function writeKept(workflowId: string, kept: Kept | undefined): void {
  try {
    if (kept) localStorage.setItem(placeOf(workflowId), JSON.stringify(kept))
    else localStorage.removeItem(placeOf(workflowId))
  } catch {
    // Full or switched off: saving to the server does not need it.
  }
}

export interface DraftState {
  draft: Draft
  /** As the server has it, with its issues and variables. */
  saved: Workflow
  save: SaveState
  isDirty: boolean
  /** Edits from an earlier visit that do not fit what the server has now; to be taken or dropped. */
  conflict: Kept | undefined
  /** Whether edits of an earlier visit were taken up. */
  isRestored: boolean
  change: (work: (draft: Draft) => Draft) => void
  /** Saves at once; true when everything is saved. */
  flush: () => Promise<boolean>
  discard: () => void
  resolve: (takeMine: boolean) => void
}

interface Options {
  canEdit: boolean
  /** Otherwise somebody has to press save: people are being written to by it. */
  savesItself: boolean
}

const pauseMs = 700
const retryMs = 5_000

export function useDraft(workflow: Workflow, { canEdit, savesItself }: Options): DraftState {
  const { workflowId } = workflow
  const [kept] = useState(() => (canEdit ? readKept(workflowId) : undefined))
  const fits = kept !== undefined && kept.updatedAt === workflow.updatedAt
  const [draft, setDraft] = useState<Draft>(() => (kept && fits ? kept.draft : draftOf(workflow)))
  const [conflict, setConflict] = useState(() => (kept && !fits ? kept : undefined))
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
    // The server may store a body in another form; who has typed on in the meantime keeps what was typed.
    setDraft((now) => (sent === undefined || now === sent ? draftOf(answer) : withIds(now, answer)))
  }, [])

  // Somebody else saved it, or an integration came or went: shown unless there is something of one's own to lose.
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
      if (!conflict) writeKept(workflowId, undefined)
      return
    }
    writeKept(workflowId, { draft, updatedAt: saved.updatedAt, at: Date.now() })
    if (!savesItself || conflict) return
    setSave((before) => (before.state === 'failed' ? before : { state: 'waiting' }))
    const pause = setTimeout(() => void flush(), pauseMs)
    return () => clearTimeout(pause)
  }, [draft, isDirty, savesItself, conflict, workflowId, saved.updatedAt, flush])

  // A server that was away for a moment is asked again; a refusal needs somebody to change something.
  useEffect(() => {
    if (save.state !== 'failed' || !(save.error instanceof ApiError)) return
    if (!savesItself || (save.error.status !== 0 && save.error.status < 500)) return
    const pause = setTimeout(() => void flush(), retryMs)
    return () => clearTimeout(pause)
  }, [save, savesItself, flush])

  const ask = useConfirm()
  useBlocker({
    disabled: !isDirty,
    enableBeforeUnload: () => isDirty,
    shouldBlockFn: async ({ current, next }) => {
      if (current.pathname === next.pathname) return false
      if (savesItself && (await flush())) return false
      return !(await ask({
        title: 'Leave with unsaved changes?',
        body: 'They stay on this device and are offered when you come back, but nobody else sees them and runs do not use them.',
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
      writeKept(workflowId, undefined)
      setDraft(draftOf(saved))
      setSave({ state: 'saved' })
    },
    resolve: (takeMine) => {
      if (takeMine && conflict) setDraft(withIds(conflict.draft, saved))
      else writeKept(workflowId, undefined)
      setConflict(undefined)
    },
  }
}
