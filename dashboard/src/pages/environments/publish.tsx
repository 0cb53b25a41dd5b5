// Publishing: the differences between two environments, the selection, the dry run and the result.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ArrowRight, ChevronRight, CircleAlert, CircleCheck, MinusCircle, Rocket } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { approvals, refreshApprovals } from '../../api/approvals.ts'
import { isAtLeast, useSession } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { environments, type PublishReport, type ResourceDiff } from '../../api/environments.ts'
import { impact } from '../../api/impact.ts'
import { EnvironmentDot } from '../../ui/base/avatar.tsx'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { EmptyState, ErrorState, ProgressBar, Skeleton } from '../../ui/base/states.tsx'
import { Status, type Tone } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { Changes } from '../../ui/domain/changes.tsx'
import { ImpactSkeleton, ImpactView } from '../../ui/domain/impact.tsx'
import { useJob } from '../../ui/domain/job.ts'
import { Select } from '../../ui/form/select.tsx'
import { Checkbox } from '../../ui/form/switch.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { AskApproval } from './ask-approval.tsx'
import { Lacks } from './lacks.tsx'
import { type Named, type PublishState, perRequest, publishJob, resumePublish, startPublish } from './publish-work.ts'

interface PublishProps {
  sourceId: string
  targetId: string
  /** The id of one workflow: only it is chosen at first. */
  only: string
  onChoose: (patch: { from?: string; publish?: string }) => void
  onClose: () => void
}

type Kind = ResourceDiff['resourceType']
const keyOf = (resource: ResourceDiff) =>
  `${resource.resourceType}:${(resource.sourceResource ?? resource.targetResource)?.id ?? ''}`
const infoOf = (resource: ResourceDiff) => resource.sourceResource ?? resource.targetResource
const titles: Record<Kind, string> = { workflow: 'Workflows', layout: 'Layouts' }

