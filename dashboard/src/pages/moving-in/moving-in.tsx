// Moving in: the importers' commands with the key filled in, the imports with their bars, and the shadow of the old service.
import { useQuery } from '@tanstack/react-query'
import { Truck } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { environments } from '../../api/environments.ts'
import { type Import, imports } from '../../api/imports.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { EmptyState, Loaded, ProgressBar } from '../../ui/base/states.tsx'
import { Status, type Tone } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { ChosenCode } from '../../ui/code/code-block.tsx'
import { Page as Frame, Section } from '../../ui/frame/page.tsx'
import { oneOf, useUrlState } from '../../ui/list/url-state.ts'
import { commandOf, type SourceName, sources } from './commands.ts'
import { ShadowSection } from './shadow.tsx'

const schema = {
  from: oneOf(
    sources.map(({ value }) => value),
    'novu',
  ),
}

export function Page() {
  const { _id } = useEnvironment()
  const all = useQuery(environments.list())
  // Whoever opens a shadow environment comes for its report.
  const isShadow = all.data?.some((each) => each._id === _id && each.shadow !== undefined) ?? false
  return (
    <Frame
      title="Moving in"
      width="content"
      description="Bring workflows, subscribers, preferences and the inbox along from another service. See what would come first; nothing is sent."
    >
      {isShadow && <Shadow />}
      <Section
        title="Import"
        description="The first command only looks, and writes a report of what maps and what does not. The second does it. Run it again as often as you like: what is here already stays."
      >
        <Commands />
      </Section>
      <Section title="Imports" description="Of the last 30 days, by the command line tool.">
        <Imports />
      </Section>
      {!isShadow && <Shadow />}
    </Frame>
  )
}

const Shadow = () => (
  <Section title="Shadow" description="Run beside the old service before you switch, and see where both differ.">
    <ShadowSection />
  </Section>
)

function Commands() {
  const environment = useEnvironment()
  const canSee = useCan('owner')
  const keys = useQuery({ ...environments.apiKeys(), enabled: canSee })
  const [{ from }, setUrl] = useUrlState(schema)
  const apiKey = keys.data?.[0]?.key
  return (
    <div className="grid gap-3">
      <ChosenCode<SourceName>
        label="Service to come from"
        options={sources}
        value={from}
        onValue={(value) => setUrl({ from: value })}
        code={commandOf(from, { url: window.location.origin, apiKey: apiKey ?? 'YOUR_API_KEY' })}
      />
      <p className="text-sm text-pretty text-muted">
        {sources.find(({ value }) => value === from)?.needs}{' '}
        {apiKey === undefined ? `Fill in a key of ${environment.name}.` : `The key is that of ${environment.name}.`}{' '}
        Secrets do not come along: the report lists them by name.
      </p>
    </div>
  )
}

function Imports() {
  const query = useQuery(imports.list())
  return (
    <Loaded query={query}>
      {({ imports: list }) =>
        list.length === 0 ? (
          <EmptyState icon={<Truck />} title="No import yet">
            Run the command above with <code>--apply</code>: its progress shows here, and you can close this page
            meanwhile.
          </EmptyState>
        ) : (
          <ul aria-label="Imports" className="grid gap-4">
            {list.map((each) => (
              <ImportCard key={each.importId} of={each} />
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

const states: Record<Import['status'], { tone: Tone; word: string }> = {
  running: { tone: 'info', word: 'Running' },
  stopped: { tone: 'warn', word: 'Stopped' },
  done: { tone: 'good', word: 'Done' },
}

const count = (value: number) => value.toLocaleString('en')

function ImportCard({ of: { source, status, startedAt, updatedAt, kinds } }: { of: Import }) {
  const { tone, word } = states[status]
  const name = sources.find(({ value }) => value === source)?.label ?? source
  return (
    <li className="rounded-surface border p-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="text-sm font-medium">From {name}</h3>
        <Status tone={tone} live={status === 'running'}>
          {word}
        </Status>
      </div>
      <p className="mt-0.5 text-xs text-muted">
        Begun <Time at={startedAt} />, last request <Time at={updatedAt} />
        {status === 'stopped' && '. The same command continues where it stopped.'}
      </p>
      <ul className="mt-3 grid gap-3">
        {kinds.toSorted(inOrder).map(({ kind, found, done, imported, unchanged, failed }) => (
          <li key={kind} className="grid gap-1">
            <ProgressBar done={done} total={found} label={words[kind] ?? kind} />
            <p className="text-xs text-muted tabular-nums">
              {count(imported)} imported, {count(unchanged)} unchanged
              {failed > 0 && (
                <span className="text-bad">, {count(failed)} failed: the report of the command says why</span>
              )}
            </p>
          </li>
        ))}
      </ul>
    </li>
  )
}

/** As they are sent. */
const inOrder = (a: { kind: string }, b: { kind: string }) => {
  const order = Object.keys(words)
  return order.indexOf(a.kind) - order.indexOf(b.kind)
}

const words: Record<string, string> = {
  subscribers: 'Subscribers',
  preferences: 'Preferences',
  credentials: 'Device tokens and chat addresses',
  'topic-subscriptions': 'Subscriptions to topics',
  messages: 'Inbox messages',
}
