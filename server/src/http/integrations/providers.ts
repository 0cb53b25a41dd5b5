// Who can deliver: every provider an integration can be made for, with the credentials it asks for, so that forms can be
// drawn from it.
import { type Static, Type } from 'typebox'
import { providers as catalog, extras, type Provider, reportingIds } from '../../providers/catalog.ts'
import type { Brand } from '../edge/brand.ts'
import type { Resource } from '../edge/resource.ts'
import { Enum } from '../edge/schema.ts'

const channels = ['in_app', 'email', 'sms', 'chat', 'push'] as const

const Credential = Type.Object({
  name: Type.String({ description: 'The member of `credentials` to store it under.' }),
  label: Type.String(),
  type: Enum(['text', 'flag', 'object'], {
    description: 'A string, a boolean, or an object (its JSON text is taken too).',
  }),
  required: Type.Boolean({ description: 'Nothing can be delivered without it; it can be saved without all the same.' }),
  secret: Type.Boolean({ description: 'Stored encrypted; not to be shown while it is typed.' }),
  help: Type.Optional(Type.String()),
  choices: Type.Optional(Type.Array(Type.String())),
})

const ProviderItem = Type.Object({
  id: Type.String({ description: 'The `providerId` of its integrations.' }),
  name: Type.String(),
  channel: Enum(channels),
  docs: Type.Optional(
    Type.String({
      description: "The vendor's own documentation, or ours where messages go to a server of yours.",
    }),
  ),
  reportsDeliveries: Type.Boolean({ description: 'It can tell our inbound webhook what became of messages.' }),
  credentials: Type.Array(Credential),
})

export const providers: Resource = (app, { brand, config }) => {
  const offered = [...catalog, ...extras.filter(({ id }) => config.extraProviders.includes(id))]
  app.get(
    '/v1/providers',
    {
      schema: {
        tags: ['Integrations'],
        summary: 'List the providers there are, by channel and id',
        querystring: Type.Object({ channel: Type.Optional(Enum(channels)) }),
        response: { 200: Type.Array(ProviderItem) },
      },
    },
    (request) => {
      const { channel } = request.query
      return offered
        .flatMap((provider) => itemOf(provider, brand, config.publicUrl))
        .filter((item) => !channel || item.channel === channel)
    },
  )
}

/** None for agents, which can be set up by nobody. */
function itemOf(
  { id, name, channel, docs, kind, credentials }: Provider,
  brand: Brand,
  publicUrl: string,
): Array<Static<typeof ProviderItem>> {
  if (kind === 'agent' || channel === undefined) return []
  return [
    {
      id: brand.toWire(id),
      name,
      channel,
      ...(docs === undefined ? {} : { docs: docs.startsWith('/') ? publicUrl + docs : docs }),
      reportsDeliveries: reportingIds.has(id),
      credentials: credentials.map(({ choices, ...rest }) => ({
        ...rest,
        ...(choices ? { choices: [...choices] } : {}),
      })),
    },
  ]
}