export function Publish({ sourceId, targetId, only, onChoose, onClose }: PublishProps) {
  const { environments: all } = useSession()
  const source = all.find(({ _id }) => _id === sourceId)
  const target = all.find(({ _id }) => _id === targetId)
  // Into a protected environment nobody publishes alone, and whoever edits the source may ask.
  const isAsking = target?.isProtected === true
  const mayPublish = target !== undefined && isAtLeast(target.role, 'admin')
  const canPublish = isAsking ? source !== undefined && isAtLeast(source.role, 'editor') : mayPublish
  const [comment, setComment] = useState('')
  const navigate = useNavigate()
  const isPossible = source !== undefined && target !== undefined && sourceId !== targetId
  const diff = useQuery({ ...environments.diff(sourceId, targetId), enabled: isPossible })
  const resources = diff.data?.resources
  // What the user left out. Resources that exist only in the target would be deleted there, so they start left out.
  const [choice, setChoice] = useState<Record<string, boolean>>({})
  const isChosen = (resource: ResourceDiff) =>
    choice[keyOf(resource)] ??
    (only === ''
      ? resource.sourceResource !== null
      : resource.resourceType === 'workflow' && resource.sourceResource?.id === only)
  const chosen = resources?.filter(isChosen) ?? []
  const named = chosen.map((resource) => ({
    resourceType: resource.resourceType,
    resourceId: infoOf(resource)?.id ?? '',
  }))
  const ids = new Set(named.filter(({ resourceType }) => resourceType === 'workflow').map((one) => one.resourceId))
  const lacks = (diff.data?.lacks ?? []).flatMap((lack) => {
    const workflowIds = lack.workflowIds.filter((id) => ids.has(id))
    return workflowIds.length === 0 ? [] : [{ ...lack, workflowIds }]
  })
  const dryRun = useQuery({
    ...environments.dryRun(targetId, { sourceEnvironmentId: sourceId, resources: named }),
    enabled: mayPublish && isPossible && named.length > 0,
    placeholderData: (before) => before,
  })
  const effect = useQuery({
    ...impact.ofPublish(targetId, { sourceEnvironmentId: sourceId, resources: named }),
    enabled: isPossible && ids.size > 0,
    placeholderData: (before) => before,
  })
  const job = useJob(publishJob)
  const work = job?.sourceId === sourceId && job.targetId === targetId ? job : undefined
  const isAtWork = work?.status === 'running'
  const publish = () => {
    const isDeleted = (name: Named) =>
      chosen.some((one) => one.sourceResource === null && infoOf(one)?.id === name.resourceId)
    // Layouts before the workflows that use them; deletions last, when nothing uses the resource any more.
    const rank = (name: Named) => (isDeleted(name) ? 2 : name.resourceType === 'layout' ? 0 : 1)
    startPublish(
      sourceId,
      targetId,
      named.toSorted((one, other) => rank(one) - rank(other)),
      effect.isPlaceholderData ? undefined : effect.data?.impactToken,
    )
  }
  const ask = useAction({
    do: () => approvals.ask(targetId, { sourceEnvironmentId: sourceId, resources: named, comment: comment.trim() }),
    done: 'Asked for approval',
    onDone: ({ _id }) => {
      void refreshApprovals()
      void navigate({ to: '/approvals/{-$requestId}', params: { requestId: _id } })
    },
  })
  /** The user has seen the result; do not show it at the next visit. */
  const close = () => {
    if (work && !isAtWork) publishJob.set(undefined)
    onClose()
  }
  const compareAgain = () => {
    setChoice({})
    publishJob.set(undefined)
  }
  const choose = (which: readonly ResourceDiff[], isOn: boolean) =>
    setChoice((before) => ({ ...before, ...Object.fromEntries(which.map((one) => [keyOf(one), isOn])) }))
  const restart = (patch: { from?: string; publish?: string }) => {
    if (work && !isAtWork) publishJob.set(undefined)
    setChoice({})
    onChoose(patch)
  }
  const options = all.map(({ _id, name, color }) => ({
    value: _id,
    label: name,
    icon: <EnvironmentDot color={color} />,
  }))
  return (
    <Sheet
      open
      wide
      onClose={close}
      title={`Publish to ${target?.name ?? 'another environment'}`}
      footer={
        work?.status === 'done' ? (
          <Button variant="primary" onClick={close}>
            Done
          </Button>
        ) : work?.status === 'stopped' ? (
          <>
            <Button onClick={compareAgain}>Compare again</Button>
            <Button variant="primary" icon={<Rocket />} disabled={!canPublish} onClick={resumePublish}>
              Publish {work.left.length === 1 ? 'the last one' : `the other ${work.left.length}`}
            </Button>
          </>
        ) : (
          <div className="flex w-full flex-wrap items-center justify-end gap-x-4 gap-y-2">
            <div className="mr-auto min-w-0 text-xs text-muted" aria-live="polite">
              {!canPublish ? (
                isAsking ? (
                  `You can compare. Asking needs the role editor in ${source?.name ?? 'the source'}.`
                ) : (
                  'You can compare. Only admins and owners can publish.'
                )
              ) : isAtWork ? (
                'You can close this. Publishing continues while the window stays open.'
              ) : dryRun.data && chosen.length > 0 ? (
                <DryRun report={dryRun.data} />
              ) : null}
            </div>
            <Button onClick={close}>{isAtWork ? 'Close' : 'Cancel'}</Button>
            <Button
              variant="primary"
              icon={<Rocket />}
              pending={isAtWork || ask.isPending}
              // Only one publication at a time; a stopped one of another pair stays available.
              disabled={!canPublish || chosen.length === 0 || job?.status === 'running'}
              onClick={isAsking ? () => ask.mutate() : publish}
            >
              {isAsking
                ? 'Ask for approval'
                : chosen.length > 0
                  ? `Publish ${chosen.length} to ${target?.name}`
                  : 'Publish'}
            </Button>
          </div>
        )
      }
    >
      <div className="mb-5 flex items-center gap-2">
        <Select
          aria-label="From"
          value={sourceId}
          onValue={(from) => restart({ from })}
          options={options}
          disabled={isAtWork}
          className="sm:w-52"
        />
        <ArrowRight className="size-4 shrink-0 text-muted" aria-label="into" role="img" />
        <Select
          aria-label="Into"
          value={targetId}
          onValue={(id) => restart({ publish: id })}
          options={options}
          disabled={isAtWork}
          className="sm:w-52"
        />
      </div>
      {isAsking && !work && canPublish && resources && resources.length > 0 && (
        <AskApproval targetId={targetId} target={target.name} comment={comment} onComment={setComment} />
      )}
      {!work && source && target && <Lacks lacks={lacks} source={source} target={target} />}
      {!work && target && ids.size > 0 && (
        <section aria-label="Impact" className="mb-6 rounded-surface border p-4">
          {effect.data ? (
            <ImpactView
              impacts={effect.data.workflows}
              environmentId={targetId}
              canCancel={isAtLeast(target.role, 'editor')}
              onCanceled={() => void effect.refetch()}
            />
          ) : effect.error ? (
            <p className="text-sm text-muted">What it would do cannot be told: {effect.error.message}</p>
          ) : (
            <ImpactSkeleton />
          )}
        </section>
      )}
      {work && isAtWork && (
        <div className="mb-5">
          <PublishProgress work={work} target={target?.name} />
        </div>
      )}
      {work?.status === 'stopped' && (
        <div
          role="alert"
          className="mb-5 rounded-control border border-warn/30 bg-warn/8 px-3 py-2 text-sm text-pretty"
        >
          <p className="font-medium">
            Publishing stopped: {work.total - work.left.length} of {work.total} were published, {work.left.length} not.
          </p>
          <p className="text-muted">{work.error} Nothing is published twice.</p>
        </div>
      )}
      {work && !isAtWork ? (
        <Result reports={work.reports} target={target?.name ?? ''} />
      ) : !isPossible ? (
        <EmptyState title="Choose two different environments" className="py-10">
          Changes in the first are published into the second.
        </EmptyState>
      ) : diff.error ? (
        <ErrorState error={diff.error} onRetry={() => void diff.refetch()} />
      ) : !resources ? (
        <div className="space-y-2" role="status" aria-label="Comparing">
          {['w-full', 'w-full', 'w-full'].map((width, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: identical placeholders
            <Skeleton key={index} className={cn('h-11', width)} />
          ))}
        </div>
      ) : resources.length === 0 ? (
        <EmptyState icon={<CircleCheck />} title="Nothing to publish" className="py-10">
          {target?.name} has the same workflows and layouts as {source?.name}.
        </EmptyState>
      ) : (
        (['workflow', 'layout'] as const).map((kind) => (
          <Group
            key={kind}
            title={titles[kind]}
            resources={resources.filter((one) => one.resourceType === kind)}
            isChosen={isChosen}
            onChoose={choose}
            disabled={!canPublish || isAtWork}
          />
        ))
      )}
    </Sheet>
  )
}

