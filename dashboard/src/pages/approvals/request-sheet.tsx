// One publish request: who asks for what, the differences as they were when it was made, and the decision.
import { useQuery } from '@tanstack/react-query'
import { Check, TriangleAlert, Undo2, X } from 'lucide-react'
import { useState } from 'react'
import { approvals, type PublishRequest, refreshApprovals } from '../../api/approvals.ts'
import { useAction } from '../../api/cache.ts'
import type { ResourceDiff } from '../../api/environments.ts'
import { Button } from '../../ui/base/button.tsx'
import { EmptyState, Loaded } from '../../ui/base/states.tsx'
import { Status, type Tone } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { Changes } from '../../ui/domain/changes.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Textarea } from '../../ui/form/input.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { DisclosureRow } from '../../ui/list/disclosure-row.tsx'
import { countOf, headings, statuses } from './words.ts'

interface RequestSheetProps {
  request: PublishRequest | undefined
  /** The URL names a request that is not in the list. */
  isMissing: boolean
  nameOf: (environmentId: string) => string
  onClose: () => void
}

export function RequestSheet({ request, isMissing, nameOf, onClose }: RequestSheetProps) {
  if (!request)
    return (
      <Sheet open={isMissing} onClose={onClose} title="Publish request">
        <EmptyState title="Not found">It may be of an environment that you have no access to.</EmptyState>
      </Sheet>
    )
  return <Opened key={request._id} request={request} nameOf={nameOf} onClose={onClose} />
}

function Opened({ request, nameOf, onClose }: Omit<RequestSheetProps, 'isMissing'> & { request: PublishRequest }) {
  const query = useQuery(approvals.one(request))
  const [comment, setComment] = useState('')
  const target = nameOf(request.targetEnvironmentId)
  const settle = { onDone: () => void refreshApprovals() }
  const approve = useAction({
    do: () => approvals.approve(request, comment.trim()),
    done: `Published to ${target}`,
    ...settle,
  })
  const decline = useAction({ do: () => approvals.decline(request, comment.trim()), done: 'Declined', ...settle })
  const withdraw = useAction({ do: () => approvals.withdraw(request), done: 'Withdrawn', ...settle })
  const isBusy = approve.isPending || decline.isPending || withdraw.isPending
  const changed = query.data?.changedSince ?? []
  const isPending = request.status === 'pending'
  return (
    <Sheet
      open
      wide
      onClose={onClose}
      title={`Publish to ${target}`}
      subtitle={`From ${nameOf(request.sourceEnvironmentId)} · ${countOf(request.resources)}`}
      footer={
        request.mayDecide ? (
          <>
            <Button
              icon={<X />}
              pending={decline.isPending}
              disabled={isBusy || comment.trim() === ''}
              hint={comment.trim() === '' ? 'Write why, then decline' : 'Decline'}
              onClick={() => decline.mutate()}
            >
              Decline
            </Button>
            <Button
              variant="primary"
              icon={<Check />}
              pending={approve.isPending}
              disabled={isBusy || changed.length > 0 || !query.data}
              onClick={() => approve.mutate()}
            >
              Approve and publish
            </Button>
          </>
        ) : isPending && request.isYours && request.requestedBy.type === 'person' ? (
          <Button icon={<Undo2 />} pending={withdraw.isPending} disabled={isBusy} onClick={() => withdraw.mutate()}>
            Withdraw
          </Button>
        ) : undefined
      }
    >
      <dl className="mb-5 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5 text-sm">
        <dt className="text-muted">Status</dt>
        <dd>
          <Status tone={statuses[request.status].tone}>{statuses[request.status].word}</Status>
        </dd>
        <dt className="text-muted">Asked by</dt>
        <dd dir="auto">
          {request.requestedBy.name}
          {request.requestedBy.type === 'api-key' && ' (API key)'}, <Time at={request.createdAt} />
        </dd>
        {request.comment && (
          <>
            <dt className="text-muted">Comment</dt>
            <dd className="break-words whitespace-pre-wrap" dir="auto">
              {request.comment}
            </dd>
          </>
        )}
        {request.decidedBy && (
          <>
            <dt className="text-muted">Decided by</dt>
            <dd dir="auto">
              {request.decidedBy.name}, <Time at={request.decidedAt} />
            </dd>
          </>
        )}
        {request.decisionComment && (
          <>
            <dt className="text-muted">Answer</dt>
            <dd className="break-words whitespace-pre-wrap" dir="auto">
              {request.decisionComment}
            </dd>
          </>
        )}
        {isPending && (
          <>
            <dt className="text-muted">Expires</dt>
            <dd>
              <Time at={request.expiresAt} isAhead />
            </dd>
          </>
        )}
      </dl>
      {changed.length > 0 && (
        <div
          role="alert"
          className="mb-5 flex gap-2 rounded-control border border-warn/30 bg-warn/8 px-3 py-2 text-sm text-pretty"
        >
          <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
          <p>
            Changed since the request was made: {changed.join(', ')}. It cannot be approved any more.{' '}
            {request.isYours ? 'Withdraw it and ask again.' : 'Decline it, and ask for a new one.'}
          </p>
        </div>
      )}
      {isPending && !request.mayDecide && (
        <p className="mb-5 text-sm text-pretty text-muted">
          {request.isYours
            ? 'Another person who may publish there decides. You cannot approve your own request.'
            : `Only people who may publish into ${target} decide.`}
        </p>
      )}
      {request.mayDecide && (
        <FieldFrame className="mb-5" label="Your comment" hint="Needed to decline. The person who asked reads it.">
          {(control) => (
            <Textarea {...control} value={comment} onValue={setComment} rows={2} maxLength={1000} dir="auto" />
          )}
        </FieldFrame>
      )}
      <Loaded query={query}>
        {({ diff, resources }) => (
          <section aria-label="Differences" className="mb-6">
            <h3 className="mb-2 text-sm font-semibold">{headings[request.status]}</h3>
            <ul className="divide-y rounded-surface border">
              {diff.map((resource, index) => (
                <Resource
                  key={`${resource.resourceType}:${resources[index]?.resourceId}`}
                  resource={resource}
                  isOpenAtFirst={diff.length === 1}
                />
              ))}
            </ul>
          </section>
        )}
      </Loaded>
    </Sheet>
  )
}

function stateOf({ sourceResource, targetResource }: ResourceDiff): { word: string; tone: Tone } {
  if (!targetResource) return { word: 'New', tone: 'good' }
  return sourceResource ? { word: 'Changed', tone: 'warn' } : { word: 'Deleted', tone: 'bad' }
}

function Resource({ resource, isOpenAtFirst }: { resource: ResourceDiff; isOpenAtFirst: boolean }) {
  const info = resource.sourceResource ?? resource.targetResource
  const { word, tone } = stateOf(resource)
  return (
    <DisclosureRow
      startsOpen={isOpenAtFirst}
      className="sm:pl-9"
      summary={
        <>
          <span className="min-w-0 flex-1 truncate font-medium" dir="auto">
            {info?.name}
          </span>
          <span className="text-xs text-muted capitalize max-sm:hidden">{resource.resourceType}</span>
          <span className="w-20 shrink-0 text-xs">
            <Status tone={tone}>{word}</Status>
          </span>
        </>
      }
    >
      <Changes resource={resource} />
    </DisclosureRow>
  )
}
