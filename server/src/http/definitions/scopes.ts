// What a key needs for a push: to write every kind that is in it.
import type { FastifyRequest } from 'fastify'
import type { DefinitionKind } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'

const scopes = {
  workflow: 'write:workflows',
  layout: 'write:layouts',
  translation: 'write:translations',
} as const satisfies Record<DefinitionKind, string>

/** The route itself asks for `write:workflows`. */
export function refuseMissingScopes({ key }: FastifyRequest, resources: Array<{ kind: DefinitionKind }>): void {
  for (const kind of new Set(resources.map((resource) => resource.kind)))
    if (key && !key.may(scopes[kind]))
      throw fail('insufficient_scope', { needed: scopes[kind] }, { ctx: { needed: scopes[kind] } })
}
