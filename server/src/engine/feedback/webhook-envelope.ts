// The body of a webhook: the stored rows in the shape of the API.
import type { EventRow } from '../../db/queries/webhook-events.ts'
import { wireKind, wireType, wireValues } from '../../steps/contract/wire.ts'
import { scopeOf } from '../consent/rules.ts'

type Members = Record<string, unknown>

export interface EnvelopeContext {
  environmentIdentifier: string
  organizationId: string
  /** A service-native id as callers know it. */
  toWire(identifier: string): string
}

export interface Envelope {
  id: string
  type: string
  object: string
  data: Members
  timestamp: string
  environmentId: string
}

/** The same for every attempt. */
export function envelopeOf(event: EventRow, context: EnvelopeContext): Envelope {
  const { type, object, previous, subscriber_id, created_at } = event
  const kind = type.slice(0, type.indexOf('.'))
  const shape = (row: Members) => shapeOf(kind, row, context)
  return {
    id: wireId(event.id),
    type,
    object: kind,
    data: {
      object: shape(object),
      ...(previous ? { previousObject: shape(previous) } : {}),
      ...(type === 'message.failed' ? { error: errorOf(object) } : {}),
      ...(type === 'message.clicked' ? { url: object.clicked_url } : {}),
      ...(subscriber_id === null ? {} : { subscriberId: subscriber_id }),
    },
    timestamp: created_at.toISOString(),
    environmentId: context.environmentIdentifier,
  }
}

function errorOf({ error_text, device_error, device_token }: Members): Members {
  const message = error_text ?? 'The message was not sent'
  return { message, ...(device_error ? { push: { reason: device_error, deviceToken: device_token } } : {}) }
}

export const wireId = (id: string): string => `evt_${id}`
export const storedId = (id: string): string => id.replace(/^evt_/, '')

/** A row in the shape of the API. */
export const shapeOf = (kind: string, row: Members, context: ShapeContext): Members =>
  shapes[kind]?.(row, context) ?? {}

type ShapeContext = Pick<EnvelopeContext, 'organizationId' | 'toWire'>

