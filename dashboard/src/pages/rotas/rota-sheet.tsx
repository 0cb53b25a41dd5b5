// One rota: who is on duty, the next change, and the seven days from now on in its own time zone.
import { useQuery } from '@tanstack/react-query'
import { Pencil, Trash2 } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Duty, type Rota, rotas } from '../../api/rotas.ts'
import { Button } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { Time, timeNow } from '../../ui/base/time.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Facts } from '../../ui/frame/page.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { RotaDialog } from './rota-form.tsx'
import { type Day, daysOf } from './week.ts'

export function RotaSheet({ rotaId, onClose }: { rotaId: string | undefined; onClose: () => void }) {
  const query = useQuery({ ...rotas.one(rotaId ?? ''), enabled: rotaId !== undefined })
  const title = query.data?.name ?? 'Rota'
  return (
    <Sheet open={rotaId !== undefined} onClose={onClose} label={title} title={<bdi>{title}</bdi>} subtitle="Rota">
      {rotaId !== undefined && (
        <Loaded query={query} skeleton={<SkeletonText lines={6} />}>
          {(rota) => <Whole key={rotaId} rota={rota} onRemoved={onClose} />}
        </Loaded>
      )}
    </Sheet>
  )
}

const week = 7

function Whole({ rota, onRemoved }: { rota: Rota; onRemoved: () => void }) {
  const canEdit = useCan('editor')
  const ask = useConfirm()
  const [isEditing, setEditing] = useState(false)
  const { rotaId, name, timezone } = rota
  const from = useMemo(() => new Date(timeNow()).toISOString(), [])
  const span = useQuery(rotas.duties(rotaId, from, week))
  const remove = useAction({
    do: () => rotas.remove(rotaId),
    refresh: ['rotas'],
    done: `${name} deleted`,
    onDone: onRemoved,
  })
  const onRemove = async () => {
    const yes = await ask({
      title: `Delete “${name}”?`,
      body: 'Its shifts are deleted. A rota that a workflow asks cannot be deleted. This cannot be undone.',
      confirm: 'Delete rota',
    })
    if (yes) remove.mutate()
  }
  const [now] = span.data ?? []
  return (
    <div className="space-y-6">
      <Facts
        facts={[
          ['On duty now', now ? <Who key="now" duty={now} /> : '…'],
          ['Next change', now ? <Change key="next" at={now.to} /> : '…'],
          ['Time zone', timezone],
          ['Id', <Id key="id" value={rotaId} />],
        ]}
      />
      <section aria-label="The next seven days">
        <h3 className="mb-2 text-sm font-semibold">The next seven days</h3>
        <Loaded query={span} skeleton={<SkeletonText lines={4} />}>
          {(duties) => <Week days={daysOf(timezone, from, week, duties)} duties={duties} timezone={timezone} />}
        </Loaded>
      </section>
      {canEdit && (
        <div className="flex flex-wrap gap-2">
          <Button icon={<Pencil />} onClick={() => setEditing(true)}>
            Change
          </Button>
          <Button icon={<Trash2 />} className="text-bad" pending={remove.isPending} onClick={() => void onRemove()}>
            Delete…
          </Button>
        </div>
      )}
      <RotaDialog open={isEditing} onClose={() => setEditing(false)} rota={rota} />
    </div>
  )
}

const Who = ({ duty: { subscriberIds } }: { duty: Duty }) =>
  subscriberIds.length === 0 ? (
    <span className="text-muted">Nobody</span>
  ) : (
    <bdi className="font-medium">{subscriberIds.join(', ')}</bdi>
  )

const Change = ({ at }: { at: string | null }) =>
  at === null ? <span className="text-muted">None is known</span> : <Time at={at} isAhead />

interface WeekProps {
  days: Day[]
  duties: readonly Duty[]
  timezone: string
}

const hues = ['var(--info)', 'var(--good)', 'var(--accent)', 'var(--bad)', 'var(--warn)', 'var(--muted)']

/** A row for each day, from midnight to midnight; everybody has one hue. */
function Week({ days, duties, timezone }: WeekProps) {
  const people = [...new Set(duties.map(({ subscriberIds }) => subscriberIds.join(', ')).filter((who) => who !== ''))]
  const hueOf = (who: string) => hues[people.indexOf(who) % hues.length]
  return (
    <ol className="divide-y rounded-surface border">
      {days.map(({ label, parts, clockChange }) => (
        <li key={label} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
          <span className="w-20 shrink-0 text-xs text-muted tabular-nums">{label}</span>
          <span className="relative h-7 min-w-40 flex-1 overflow-hidden rounded-control bg-sunken">
            {parts
              .filter(({ duty }) => duty.subscriberIds.length > 0)
              .map(({ duty, from, to }) => {
                const who = duty.subscriberIds.join(', ')
                const words = `${momentIn(timezone, duty.from)} – ${momentIn(timezone, duty.to)}: ${who}`
                return (
                  <span
                    key={duty.from ?? ''}
                    title={words}
                    className="absolute inset-y-0 flex items-center overflow-hidden border-l-3 px-1.5 text-xs"
                    style={{
                      ...{ insetInlineStart: `${from * 100}%`, width: `${(to - from) * 100}%` },
                      ...{ borderColor: hueOf(who), background: `color-mix(in srgb, ${hueOf(who)} 14%, transparent)` },
                    }}
                  >
                    <bdi aria-hidden className="truncate font-medium">
                      {who}
                    </bdi>
                    <span className="sr-only">{words}</span>
                  </span>
                )
              })}
            {parts.every(({ duty }) => duty.subscriberIds.length === 0) && (
              <span className="flex h-full items-center px-2 text-xs text-muted">Nobody</span>
            )}
          </span>
          {clockChange !== 0 && (
            <Badge tone="warn">
              {`The clocks change: ${Math.abs(clockChange) * 60} minutes ${clockChange > 0 ? 'longer' : 'shorter'}`}
            </Badge>
          )}
        </li>
      ))}
    </ol>
  )
}

/** "Mon 2 Nov, 09:00". */
const momentIn = (timeZone: string, at: string | null): string =>
  at === null
    ? ''
    : new Intl.DateTimeFormat('en-GB', {
        ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
        ...{ hourCycle: 'h23', timeZone },
      }).format(new Date(at))
