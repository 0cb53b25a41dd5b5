// Syncs one workflow to another environment, after showing what would change there.
import { useQuery } from '@tanstack/react-query'
import { approvals, refreshApprovals } from '../../../api/approvals.ts'
import { type Environment, isAtLeast, useSession } from '../../../api/auth.ts'
import { useAction } from '../../../api/cache.ts'
import { api, inEnvironment } from '../../../api/client.ts'
import { workflows } from '../../../api/workflows.ts'
import { useEnvironment } from '../../../shell/environment.ts'
import { EnvironmentDot } from '../../../ui/base/avatar.tsx'
import { Button } from '../../../ui/base/button.tsx'
import { Loaded, SkeletonText } from '../../../ui/base/states.tsx'
import { Status, type Tone } from '../../../ui/base/status.tsx'
import { Dialog } from '../../../ui/frame/dialog.tsx'
import { MenuItem, MenuLabel, MenuSeparator } from '../../../ui/frame/menu.tsx'

export interface SyncTarget {
  workflowId: string
  name: string
  environment: Environment
}

interface SyncItemsProps {
  workflow: { workflowId: string; name: string }
  onChoose: (target: SyncTarget) => void
}

/** Menu items: one for each other environment. */
export function SyncItems({ workflow, onChoose }: SyncItemsProps) {
  const { environments } = useSession()
  const here = useEnvironment()
  const others = environments.filter(
    ({ _id, role, isProtected }) =>
      _id !== here._id && (isProtected || (isAtLeast(role, 'admin') && isAtLeast(here.role, 'admin'))),
  )
  if (others.length === 0) return null
  return (
    <>
      <MenuSeparator />
      <MenuLabel>Sync to…</MenuLabel>
      {others.map((environment) => (
        <MenuItem
          key={environment._id}
          icon={<EnvironmentDot color={environment.color} />}
          onSelect={() => onChoose({ workflowId: workflow.workflowId, name: workflow.name, environment })}
        >
          {environment.name}
        </MenuItem>
      ))}
    </>
  )
}

export function SyncDialog({ target, onClose }: { target: SyncTarget | undefined; onClose: () => void }) {
  return target ? <OpenSyncDialog target={target} onClose={onClose} /> : null
}

const words: Record<string, { word: string; tone: Tone }> = {
  added: { word: 'New', tone: 'good' },
  modified: { word: 'Changed', tone: 'warn' },
  deleted: { word: 'Removed', tone: 'bad' },
  moved: { word: 'Moved', tone: 'info' },
}

function OpenSyncDialog({
  target: { workflowId, name, environment },
  onClose,
}: {
  target: SyncTarget
  onClose: () => void
}) {
  const here = useEnvironment()
  const isAsking = environment.isProtected
  const difference = useQuery({
    queryKey: inEnvironment('workflows', 'difference', environment._id, workflowId),
    queryFn: async ({ signal }) => {
      const path = { targetEnvironmentId: environment._id }
      const body = { sourceEnvironmentId: here._id }
      const { resources } = await api('POST /v2/environments/{targetEnvironmentId}/diff', { path, body, signal })
      const own = resources.find(
        ({ resourceType, sourceResource, targetResource }) =>
          resourceType === 'workflow' && (sourceResource ?? targetResource)?.id === workflowId,
      )
      return own?.changes ?? []
    },
    staleTime: 0,
  })
  const sync = useAction({
    do: async () => {
      if (!isAsking) return workflows.sync(workflowId, environment._id)
      const resources = [{ resourceType: 'workflow' as const, resourceId: workflowId }]
      return approvals.ask(environment._id, { sourceEnvironmentId: here._id, resources })
    },
    refresh: ['workflows'],
    done: isAsking ? 'Asked for approval' : `“${name}” synced to ${environment.name}`,
    onDone: () => {
      void refreshApprovals()
      onClose()
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={`Sync to ${environment.name}`}
      description={`“${name}” in ${environment.name} becomes the same as in ${here.name}. Runs in progress keep their version.${isAsking ? ' The environment is protected, so a second person approves it first.' : ''}`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" pending={sync.isPending} onClick={() => sync.mutate()}>
            {isAsking ? 'Ask for approval' : `Sync to ${environment.name}`}
          </Button>
        </>
      }
    >
      <Loaded query={difference} skeleton={<SkeletonText lines={3} />}>
        {(changes) =>
          changes.length === 0 ? (
            <p className="rounded-surface border bg-raised px-3 py-2.5 text-sm text-muted">
              It is already the same in both environments.
            </p>
          ) : (
            <ul aria-label="Changes" className="divide-y rounded-surface border">
              {changes.map(({ action, resourceType, sourceResource, targetResource }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a resource may appear twice, as moved and as changed
                <li key={index} className="flex min-h-10 items-center gap-3 px-3 text-sm">
                  <span className="w-20 text-xs">
                    <Status tone={words[action]?.tone ?? 'neutral'}>{words[action]?.word ?? action}</Status>
                  </span>
                  <span className="min-w-0 flex-1 truncate">{(sourceResource ?? targetResource)?.name}</span>
                  <span className="text-xs text-muted">{resourceType.replace('_', ' ')}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Dialog>
  )
}
