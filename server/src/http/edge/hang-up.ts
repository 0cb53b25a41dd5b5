// Callers who hang up before the answer.
import type { FastifyReply } from 'fastify'

/** Aborted when the caller hangs up, or has done so before the handler ran. */
export function goneWith({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController()
  if (raw.closed) gone.abort()
  else raw.once('close', () => gone.abort())
  return gone.signal
}
