// Actions on an integration, for the list and the sheet.
import { useNavigate } from '@tanstack/react-router'
import { cache, useAction } from '../../api/cache.ts'
import { type Integration, integrations } from '../../api/integrations.ts'
import { workflows } from '../../api/workflows.ts'
import { lookOf } from '../../ui/domain/step-kind.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'

export const hasPrimary = ({ channel }: Integration) => channel === 'email' || channel === 'sms'

export function useIntegrationActions(integration: Integration, all: readonly Integration[]) {
  const { _id: id, name, channel, primary, active, conditions } = integration
  const ask = useConfirm()
  const navigate = useNavigate()
  const former = all.find((other) => other.channel === channel && other.primary)
  const word = lookOf(channel).label

  const setActive = useAction({
    do: (isActive: boolean) => integrations.change(id, { active: isActive }),
    refresh: ['integrations'],
    done: (_, isActive) => (isActive ? `“${name}” is active` : `“${name}” is inactive and sends nothing`),
    undo: async (_, isActive) => {
      await integrations.change(id, { active: !isActive })
      if (primary) await integrations.setPrimary(id)
    },
  })
  const makePrimary = useAction({
    do: () => integrations.setPrimary(id),
    refresh: ['integrations'],
    done: `${word} is now sent through “${name}”`,
    ...(former
      ? {
          undo: async () => {
            await integrations.setPrimary(former._id)
            await integrations.change(id, { active, conditions })
          },
        }
      : {}),
  })
  const remove = useAction({
    do: () => integrations.remove(id),
    refresh: ['integrations'],
    done: `“${name}” deleted`,
    onDone: () =>
      void navigate({ to: '/integrations/{-$integrationId}', params: { integrationId: undefined }, search: true }),
  })
  const askRemove = async () => {
    const body = await whatDependsOn(integration, all).catch(() => 'Belfry could not find out what depends on it.')
    if (await ask({ title: `Delete “${name}”?`, body, confirm: 'Delete integration' })) remove.mutate()
  }
  return { setActive, makePrimary, remove, askRemove }
}

/** What depends on the integration, by name and number. */
async function whatDependsOn(integration: Integration, all: readonly Integration[]): Promise<string> {
  const { channel, primary, active, identifier } = integration
  const word = lookOf(channel).label
  const gone = 'Its credentials are deleted for good.'
  const using = async () => {
    const { workflows: list, totalCount } = await cache.fetchQuery(workflows.list({ limit: 100 }))
    const names = list
      .filter(({ stepTypeOverviews }) => stepTypeOverviews.includes(channel))
      .map(({ name }) => `“${name}”`)
    const more = totalCount > list.length ? ' or more' : ''
    if (names.length === 0) return `No workflow sends ${word} messages.`
    const shown = names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ')
    return `${names.length}${more} ${names.length === 1 ? 'workflow sends' : 'workflows send'} ${word} messages: ${shown}.`
  }
  if (channel === 'in_app') return `${await using()} Without it, no inbox messages are delivered. ${gone}`
  if (channel === 'chat' || channel === 'push') {
    const { endpoints, connections } = await cache.fetchQuery(integrations.addresses(identifier))
    const lost = [
      `${endpoints} ${endpoints === 1 ? 'address' : 'addresses'} of subscribers`,
      `${connections} connected ${connections === 1 ? 'workspace' : 'workspaces'}`,
    ]
    const devices = channel === 'push' ? 'Its stored device tokens' : lost.join(' and ')
    return `${await using()} ${devices} belong to it and stop working. ${gone}`
  }
  if (!primary)
    return `${active ? 'It is not primary: it is used only by triggers that name it, by its conditions, or for failover.' : 'It is inactive and sends nothing.'} ${gone}`
  const others = all.filter((other) => other.channel === channel && other.active && other !== integration)
  const next =
    others.length === 0
      ? `There is no other, so their messages will fail.`
      : `No other becomes primary automatically: their messages fail until you choose one.`
  return `${await using()} It is the primary ${word} integration. ${next} ${gone}`
}
