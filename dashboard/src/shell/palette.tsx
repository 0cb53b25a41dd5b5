// ⌘K: opens any page, workflow, subscriber or run by part of its name.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Command } from 'cmdk'
import { Bell, BookOpen, CircleCheck, CircleX, Layers2, LoaderCircle, Moon, Search, Sun } from 'lucide-react'
import { Dialog } from 'radix-ui'
import { type ReactNode, useDeferredValue, useEffect, useState } from 'react'
import { useCan, useSession } from '../api/auth.ts'
import { runs } from '../api/runs.ts'
import { nameOf, subscribers } from '../api/subscribers.ts'
import { workflows } from '../api/workflows.ts'
import { Avatar } from '../ui/base/avatar.tsx'
import { timeSince } from '../ui/base/time.tsx'
import { Kbd } from '../ui/base/tooltip.tsx'
import { StepIcons } from '../ui/domain/step-kind.tsx'
import { useEnvironment, useSwitchEnvironment } from './environment.ts'
import { navigation, otherPages } from './navigation.ts'
import { setTheme } from './theme.ts'

export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const text = useDeferredValue(typed.trim())
  const navigate = useNavigate()
  const isAdmin = useCan('admin')
  const { environments } = useSession()
  const environment = useEnvironment()
  const switchTo = useSwitchEnvironment()
  const go = (to: string, search: Record<string, string> = {}) => {
    onClose()
    void navigate({ to: to as '/', search })
  }
  const open = (path: string) => window.open(path, '_blank', 'noopener')
  const act = (action: () => void) => () => {
    onClose()
    action()
  }
  const found = useFound(text)
  const [selected, setSelected] = useState('')
  const pages = [...navigation.flatMap(({ items }) => items), ...otherPages].filter(
    ({ needs, label, keywords = '' }) =>
      (needs !== 'admin' || isAdmin) && `${label} ${keywords}`.toLowerCase().includes(text.toLowerCase()),
  )
  const commands = [
    ...environments
      .filter((one) => one._id !== environment._id)
      .map((one) => ({
        label: `Switch to ${one.name}`,
        icon: <Layers2 />,
        run: act(() => switchTo(one)),
      })),
    {
      label: 'Open the API reference',
      icon: <BookOpen />,
      keywords: 'docs help manual',
      run: act(() => open('/docs')),
    },
    { label: 'Open the demo', icon: <Bell />, keywords: 'inbox help try', run: act(() => open('/demo')) },
    { label: 'Use the light theme', icon: <Sun />, run: act(() => setTheme('light')) },
    { label: 'Use the dark theme', icon: <Moon />, run: act(() => setTheme('dark')) },
  ].filter((command) =>
    `${command.label} ${'keywords' in command ? command.keywords : ''}`.toLowerCase().includes(text.toLowerCase()),
  )

  // Search results load after the pages but appear above them: Enter must open the first item.
  const first = found.first ?? pages[0]?.to ?? commands[0]?.label ?? ''
  useEffect(() => setSelected(first), [first])
  // The library may still select from the previous list; then Enter would do nothing.
  const there = [...found.ids, ...pages.map(({ to }) => to), ...commands.map(({ label }) => label)]
  const isGone = !there.includes(selected)
  useEffect(() => {
    if (isGone) setSelected(first)
  }, [isGone, first])

  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-50 animate-fade bg-[rgb(9_9_10/0.4)]" />
        <Dialog.Content
          data-modal
          aria-describedby={undefined}
          // The library handles Escape only for the topmost layer; here Escape must always close the palette.
          onKeyDown={(event) => event.key === 'Escape' && onClose()}
          className="fixed top-[12vh] left-1/2 z-50 w-[min(640px,calc(100vw-24px))] -translate-x-1/2 overflow-hidden rounded-surface border border-line bg-page shadow-float outline-none"
        >
          <Dialog.Title className="sr-only">Search</Dialog.Title>
          <Command
            value={selected}
            onValueChange={setSelected}
            shouldFilter={false}
            loop
            label="Search pages, workflows, subscribers and runs"
          >
            <div className="flex items-center gap-2.5 border-b px-4">
              <Search className="size-4 shrink-0 text-faint" aria-hidden />
              <Command.Input
                value={typed}
                onValueChange={setTyped}
                placeholder="Go to a page, workflow, subscriber or run…"
                className="h-12 w-full bg-transparent text-base outline-none"
              />
              {found.isLoading && <LoaderCircle className="size-4 animate-spin text-faint" />}
              <Kbd keys="esc" />
            </div>
            <Command.List className="max-h-[min(400px,60vh)] overflow-y-auto p-2">
              {!found.isLoading && (
                <Command.Empty className="py-10 text-center text-sm text-muted">
                  Nothing matches “{typed}”. Search workflows by name, subscribers by name, address or id, and runs by
                  transaction id.
                </Command.Empty>
              )}
              <Group heading="Workflows" isEmpty={found.workflows.length === 0}>
                {found.workflows.map((workflow) => (
                  <Item
                    key={workflow._id}
                    value={workflow._id}
                    onSelect={() => go(`/workflows/${workflow.workflowId}`)}
                  >
                    <span className="truncate">{workflow.name}</span>
                    <code className="truncate text-muted">{workflow.workflowId}</code>
                    <span className="ml-auto">
                      <StepIcons kinds={workflow.stepTypeOverviews} />
                    </span>
                  </Item>
                ))}
              </Group>
              <Group heading="Subscribers" isEmpty={found.subscribers.length === 0}>
                {found.subscribers.map((subscriber) => (
                  <Item
                    key={subscriber._id}
                    value={subscriber._id}
                    onSelect={() => go(`/subscribers/${encodeURIComponent(subscriber.subscriberId)}`)}
                  >
                    <Avatar name={nameOf(subscriber)} />
                    <span className="truncate">{nameOf(subscriber)}</span>
                    <code className="truncate text-muted">{subscriber.subscriberId}</code>
                  </Item>
                ))}
              </Group>
              <Group heading="Runs" isEmpty={found.runs.length === 0}>
                {found.runs.map((run) => (
                  <Item key={run._id} value={run._id} onSelect={() => go(`/activity/${run._id}`)}>
                    {run.status === 'error' ? <CircleX className="text-bad" /> : <CircleCheck className="text-good" />}
                    <span className="truncate">{run.template?.name ?? 'Deleted workflow'}</span>
                    <code className="truncate text-muted">{run.transactionId}</code>
                    <span className="ml-auto text-xs whitespace-nowrap text-muted">{timeSince(run.createdAt)}</span>
                  </Item>
                ))}
              </Group>
              <Group heading="Pages" isEmpty={pages.length === 0}>
                {pages.map(({ to, label, icon: Icon }) => (
                  <Item key={to} value={to} onSelect={() => go(to)}>
                    <Icon />
                    {label}
                  </Item>
                ))}
              </Group>
              <Group heading="Commands" isEmpty={commands.length === 0}>
                {commands.map(({ label, icon, run }) => (
                  <Item key={label} value={label} onSelect={run}>
                    {icon}
                    {label}
                  </Item>
                ))}
              </Group>
            </Command.List>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

