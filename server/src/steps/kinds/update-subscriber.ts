// The step that changes the subscriber of its run: later steps see it so.
import { type SubscriberFields, subscriberFormats } from '../../db/core/subscriber-fields.ts'
import { renderTyped } from '../../render/typed-values.ts'
import { type ControlValues, objectSchema, openObject, type StepKind, skip } from '../contract/kind.ts'
import type { Progress, UpdatedSubscriber } from '../contract/need.ts'
import { detail, type StepOutcome } from '../contract/outcome.ts'
import { situationOf } from '../contract/step-run.ts'

const texts = ['firstName', 'lastName', 'email', 'phone', 'avatar', 'locale', 'timezone'] as const
const text = { type: ['string', 'null'] }

export const updateSubscriber: StepKind = {
  type: 'update_subscriber',
  writesMore: true,
  emptyResult: { changed: [] },

  *begin(of): Progress<StepOutcome> {
    const { run, values } = of
    const { skip: _, ...given } = values
    const rendered = renderTyped(given, situationOf(of)) as ControlValues
    const set: SubscriberFields = {}
    for (const name of texts) {
      const value = rendered[name]
      if (value === undefined) continue
      const problem = problemOf(name, value)
      if (problem !== undefined) return failed(problem)
      set[name] = value === null ? null : String(value)
    }
    const { data } = rendered
    if (data !== undefined) {
      if (data !== null && (typeof data !== 'object' || Array.isArray(data))) return failed('data must be an object')
      set.data = data as Record<string, unknown> | null
    }
    const { changed } = (yield {
      ...{ need: 'update subscriber', environmentId: run.environment.id, subscriberRowId: run.subscriber.id, set },
    }) as UpdatedSubscriber
    const output = { changed }
    return { kind: 'done', output, details: [detail('subscriber_updated', output)] }
  },

  dataSchema: objectSchema({
    skip,
    ...Object.fromEntries(texts.map((name) => [name, text])),
    data: { ...openObject, type: ['object', 'null'] },
  }),
  /** Null clears a field, so it stays. */
  normalise: (values) =>
    Object.fromEntries(
      [...texts, 'data', 'skip'].flatMap((name) => {
        const value = values[name]
        const isGiven = value !== undefined && value !== '' && (name !== 'skip' || value !== null)
        return isGiven ? [[name, value]] : []
      }),
    ),
  resultSchema: () => objectSchema({ changed: { type: 'array', items: { type: 'string' } } }, ['changed']),
}

function problemOf(name: (typeof texts)[number], value: unknown): string | undefined {
  if (value === null) return undefined
  if (typeof value !== 'string' && typeof value !== 'number') return `${name} must be a text`
  if (name !== 'email' && name !== 'locale' && name !== 'timezone') return undefined
  return subscriberFormats[name](String(value)) ? undefined : `"${value}" is no valid ${name}`
}

const failed = (error: string): StepOutcome => ({
  ...{ kind: 'fail', reason: 'content_failed', error, stops: false },
  details: [detail('content_failed', { error })],
})
