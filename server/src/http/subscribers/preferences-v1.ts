// Preferences of a subscriber, v1: pairs of a workflow and its preference.
import { type Static, Type } from 'typebox'
import type { ChannelChoices } from '../../db/core/tables.ts'
import {
  listActiveWorkflows,
  type PreferenceWorkflow,
  readPreferences,
  type SubscriberPreferences,
  saveGlobalPreference,
  saveWorkflowPreferences,
} from '../../db/queries/preferences.ts'
import { findSubscriber } from '../../db/queries/subscribers.ts'
import { channelNames, isCritical } from '../../engine/core/preferences.ts'
import { fail } from '../../errors.ts'
import type { Resource } from '../edge/resource.ts'
import { Body, Channel, Enum } from '../edge/schema.ts'
import { globalChannels, holdChangeable, holdOwner, layersOf, resolveChannels } from './preferences.ts'

const ChannelSetting = Body({ type: Channel, enabled: Type.Boolean() })
const Setting = Type.Object({
  enabled: Type.Boolean(),
  channels: Type.Partial(Type.Object(Object.fromEntries(channelNames.map((name) => [name, Type.Boolean()])))),
  overrides: Type.Optional(Type.Array(Type.Object({ channel: Channel, source: Type.String() }))),
})
const WorkflowSetting = Type.Object({
  template: Type.Object({
    _id: Type.String(),
    name: Type.String(),
    critical: Type.Boolean(),
    triggers: Type.Array(Type.Object({ type: Type.String(), identifier: Type.String() })),
  }),
  preference: Setting,
})
const GlobalSetting = Type.Object({ preference: Setting })
const Params = Type.Object({ subscriberId: Type.String() })

function toSetting(workflow: PreferenceWorkflow, stored: SubscriberPreferences): Static<typeof WorkflowSetting> {
  return {
    template: {
      _id: workflow.id,
      name: workflow.name,
      critical: isCritical(layersOf(workflow, stored)),
      triggers: [{ type: 'event', identifier: workflow.identifier }],
    },
    preference: { enabled: true, ...resolveChannels(workflow, stored) },
  }
}

/** The named channels; `enabled` alone applies to all of them. */
function readChoices(named: Array<Static<typeof ChannelSetting>>, enabled: boolean | undefined): ChannelChoices {
  if (named.length > 0) return Object.fromEntries(named.map((one) => [one.type, one.enabled]))
  return enabled === undefined ? {} : Object.fromEntries(channelNames.map((name) => [name, enabled]))
}

export const preferencesV1: Resource = (app, { db }) => {
  const tags = ['Preferences']

  const readAll = async (environmentId: string, subscriberId: string) => {
    const subscriber = await findSubscriber(db, environmentId, subscriberId)
    if (!subscriber) throw fail('subscriber_not_found', { subscriberId })
    const stored = await readPreferences(db, { environmentId, subscriberRowId: subscriber.id, contextKeys: [] })
    return { workflows: await listActiveWorkflows(db, environmentId), stored }
  }

  app.get(
    '/v1/subscribers/:subscriberId/preferences',
    {
      schema: {
        tags,
        summary: "Retrieve a subscriber's preferences for every workflow",
        deprecated: true,
        params: Params,
        response: { 200: Type.Array(WorkflowSetting) },
      },
    },
    async (request) => {
      const { workflows, stored } = await readAll(request.environment.id, request.params.subscriberId)
      return workflows.map((workflow) => toSetting(workflow, stored))
    },
  )

  app.get(
    '/v1/subscribers/:subscriberId/preferences/:level',
    {
      schema: {
        tags,
        summary: "Retrieve a subscriber's preferences for every workflow, or the global ones",
        deprecated: true,
        params: Type.Object({ subscriberId: Type.String(), level: Enum(['template', 'global']) }),
        response: { 200: Type.Array(Type.Partial(WorkflowSetting)) },
      },
    },
    async (request) => {
      const { subscriberId, level } = request.params
      const { workflows, stored } = await readAll(request.environment.id, subscriberId)
      if (level === 'global') return [{ preference: { enabled: true, channels: globalChannels(workflows, stored) } }]
      return workflows.map((workflow) => toSetting(workflow, stored))
    },
  )

  app.patch(
    '/v1/subscribers/:subscriberId/preferences',
    {
      schema: {
        tags,
        summary: "Change a subscriber's global preferences",
        deprecated: true,
        params: Params,
        body: Body({
          enabled: Type.Optional(Type.Boolean()),
          preferences: Type.Optional(Type.Array(ChannelSetting, { maxItems: 100 })),
        }),
        response: { 200: GlobalSetting },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const channels = readChoices(body.preferences ?? [], body.enabled)
      return db.transaction().execute(async (tx) => {
        const now = request.now()
        const owner = await holdOwner(tx, environment.id, params.subscriberId, { now })
        if (Object.keys(channels).length > 0) await saveGlobalPreference(tx, owner, { channels }, now)
        const workflows = await listActiveWorkflows(tx, environment.id)
        const stored = await readPreferences(tx, owner)
        return { preference: { enabled: true, channels: globalChannels(workflows, stored) } }
      })
    },
  )

  app.patch(
    '/v1/subscribers/:subscriberId/preferences/:workflowId',
    {
      schema: {
        tags,
        summary: "Change a subscriber's preferences for one workflow",
        deprecated: true,
        params: Type.Object({ subscriberId: Type.String(), workflowId: Type.String() }),
        body: Body({ enabled: Type.Optional(Type.Boolean()), channel: Type.Optional(ChannelSetting) }),
        response: { 200: WorkflowSetting },
      },
    },
    async (request) => {
      const { environment, params, body } = request
      const channels = readChoices(body.channel ? [body.channel] : [], body.enabled)
      return db.transaction().execute(async (tx) => {
        const now = request.now()
        const owner = await holdOwner(tx, environment.id, params.subscriberId, { now })
        const [workflow] = await holdChangeable(tx, environment.id, [params.workflowId])
        if (!workflow) throw fail('preference_workflows_not_found', { workflowIds: [params.workflowId] })
        await saveWorkflowPreferences(tx, owner, new Map([[workflow.id, channels]]), now)
        return toSetting(workflow, await readPreferences(tx, owner))
      })
    },
  )
}
