// Why a call of the outbox was not carried out, in the words of the API.
import { RequestError } from '../../errors.ts'
import type { TriggerResult, TriggerStatus } from '../runs/trigger-request.ts'
import type { Refusal } from './rows.ts'

const reasons: Record<Exclude<TriggerStatus, 'processed'>, string> = {
  trigger_not_active: 'The workflow is not active',
  no_workflow_steps_defined: 'The workflow has no steps',
  no_workflow_active_steps_defined: 'The workflow has no active steps',
  no_tenant_found: 'There is no such tenant',
  invalid_recipients: 'None of the recipients has a valid id',
}
const longestMessage = 1_000

/** Undefined if it was accepted. */
export function refusalOf(result: TriggerResult | RequestError): Refusal | undefined {
  if (!(result instanceof RequestError)) {
    const { status } = result
    return status === 'processed' ? undefined : { code: status, message: reasons[status] }
  }
  if (result.code === 'unknown_trigger')
    return { code: 'workflow_not_found', message: 'There is no such workflow in this environment' }
  const told = [result.message, ...problemsIn(result.ctx)].join('; ')
  return { code: result.code, message: told.slice(0, longestMessage) }
}

/** What the answer would list as wrong. */
function problemsIn(ctx: Record<string, unknown> | undefined): string[] {
  const errors = ctx?.errors
  if (typeof errors !== 'object' || errors === null) return []
  return Object.values(errors as Record<string, { messages?: unknown }>).flatMap(({ messages }) =>
    Array.isArray(messages) ? messages.map(String) : [],
  )
}
