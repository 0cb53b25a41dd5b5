// One entry: what it holds back, where it comes from, and how to remove it.
import { useQuery } from '@tanstack/react-query'
import { ArrowRight, Trash2 } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Suppression, suppressions } from '../../api/suppressions.ts'
import { Button, ButtonLink } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Time } from '../../ui/base/time.tsx'
import { addressText, channels, reasons, scopeText, sources } from '../../ui/domain/suppression-words.ts'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Facts } from '../../ui/frame/page.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'

export function SuppressionSheet({
  suppressionId,
  onClose,
}: {
  suppressionId: string | undefined
  onClose: () => void
}) {
  const query = useQuery({ ...suppressions.one(suppressionId ?? ''), enabled: suppressionId !== undefined })
  const title = query.data ? addressText(query.data) : 'Entry'
  return (
    <Sheet
      open={suppressionId !== undefined}
      onClose={onClose}
      label={title}
      title={title}
      subtitle={query.data ? reasons[query.data.reason] : ''}
    >
      {suppressionId !== undefined && (
        <Loaded query={query} skeleton={<SkeletonText lines={6} />}>
          {(entry) => <Entry entry={entry} onRemoved={onClose} />}
        </Loaded>
      )}
    </Sheet>
  )
}

function Entry({ entry, onRemoved }: { entry: Suppression; onRemoved: () => void }) {
  const canRemove = useCan('admin')
  const ask = useConfirm()
  const remove = useAction({
    do: () => suppressions.remove(entry),
    refresh: ['suppressions'],
    done: `${addressText(entry)} is written to again`,
    onDone: onRemoved,
  })
  const confirm = async () => {
    const isSure = await ask({
      title: `Write to ${addressText(entry)} again?`,
      body:
        entry.reason === 'complaint'
          ? 'They have complained about your messages. Writing to them again costs your reputation with every mail provider.'
          : `This entry no longer holds back: ${scopeText(entry).toLowerCase()}.`,
      confirm: 'Remove entry',
      danger: true,
    })
    if (isSure) remove.mutate()
  }
  const { subscriberId } = entry
  return (
    <div className="space-y-6">
      <Facts
        facts={[
          ['Channel', channels[entry.channel]],
          ['Reason', reasons[entry.reason]],
          ['Holds back', scopeText(entry)],
          ['From', sources[entry.source]],
          ['Since', <Time key="since" at={entry.createdAt} />],
          ['Until', entry.expiresAt === null ? 'For ever' : <Time key="until" at={entry.expiresAt} />],
          ...(entry.note === null ? [] : [['Note', entry.note] as [string, string]]),
          ['Id', <Id key="id" value={entry._id} />],
        ]}
      />
      <div className="flex flex-wrap gap-2">
        {subscriberId !== null && (
          <ButtonLink to={`/subscribers/${encodeURIComponent(subscriberId)}` as '/'} icon={<ArrowRight />}>
            Open the subscriber
          </ButtonLink>
        )}
        {canRemove && (
          <Button variant="danger" icon={<Trash2 />} pending={remove.isPending} onClick={() => void confirm()}>
            Remove entry
          </Button>
        )}
      </div>
    </div>
  )
}
