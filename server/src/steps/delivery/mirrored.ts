// Runs whose trigger was passed on to the service behind their environment: whatever the integrations are, they reach the sandbox
// only. Push and chat integrations stay known, because a subscriber's devices and chats belong to them.
import { isSandbox } from '../../db/core/integration-facts.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { StepRun } from '../contract/step-run.ts'

const sandboxes = { email: 'svc-email', sms: 'svc-sms', push: 'svc-push', chat: 'svc-slack' } as const
type Sandboxed = keyof typeof sandboxes

/** Browsers are registered with us, so the service behind cannot reach them. */
const isUnknownThere = ({ provider_id }: IntegrationRow) => provider_id === 'web-push'

/** The integrations of such runs, of all that the environment has, active or not. */
export function sandboxOnly(environmentId: string, all: IntegrationRow[]): IntegrationRow[] {
  const own = Object.entries(sandboxes).map(([channel, providerId]) => ({
    ...(all.find(({ provider_id }) => provider_id === providerId) ?? standIn(environmentId, channel, providerId)),
    ...{ active: true, is_primary: true, conditions: [] },
  }))
  const others = all.filter((row) => row.channel !== 'email' && row.channel !== 'sms')
  return [...own, ...others.filter((row) => !isSandbox(row) && !isUnknownThere(row))]
}

/** For an environment whose sandbox was deleted. */
function standIn(environmentId: string, channel: string, providerId: string): IntegrationRow {
  const longAgo = new Date(0)
  return {
    ...{ environment_id: environmentId, id: '0'.repeat(24), identifier: `${channel}-sandbox`, name: 'Sandbox' },
    ...{ provider_id: providerId, channel, kind: 'delivery', credentials: {}, configurations: {}, conditions: [] },
    ...{ active: true, is_primary: true, priority: 1, connected: false, deleted_at: null, deleted_by: null },
    ...{ created_at: longAgo, updated_at: longAgo },
  }
}

export const isMirrored = ({ run }: Pick<StepRun, 'run'>): boolean => run.environment.shadow === 'mirrored'

/** The sandbox of a channel. */
export function sandboxAmong(integrations: readonly IntegrationRow[], channel: string): IntegrationRow[] {
  const providerId = sandboxes[channel as Sandboxed]
  return integrations.filter(({ provider_id }) => provider_id === providerId)
}
