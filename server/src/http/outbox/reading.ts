// Reads calls of the SQL functions as the API reads requests, with the same schemas: what one accepts, the other does.
import type { CallReader } from '../../engine/outbox/drain.ts'
import { fail } from '../../errors.ts'
import { Body } from '../edge/schema.ts'
import { compileValidator } from '../edge/validation.ts'
import { subscriberBody } from '../subscribers/subscribers.ts'
import { type Given, type Reading, readTrigger, triggerBody } from '../triggers/events.ts'

const checked = (schema: Parameters<typeof compileValidator>[0]['schema']) => {
  const check = compileValidator({ schema, method: 'POST', url: '', httpPart: 'body' })
  return (body: Record<string, unknown>): Record<string, unknown> => {
    const outcome = check(structuredClone(body)) as { value?: Record<string, unknown>; error?: Error }
    if (outcome.error) throw outcome.error
    if (!outcome.value) throw fail('validation')
    return outcome.value
  }
}

export function callReader(reading: Reading): CallReader {
  const triggerIn = checked(Body(triggerBody))
  const subscriberIn = checked(subscriberBody)
  return {
    trigger: (environmentId, body) => readTrigger(environmentId, triggerIn(body) as Given, reading),
    subscriber(body) {
      const subscriber = subscriberIn(body) as { subscriberId: string }
      return { ...subscriber, subscriberId: subscriber.subscriberId.trim() }
    },
  }
}