/** Search results from the API; no request before the user types. */
function useFound(text: string) {
  const isOn = text.length > 1
  const isAddress = text.includes('@')
  const byName = useQuery({ ...workflows.list({ query: text, limit: 5 }), enabled: isOn })
  const people = useQuery({
    ...subscribers.list({ ...(isAddress ? { email: text } : { name: text }), limit: 5 }),
    enabled: isOn,
  })
  const person = useQuery({ ...subscribers.list({ subscriberId: text, limit: 1 }), enabled: isOn && !isAddress })
  const byTransaction = useQuery({ ...runs.list({ transactionId: [text], limit: 5 }), enabled: isOn })
  const all = [byName, people, person, byTransaction]
  const inOrder = [...(person.data?.data ?? []), ...(people.data?.data ?? [])]
  const found = {
    workflows: isOn ? (byName.data?.workflows ?? []) : [],
    subscribers: isOn ? inOrder.filter((one, index) => inOrder.findIndex(({ _id }) => _id === one._id) === index) : [],
    runs: isOn ? (byTransaction.data?.data ?? []) : [],
  }
  const ids = [...found.workflows, ...found.subscribers, ...found.runs].map(({ _id }) => _id)
  return { ...found, ids, first: ids[0], isLoading: isOn && all.some((query) => query.isFetching) }
}

function Group({ heading, isEmpty, children }: { heading: string; isEmpty: boolean; children: ReactNode }) {
  if (isEmpty) return null
  return (
    <Command.Group
      heading={heading}
      className="mb-1 [&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:py-1.5 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-muted"
    >
      {children}
    </Command.Group>
  )
}

function Item({ value, onSelect, children }: { value: string; onSelect: () => void; children: ReactNode }) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex h-9 items-center gap-2.5 rounded-control px-2 text-sm select-none data-[selected=true]:bg-hover pointer-coarse:h-11 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-muted"
    >
      {children}
    </Command.Item>
  )
}
