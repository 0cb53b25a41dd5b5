// Triggers: the only way to send notifications. Checked here, and answered once the engine has committed them.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { recipientIdPattern } from '../../db/core/subscriber-fields.ts'
import type { Recipient } from '../../db/core/tables.ts'
import { readContexts } from '../../db/queries/contexts.ts'
import { findWorkflow } from '../../db/queries/workflows.ts'
import type { TriggerRequest } from '../../engine/runs/trigger-request.ts'
import { fail, RequestError } from '../../errors.ts'
import { isOneAddress } from '../../providers/email/mail.ts'
import type { Resource, Services } from '../edge/resource.ts'
import { Body, ContextPayload, FreeObject } from '../edge/schema.ts'
import { generalError } from '../edge/validation.ts'
import { answerOf, TriggerAnswer } from './answer.ts'
import { TriggerBridges } from './bridge.ts'

const bodyLimit = 26 * 1024 * 1024
/** Per payload, attachments not counted. */
const mostPayloadBytes = 512 * 1024
const mostRecipients = 100
const mostEvents = 100
const mostExcluded = 100
const longestId = 255

type Members = Record<string, unknown>

const toText =
  'must be a non-empty subscriberId string, an object with a non-empty subscriberId, a topic object with a non-empty topicKey, or a non-empty array of those'
const actorText = 'actor must be a subscriber id or an object with a subscriberId'

const Recipients = Type.Unknown({
  texts: { required: toText },
  description:
    'At most 100: a subscriber id, a subscriber object, a topic `{"type": "Topic", "topicKey": …, "exclude"?: […]}`, or a list of those',
})
const Person = Type.Unknown({ description: 'A subscriber id, or a subscriber object that is created or updated' })
const common = {
  name: Type.String({ description: 'The identifier of the workflow' }),
  overrides: Type.Optional(FreeObject),
  transactionId: Type.Optional(
    Type.String({ maxLength: longestId, description: 'A trigger with an id that was already used is ignored' }),
  ),
  cancellationKey: Type.Optional(
    Type.String({
      maxLength: longestId,
      description:
        'A word that its runs can be cancelled by, such as the number of an order. Default: the workflow’s own',
    }),
  ),
  actor: Type.Optional(Person),
  tenant: Type.Optional(Type.Unknown({ description: 'The identifier of a tenant, or `{identifier, name?, data?}`' })),
  context: Type.Optional(ContextPayload()),
  bridgeUrl: Type.Optional(
    Type.String({
      maxLength: 2048,
      description: 'The URL of an application; runs the workflow as it is declared there now. For development',
    }),
  ),
  controls: Type.Optional(
    Type.Unsafe<Members>({
      ...FreeObject,
      description: 'With `bridgeUrl`: control values of its steps, `{"steps": {"<stepId>": {…}}}`',
    }),
  ),
}
export const triggerBody = { ...common, to: Recipients, payload: Type.Optional(FreeObject) }
const TriggerBody = Body(triggerBody, {
  examples: [{ name: 'welcome', to: { subscriberId: 'ada', email: 'ada@example.com' }, payload: { plan: 'pro' } }],
})
const BroadcastBody = Body({ ...common, payload: FreeObject })
/** What channels in a trigger are read with: addresses are encrypted before they are stored. */
export interface Reading {
  brand: Pick<Services['brand'], 'toStored'>
  secrets: Pick<Services['secrets'], 'encrypt'>
}
export type Given = Omit<Static<typeof TriggerBody>, 'to'> & { to?: unknown }

