// `shadow`: how an environment compares with the service behind it, and which workflows it delivers itself.
import type { Context } from '../context.ts'
import { exitCodes, Failure } from '../failure.ts'
import { counted } from '../words.ts'

interface Options {
  since?: string
  kind?: string
  workflow?: string
  limit?: number
}

interface Report {
  triggers: number
  compared: number
  same: number
  different: number
  pending: number
  kinds: Record<string, number>
  workflows: Array<{ workflowId: string; compared: number; different: number; cleanSince: string | null }>
}

interface Difference {
  transactionId: string | null
  subscriberId: string | null
  workflowId: string | null
  stepId: string | null
  kind: string
  path: string
  upstream: unknown
  here: unknown
}

const actions: Record<string, (context: Context, ids: string[], options: Options) => Promise<void>> = {
  report,
  differences,
  live: (context, ids) => choose(context, ids, (live) => [...live, ...ids.filter((id) => !live.includes(id))]),
  back: (context, ids) => choose(context, ids, (live) => live.filter((id) => !ids.includes(id))),
}

export async function shadow(context: Context, action: string, ids: string[], options: Options): Promise<void> {
  const act = actions[action]
  if (!act) throw new Failure('usage', 'unknown_action', `Say one of ${Object.keys(actions).join(', ')}`)
  const takesIds = action === 'live' || action === 'back'
  if (ids.length > 0 && !takesIds)
    throw new Failure('usage', 'too_many_arguments', `"shadow ${action}" takes no workflows`)
  await act(context, ids, options)
}

/** Ends with 1 where something differs. */
async function report(context: Context, _ids: string[], { since }: Options): Promise<void> {
  const { terminal } = context
  const query = since === undefined ? '' : `?since=${encodeURIComponent(since)}`
  const told = await context.service().get<Report>(`/v2/shadow/report${query}`)
  const { triggers, compared, same, different, pending, kinds, workflows } = told
  const found = Object.entries(kinds).filter(([, count]) => count > 0)
  terminal.result(told, () =>
    [
      `${counted(triggers, 'trigger')} passed on, ${compared} compared: ${same} the same, ${different} different, ${pending} to come`,
      ...(found.length === 0 ? [] : [`Differences: ${found.map(([kind, count]) => `${count} ${kind}`).join(', ')}`]),
      ...workflows.map((workflow) => {
        const word = workflow.different > 0 ? terminal.paint('red', `${workflow.different} different`) : 'the same'
        const clean = workflow.cleanSince === null ? '' : `, clean since ${workflow.cleanSince.slice(0, 16)}`
        return `  ${workflow.workflowId}  ${workflow.compared} compared, ${word}${clean}`
      }),
    ].join('\n'),
  )
  if (different > 0 || found.length > 0) process.exitCode = exitCodes.different
}

async function differences(context: Context, _ids: string[], { kind, workflow, limit = 20 }: Options): Promise<void> {
  const { terminal } = context
  const query = new URLSearchParams({
    ...(kind === undefined ? {} : { kind }),
    ...(workflow === undefined ? {} : { workflowId: workflow }),
    limit: String(limit),
  })
  const page = await context
    .service()
    .get<{ data: Difference[]; next: string | null }>(`/v2/shadow/differences?${query.toString()}`)
  terminal.result(page, () =>
    page.data.length === 0
      ? 'No differences.'
      : page.data
          .map((each) => {
            const place = [each.workflowId, each.stepId, each.subscriberId, each.transactionId].flatMap(
              (id) => id ?? [],
            )
            return [
              `${terminal.paint('red', each.kind)} ${each.path}  ${place.join('  ')}`,
              `  there: ${inWords(each.upstream)}`,
              `  here:  ${inWords(each.here)}`,
            ].join('\n')
          })
          .join('\n'),
  )
}

const inWords = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

async function choose(context: Context, ids: string[], change: (live: string[]) => string[]): Promise<void> {
  const service = context.service()
  const { live } = await service.get<{ live: string[] }>('/v2/shadow')
  const wanted = change(live)
  const now =
    ids.length === 0
      ? { live }
      : (await service.call<{ live: string[] }>('/v2/shadow', { method: 'PATCH', body: { live: wanted } })).body
  context.terminal.result(now, () =>
    now.live.length === 0 ? 'Everything is passed on.' : `Delivered here: ${now.live.join(', ')}`,
  )
}
