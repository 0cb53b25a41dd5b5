// Who may push: a key has to be allowed to write every kind that is in the push, and a person needs the role for it.
import type { FastifyRequest } from 'fastify'
import type { DefinitionKind } from '../../db/core/tables.ts'
import { fail } from '../../errors.ts'
import { requireRoleIn } from '../edge/roles.ts'

const scopes = {
  workflow: 'write:workflows',
  layout: 'write:layouts',
  translation: 'write:translations',
  topic: 'write:topics',
  integration: 'write:integrations',
  variable: 'administer',
} as const satisfies Record<DefinitionKind, string>

/** For admins, as everywhere else. */
const adminsOnly: ReadonlySet<DefinitionKind> = new Set(['integration', 'variable'])

/** The route itself asks for `write:workflows`, and for an editor. */
export function refuseMissingRights(request: FastifyRequest, kinds: ReadonlySet<DefinitionKind>): void {
  const { key, environment } = request
  for (const kind of kinds) {
    if (key && !key.may(scopes[kind]))
      throw fail('insufficient_scope', { needed: scopes[kind] }, { ctx: { needed: scopes[kind] } })
    if (adminsOnly.has(kind)) requireRoleIn(request, environment.id, 'admin')
  }
}
