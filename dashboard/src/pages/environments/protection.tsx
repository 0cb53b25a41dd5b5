// The protection of an environment: whether a second person approves what is published into it, and whether keys are exempt.
import { useQuery } from '@tanstack/react-query'
import { useCanInOrganization } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { environments, refreshSession } from '../../api/environments.ts'
import { Button } from '../../ui/base/button.tsx'
import { Loaded } from '../../ui/base/states.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { Dialog } from '../../ui/frame/dialog.tsx'

interface ProtectionProps {
  environment: { _id: string; name: string }
  onClose: () => void
}

export function Protection({ environment: { _id, name }, onClose }: ProtectionProps) {
  const query = useQuery(environments.protection(_id))
  const isOwner = useCanInOrganization('owner')
  const change = useAction({
    do: (body: { isProtected?: boolean; isOpenToAutomation?: boolean }) => environments.protect(_id, body),
    refresh: ['environments'],
    done: ({ isProtected }) => (isProtected ? `${name} is protected` : `${name} is not protected any more`),
    onDone: () => void refreshSession(),
  })
  return (
    <Dialog
      open
      onClose={onClose}
      size="md"
      title={`Protection of ${name}`}
      description="Workflows, layouts and translations of a protected environment change only by a publish that a second person has approved."
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <Loaded query={query}>
        {({ isProtected, isOpenToAutomation }) => (
          <div className="space-y-4">
            <Row
              label="Ask a second person"
              hint={
                isProtected && !isOwner
                  ? 'Only an owner can turn it off.'
                  : 'Whoever publishes asks; another person who may publish here approves or declines.'
              }
              value={isProtected}
              disabled={change.isPending || (isProtected && !isOwner)}
              onValue={(value) => change.mutate({ isProtected: value })}
            />
            <Row
              label="Let API keys publish without approval"
              hint={
                isOwner
                  ? 'For automation that you trust, such as a pipeline with reviews of its own.'
                  : 'Only an owner can turn it on.'
              }
              value={isOpenToAutomation}
              disabled={change.isPending || !isProtected || (!isOwner && !isOpenToAutomation)}
              onValue={(value) => change.mutate({ isOpenToAutomation: value })}
            />
          </div>
        )}
      </Loaded>
    </Dialog>
  )
}

interface RowProps {
  label: string
  hint: string
  value: boolean
  disabled: boolean
  onValue: (value: boolean) => void
}

const Row = ({ label, hint, ...control }: RowProps) => (
  <div className="flex items-start gap-4">
    <div className="min-w-0 flex-1 text-sm">
      <p className="font-medium">{label}</p>
      <p className="text-xs text-pretty text-muted">{hint}</p>
    </div>
    <Switch aria-label={label} {...control} />
  </div>
)
