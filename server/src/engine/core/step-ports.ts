// The ports of steps, over the database.
import { sql } from 'kysely'
import type { Db } from '../../db/core/database.ts'
import { countInbox } from '../../db/queries/messages.ts'
import { deletePushSubscription, listPushSubscriptions } from '../../db/queries/push-subscriptions.ts'
import { addToSandbox, takeFault } from '../../db/queries/sandbox.ts'
import { removeDeviceToken } from '../../db/queries/subscriber-channels.ts'
import type { ChatOwner, SandboxStore, StepPorts } from '../../steps/contract/call-tools.ts'

/** For one subscriber in one set of contexts. */
export const mostEndpoints = 1_000

export const portsOver = (db: Db): StepPorts => ({
  findChats: (owner) => findChats(db, owner),
  forgetDevice: (of, token, now) => removeDeviceToken(db, of, token, now),
  findBrowsers: ({ environmentId, subscriberRowId }) => listPushSubscriptions(db, environmentId, subscriberRowId),
  forgetBrowser: ({ environmentId, subscriberRowId }, id) =>
    deletePushSubscription(db, environmentId, { subscriberRowId, id }),
  async countInbox(inbox, filter, most) {
    const [count = 0] = await countInbox(db, inbox, [filter], most)
    return count
  },
  readFiles: ({ environmentId, id }, most) =>
    db
      .selectFrom('attachments')
      .select(['position', 'name', 'mime', 'content'])
      .where('environment_id', '=', environmentId)
      .where('event_id', '=', id)
      .orderBy('position')
      .limit(most)
      .execute(),
  sandbox: sandboxOver(db),
})

export const sandboxOver = (db: Db): SandboxStore => ({
  takeFault: (environmentId, channel) => takeFault(db, environmentId, channel),
  add: (message, now) => addToSandbox(db, message, now),
})

async function findChats(db: Db, { environmentId, subscriberId, contextKeys }: ChatOwner) {
  const isHere = sql<boolean>`context_keys = ${contextKeys}::text[]`
  const endpoints = await db
    .selectFrom('channel_endpoints')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('subscriber_id', '=', subscriberId)
    .where('channel', '=', 'chat')
    .where(isHere)
    .orderBy('id')
    .limit(mostEndpoints)
    .execute()
  const named = [...new Set(endpoints.flatMap(({ connection_identifier }) => connection_identifier ?? []))]
  if (named.length === 0) return { endpoints, connections: [] }
  const connections = await db
    .selectFrom('channel_connections')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .where('identifier', 'in', named)
    .where(isHere)
    .execute()
  return { endpoints, connections }
}
