// Saves the workflow being edited: by itself, or by a button in Production. Every save names the version it began from; what
// others saved meanwhile is merged, and what collides waits for a decision.
import { useQuery } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { toast } from 'sonner'
import { useSession } from '../../../api/auth.ts'
import { cache } from '../../../api/cache.ts'
import { api, inEnvironment } from '../../../api/client.ts'
import { type NewerVersion, type Workflow, workflows } from '../../../api/workflows.ts'
import { useConfirm } from '../../../ui/frame/dialog.tsx'
import {
  changeOf,
  type Draft,
  draftOf,
  isStale,
  isUnanswered,
  newerVersionIn,
  readStored,
  retryAfterMs,
  type SaveState,
  writeStored,
} from './draft.ts'
import { type Choice, type Collision, type Merge, mergeDrafts, noteOf } from './merge.ts'
import { same } from './same.ts'
import { mapSteps } from './tree.ts'

export interface Conflict {
  newer: NewerVersion
  /** Who saved it; undefined if the user did, in another window. */
  who: string | undefined
  collisions: Collision[]
}

export interface DraftState {
  draft: Draft
  /** The stored workflow, with its issues and variables. */
  saved: Workflow
  save: SaveState
  isDirty: boolean
  /** What somebody else changed differently. Nothing is saved until the user has chosen. */
  conflict: Conflict | undefined
  /** Whether unsaved edits of an earlier visit were restored. */
  isRestored: boolean
  /** Who else has the workflow open. */
  others: ReadonlyArray<{ _id: string; name: string }>
  change: (work: (draft: Draft) => Draft) => void
  /** Saves at once; resolves to true if everything is saved. */
  flush: (how?: Saving) => Promise<boolean>
  discard: () => void
  /** Ends the conflict: one choice for each collision. */
  resolve: (choices: ReadonlyMap<string, Choice>) => void
}

interface Saving {
  /** The token of an impact: only what was looked at is saved. */
  impactToken?: string | undefined
  /** The name of the change in the history. */
  message?: string | undefined
}

interface Options {
  canEdit: boolean
  /** Off in Production, where a change needs a click on Save: real recipients get the result. */
  autosaves: boolean
  /** A new step got another `stepId`, because somebody else's new step has it. */
  onRenamed: (from: string, to: string) => void
}

interface Work {
  draft: Draft
  /** What the draft was made from, and its version. */
  base: Draft
  version: number
  saved: Workflow
  /** A newer version that collides with the draft. */
  ahead: NewerVersion | undefined
}

const pauseMs = 700
/** How often a save is merged and sent again before the user is told. */
const mostRounds = 5
const nobody: DraftState['others'] = []