const shapes: Record<string, (row: Members, context: ShapeContext) => Members> = {
  run: (row, { organizationId }) => ({
    _id: row.id,
    _organizationId: organizationId,
    transactionId: row.transaction_id,
    workflowId: row.workflow,
    subscriberId: row.subscriber_id,
    goal: row.goal,
  }),
  message: (row, { organizationId, toWire }) => ({
    _id: row.id,
    _templateId: row.workflow_id,
    _environmentId: row.environment_id,
    _organizationId: organizationId,
    _notificationId: row.notification_id,
    subscriberId: row.subscriber_id,
    templateIdentifier: row.workflow,
    workflowId: row.workflow,
    stepId: row.step_id,
    createdAt: time(row.created_at),
    updatedAt: time(row.updated_at),
    archivedAt: time(row.archived_at),
    archived: row.archived ?? false,
    transactionId: row.transaction_id,
    channel: row.channel,
    seen: row.seen ?? false,
    read: row.read ?? false,
    snoozedUntil: time(row.snoozed_until),
    deliveredAt: (row.delivered_at as unknown[] | null | undefined)?.map(time) ?? [],
    providerId: typeof row.provider_id === 'string' ? toWire(row.provider_id) : null,
    lastSeenDate: time(row.last_seen_at),
    firstSeenDate: time(row.first_seen_at),
    lastReadDate: time(row.last_read_at),
    status: row.status,
    severity: row.severity,
    errorId: row.error_id ?? null,
    errorText: row.error_text ?? null,
    contextKeys: row.context_keys ?? [],
    ...given({
      deviceToken: row.device_token,
      channelData: row.channel_data,
      providerResponseId: row.identifier,
    }),
  }),

  workflow: (row, { toWire }) => ({
    _id: row.id,
    workflowId: row.identifier,
    name: row.name,
    ...given({ description: row.description }),
    origin: toWire(String(row.origin)),
    active: row.active,
    critical: row.critical,
    severity: row.severity,
    tags: row.tags,
    validatePayload: row.validate_payload,
    ...given({ payloadSchema: row.payload_schema }),
    isTranslationEnabled: row.is_translation_enabled,
    ...given({ brake: row.message_class === 'commercial' ? row.brake : undefined }),
    steps: ((row.steps ?? []) as Members[]).map(({ _id, stepId, name, type, controlValues }) => ({
      ...{ _id, stepId, name, type: wireType(String(type), toWire('svc')), ...wireKind(String(type)) },
      controlValues: wireValues(String(type), (controlValues ?? {}) as Members, toWire('svc')),
    })),
    ...given({ createdAt: time(row.created_at), updatedAt: time(row.updated_at) }),
  }),

  subscriber: (row, { organizationId }) => ({
    _id: row.id,
    _environmentId: row.environment_id,
    _organizationId: organizationId,
    subscriberId: row.subscriber_id,
    firstName: row.first_name ?? null,
    lastName: row.last_name ?? null,
    email: row.email ?? null,
    phone: row.phone ?? null,
    avatar: row.avatar ?? null,
    locale: row.locale ?? null,
    timezone: row.timezone ?? null,
    data: row.data ?? null,
    createdAt: time(row.created_at),
    updatedAt: time(row.updated_at),
  }),

  question: (row) => ({
    ...{ id: row.id, state: row.state, answer: row.answer ?? null, answeredBy: row.answered_by ?? null },
    ...{ level: row.level, round: row.round, deadline: time(row.deadline), createdAt: time(row.created_at) },
    ...{ transactionId: row.transaction_id, notificationId: row.notification_id },
    ...{ workflowId: row.workflow, stepId: row.step_id },
    asked: ((row.asked ?? []) as Members[]).map(({ subscriberId, level, at, remindedAt, channels }) => ({
      ...{ subscriberId, level, askedAt: at, remindedAt, channels: channels ?? [] },
    })),
  }),

  webhook: (row) => ({
    endpointId: row.endpoint_id,
    url: row.url,
    message: 'This is a test event, sent to try out the endpoint. Nothing has happened.',
  }),

  publish: (row) => ({
    _id: row.id,
    sourceEnvironmentId: row.source_id,
    targetEnvironmentId: row.environment_id,
    status: row.status,
    comment: row.comment,
    resources: row.resources,
    requestedBy: { type: row.requester_type, id: row.requester_id, name: row.requester_name },
    decidedBy: typeof row.decided_by === 'string' ? { id: row.decided_by, name: row.decided_by_name } : null,
    decisionComment: row.decision_comment,
    decidedAt: time(row.decided_at),
    createdAt: time(row.created_at),
    expiresAt: time(row.expires_at),
  }),

  audit: (row) => ({
    ...{ _id: row.id, action: row.action, environmentId: row.acted_in, address: row.address, details: row.details },
    actor: { type: row.actor_type, id: row.actor_id, name: row.actor_name, email: row.actor_email },
    target: { type: row.target_type, id: row.target_id, name: row.target_name },
    createdAt: time(row.created_at),
    number: String(row.number),
    ...{ previousHash: hex(row.previous_hash), hash: hex(row.hash) },
  }),

  sms: (row) => ({
    id: row.id,
    integrationId: row.integration_id,
    from: row.from,
    to: row.to,
    text: row.text,
    keyword: row.keyword,
    receivedAt: time(row.received_at),
  }),

  suppression: (row) => ({
    _id: row.id,
    channel: row.channel,
    address: row.address,
    addressHash: hex(row.address_hash),
    reason: row.reason,
    scope: scopeOf(row as Parameters<typeof scopeOf>[0]),
    source: row.source,
    subscriberId: row.subscriber_id,
    integrationId: row.integration_id,
    messageId: row.message_id,
    note: row.note,
    expiresAt: time(row.expires_at),
    createdAt: time(row.created_at),
    updatedAt: time(row.updated_at),
  }),

  preference: (row) => ({
    level: row.workflow_id === null ? 'global' : 'template',
    subscriberId: row.subscriber_id,
    ...given({ workflow: row.workflow }),
    channels: row.channels,
    ...given({ schedule: row.schedule }),
    contextKeys: row.context_keys,
    updatedAt: time(row.updated_at),
  }),
}

/** PostgreSQL writes times its own way. */
const time = (value: unknown): string | null =>
  typeof value === 'string' || value instanceof Date ? new Date(value).toISOString() : null

/** PostgreSQL writes bytes as \\x and their hex digits. */
const hex = (bytes: unknown): string => String(bytes).replace(/^\\x/, '')

const given = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value !== null))
