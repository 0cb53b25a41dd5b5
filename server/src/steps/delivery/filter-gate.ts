// Whether a step's filters let it run, and in which variant. Usually known at once; a filter that calls a URL of the user's
// takes a call, with a few retries.
import { createHmac } from 'node:crypto'
import { realOf } from '../../db/core/held-clock.ts'
import { parseStorable } from '../../db/core/storable.ts'
import type { StepVariant, WorkflowStep } from '../../db/queries/workflows.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { RenderError } from '../../render/limits.ts'
import { renderTemplate, situation } from '../../render/liquid.ts'
import type { CallTools } from '../contract/call-tools.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import { type StepRun, subscriberVariablesOf, variablesOf } from '../contract/step-run.ts'
import { branded } from './integration-choice.ts'
import { explainFilters, type FilterData, judgeFilters, type StepFilter, templatesInFilters } from './step-filter.ts'

/** Kept with the job: that a filter has to be called first, which variant was chosen, and that it has its places in caps. */
export interface Gate {
  isPending?: boolean
  /** Failed calls so far. */
  tries?: number
  variantId?: string
  /** The workflow version whose step is used, after a redrive. */
  version?: number
  /** It has its places in caps, which are kept whatever becomes of the message. */
  hasPlace?: boolean
}

export type Decided =
  | { kind: 'open'; variant: StepVariant | undefined; details: Detail[] }
  | { kind: 'closed'; raw: object; details: Detail[] }
export type Judgement = Decided | { kind: 'ask'; url: string }

const open: Judgement = { kind: 'open', variant: undefined, details: [] }
/** For URLs that filters call. */
const [timeoutMs, mostBytes, mostRedirects] = [5_000, 1024 * 1024, 5]
const mostTries = 3
const firstPauseMs = 1_000

type Earlier = Pick<FilterData, 'resultOf'>
type Tools = Pick<CallTools, 'http' | 'chance' | 'brand'>

/** @param answers what URLs have answered so far */
export function judgeStep(of: StepRun, earlier: Earlier, answers?: ReadonlyMap<string, unknown>): Judgement {
  const { filters = [], variants = [] } = of.step
  if (filters.length === 0 && variants.length === 0) return open
  const { payload, tenant } = of.run.event
  const subscriber = subscriberVariablesOf(of.run.subscriber)
  const data: FilterData = { payload, tenant, subscriber, now: of.now, ...earlier, ...(answers ? { answers } : {}) }
  const own = judged(of, filters as StepFilter[], data)
  if (typeof own.verdict === 'object') return { kind: 'ask', url: own.verdict.ask }
  const { details } = own
  if (!own.verdict) return { kind: 'closed', details, raw: { passed: false, conditions: own.explain() } }
  for (const variant of activeIn(variants)) {
    const { verdict, details: more } = judged(of, variant.filters as StepFilter[], data)
    if (typeof verdict === 'object') return { kind: 'ask', url: verdict.ask }
    details.push(...more)
    if (verdict)
      return { kind: 'open', variant, details: [...details, detail('variant_chosen', { conditions: variant.filters })] }
  }
  return { kind: 'open', variant: undefined, details }
}

/** One without filters would hide the step itself, and all later variants. */
const activeIn = (variants: StepVariant[]) =>
  variants.filter(({ active, filters }) => active !== false && filters.length > 0)

function judged(of: StepRun, filters: StepFilter[], data: FilterData) {
  const { rendered, details } = valuesIn(of, filters)
  return {
    verdict: judgeFilters(filters, data, rendered),
    details,
    explain: () => explainFilters(filters, data, rendered),
  }
}

/** A value whose template fails is compared as written, and the log says so. */
function valuesIn(of: StepRun, filters: StepFilter[]): { rendered: Map<string, string>; details: Detail[] } {
  const templates = templatesInFilters(filters)
  const rendered = new Map<string, string>()
  const details: Detail[] = []
  if (templates.length === 0) return { rendered, details }
  // In this older form, payload members can be named without `payload.`.
  const data = situation({ ...of.run.event.payload, ...variablesOf(of.run) }, of.now)
  for (const template of templates)
    try {
      rendered.set(template, renderTemplate(template, data))
    } catch (error) {
      if (!(error instanceof RenderError)) throw error
      details.push(detail('filter_failed', { value: template, error: error.message }))
    }
  return { rendered, details }
}

/** Calls the URLs that filters need, one after another, until the step is decided. */
export async function askFilters(
  of: StepRun,
  earlier: Earlier,
  gate: Gate,
  tools: Tools,
): Promise<Decided | StepOutcome> {
  const answers = new Map<string, unknown>()
  for (;;) {
    const judgement = judgeStep(of, earlier, answers)
    if (judgement.kind !== 'ask') return judgement
    const { url } = judgement
    try {
      answers.set(url, await ask(of, url, tools))
    } catch (error) {
      if (!(error instanceof DeliveryError)) throw error
      return unanswered(of, error, gate, tools)
    }
  }
}

/** An answer that is not JSON has no fields. */
async function ask({ run, step, now }: StepRun, url: string, { http, brand }: Tools): Promise<unknown> {
  const { id, signing, integrations } = run.environment
  const provider = integrations.find(({ channel }) => channel === step.type)?.provider_id
  const body = {
    subscriber: subscriberVariablesOf(run.subscriber),
    payload: run.event.payload,
    identifier: run.workflow.identifier,
    channel: step.type,
    ...(provider ? { providerId: branded(provider, brand) } : {}),
  }
  const answer = await http.post(url, {
    headers: {
      'nv-hmac-256': createHmac('sha256', signing.keysFor('requests', realOf(now))[0] ?? '')
        .update(id)
        .digest('hex'),
    },
    json: body,
    ...{ timeoutMs, mostBytes, mostRedirects },
  })
  try {
    return parseStorable(answer.text)
  } catch {
    return null
  }
}

function unanswered({ now, run, step }: StepRun, error: DeliveryError, gate: Gate, { chance }: Tools): StepOutcome {
  const attempt = (gate.tries ?? 0) + 1
  const random = chance({ run, stepId: step.stepId, destination: 0, call: attempt })
  const { message } = error
  const about = { source: 'Webhook', isRetry: true } as const
  const isHopeless = error.code === 'address_refused' || error.code === 'invalid_url'
  if (attempt >= mostTries || isHopeless)
    return {
      kind: 'fail',
      reason: 'filter_failed',
      error: message,
      stops: false,
      details: [detail('filter_unanswered', { message, attempt }, about)],
    }
  return {
    kind: 'retry',
    at: new Date(now.getTime() + Math.ceil(random * 2 ** attempt * firstPauseMs)),
    delivery: { gate: { ...gate, isPending: true, tries: attempt } satisfies Gate },
    details: [detail('filter_retried', { message, attempt }, about)],
  }
}

/** The filters' state, which the job keeps beside its step's. */
export const gateOf = ({ delivery }: { delivery: Record<string, unknown> | null }): Gate | undefined =>
  delivery?.gate as Gate | undefined

/** The step's state with the filters' state beside it. */
export function withGate(delivery: Record<string, unknown> | null, gate: Gate | undefined) {
  const { gate: _, ...own } = delivery ?? {}
  const kept = gate && Object.keys(gate).length > 0 ? { gate, ...own } : own
  return Object.keys(kept).length > 0 ? kept : null
}

export const variantIn = ({ variants }: WorkflowStep, gate: Gate): StepVariant | undefined =>
  gate.variantId === undefined ? undefined : variants?.find(({ _id }) => _id === gate.variantId)