export const events: Resource = (app, services) => {
  const { engine, config, db } = services
  const tags = ['Events']

  const requestFor = ({ environment, way }: FastifyRequest, given: Given) => {
    const made = readTrigger(environment.id, given, services)
    if (way !== undefined) made.way = way
    return made
  }
  /** Does not await without a bridge, so that triggers which arrive together keep their order. */
  const accept = (request: TriggerRequest, { name, bridgeUrl, controls }: Given, bridges?: TriggerBridges) => {
    if (!bridgeUrl) return engine.trigger(request)
    const asked = bridges ?? new TriggerBridges(services, request.environmentId)
    return asked.find({ name, bridgeUrl, controls }).then((bridged) => engine.trigger({ ...request, bridged }))
  }
  const send = async (request: FastifyRequest, given: Given) => {
    refuseLargePayload(given.payload, bytesOf(request))
    return answerOf(await accept(requestFor(request, given), given), config.publicUrl)
  }

  app.post(
    '/v1/events/trigger',
    {
      ...{ bodyLimit, config: { hot: true } },
      schema: { tags, summary: 'Trigger an event', body: TriggerBody, response: { 201: TriggerAnswer } },
    },
    (request, reply) => {
      reply.code(201)
      return send(request, request.body)
    },
  )

  app.post(
    '/v1/events/trigger/bulk',
    {
      bodyLimit,
      config: { hot: true },
      schema: {
        tags,
        summary: 'Trigger up to 100 events',
        body: Body({
          events: Type.Array(TriggerBody, {
            minItems: 1,
            maxItems: mostEvents,
            perField: { command: 'ProcessBulkTriggerCommand', rules: ['maxItems'] },
            texts: { maxItems: `must contain no more than ${mostEvents} elements` },
          }),
        }),
        response: { 201: Type.Array(TriggerAnswer) },
      },
    },
    async (request, reply) => {
      const requests = request.body.events.map((given, index) => {
        refuseLargePayload(given.payload, bytesOf(request), index)
        return requestFor(request, given)
      })
      // Concurrently, so that they share a commit; one that fails does not affect the others.
      const bridges = new TriggerBridges(services, request.environment.id)
      const results = await Promise.allSettled(
        request.body.events.map((given, index) => accept(requests[index] as TriggerRequest, given, bridges)),
      )
      reply.code(201)
      return results.map((result, index) => {
        if (result.status === 'fulfilled') return answerOf(result.value, config.publicUrl)
        if (!(result.reason instanceof RequestError)) throw result.reason
        const { transactionId } = requests[index] ?? {}
        const error = [result.reason.message]
        return { acknowledged: true, status: 'error' as const, error, ...(transactionId ? { transactionId } : {}) }
      })
    },
  )

  app.post(
    '/v1/events/trigger/broadcast',
    {
      bodyLimit,
      schema: {
        tags,
        summary: 'Trigger an event for every subscriber',
        body: BroadcastBody,
        response: { 201: TriggerAnswer },
      },
    },
    (request, reply) => {
      reply.code(201)
      return send(request, request.body)
    },
  )

  app.delete(
    '/v1/events/trigger/:transactionId',
    {
      schema: {
        tags,
        summary: 'Cancel the pending steps of a trigger',
        params: Type.Object({ transactionId: Type.String() }),
        response: { 200: Type.Boolean({ description: 'Whether there was anything to cancel' }) },
      },
    },
    async (request, reply) => {
      const canceled = await engine.cancel(request.environment.id, request.params.transactionId)
      return reply.type('application/json; charset=utf-8').send(JSON.stringify(canceled) as unknown as boolean)
    },
  )

  app.post(
    '/v1/events/cancel',
    {
      schema: {
        tags,
        summary: 'Cancel all runs under way that have a cancellation key',
        description:
          'As by transaction id. Triggers that are accepted but not begun are begun, then cancelled; later ones are not touched. Up to 5,000 runs at a call: with `hasMore`, call again.',
        body: Body({
          key: Type.String({ minLength: 1, maxLength: longestId }),
          workflowId: Type.Optional(Type.String({ description: 'Only runs of this workflow' })),
          subscriberId: Type.Optional(
            Type.String({ description: 'Only runs for this subscriber; a topic or broadcast goes on for the others' }),
          ),
        }),
        response: { 200: Type.Object({ canceled: Type.Integer(), hasMore: Type.Boolean() }) },
      },
    },
    async ({ environment, body }) => {
      const { key, workflowId, subscriberId } = body
      const workflow = workflowId === undefined ? undefined : await findWorkflow(db, environment.id, workflowId)
      if (workflowId !== undefined && !workflow) throw fail('workflow_not_found', undefined, { ctx: { workflowId } })
      return engine.cancelByKey({ environmentId: environment.id, key, workflowRowId: workflow?.id, subscriberId })
    },
  )
}

type ReadRecipients = Pick<TriggerRequest, 'recipients' | 'invalidRecipients'>
const everybody: ReadRecipients = { recipients: null, invalidRecipients: undefined }

/** A trigger as the engine takes it. Without `to` it is for everybody. */
export function readTrigger(environmentId: string, given: Given, reading: Reading): TriggerRequest {
  if (given.context) readContexts(given.context)
  const { recipients, invalidRecipients } = 'to' in given ? readRecipients(given.to, reading) : everybody
  // All members by name: for a literal with a spread, V8 makes a hidden class per object.
  return {
    environmentId,
    name: given.name,
    recipients,
    invalidRecipients,
    payload: given.payload ?? {},
    overrides: given.overrides ?? {},
    transactionId: given.transactionId || undefined,
    actor: given.actor === undefined || given.actor === null ? undefined : readActor(given.actor, reading),
    tenant: given.tenant === undefined || given.tenant === null ? undefined : readTenant(given.tenant),
    context: given.context,
    cancellationKey: given.cancellationKey || undefined,
    way: undefined,
  }
}

/** The length of its body, as far as it is known before. */
export const bytesOf = ({ headers }: FastifyRequest): number =>
  Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)

/** @param bodyBytes of the request that the payload came with */
export function refuseLargePayload(payload: Members | undefined, bodyBytes: number, index?: number): void {
  // Most bodies are smaller than the limit as a whole.
  if (bodyBytes <= mostPayloadBytes || !payload) return
  const { attachments: _, ...counted } = payload
  const bytes = Buffer.byteLength(JSON.stringify(counted))
  if (bytes > mostPayloadBytes) throw fail('trigger_payload_too_large', { bytes, limit: mostPayloadBytes, index })
}