export function useDraft(workflow: Workflow, { canEdit, autosaves, onRenamed }: Options): DraftState {
  const { workflowId } = workflow
  const { user } = useSession()
  const [stored] = useState(() => (canEdit ? readStored(workflowId) : undefined))
  const [work, setWork] = useState<Work>(() => {
    const loaded = draftOf(workflow)
    const start = stored ?? { draft: loaded, base: loaded, version: workflow.version }
    return { draft: start.draft, base: start.base, version: start.version, saved: workflow, ahead: undefined }
  })
  const [save, setSave] = useState<SaveState>({ state: 'saved' })
  // The work as of now: answers arrive between two renderings.
  const current = useRef(work)
  const put = useCallback((change: Partial<Work>) => {
    current.current = { ...current.current, ...change }
    setWork(current.current)
  }, [])
  const running = useRef<Promise<boolean> | undefined>(undefined)
  const unanswered = useRef<Draft | undefined>(undefined)
  const renaming = useRef(onRenamed)
  renaming.current = onRenamed
  const { draft, base, saved, ahead } = work
  const isDirty = useMemo(() => canEdit && !same(draft, base), [canEdit, draft, base])

  const nameOf = useCallback(
    ({ savedBy }: NewerVersion) => (savedBy._id === user._id ? undefined : (savedBy.name ?? 'Somebody')),
    [user._id],
  )

  const take = useCallback(
    (newer: NewerVersion, merge: Merge) => {
      const hasMine = !same(current.current.draft, current.current.base)
      const { version, workflow: theirs } = newer
      put({ draft: merge.draft, base: draftOf(theirs), version, saved: theirs, ahead: undefined })
      unanswered.current = undefined
      cache.setQueryData(workflows.one(workflowId).queryKey, theirs)
      for (const [from, to] of merge.renamed) renaming.current(from, to)
      // One note at a time: a colleague who types saves every few seconds.
      if (merge.taken.length > 0) {
        const who = nameOf(newer) ?? 'In another window you'
        toast(noteOf(who, merge.taken, hasMine), { id: 'merged' })
      }
    },
    [put, workflowId, nameOf],
  )

  /** Takes over a newer version. @returns false if it collides with the draft */
  const receive = useCallback(
    (newer: NewerVersion): boolean => {
      const merge = mergeWith(current.current, newer, unanswered.current)
      if (merge.collisions.length === 0) take(newer, merge)
      else put({ ahead: newer })
      return merge.collisions.length === 0
    },
    [put, take],
  )

  const presence = useQuery(
    workflows.presence(workflowId, () => current.current.ahead?.version ?? current.current.version),
  )
  const { data: present, dataUpdatedAt: askedAt, refetch: askAgain } = presence
  // biome-ignore lint/correctness/useExhaustiveDependencies: an answer may be the same as before, and count only now
  useEffect(() => {
    const newer = present?.newer
    // While a save is on its way, the newer version may be that save. The next answer tells.
    if (!newer || running.current || newer.version <= current.current.version) return
    receive(newer)
  }, [present, askedAt, receive])

  // Of the same version only the issues are new: an integration changed, for example.
  useEffect(() => {
    if (workflow.version === current.current.version) put({ saved: workflow })
    else if (workflow.version > current.current.version) void askAgain()
  }, [workflow, put, askAgain])

  const send = useCallback(
    async ({ impactToken, message }: Saving = {}): Promise<boolean> => {
      for (let round = 1; ; round += 1) {
        const { draft: sent, base: from, version: baseVersion, saved: last, ahead: waiting } = current.current
        if (same(sent, from)) return true
        if (waiting) return false
        setSave({ state: 'saving' })
        try {
          const body = { ...changeOf(sent, last.origin), baseVersion }
          const answer = await api('PUT /v2/workflows/{workflowId}', {
            ...{ path: { workflowId }, body },
            ...(impactToken === undefined ? {} : { impactToken }),
            ...(message ? { message } : {}),
          })
          const next = draftOf(answer)
          // The server may change what it stores. Text typed during the save wins.
          const { draft: typed } = current.current
          const merged = typed === sent ? next : mergeDrafts(sent, typed, next).draft
          put({ draft: merged, base: next, version: answer.version, saved: answer, ahead: undefined })
          unanswered.current = undefined
          cache.setQueryData(workflows.one(workflowId).queryKey, answer)
          void cache.invalidateQueries({ queryKey: inEnvironment('workflows', 'list') })
          setSave({ state: 'saved' })
          return same(merged, next)
        } catch (error) {
          const newer = newerVersionIn(error)
          if (newer && round < mostRounds) {
            // What was merged is not what was looked at.
            if (receive(newer) && impactToken === undefined) continue
            setSave({ state: 'saved' })
            return false
          }
          if (isStale(error)) {
            setSave({ state: 'saved' })
            return false
          }
          if (isUnanswered(error)) unanswered.current = sent
          setSave({ state: 'failed', error: error as Error })
          return false
        }
      }
    },
    [workflowId, put, receive],
  )

  const flush = useCallback(
    async (how?: Saving): Promise<boolean> => {
      while (running.current) await running.current
      const attempt = send(how).finally(() => {
        running.current = undefined
      })
      running.current = attempt
      return attempt
    },
    [send],
  )

  // Another window of the same person may keep its draft under the same key: only the one kept here is removed.
  const keeps = useRef(stored !== undefined)
  const keep = useCallback(() => {
    const { draft: now, base: from, version } = current.current
    const isKept = canEdit && !same(now, from)
    if (isKept) writeStored(workflowId, { draft: now, base: from, version })
    else if (keeps.current) writeStored(workflowId, undefined)
    keeps.current = isKept
  }, [canEdit, workflowId])
  useEffect(() => {
    window.addEventListener('pagehide', keep)
    return () => window.removeEventListener('pagehide', keep)
  }, [keep])

  // biome-ignore lint/correctness/useExhaustiveDependencies: each change of the draft starts the pause again
  useEffect(() => {
    keep()
    if (!isDirty) return
    if (!autosaves || ahead) return
    setSave((before) => (before.state === 'failed' ? before : { state: 'waiting' }))
    const pause = setTimeout(() => void flush(), pauseMs)
    return () => clearTimeout(pause)
  }, [draft, base, isDirty, autosaves, ahead, keep, flush])

  useEffect(() => {
    const retryMs = retryAfterMs(save, autosaves)
    if (retryMs === undefined) return
    const pause = setTimeout(() => void flush(), retryMs)
    return () => clearTimeout(pause)
  }, [save, autosaves, flush])

  const conflict = useMemo((): Conflict | undefined => {
    if (!ahead) return undefined
    const { collisions } = mergeWith({ draft, base }, ahead, unanswered.current)
    return { newer: ahead, who: nameOf(ahead), collisions }
  }, [ahead, draft, base, nameOf])
  // The user has typed what the other side has, or taken the change back.
  const isOver = conflict?.collisions.length === 0
  useEffect(() => {
    if (isOver && current.current.ahead) receive(current.current.ahead)
  }, [isOver, receive])

  const ask = useConfirm()
  useBlocker({
    disabled: !isDirty,
    enableBeforeUnload: () => isDirty,
    shouldBlockFn: async ({ current: here, next }) => {
      if (here.pathname === next.pathname) return false
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
    conflict: isOver ? undefined : conflict,
    isRestored: stored !== undefined,
    others: present?.others ?? nobody,
    flush,
    change: useCallback((how) => put({ draft: how(current.current.draft) }), [put]),
    discard: () => {
      const { ahead: newer, base: before } = current.current
      put({ draft: before })
      if (newer) receive(newer)
      setSave({ state: 'saved' })
    },
    resolve: (choices) => {
      const { ahead: newer } = current.current
      if (newer) take(newer, mergeWith(current.current, newer, unanswered.current, choices))
    },
  }
}

/**
 * If a save got no answer and its content is what the server has now, it was stored after all: then that is what the draft
 * was made from, and the user does not collide with themselves.
 */
function mergeWith(
  { draft, base }: Pick<Work, 'draft' | 'base'>,
  newer: NewerVersion,
  unanswered: Draft | undefined,
  choices?: ReadonlyMap<string, Choice>,
): Merge {
  const theirs = draftOf(newer.workflow)
  const isMine = unanswered !== undefined && same(withoutIds(unanswered), withoutIds(theirs))
  return mergeDrafts(isMine ? unanswered : base, draft, theirs, choices)
}

const withoutIds = ({ steps, ...draft }: Draft) => ({
  ...draft,
  steps: mapSteps(steps, ({ _id, ...step }) => step),
})
