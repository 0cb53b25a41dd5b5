// The providers: every one that an integration can use, with its credentials, so that the dashboard can draw forms.
import { type Static, Type } from 'typebox'
import {
  alwaysOffered,
  providers as catalog,
  extras,
  type Provider,
  reportingIds,
  reportsCheckedBy,
} from '../../providers/catalog.ts'
import type { Brand } from '../edge/brand.ts'
import type { Resource } from '../edge/resource.ts'
import { Enum } from '../edge/schema.ts'

const channels = ['in_app', 'email', 'sms', 'chat', 'push'] as const

const Credential = Type.Object({
  name: Type.String({ description: 'The member of `credentials`.' }),
  label: Type.String(),
  type: Enum(['text', 'flag', 'object'], {
    description: 'A string, a boolean, or an object (or its JSON text).',
  }),
  required: Type.Boolean({ description: 'Needed for delivery, but not for saving.' }),
  secret: Type.Boolean({ description: 'Stored encrypted; hide it in forms.' }),
  help: Type.Optional(Type.String()),
  choices: Type.Optional(Type.Array(Type.String())),
})

const ProviderItem = Type.Object({
  id: Type.String({ description: 'The `providerId` of its integrations.' }),
  name: Type.String(),
  channel: Enum(channels),
  docs: Type.Optional(
    Type.String({
      description: "The vendor's documentation, or ours for your own server.",
    }),
  ),
  reportsDeliveries: Type.Boolean({ description: 'Whether it can send delivery events to our inbound webhook.' }),
  reportsCheckedBy: Type.Array(Type.String(), {
    description: 'Credentials that verify its delivery events. Without one of them, store a signing key.',
  }),
  credentials: Type.Array(Credential),
})

export const providers: Resource = (app, { brand, config }) => {
  const offered = [
    ...catalog,
    ...extras.filter(({ id }) => alwaysOffered.includes(id) || config.extraProviders.includes(id)),
  ]
  app.get(
    '/v1/providers',
    {
      schema: {
        tags: ['Integrations'],
        summary: 'List providers, by channel and id',
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

/** Undefined for agents, which cannot be set up. */
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
      reportsCheckedBy: [...(reportsCheckedBy.get(id) ?? [])],
      credentials: credentials.map(({ choices, ...rest }) => ({
        ...rest,
        ...(choices ? { choices: [...choices] } : {}),
      })),
    },
  ]
}
