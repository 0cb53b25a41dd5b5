// Who makes a version, for the history: from the request.
import type { FastifyRequest } from 'fastify'
import type { Authorship } from '../../db/queries/versions.ts'
import { fail } from '../../errors.ts'
import { generalError } from './validation.ts'

export const longestMessage = 500
const header = 'belfry-message'

/** The name of a change comes in the header `Belfry-Message`, percent-encoded. */
export function authorOf(request: FastifyRequest): Authorship {
  const { person, key } = request
  return {
    author: person
      ? { type: 'person', id: person.id, name: null }
      : { type: 'api_key', id: key?.id ?? null, name: key?.name ?? null },
    source: { kind: person ? 'dashboard' : 'api' },
    message: messageOf(request),
  }
}

function messageOf({ headers }: FastifyRequest): string | null {
  const given = headers[header]
  if (typeof given !== 'string' || given === '') return null
  const message = decoded(given)
  if (message.length > longestMessage)
    throw generalError([`Belfry-Message must be shorter than or equal to ${longestMessage} characters`])
  return message
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    throw fail('malformed_encoding', undefined, { cause: error })
  }
}
