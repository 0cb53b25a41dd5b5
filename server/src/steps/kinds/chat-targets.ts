// Where a subscriber is reached in chats: endpoints with their connections, addresses kept with the subscriber, and the phone
// number.
import { heldChannels, openChannels, openEndpoint } from '../../db/core/chat-addresses.ts'
import { type EndpointType, fitsType } from '../../db/core/endpoint-types.ts'
import type { ConnectionRow } from '../../db/queries/channel-connections.ts'
import type { EndpointRow } from '../../db/queries/channel-endpoints.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { findProvider } from '../../providers/catalog.ts'
import { shownAddress } from '../../providers/masking.ts'
import type { ChatTarget } from '../../providers/provider.ts'
import type { Data } from '../../providers/provider-data.ts'
import type { CallTools } from '../contract/call-tools.ts'
import { type Detail, detail } from '../contract/outcome.ts'
import type { StepRun } from '../contract/step-run.ts'
import { integrationById, memberOf, objectIn, providerDataFor, textIn } from '../delivery/integration-choice.ts'

const channel = 'chat'
const whatsApp = 'whatsapp-business'

/** Targets that are stored as one message. */
export interface ChatGroup {
  key: string
  integration: IntegrationRow
  targets: Addressed[]
  /** What is missing to send it. */
  missing?: 'missing_webhook_url' | 'missing_chat_phone'
  webhookUrl?: string | undefined
  phone?: string | undefined
}

interface Addressed {
  key: string
  target: ChatTarget
  /** Shown only through `redacted`. */
  channelData: ChannelData
  providerData: Data
  customData: Data
}

interface ChannelData {
  type: string
  endpoint: Data
  identifier?: string
  token?: string
}

export function redacted({ token, endpoint, ...rest }: ChannelData): Data {
  const url = textIn(endpoint.url)
  return {
    ...rest,
    endpoint: url === undefined ? endpoint : { ...endpoint, url: shownAddress(url) },
    ...(token === undefined ? {} : { token: `${token.slice(0, 8)}...` }),
  }
}

/** Missing integrations are noted in the details, and the rest goes on. */
export async function chatGroupsOf(of: StepRun, tools: CallTools): Promise<{ groups: ChatGroup[]; details: Detail[] }> {
  const details: Detail[] = []
  const active = (id: string, identifier: string | undefined, providerId: string): IntegrationRow | undefined => {
    const integration = integrationById(of, channel, id)
    if (!integration)
      details.push(detail('no_integration', { integrationIdentifier: identifier ?? id }, { providerId }))
    return integration
  }
  const { brand } = tools
  const groups: ChatGroup[] = []
  const { run } = of
  const { endpoints, connections: found } = await tools.findChats({
    environmentId: run.environment.id,
    subscriberId: run.subscriber.subscriber_id,
    contextKeys: run.contextKeys,
  })
  const connections = new Map(found.map((row) => [row.identifier, row]))
  for (const [integrationId, members] of groupedBy(endpoints, ({ integration_id }) => integration_id)) {
    const [first] = members
    const integration = first && active(integrationId, first.integration_identifier, first.provider_id)
    if (!integration) continue
    // Data for single endpoints is for us, not for the provider.
    const said = providerDataFor(of, integration.provider_id, brand)
    const names = new Set(members.map(({ identifier }) => identifier))
    const providerData = Object.fromEntries(Object.entries(said).filter(([name]) => !names.has(name)))
    const targets = members.map((endpoint): Addressed => {
      const connection = connections.get(endpoint.connection_identifier ?? '')
      const { target, channelData } = endpointTarget(endpoint, connection, tools, said)
      return { key: `${integration.id} ${endpoint.identifier}`, target, channelData, providerData, customData: {} }
    })
    groups.push({ key: `${integration.id} endpoints`, integration, targets })
  }
  const channels = openChannels(heldChannels(run.subscriber.channels), tools.secrets)
  const entries = channels.filter(({ providerId }) => findProvider(providerId)?.channel === channel)
  for (const entry of entries) {
    const integration = active(entry._integrationId, entry.integrationIdentifier, entry.providerId)
    if (integration) groups.push(entryGroup(of, brand, integration, entry.credentials as Data))
  }
  const implicit = implicitGroup(of, brand, [
    ...endpoints,
    ...entries.map(({ providerId }) => ({ provider_id: providerId })),
  ])
  return { groups: [...groups, ...implicit], details }
}