/** Progress; a single request has nothing to count. */
export function PublishProgress({ work, target }: { work: PublishState; target: string | undefined }) {
  return (
    <ProgressBar
      done={work.total - work.left.length}
      {...(work.total > perRequest ? { total: work.total } : {})}
      label={`Publishing to ${target ?? 'another environment'}…`}
    />
  )
}

interface GroupProps {
  title: string
  resources: readonly ResourceDiff[]
  isChosen: (resource: ResourceDiff) => boolean
  onChoose: (which: readonly ResourceDiff[], isOn: boolean) => void
  disabled: boolean
}

function Group({ title, resources, isChosen, onChoose, disabled }: GroupProps) {
  if (resources.length === 0) return null
  const count = resources.filter(isChosen).length
  const all = count === resources.length ? true : count === 0 ? false : 'indeterminate'
  return (
    <section aria-label={title} className="mb-6">
      <h3 className="mb-2 flex items-center gap-2.5 pl-3 text-sm font-semibold">
        <Checkbox
          aria-label={`All ${title.toLowerCase()}`}
          value={all}
          onValue={() => onChoose(resources, all !== true)}
          disabled={disabled}
        />
        {title}
        <span className="text-xs font-normal text-muted">
          {count} of {resources.length}
        </span>
      </h3>
      <ul className="divide-y rounded-surface border">
        {resources.map((resource) => (
          <Resource
            key={keyOf(resource)}
            resource={resource}
            isChosen={isChosen(resource)}
            onChoose={(isOn) => onChoose([resource], isOn)}
            disabled={disabled}
          />
        ))}
      </ul>
    </section>
  )
}

interface ResourceProps {
  resource: ResourceDiff
  isChosen: boolean
  onChoose: (isOn: boolean) => void
  disabled: boolean
}

function stateOf({ sourceResource, targetResource }: ResourceDiff, isChosen: boolean): { word: string; tone: Tone } {
  if (!targetResource) return { word: 'New', tone: 'good' }
  if (!sourceResource) return isChosen ? { word: 'Deleted', tone: 'bad' } : { word: 'Kept', tone: 'neutral' }
  return { word: 'Changed', tone: 'warn' }
}

