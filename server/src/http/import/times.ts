// Times as items have them.
import { Type } from 'typebox'

export const Time = Type.String({ format: 'date-time' })
/** Sources say null for what has not happened. */
export const MaybeTime = Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time' }))
