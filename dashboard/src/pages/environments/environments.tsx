// The environments of the organization, and publishing from one into another.
import { useQuery } from '@tanstack/react-query'
import { ArrowLeftRight, Hourglass, Layers2, Pencil, Rocket, ShieldCheck, Trash2 } from 'lucide-react'
import { isAtLeast, useCanInOrganization, useSession } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type EnvironmentRecord, environments, refreshSession } from '../../api/environments.ts'
import { useEnvironment, useSwitchEnvironment } from '../../shell/environment.ts'
import { EnvironmentDot } from '../../ui/base/avatar.tsx'
import { Button } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { EmptyState } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { useJob } from '../../ui/domain/job.ts'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../ui/frame/menu.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { NewButton } from '../../ui/list/new.tsx'
import { type Column, RowActions, Table, timeColumn } from '../../ui/list/table.tsx'
import { text, useUrlState } from '../../ui/list/url-state.ts'
import { EnvironmentForm } from './environment-form.tsx'
import { Protection } from './protection.tsx'
import { Publish, PublishProgress } from './publish.tsx'
import { publishJob } from './publish-work.ts'

/** `edit` is an environment id or `new`; `protect` one whose protection is shown; `publish` is the target environment, `from` the source. */
const schema = { edit: text(), publish: text(), from: text(), only: text(), protect: text() }

const isSystem = ({ name }: { name: string }) => /^(development|production)$/i.test(name)

export function Page() {
  const [url, setUrl] = useUrlState(schema)
  const session = useSession()
  const here = useEnvironment()
  const switchTo = useSwitchEnvironment()
  const canChange = useCanInOrganization('admin')
  const list = useQuery(environments.list())
  const publishInto = (target: string, from?: string) => setUrl({ publish: target, from: from ?? '' }, { push: true })
  const source = session.environments[0]?._id ?? here._id
  const usualTarget = here._id === source ? session.environments.find(({ _id }) => _id !== source)?._id : here._id
  const work = useJob(publishJob)
  const nameOf = (id: string) => session.environments.find(({ _id }) => _id === id)?.name ?? 'another environment'
  const switchById = (id: string) => {
    const found = session.environments.find(({ _id }) => _id === id)
    if (found) switchTo(found)
  }

  const protectedOne = list.data?.find(({ _id }) => _id === url.protect)

  const columns: Array<Column<EnvironmentRecord>> = [
    {
      id: 'name',
      header: 'Name',
      cell: (environment) => (
        <span className="flex items-center gap-2.5">
          <EnvironmentDot color={environment.color ?? null} className="size-2.5" />
          <span className="truncate font-medium" dir="auto">
            {environment.name}
          </span>
          {environment.clock && (
            <Badge tone="warn">
              <Hourglass aria-hidden />
              Clock held
            </Badge>
          )}
          {environment._id === here._id && <Badge tone="good">You are here</Badge>}
          {session.environments.find(({ _id }) => _id === environment._id)?.isProtected && (
            <Badge>
              <ShieldCheck aria-hidden />
              Protected
            </Badge>
          )}
        </span>
      ),
    },
    {
      id: 'identifier',
      header: 'Identifier',
      width: 'w-60',
      from: 'lg',
      cell: ({ identifier }) => <Id value={identifier} />,
    },
    timeColumn('Created', 'createdAt', { width: 'w-32', from: 'md' }),
    {
      id: 'actions',
      header: <span className="sr-only">Actions</span>,
      width: 'w-14 sm:w-64',
      cell: (environment) => (
        <RowActions>
          {environment._id !== source && (
            <Button
              size="sm"
              icon={<Rocket />}
              className="max-sm:hidden"
              onClick={() => publishInto(environment._id, here._id === environment._id ? source : here._id)}
            >
              Compare<span className="sr-only"> with {environment.name}</span>
            </Button>
          )}
          {environment._id !== here._id && (
            <Button size="sm" className="max-sm:hidden" onClick={() => switchById(environment._id)}>
              Switch<span className="sr-only"> to {environment.name}</span>
            </Button>
          )}
          <EnvironmentMenu
            environment={environment}
            isHere={environment._id === here._id}
            onEdit={() => setUrl({ edit: environment._id }, { push: true })}
            onSwitch={() => switchById(environment._id)}
            onProtect={() => setUrl({ protect: environment._id }, { push: true })}
            onPublish={() => publishInto(environment._id, here._id === environment._id ? source : here._id)}
          />
        </RowActions>
      ),
    },
  ]
  return (
    <Frame
      title="Environments"
      flush
      actions={
        <>
          <NewButton
            variant="secondary"
            disabled={!canChange}
            hint={canChange ? 'New environment' : 'Only admins and owners can create environments'}
            onNew={() => setUrl({ edit: 'new' }, { push: true })}
          >
            New environment
          </NewButton>
          <Button
            variant="primary"
            icon={<Rocket />}
            disabled={usualTarget === undefined}
            onClick={() => usualTarget && publishInto(usualTarget, source)}
          >
            Publish changes
          </Button>
        </>
      }
    >
      {work && work.status !== 'done' && url.publish === '' && (
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b bg-raised px-4 py-3 sm:px-6">
          <div className="min-w-0 flex-1">
            {work.status === 'running' ? (
              <PublishProgress work={work} target={nameOf(work.targetId)} />
            ) : (
              <p className="text-sm">
                Publishing to {nameOf(work.targetId)} stopped: {work.total - work.left.length} of {work.total} were
                published.
              </p>
            )}
          </div>
          <Button size="sm" onClick={() => publishInto(work.targetId, work.sourceId)}>
            Show
          </Button>
        </div>
      )}
      <Table
        label="Environments"
        columns={columns}
        rows={list.data}
        rowKey={({ _id }) => _id}
        query={list}
        empty={<EmptyState icon={<Layers2 />} title="No environments" />}
        footer={
          <p className="max-w-2xl px-4 py-4 text-xs text-pretty text-muted sm:px-6">
            Create workflows and layouts in one environment and publish them into another. Each environment has its own
            integrations, API keys, variables, subscribers and topics. Protect an environment from its menu, so that a
            second person approves what is published into it.
          </p>
        }
      />
      <EnvironmentForm
        environment={url.edit === 'new' ? 'new' : list.data?.find(({ _id }) => _id === url.edit)}
        onClose={() => setUrl({ edit: '' })}
      />
      {protectedOne && <Protection environment={protectedOne} onClose={() => setUrl({ protect: '' })} />}
      {url.publish !== '' && (
        <Publish
          targetId={url.publish}
          sourceId={url.from || source}
          only={url.only}
          onChoose={(patch) => setUrl(patch)}
          onClose={() => setUrl({ publish: '', from: '', only: '' })}
        />
      )}
    </Frame>
  )
}

