// Says that browsers may join every topic of the environment, with the switch that closes them.
import { useQuery } from '@tanstack/react-query'
import { TriangleAlert } from 'lucide-react'
import { useCan } from '../api/auth.ts'
import { useAction } from '../api/cache.ts'
import { environments } from '../api/environments.ts'
import { cn } from '../ui/base/class-names.ts'
import { FieldFrame } from '../ui/form/form.tsx'
import { Switch } from '../ui/form/switch.tsx'
import { useEnvironment } from './environment.ts'

/** Nothing where topics are closed. */
export function OpenTopicsWarning({ className }: { className?: string }) {
  const environment = useEnvironment()
  const isAdmin = useCan('admin')
  const { data } = useQuery(environments.inboxAccess(environment._id))
  const close = useAction({
    do: () => environments.changeInboxAccess(environment._id, { openTopics: false }),
    refresh: ['environments'],
    done: `Topics of ${environment.name} are closed to browsers`,
  })
  if (!data || !(data.openTopics ?? data.usual.openTopics)) return null
  return (
    <div className={cn('flex flex-wrap items-center gap-x-3 gap-y-1.5 bg-warn/10 py-2 text-sm', className)}>
      <TriangleAlert className="size-4 shrink-0 text-warn" aria-hidden />
      <p className="min-w-60 flex-1">
        Anybody with an inbox can join every topic of {environment.name} and read its messages, and create topics. Open
        the topics you mean, then close the rest.
      </p>
      <FieldFrame label="Topics open to browsers" inline>
        {(control) => (
          <Switch {...control} value onValue={() => close.mutate()} disabled={!isAdmin || close.isPending} />
        )}
      </FieldFrame>
    </div>
  )
}