function Resource({ resource, isChosen, onChoose, disabled }: ResourceProps) {
  const [isOpen, setOpen] = useState(false)
  const info = infoOf(resource)
  const { word, tone } = stateOf(resource, isChosen)
  const needs = resource.dependencies?.filter(({ reason }) => reason === 'LAYOUT_REQUIRED_FOR_WORKFLOW') ?? []
  return (
    <li>
      <div className="flex min-h-11 items-center gap-2.5 px-3">
        <Checkbox aria-label={info?.name ?? ''} value={isChosen} onValue={onChoose} disabled={disabled} />
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
          className="flex min-w-0 flex-1 items-center gap-2.5 py-2.5 text-left text-sm"
        >
          <ChevronRight
            aria-hidden
            className={cn('size-4 shrink-0 text-muted transition-transform duration-120', isOpen && 'rotate-90')}
          />
          <span className="min-w-0 flex-1">
            <span className="block truncate font-medium" dir="auto">
              {info?.name}
            </span>
            {!isChosen && resource.sourceResource === null && (
              <span className="block text-xs text-muted">Only in the target. Select it to delete it there.</span>
            )}
            {needs.length > 0 && (
              <span className="block truncate text-xs text-muted">
                Also publishes the {needs.length === 1 ? 'layout' : 'layouts'}{' '}
                {needs.map(({ resourceName }) => `“${resourceName}”`).join(', ')}
              </span>
            )}
          </span>
          <span className="shrink-0 text-xs text-muted max-sm:hidden">
            {info?.updatedBy?.firstName && `${info.updatedBy.firstName}, `}
            <Time at={info?.updatedAt} />
          </span>
          <span className="w-20 shrink-0 text-xs">
            <Status tone={tone}>{word}</Status>
          </span>
        </button>
      </div>
      {isOpen && (
        <div className="animate-rise border-t bg-raised px-3 py-3 sm:pl-16">
          <Changes resource={resource} />
        </div>
      )}
    </li>
  )
}

/** A dry run skips everything and says in the reason what it would have done. */
function DryRun({ report }: { report: PublishReport }) {
  const reasons = report.results.flatMap(({ skipped }) => skipped.map(({ reason }) => reason))
  const counts = ['created', 'updated', 'deleted']
    .map((verb) => [reasons.filter((reason) => reason.endsWith(`would be ${verb}`)).length, verb] as const)
    .filter(([count]) => count > 0)
  const failures = reasons.flatMap((reason) => reason.split('would fail: ')[1] ?? [])
  return (
    <>
      {counts.map(([count, verb]) => `${count} will be ${verb}`).join(', ')}
      {failures.length > 0 && (
        <span className="text-bad">
          {counts.length > 0 && ' · '}
          {failures.length} will fail: {failures[0]}
        </span>
      )}
    </>
  )
}

const doneWords: Record<string, string> = { created: 'Created', updated: 'Updated', deleted: 'Deleted' }

function Result({ reports, target }: { reports: PublishReport[]; target: string }) {
  const results = reports.flatMap((report) => report.results)
  const successful = results.flatMap((result) => result.successful)
  const failed = results.flatMap((result) => result.failed)
  const skipped = results.flatMap((result) => result.skipped)
  const row = (
    one: { resourceType: string; resourceId: string; resourceName: string },
    icon: ReactNode,
    word: string,
    why?: string,
  ) => (
    <li
      key={`${one.resourceType}:${one.resourceId}:${word}`}
      className="flex min-h-11 items-center gap-2.5 px-3 py-2 text-sm"
    >
      {icon}
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium" dir="auto">
          {one.resourceName}
        </span>
        {why && <span className="block text-xs text-pretty text-muted">{why}</span>}
      </span>
      <span className="text-xs text-muted capitalize">{one.resourceType}</span>
      <span className="w-16 text-xs">{word}</span>
    </li>
  )
  if (results.length === 0) return null
  return (
    <div role="status">
      <p className="mb-3 text-sm font-medium">
        {failed.length === 0
          ? `${successful.length} published to ${target}`
          : `${successful.length} published to ${target}, ${failed.length} failed`}
      </p>
      <ul aria-label="Result" className="divide-y rounded-surface border">
        {failed.map((one) =>
          row(one, <CircleAlert className="size-4 shrink-0 text-bad" aria-hidden />, 'Failed', one.error),
        )}
        {successful.map((one) =>
          row(
            one,
            <CircleCheck className="size-4 shrink-0 text-good" aria-hidden />,
            doneWords[one.action] ?? one.action,
          ),
        )}
        {skipped.map((one) =>
          row(one, <MinusCircle className="size-4 shrink-0 text-muted" aria-hidden />, 'Skipped', one.reason),
        )}
      </ul>
    </div>
  )
}
