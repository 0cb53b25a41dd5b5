// A running import: 500 subscribers per request, one request after the other, in the environment where it was started.
import { toast } from 'sonner'
import type { Environment } from '../../api/auth.ts'
import { cache } from '../../api/cache.ts'
import { ApiError, api } from '../../api/client.ts'
import type { NewSubscriber } from '../../api/subscribers.ts'
import { isInSight, Job, keepWindowOpen } from '../../ui/domain/job.ts'
import { asCsv } from './csv.ts'
import { type Meaning, type PeopleFile, readRow } from './import-file.ts'

const perRequest = 500
const mostTries = 5

export interface Refused {
  line: number
  subscriberId: string
  reason: string
}

export interface ImportState {
  file: PeopleFile
  environment: Pick<Environment, '_id' | 'name'>
  status: 'running' | 'stopping' | 'stopped' | 'done'
  /** Rows that were stored or refused. */
  done: number
  total: number
  created: number
  updated: number
  refused: Refused[]
  /** Why it stopped without the user. */
  error: string | undefined
}

interface Ready {
  line: number
  subscriber: NewSubscriber
}

export const importJob = new Job<ImportState>()
let waiting: Ready[] = []

export function startImport(file: PeopleFile, meanings: readonly Meaning[], environment: Environment): void {
  const read = file.rows.map((row) => readRow(row, file.columns, meanings))
  waiting = read.flatMap((row) => (row.problems ? [] : [row]))
  const refused = read.flatMap((row) =>
    row.problems ? [{ line: row.line, subscriberId: row.subscriberId, reason: row.problems.join('; ') }] : [],
  )
  importJob.set({
    ...{ file, environment, refused, done: refused.length, total: read.length },
    ...{ status: 'running', created: 0, updated: 0, error: undefined },
  })
  void keepWindowOpen(work)
}

export const stopImport = (): void => importJob.change({ status: 'stopping' })

/** Continues after the last stored row. */
export function resumeImport(): void {
  importJob.change({ status: 'running', error: undefined })
  void keepWindowOpen(work)
}

async function work(): Promise<void> {
  try {
    while (waiting.length > 0 && importJob.state?.status === 'running') {
      await store(waiting.slice(0, perRequest))
      waiting = waiting.slice(perRequest)
    }
    importJob.change({ status: waiting.length === 0 ? 'done' : 'stopped' })
  } catch (error) {
    importJob.change({ status: 'stopped', error: (error as Error).message })
  }
  const { state } = importJob
  if (!state) return
  await cache.invalidateQueries({ queryKey: [state.environment._id, 'subscribers'] })
  if (isInSight()) return
  const stored = (state.created + state.updated).toLocaleString('en')
  if (state.status === 'done')
    toast.success(`Import finished: ${stored} subscribers stored, ${state.refused.length} refused`)
  else toast.error(`The import stopped after ${stored} subscribers. Continue it on the subscribers page.`)
}

/** Stores all rows. The server refuses a whole request for one bad row, so a refused request is split in half and sent again. */
async function store(rows: Ready[]): Promise<void> {
  try {
    const { created, updated, failed } = await send(rows.map(({ subscriber }) => subscriber))
    const reasons = new Map(failed.map(({ subscriberId, message }) => [subscriberId, message]))
    count({
      done: rows.length,
      created: created.length,
      updated: updated.length,
      refused: rows.flatMap(({ line, subscriber: { subscriberId } }) => {
        const reason = reasons.get(subscriberId)
        return reason === undefined ? [] : [{ line, subscriberId, reason }]
      }),
    })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 422) throw error
    const [only, ...others] = rows
    if (only && others.length === 0) {
      const reason = Object.values(error.errors).flat().join('; ').replaceAll('subscribers.0.', '') || error.message
      count({ done: 1, refused: [{ line: only.line, subscriberId: only.subscriber.subscriberId, reason }] })
      return
    }
    const middle = Math.ceil(rows.length / 2)
    await store(rows.slice(0, middle))
    await store(rows.slice(middle))
  }
}

function count(more: { done: number; created?: number; updated?: number; refused: Refused[] }): void {
  const { state } = importJob
  if (!state) return
  importJob.change({
    done: state.done + more.done,
    created: state.created + (more.created ?? 0),
    updated: state.updated + (more.updated ?? 0),
    refused: [...state.refused, ...more.refused].sort((a, b) => a.line - b.line),
  })
}

/** The request is idempotent, so temporary errors are retried. */
async function send(subscribers: NewSubscriber[], tries = 1): ReturnType<typeof sendOnce> {
  try {
    return await sendOnce(subscribers)
  } catch (error) {
    const mayPass = error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500)
    if (!mayPass || tries >= mostTries) throw error
    const seconds = error.retryAfterSeconds ?? 2 ** tries / 2
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    return send(subscribers, tries + 1)
  }
}

const sendOnce = (subscribers: NewSubscriber[]) =>
  api('POST /v1/subscribers/bulk', {
    body: { subscribers },
    environmentId: importJob.state?.environment._id ?? '',
  })

/** The refused rows as they were in the file, each with its reason, to be fixed and imported again. */
export async function refusedAsCsv({ file, refused }: ImportState): Promise<string> {
  const rows = new Map(file.rows.map(({ line, cells }) => [line, cells]))
  const lines = refused.map(({ line, reason }) => [...(rows.get(line) ?? []), reason])
  return asCsv([[...file.columns, 'refused because'], ...lines])
}
