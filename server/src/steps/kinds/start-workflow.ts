// The step that triggers another workflow, for others than the subscriber of its run.

import { recipientIdPattern } from '../../db/core/subscriber-fields.ts'
import type { Recipient } from '../../db/core/tables.ts'
import { renderTyped } from '../../render/typed-values.ts'
import { type ControlValues, objectSchema, openObject, pickFilled, type StepKind, skip } from '../contract/kind.ts'
import type { Progress, StartedWorkflow } from '../contract/need.ts'
import { detail, type Reason, type StepOutcome } from '../contract/outcome.ts'
import { type StepRun, situationOf, textOf } from '../contract/step-run.ts'

/** Runs that a run starts are one deeper. */
export const deepest = 5
const mostRecipients = 100
const longestId = 255

type Members = Record<string, unknown>

const text = { type: 'string', minLength: 1 }
const topic = objectSchema({ type: { const: 'Topic' }, topicKey: text }, ['type', 'topicKey'])
// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
const recipient = { if: { type: 'object' }, then: topic, else: text }

export const startWorkflow: StepKind = {
  type: 'start_workflow',
  writesMore: true,
  emptyResult: { status: null, transactionId: null, workflowId: null },

  *begin(of): Progress<StepOutcome> {
    const { run, step, values } = of
    const depth = (run.event.startedBy?.depth ?? 0) + 1
    if (depth > deepest) return failed('too_deep', `Workflows start each other more than ${deepest} deep`, {})
    const workflowId = textOf(of, values.workflowId ?? '').trim()
    const recipients = recipientsIn(of)
    if ('problem' in recipients) return failed('invalid_settings', recipients.problem, {})
    const payload = renderTyped(values.payload ?? {}, situationOf(of))
    const key = values.cancellationKey === undefined ? '' : textOf(of, values.cancellationKey).trim()
    if (key.length > longestId)
      return failed('invalid_settings', `The cancellation key is longer than ${longestId} characters`, {})
    const transactionId = `${run.id}:${step.stepId}`
    const startedBy = {
      ...{ notificationId: run.id, transactionId: run.transactionId },
      ...{ workflowId: run.workflow.identifier, stepId: step.stepId, depth },
    }
    const { actor, tenantIdentifier, context } = run.event
    const { status } = (yield {
      ...{ need: 'start workflow', environmentId: run.environment.id, isHeld: run.environment.clock !== undefined },
      isLive: run.environment.shadow === 'live',
      ...{ workflowId, recipients, payload: isMembers(payload) ? payload : {}, transactionId, startedBy },
      cancellationKey: key === '' ? undefined : key,
      actor: actor?.subscriber_id,
      tenant: tenantIdentifier,
      context: Object.fromEntries(Object.entries(context).map(([type, value]) => [type, idOf(value)])),
    }) as StartedWorkflow
    const output = { status, transactionId, workflowId }
    if (status === 'processed') return { kind: 'done', output, details: [detail('workflow_started', output)] }
    return failed('workflow_unavailable', `The workflow "${workflowId}" could not be started: ${status}`, output)
  },

  dataSchema: objectSchema(
    {
      skip,
      workflowId: text,
      to: {
        if: { type: 'array' },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { type: 'array', minItems: 1, maxItems: mostRecipients, items: recipient },
        else: recipient,
      },
      payload: openObject,
      cancellationKey: { type: 'string' },
    },
    ['workflowId', 'to'],
  ),
  normalise: (values) => pickFilled(values, ['skip', 'workflowId', 'to', 'payload', 'cancellationKey']),
  resultSchema: () =>
    objectSchema({ status: { type: 'string' }, transactionId: { type: 'string' }, workflowId: { type: 'string' } }, [
      ...['status', 'transactionId', 'workflowId'],
    ]),
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const idOf = (value: unknown): string => String((value as { id?: unknown } | null)?.id ?? '')

/** Ids and topics, as the templates come out; a template may give a list of ids. */
function recipientsIn(of: StepRun): Recipient[] | { problem: string } {
  const given = renderTyped([of.values.to].flat(), situationOf(of)) as unknown[]
  const all = given.flat().map(recipientOf)
  const recipients = all.flatMap((each) => each ?? [])
  if (all.length === 0 || recipients.length < all.length) return { problem: 'A recipient has no valid id' }
  if (all.length > mostRecipients) return { problem: `There are more than ${mostRecipients} recipients` }
  return recipients
}

function recipientOf(given: unknown): Recipient | undefined {
  const topicKey = isMembers(given) && given.type === 'Topic' ? given.topicKey : undefined
  const id = String((isMembers(given) ? topicKey : given) ?? '').trim()
  if (id.length > longestId || !recipientIdPattern.test(id)) return undefined
  return isMembers(given) ? { topicKey: id } : { subscriberId: id }
}

const failed = (reason: Reason, error: string, output: ControlValues): StepOutcome => ({
  ...{ kind: 'fail', reason, error, stops: false, output },
  details: [detail('workflow_not_started', { error, ...output })],
})