/** Leaves out invalid ids; when none is left, the engine says so. */
function readRecipients(to: unknown, reading: Reading): ReadRecipients {
  const given = (Array.isArray(to) ? (to as unknown[]) : [to]).filter((each) => each !== null && each !== undefined)
  if (given.length === 0) throw generalError([`to ${toText}`])
  if (given.length > mostRecipients) throw generalError([`to must contain no more than ${mostRecipients} elements`])
  const all = given.map((each) => readRecipient(each, reading))
  const recipients = all.filter(isPossible)
  if (recipients.length === all.length) return { recipients, invalidRecipients: undefined }
  return { recipients, invalidRecipients: all.filter((each) => !isPossible(each)).map(idOf) }
}

function readRecipient(given: unknown, reading: Reading): Recipient {
  if (isObject(given) && given.type === 'Topic') return readTopic(given)
  if (isObject(given) && given.subscriberId === undefined && given.topicKey !== undefined) return readTopic(given)
  return readPerson(given, 'to', reading)
}

function readTopic({ topicKey, exclude = [] }: Members): Recipient {
  if (!isText(topicKey)) throw generalError([`to ${toText}`])
  if (!Array.isArray(exclude) || exclude.some((id) => typeof id !== 'string'))
    throw generalError(['to.exclude must be an array of subscriber ids'])
  if (exclude.length > mostExcluded)
    throw generalError([`to.exclude must contain no more than ${mostExcluded} elements`])
  return { topicKey, ...(exclude.length === 0 ? {} : { exclude: exclude as string[] }) }
}

const idOf = (recipient: Recipient) => String('subscriberId' in recipient ? recipient.subscriberId : recipient.topicKey)

const isPossible = (recipient: Recipient) => {
  const id = idOf(recipient)
  return id.length <= longestId && recipientIdPattern.test(id)
}

const textFields = ['firstName', 'lastName', 'email', 'phone', 'avatar', 'locale', 'timezone'] as const

export function readPerson(given: unknown, field: string, reading: Reading): { subscriberId: string } & Members {
  if (isText(given)) return { subscriberId: given.trim() }
  if (!isObject(given) || !isText(given.subscriberId)) throw generalError([field === 'to' ? `to ${toText}` : actorText])
  const person: { subscriberId: string } & Members = { subscriberId: given.subscriberId.trim() }
  for (const name of textFields) {
    const value = given[name]
    if (value === undefined) continue
    if (value !== null && typeof value !== 'string') throw generalError([`${field}.${name} must be a string`])
    if (name === 'email' && value && !isOneAddress(value))
      throw generalError([`${field}.email must be one email address`])
    person[name] = value
  }
  const { data, channels } = given
  if (data !== undefined) {
    if (data !== null && !isObject(data)) throw generalError([`${field}.data must be an object`])
    person.data = data
  }
  if (channels !== undefined && channels !== null) person.channels = readChannels(channels, field, reading)
  return person
}

function readActor(given: unknown, reading: Reading): { subscriberId: string } & Members {
  const actor = readPerson(given, 'actor', reading)
  if (!isPossible(actor)) throw generalError([actorText])
  return actor
}

function readChannels(channels: unknown, field: string, { brand, secrets }: Reading): Members[] {
  if (!Array.isArray(channels)) throw generalError([`${field}.channels must be an array`])
  return channels.map((channel: unknown, index) => {
    const where = `${field}.channels.${index}`
    if (!isObject(channel) || !isText(channel.providerId)) throw generalError([`${where}.providerId must be a string`])
    const { providerId, integrationIdentifier, credentials = {} } = channel
    if (!isObject(credentials)) throw generalError([`${where}.credentials must be an object`])
    const { webhookUrl, deviceTokens, channel: name } = credentials
    if (deviceTokens !== undefined && !(Array.isArray(deviceTokens) && deviceTokens.every(isText)))
      throw generalError([`each value in ${where}.credentials.deviceTokens must be a string`])
    return {
      providerId: brand.toStored(providerId),
      ...(isText(integrationIdentifier) ? { integrationIdentifier } : {}),
      credentials: {
        ...(isText(webhookUrl) ? { webhookUrl: secrets.encrypt(webhookUrl) } : {}),
        ...(isText(name) ? { channel: name } : {}),
        ...(deviceTokens === undefined ? {} : { deviceTokens }),
      },
    }
  })
}

function readTenant(given: unknown): { identifier: string } & Members {
  if (isText(given)) return { identifier: given }
  if (!isObject(given) || !isText(given.identifier))
    throw generalError(['tenant must be an identifier or an object with an identifier'])
  const { identifier, name, data } = given
  if (name !== undefined && name !== null && typeof name !== 'string')
    throw generalError(['tenant.name must be a string'])
  if (data !== undefined && data !== null && !isObject(data)) throw generalError(['tenant.data must be an object'])
  return { identifier, ...(name === undefined ? {} : { name }), ...(data === undefined ? {} : { data }) }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
