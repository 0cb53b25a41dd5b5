// Texts of older templates: Handlebars over the payload, which here is Liquid over `payload`, `subscriber` and `steps`.
import { type Converted, toLiquid } from '../mustache.ts'

/** Names that are not in the payload. */
const own = new Set(['subscriber', 'actor', 'tenant', 'payload', 'env', 'context', 'steps'])
const ofDigest: Record<string, string> = { total_count: 'eventCount', events: 'events' }

/** @param digestId the digest before it, whose events are meant */
export function fromHandlebars(text: string, digestId = 'digest'): Converted {
  // A period in the id would read as a path.
  const digest = digestId.includes('.') ? `steps[${JSON.stringify(digestId)}]` : `steps.${digestId}`
  return toLiquid(text, {
    pathOf(name, loop) {
      const [first = '', second = '', ...rest] = name.split('.')
      if (first === 'step' && ofDigest[second]) return [digest, ofDigest[second], ...rest].join('.')
      if (own.has(first)) return name
      return `${loop ?? 'payload'}.${name}`
    },
  })
}
