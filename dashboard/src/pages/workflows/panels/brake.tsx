// A workflow whose mail bounced or was complained about too often: the figures, what is behind them, and the release.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { OctagonPause } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../../api/auth.ts'
import { useAction } from '../../../api/cache.ts'
import { type Brake, workflows } from '../../../api/workflows.ts'
import { Button } from '../../../ui/base/button.tsx'
import { Loaded, SkeletonText } from '../../../ui/base/states.tsx'
import { Time } from '../../../ui/base/time.tsx'
import { useConfirm } from '../../../ui/frame/dialog.tsx'

const verbs: Record<Brake['cause'], string> = { bounces: 'bounced', complaints: 'were complained about' }

interface BrakeProps {
  workflowId: string
  brake: Brake
}

export function BrakeBanner({ workflowId, brake }: BrakeProps) {
  const { since, cause, percent, sent, counted } = brake
  const [isOpen, setOpen] = useState(false)
  const canRelease = useCan('admin')
  const ask = useConfirm()
  const release = useAction({
    do: () => workflows.releaseBrake(workflowId),
    refresh: ['workflows', 'deliveries'],
    done: 'Released. Counts begin anew',
  })
  const confirm = async () => {
    const isSure = await ask({
      title: 'Send emails again?',
      body: 'Counts begin anew. Emails that failed meanwhile are not sent by themselves: find them under Failed deliveries, and send again those that should go.',
      confirm: 'Release',
      danger: false,
    })
    if (isSure) release.mutate()
  }
  return (
    <section aria-label="Brake" className="border-b border-bad/30 bg-bad/8 px-4 py-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <OctagonPause className="size-5 shrink-0 text-bad" aria-hidden />
        <p className="min-w-60 flex-1">
          <strong className="font-semibold">No email is sent.</strong>{' '}
          {`${counted.toLocaleString('en')} of ${sent.toLocaleString('en')} emails ${verbs[cause]} (${percent} %), so the workflow was braked `}
          <Time at={since} />. Other channels go on.
        </p>
        <Button size="sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Hide' : cause === 'bounces' ? 'Show the bounces' : 'Show the complaints'}
        </Button>
        {canRelease && (
          <Button size="sm" variant="primary" pending={release.isPending} onClick={() => void confirm()}>
            Release
          </Button>
        )}
      </div>
      {isOpen && <Behind workflowId={workflowId} cause={cause} />}
    </section>
  )
}

function Behind({ workflowId, cause }: Pick<BrakeProps, 'workflowId'> & Pick<Brake, 'cause'>) {
  const query = useQuery(workflows.brake(workflowId))
  return (
    <div className="mt-3 max-h-60 overflow-y-auto rounded-control border bg-page">
      <Loaded query={query} skeleton={<SkeletonText lines={4} />}>
        {({ data }) => (
          <ul aria-label="Behind the figures" className="divide-y">
            {data
              .filter((mail) => mail.cause === cause)
              .map(({ messageId, address, subscriberId, notificationId, error, sentAt }) => (
                <li key={messageId} className="flex min-h-9 flex-wrap items-center gap-x-3 px-3 py-1">
                  <span className="min-w-40 flex-1 truncate" dir="auto">
                    {notificationId === null ? (
                      (address ?? 'Deleted')
                    ) : (
                      <Link to={`/activity/${notificationId}` as '/'} className="hover:underline">
                        {address ?? subscriberId}
                      </Link>
                    )}
                  </span>
                  {error !== null && <span className="min-w-0 truncate text-muted">{error}</span>}
                  <Time at={sentAt} className="text-xs text-muted" />
                </li>
              ))}
          </ul>
        )}
      </Loaded>
    </div>
  )
}
