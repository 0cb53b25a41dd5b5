// The preferences of a subscriber: channels globally and for each workflow, and the weekly schedule.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useCan } from '../../api/auth.ts'
import { cache, useAction } from '../../api/cache.ts'
import { type Preferences, type Subscriber, subscribers } from '../../api/subscribers.ts'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { type Channel, channels, lookOf, StepIcon } from '../../ui/domain/step-kind.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { HeldBack } from './held-back.tsx'
import { WeeklySchedule } from './schedule.tsx'

type WorkflowPreference = Preferences['workflows'][number]
interface Change {
  /** Undefined for the global preference. */
  workflowId?: string
  channel: Channel
  isOn: boolean
}

const gridClass = 'grid grid-cols-5 items-center gap-x-2 gap-y-2 sm:grid-cols-[minmax(0,1fr)_repeat(5,64px)]'

export function PreferencesOf({ subscriber }: { subscriber: Subscriber }) {
  const { subscriberId } = subscriber
  const preferences = useQuery(subscribers.preferences(subscriberId, 'nonCritical'))
  const critical = useQuery(subscribers.preferences(subscriberId, 'critical'))
  const canEdit = useCan('editor')
  const { queryKey } = subscribers.preferences(subscriberId, 'nonCritical')
  const change = useAction({
    do: async ({ workflowId, channel, isOn }: Change) => {
      const before = cache.getQueryData(queryKey)
      if (before) cache.setQueryData(queryKey, changed(before, { workflowId, channel, isOn }))
      try {
        const after = await subscribers.changePreferences(subscriberId, {
          ...(workflowId === undefined ? {} : { workflowId }),
          channels: { [channel]: isOn },
        })
        cache.setQueryData(queryKey, after)
      } catch (error) {
        cache.setQueryData(queryKey, before)
        throw error
      }
    },
    // To want a workflow again ends that it was unsubscribed.
    refresh: ['suppressions'],
  })
  return (
    <Loaded query={preferences} skeleton={<SkeletonText lines={8} />}>
      {({ global, workflows }) => (
        <div className="space-y-8">
          <section aria-label="Channels">
            <div className={`${gridClass} sticky top-0 z-2 border-b bg-page pt-1 pb-2`}>
              <span className="text-sm font-semibold max-sm:hidden">Channels</span>
              {channels.map((channel) => (
                <span key={channel} className="flex flex-col items-center gap-1 text-xs text-muted">
                  <StepIcon kind={channel} />
                  {lookOf(channel).label}
                </span>
              ))}
            </div>
            <Row
              name="All workflows"
              note="Unless a workflow below has its own setting"
              channels={global.channels}
              canEdit={canEdit}
              onChange={(channel, isOn) => change.mutate({ channel, isOn })}
            />
            {workflows.map((preference) => (
              <WorkflowRow
                key={preference.workflow.identifier}
                preference={preference}
                canEdit={canEdit}
                onChange={(channel, isOn) =>
                  change.mutate({ workflowId: preference.workflow.identifier, channel, isOn })
                }
              />
            ))}
            {(critical.data?.workflows ?? []).map((preference) => (
              <WorkflowRow key={preference.workflow.identifier} preference={preference} canEdit={false} isCritical />
            ))}
            {workflows.length === 0 && critical.data?.workflows.length === 0 && (
              <p className="py-4 text-sm text-muted">
                No workflow is active in this environment. Activate one to set its channels for this subscriber.
              </p>
            )}
          </section>
          <WeeklySchedule subscriber={subscriber} stored={global.schedule} />
          <HeldBack subscriber={subscriber} snoozedUntil={global.snoozedUntil} />
        </div>
      )}
    </Loaded>
  )
}

/** Optimistic update; the server's answer follows. */
function changed(
  before: Preferences,
  change: Omit<Change, 'workflowId'> & { workflowId: string | undefined },
): Preferences {
  const { workflowId, channel, isOn } = change
  if (workflowId === undefined)
    return { ...before, global: { ...before.global, channels: { ...before.global.channels, [channel]: isOn } } }
  const workflows = before.workflows.map((one) =>
    one.workflow.identifier === workflowId ? { ...one, channels: { ...one.channels, [channel]: isOn } } : one,
  )
  return { ...before, workflows }
}

interface WorkflowRowProps {
  preference: WorkflowPreference
  canEdit: boolean
  isCritical?: boolean
  onChange?: (channel: Channel, isOn: boolean) => void
}

function WorkflowRow({ preference, isCritical = false, ...rest }: WorkflowRowProps) {
  const { workflow, overrides } = preference
  const own = overrides.filter(({ source }) => source === 'subscriber').map(({ channel }) => lookOf(channel).label)
  return (
    <Row
      {...rest}
      name={workflow.name}
      label={
        <Link
          to={`/workflows/${encodeURIComponent(workflow.identifier)}` as '/'}
          className="truncate font-medium hover:underline"
        >
          {workflow.name}
        </Link>
      }
      badge={isCritical ? 'Always sent' : undefined}
      note={
        isCritical ? 'Critical: cannot be turned off' : own.length > 0 ? `Own setting: ${own.join(', ')}` : undefined
      }
      channels={preference.channels}
    />
  )
}

interface RowProps {
  name: string
  label?: ReactNode
  badge?: string | undefined
  note?: string | undefined
  channels: WorkflowPreference['channels']
  canEdit: boolean
  onChange?: (channel: Channel, isOn: boolean) => void
}

function Row({ name, label = <span className="font-medium">{name}</span>, badge, note, canEdit, ...rest }: RowProps) {
  return (
    <div className={`${gridClass} min-h-12 border-b py-2`}>
      <div className="col-span-5 min-w-0 sm:col-span-1" dir="auto">
        <div className="flex items-center gap-2 text-sm">
          {label}
          {badge && <Badge>{badge}</Badge>}
        </div>
        {note && <div className="truncate text-xs text-muted">{note}</div>}
      </div>
      {channels.map((channel) => {
        const isOn = rest.channels[channel]
        return (
          <span key={channel} className="grid h-8 place-items-center">
            {isOn === undefined ? (
              <span aria-hidden className="text-faint">
                ·
              </span>
            ) : (
              <Switch
                aria-label={`${name}: ${lookOf(channel).label}`}
                value={isOn}
                disabled={!canEdit}
                onValue={(value) => rest.onChange?.(channel, value)}
              />
            )}
          </span>
        )
      })}
    </div>
  )
}
