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
  const span = useQuery(rotas.span(rotaId, from, week))
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
          ['Next change', now ? <Time key="next" at={now.to} isAhead /> : '…'],
          ['Time zone', timezone],
          ['Id', <Id key="id" value={rotaId} />],
        ]}
      />
      <section aria-label="The next seven days">
        <h3 className="mb-2 text-sm font-semibold">The next seven days</h3>
        <Loaded query={span} skeleton={<SkeletonText lines={4} />}>
          {(duties) => (
            <ol className="divide-y rounded-surface border">
              {duties.map((duty) => (
                <li key={duty.from} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-sm">
                  <span className="w-72 text-muted tabular-nums">
                    {momentIn(timezone, duty.from)} – {momentIn(timezone, duty.to)}
                  </span>
                  <Who duty={duty} />
                  {isClockChanged(timezone, duty) && <Badge tone="warn">The clocks change</Badge>}
                </li>
              ))}
            </ol>
          )}
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

/** "Mon 2 Nov, 09:00". */
const momentIn = (timeZone: string, at: string): string =>
  new Intl.DateTimeFormat('en-GB', {
    ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
    ...{ hourCycle: 'h23', timeZone },
  }).format(new Date(at))

const offsetAt = (timeZone: string, at: string): string =>
  new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(new Date(at))
    .find(({ type }) => type === 'timeZoneName')?.value ?? ''

/** Whether local time jumps within a shift, which makes it longer or shorter than it looks. */
const isClockChanged = (timeZone: string, { from, to }: Pick<Duty, 'from' | 'to'>): boolean =>
  offsetAt(timeZone, from) !== offsetAt(timeZone, to)