interface EnvironmentMenuProps {
  environment: EnvironmentRecord
  isHere: boolean
  onEdit: () => void
  onSwitch: () => void
  onPublish: () => void
  onProtect: () => void
}

function EnvironmentMenu({ environment, isHere, onEdit, onSwitch, onPublish, onProtect }: EnvironmentMenuProps) {
  const { _id, name } = environment
  const canDelete = useCanInOrganization('admin')
  const there = useSession().environments.find((one) => one._id === _id)
  const canChange = there !== undefined && isAtLeast(there.role, 'admin')
  const ask = useConfirm()
  const remove = useAction({
    do: () => environments.remove(_id),
    refresh: ['environments'],
    done: `“${name}” deleted`,
    onDone: () => void refreshSession(),
  })
  const askRemove = async () => {
    const yes = await ask({
      title: `Delete “${name}”?`,
      body: `Its workflows, layouts, subscribers, topics, integrations, webhooks, activity and variable values are deleted with it, and its API keys stop working at once. This cannot be undone.`,
      confirm: `Delete ${name}`,
    })
    if (yes) remove.mutate()
  }
  return (
    <Menu label={`Actions for ${name}`}>
      {!isHere && (
        <MenuItem icon={<ArrowLeftRight />} onSelect={onSwitch}>
          Switch to this environment
        </MenuItem>
      )}
      <MenuItem icon={<Rocket />} onSelect={onPublish}>
        Compare and publish
      </MenuItem>
      {canChange && (
        <>
          <MenuItem icon={<Pencil />} onSelect={onEdit}>
            {isSystem(environment) ? 'Change the colour' : 'Rename or recolour'}
          </MenuItem>
          <MenuItem icon={<ShieldCheck />} onSelect={onProtect}>
            {there.isProtected ? 'Protection…' : 'Protect…'}
          </MenuItem>
          {canDelete && !isSystem(environment) && (
            <>
              <MenuSeparator />
              <MenuItem
                icon={<Trash2 />}
                danger
                disabled={isHere || there.isProtected}
                onSelect={() => void askRemove()}
              >
                {isHere
                  ? 'Switch to another environment to delete it'
                  : there.isProtected
                    ? 'Turn the protection off to delete it'
                    : 'Delete…'}
              </MenuItem>
            </>
          )}
        </>
      )}
    </Menu>
  )
}