/** The trigger may replace it by another endpoint of the same type. */
function endpointTarget(
  row: EndpointRow,
  connection: ConnectionRow | undefined,
  { secrets }: CallTools,
  said: Data,
): { target: ChatTarget; channelData: ChannelData } {
  const type = row.type as EndpointType
  const given = objectIn(memberOf(said[row.identifier], 'endpoint'))
  const endpoint = (fitsType(type, given) ? given : openEndpoint(row.endpoint, secrets)) as Record<string, string>
  const channelData = { type, endpoint, identifier: row.identifier }
  const { url = '', channelId = '', userId = '', teamId = '', phoneNumber = '' } = endpoint
  const token = connection ? secrets.decrypt(connection.encrypted_access_token) : ''
  const tenantId = connection?.workspace.id ?? ''
  switch (type) {
    case 'slack_channel':
      return { target: { type, channelId, token }, channelData: { ...channelData, token } }
    case 'slack_user':
      return { target: { type, userId, token }, channelData: { ...channelData, token } }
    case 'ms_teams_channel':
      return { target: { type, teamId, channelId, tenantId }, channelData }
    case 'ms_teams_user':
      return { target: { type, userId, tenantId }, channelData }
    case 'phone':
      return { target: { type, phoneNumber }, channelData }
    case 'webhook':
      return { target: webhook(url, endpoint.channel), channelData }
  }
}

const webhook = (url: string, room: string | undefined): ChatTarget => ({
  type: 'webhook',
  url,
  ...(room === undefined ? {} : { channel: room }),
})

/** An address kept with the subscriber: the older form. */
function entryGroup(of: StepRun, brand: string, integration: IntegrationRow, credentials: Data): ChatGroup {
  const { provider_id: providerId } = integration
  if (providerId === whatsApp) return phoneGroup(of, brand, integration)
  if (providerId === 'svc-slack' && textIn(credentials.webhookUrl) === undefined) return sandboxGroup(of, integration)
  const { webhookUrl: _, channel: room, ...customData } = credentials
  const providerData = providerDataFor(of, providerId, brand)
  const url =
    textIn(providerData.webhookUrl) ?? textIn(of.run.event.payload.webhookUrl) ?? textIn(credentials.webhookUrl)
  const key = `${integration.id} webhook`
  if (url === undefined) return { key, integration, targets: [], missing: 'missing_webhook_url' }
  const target = webhook(url, textIn(room))
  const { type, ...endpoint } = target
  const addressed = { key, target, channelData: { type, endpoint }, providerData, customData }
  return { key, integration, targets: [addressed], webhookUrl: url }
}

function phoneGroup(of: StepRun, brand: string, integration: IntegrationRow): ChatGroup {
  const key = `${integration.id} phone`
  const phone = textIn(of.run.subscriber.phone)
  if (phone === undefined) return { key, integration, targets: [], missing: 'missing_chat_phone' }
  const endpoint = { phoneNumber: phone }
  const providerData = providerDataFor(of, integration.provider_id, brand)
  const target = { type: 'phone', ...endpoint } as const
  const addressed = { key, target, channelData: { type: target.type, endpoint }, providerData, customData: {} }
  return { key, integration, targets: [addressed], phone }
}

function sandboxGroup({ run }: StepRun, integration: IntegrationRow): ChatGroup {
  const key = `${integration.id} sandbox`
  const endpoint = { userId: run.subscriber.subscriber_id }
  const target = { type: 'slack_user', ...endpoint, token: '' } as const
  const addressed = { key, target, channelData: { type: target.type, endpoint }, providerData: {}, customData: {} }
  return { key, integration, targets: [addressed] }
}

/**
 * With a WhatsApp integration, everybody with a phone is reached by it, unless they have an endpoint of their own. The sandbox
 * stands in for a subscriber without any chat.
 */
function implicitGroup(of: StepRun, brand: string, named: Array<{ provider_id: string }>): ChatGroup[] {
  const { run } = of
  const ofProvider = (id: string) =>
    named.some(({ provider_id }) => provider_id === id)
      ? undefined
      : run.environment.integrations.findLast((row) => row.channel === channel && row.provider_id === id)
  const byPhone = textIn(run.subscriber.phone) === undefined ? undefined : ofProvider(whatsApp)
  if (byPhone) return [phoneGroup(of, brand, byPhone)]
  const sandbox = named.length === 0 ? ofProvider('svc-slack') : undefined
  return sandbox ? [sandboxGroup(of, sandbox)] : []
}

function groupedBy<Row>(rows: Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const known = groups.get(keyOf(row))
    if (known) known.push(row)
    else groups.set(keyOf(row), [row])
  }
  return groups
}
