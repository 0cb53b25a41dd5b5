// The latest runs for a subscriber and their outcomes.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Activity, ArrowRight } from 'lucide-react'
import { runs } from '../../api/runs.ts'
import { ButtonLink } from '../../ui/base/button.tsx'
import { EmptyState, Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Time } from '../../ui/base/time.tsx'
import { RequestCode } from '../../ui/code/code-block.tsx'
import { RunStatus } from '../../ui/domain/outcomes.tsx'
import { StepIcons } from '../../ui/domain/step-kind.tsx'

export function RecentRuns({ subscriberId }: { subscriberId: string }) {
  const query = useQuery(runs.list({ subscriberIds: [subscriberId], limit: 20 }))
  return (
    <Loaded query={query} skeleton={<SkeletonText lines={6} />}>
      {({ data }) =>
        data.length === 0 ? (
          <EmptyState icon={<Activity />} title="No runs yet" className="py-8">
            <p>Trigger a workflow for this subscriber:</p>
            <RequestCode
              className="mt-4"
              request={{
                method: 'POST',
                path: '/v1/events/trigger',
                body: { name: 'your-workflow', to: { subscriberId }, payload: {} },
              }}
            />
          </EmptyState>
        ) : (
          <>
            <ul>
              {data.map((run) => (
                <li key={run._id} className="relative flex h-11 items-center gap-3 border-b text-sm hover:bg-hover">
                  <span className="w-24 shrink-0">
                    <RunStatus run={run} />
                  </span>
                  <Link
                    to={`/activity/${run._id}` as '/'}
                    search={{}}
                    className="min-w-0 flex-1 truncate font-medium after:absolute after:inset-0"
                  >
                    {run.template?.name ?? 'Deleted workflow'}
                  </Link>
                  <span className="max-sm:hidden">
                    <StepIcons kinds={run.channels} />
                  </span>
                  <Time at={run.createdAt} className="text-xs text-muted" />
                </li>
              ))}
            </ul>
            <ButtonLink
              className="mt-4"
              to={'/activity' as '/'}
              search={{ subscriberIds: subscriberId }}
              icon={<ArrowRight />}
            >
              All runs of this subscriber
            </ButtonLink>
          </>
        )
      }
    </Loaded>
  )
}
