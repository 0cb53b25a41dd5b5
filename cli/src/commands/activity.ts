// `trigger`, `tail` and `explain`: what happens to a trigger, from the terminal.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import type { Service } from '../service.ts'
import type { Terminal } from '../terminal.ts'

interface Job {
  status: string
  reason?: string
  type: string
  step: { stepId: string }
}
interface Run {
  _id: string
  transactionId: string
  status: string
  createdAt: string
  subscriber?: { subscriberId: string }
  template?: { triggers?: Array<{ identifier: string }>; name: string }
  jobs: Job[]
}

const everyMs = 500
const longestWaitMs = 30_000

export async function trigger(
  context: Context,
  workflowId: string,
  { to = [], payload = '{}', transactionId }: { to?: string[]; payload?: string; transactionId?: string },
): Promise<void> {
  const { terminal } = context
  if (to.length === 0) throw new Failure('usage', 'no_recipient', 'Say who: --to <subscriberId>, also several times')
  const service = context.service()
  const given = readJson(payload)
  const id = transactionId ?? `cli-${Date.now().toString(36)}-${process.pid}`
  const body = { name: workflowId, to, payload: given, transactionId: id }
  const answer = await service.post<{ status: string; acknowledged: boolean }>('/v1/events/trigger', body)
  const runs = await runsOf(service, id)
  terminal.result({ transactionId: id, status: answer.status, runs: runs.map(shortRun) }, () =>
    [`${id} ${answer.status}`, ...runs.flatMap((run) => runInWords(terminal, run))].join('\n'),
  )
}

/** Waits until the runs have ended or wait for something themselves. */
async function runsOf(service: Service, transactionId: string): Promise<Run[]> {
  const began = Date.now()
  for (;;) {
    const report = await service.get<{ status: string; runs: { processing: number } }>(
      `/v1/events/trigger/${encodeURIComponent(transactionId)}`,
    )
    const { data } = await service.get<{ data: Run[] }>(
      `/v1/notifications?transactionId=${encodeURIComponent(transactionId)}&limit=50`,
    )
    const isQuiet = data.every(
      ({ status, jobs }) => status !== 'processing' || jobs.some((job) => job.status === 'delayed'),
    )
    if ((report.status === 'expanded' && isQuiet) || Date.now() - began > longestWaitMs) return data
    await sleep(everyMs)
  }
}

const shortRun = ({ _id, status, transactionId, createdAt, subscriber, template, jobs }: Run) => ({
  ...{ id: _id, transactionId, status, createdAt, subscriberId: subscriber?.subscriberId ?? null },
  workflowId: template?.triggers?.[0]?.identifier ?? null,
  steps: jobs.map((job) => ({
    stepId: job.step.stepId,
    type: job.type,
    status: job.status,
    reason: job.reason ?? null,
  })),
})

function runInWords(terminal: Terminal, run: Run): string[] {
  const { workflowId, subscriberId, status, steps, createdAt } = shortRun(run)
  const color = status === 'error' ? 'red' : status === 'completed' ? 'green' : 'yellow'
  return [
    `${createdAt.slice(11, 19)} ${terminal.paint(color, status)} ${workflowId ?? run.template?.name ?? ''} ${subscriberId ?? ''}`,
    ...steps.map(
      ({ stepId, type, status: of, reason }) => `    ${stepId} (${type}) ${of}${reason ? `: ${reason}` : ''}`,
    ),
  ]
}

/** Prints runs as they begin and change, until interrupted. */
export async function tail(
  context: Context,
  { workflow, once = false }: { workflow?: string; once?: boolean },
): Promise<void> {
  const { terminal } = context
  const service = context.service()
  const seen = new Map<string, string>()
  const filter = workflow === undefined ? '' : `&workflowIds=${encodeURIComponent(workflow)}`
  for (let isFirst = true; ; isFirst = false) {
    for (const run of (await newest(service, filter, isFirst ? () => true : ({ _id }) => seen.has(_id))).reverse()) {
      const state = JSON.stringify([run.status, run.jobs.map(({ status }) => status)])
      if (seen.get(run._id) === state) continue
      seen.set(run._id, state)
      // What happened before is no news.
      if (isFirst && !once) continue
      const text = terminal.isJson ? JSON.stringify(shortRun(run)) : runInWords(terminal, run).join('\n')
      process.stdout.write(`${text}\n`)
    }
    if (once) return
    await sleep(everyMs)
  }
}

const mostPages = 20

/** The last runs, newest first: as far back as one that is known, so that none is missed when there are many. */
async function newest(service: Service, filter: string, isKnown: (run: Run) => boolean): Promise<Run[]> {
  const found: Run[] = []
  for (let page = 0; page < mostPages; page += 1) {
    const { data } = await service.get<{ data: Run[] }>(`/v1/notifications?limit=50&page=${page}${filter}`)
    found.push(...data)
    if (data.length < 50 || data.some(isKnown)) break
  }
  // Runs that began meanwhile move others to the next page.
  return [...new Map(found.map((run) => [run._id, run])).values()]
}

interface Explanation {
  wouldGet: boolean
  /** Why the trigger would be refused. */
  problem: string | null
  steps: Array<{ stepId: string; verdict: string; reason?: string | null }>
  remedy: { changes: Array<{ text: string }> } | null
}

export async function explain(
  context: Context,
  workflowId: string,
  subscriberId: string,
  { payload }: { payload?: string },
): Promise<void> {
  const { terminal } = context
  const body = { workflowId, subscriberId, ...(payload === undefined ? {} : { payload: readJson(payload) }) }
  const answer = await context.service().post<Explanation>('/v1/explain', body)
  terminal.result(answer, () =>
    [
      `${subscriberId} ${answer.wouldGet ? 'would get' : 'would not get'} ${workflowId}`,
      ...(answer.problem ? [`    ${answer.problem}`] : []),
      ...answer.steps.map(({ stepId, verdict, reason }) => `    ${stepId} ${verdict}${reason ? `: ${reason}` : ''}`),
      ...(answer.remedy?.changes ?? []).map(({ text }) => `  it would help if: ${text}`),
    ].join('\n'),
  )
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Failure('usage', 'no_json', `--payload must be JSON, such as '{"author": "Bo"}'`)
  }
}
