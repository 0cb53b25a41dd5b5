// The history of a workflow or layout: who changed what, and when; two versions compared; an earlier one brought back.
import { type UseInfiniteQueryResult, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ChevronRight, History, RotateCcw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useCan, useCanEditContent } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { layouts } from '../../api/layouts.ts'
import { type Subject, type Version, versions } from '../../api/versions.ts'
import { type Workflow, workflows } from '../../api/workflows.ts'
import { Button } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { EmptyState, Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { FilesNote, useFilesRule } from '../../ui/domain/files-note.tsx'
import { SubjectTabs } from '../../ui/domain/subject-tabs.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { text, useUrlState, wholeNumber } from '../../ui/list/url-state.ts'
import { Messages } from './messages.tsx'

const schema = { version: wholeNumber(0), from: wholeNumber(0), subscriber: text() }

export function Page() {
  const { workflowId, layoutId } = useParams({ strict: false })
  const subject: Subject = workflowId ? { kind: 'workflow', id: workflowId } : { kind: 'layout', id: layoutId ?? '' }
  const list = useInfiniteQuery(versions.endless(subject))
  return (
    <Frame
      title={`History of ${subject.id}`}
      fills
      actions={<SubjectTabs kind={subject.kind} id={subject.id} current="history" />}
      heading={
        <span className="flex min-w-0 items-center gap-1.5">
          {subject.kind === 'workflow' ? (
            <Link
              to="/workflows/$workflowId"
              params={{ workflowId: subject.id }}
              search={{}}
              className="truncate text-base font-normal text-muted hover:text-ink"
            >
              {subject.id}
            </Link>
          ) : (
            <Link
              to="/layouts/$layoutId"
              params={{ layoutId: subject.id }}
              search={{}}
              className="truncate text-base font-normal text-muted hover:text-ink"
            >
              {subject.id}
            </Link>
          )}
          <ChevronRight className="size-4 shrink-0 text-faint" aria-hidden />
          <span className="text-lg">History</span>
        </span>
      }
    >
      <Loaded query={list}>
        {({ pages }) => <Entries subject={subject} entries={pages.flatMap(({ data }) => data)} list={list} />}
      </Loaded>
    </Frame>
  )
}

interface EntriesProps {
  subject: Subject
  entries: Version[]
  list: UseInfiniteQueryResult
}

function Entries({ subject, entries, list }: EntriesProps) {
  const [chosen, choose] = useUrlState(schema)
  // A link may name versions that are not loaded yet, and the last one loaded is compared with the one before it.
  const oldest = entries.at(-1)?.version ?? 0
  const isShort =
    list.hasNextPage &&
    !list.isFetchNextPageError &&
    [chosen.version, chosen.from].some((version) => version > 0 && version <= oldest)
  const { fetchNextPage } = list
  useEffect(() => {
    // Page after page, as long as the oldest one is too young.
    if (isShort && oldest > 0) void fetchNextPage()
  }, [isShort, oldest, fetchNextPage])
  const selected = entries.find(({ version }) => version === chosen.version) ?? entries[0]
  if (!selected) return null
  if (entries.length === 1 && selected.message === null)
    return (
      <EmptyState isPage icon={<History />} title="One version so far.">
        Every change will be listed here.
      </EmptyState>
    )
  return (
    <div className="grid h-full min-h-0 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)_minmax(0,3fr)] lg:grid-cols-[minmax(0,360px)_minmax(0,1fr)] lg:grid-rows-1">
      <div className="min-h-0 overflow-y-auto border-b lg:border-r lg:border-b-0">
        <ol aria-label="Versions">
          {entries.map((entry) => (
            <li key={entry.version}>
              <button
                type="button"
                aria-current={entry === selected}
                onClick={() => choose({ version: entry.version, from: 0 })}
                className={cn(
                  'flex w-full flex-col gap-0.5 border-b px-4 py-2.5 text-left hover:bg-hover',
                  entry === selected && 'bg-hover',
                )}
              >
                <span className="flex min-w-0 items-center gap-2">
                  <span className="truncate font-medium" dir="auto">
                    {entry.message ?? `Version ${entry.version}`}
                  </span>
                  {entry.isCurrent && <Badge>Current</Badge>}
                </span>
                <span className="truncate text-sm text-muted">
                  {authorOf(entry)} · <Time at={entry.createdAt} /> · {sourceOf(entry)}
                  {entry.saves > 1 && ` · ${entry.saves} saves`}
                </span>
                {entry.paths.length > 0 && (
                  <span className="truncate font-mono text-xs text-muted">{entry.paths.slice(0, 3).join(', ')}</span>
                )}
              </button>
            </li>
          ))}
        </ol>
        {list.hasNextPage && (
          <div className="flex flex-col items-center gap-2 p-3">
            {list.isFetchNextPageError && (
              <p role="alert" className="text-sm text-bad">
                {list.error?.message}
              </p>
            )}
            <Button size="sm" pending={list.isFetchingNextPage} onClick={() => void fetchNextPage()}>
              Older versions
            </Button>
          </div>
        )}
      </div>
      {isShort ? (
        <div className="p-4">
          <SkeletonText />
        </div>
      ) : (
        <Details
          key={selected.version}
          subject={subject}
          entry={selected}
          entries={entries}
          from={chosen.from}
          subscriberId={chosen.subscriber || undefined}
          onChoose={choose}
        />
      )}
    </div>
  )
}

const authorOf = ({ author }: Version): string =>
  author?.name ?? (author?.type === 'service' ? 'Belfry' : author?.type === 'api_key' ? 'An API key' : 'Unknown')

const words: Record<string, string> = {
  ...{
    dashboard: 'in the dashboard',
    api: 'over the API',
    sync: 'from code',
    import: 'imported',
  },
}

function sourceOf({ source }: Version): string {
  const kind = String(source?.kind ?? '')
  if (kind === 'files') return typeof source?.commit === 'string' ? `commit ${source.commit.slice(0, 7)}` : 'from files'
  if (kind === 'import') return `imported from ${String(source?.from)}`
  if (kind === 'restore') return `restored from version ${String(source?.version)}`
  if (kind === 'publish') {
    const version = typeof source?.version === 'number' ? ` version ${source.version}` : ''
    return typeof source?.environment === 'string' ? `published from ${source.environment}${version}` : 'published'
  }
  return words[kind] ?? 'by an earlier release'
}

interface DetailsProps {
  subject: Subject
  entry: Version
  entries: Version[]
  from: number
  subscriberId: string | undefined
  onChoose: (chosen: { from?: number; subscriber?: string }) => void
}

function Details({ subject, entry, entries, from, subscriberId, onChoose }: DetailsProps) {
  const mayEdit = useCanEditContent()
  const mayRender = useCan('editor')
  const others = entries.filter(({ version }) => version !== entry.version)
  const before = entries[entries.indexOf(entry) + 1] ?? others[0] ?? entry
  const base = others.find(({ version }) => version === from) ?? before
  const compared = useQuery(versions.compare(subject, { from: base.version, to: entry.version }))
  const current = entries.find(({ isCurrent }) => isCurrent)
  const refresh = ['versions', 'workflows', 'layouts']
  const restore = useAction({
    do: () => versions.restore(subject, entry.version),
    undo: () => versions.restore(subject, current?.version ?? entry.version),
    refresh,
    done: `Version ${entry.version} is the current one again`,
  })
  const files = useFiles(subject)
  const { isReadOnly } = useFilesRule(files.data)
  const canRestore = mayEdit && !entry.isCurrent && files.isKnown && !isReadOnly
  const url = entry.source?.kind === 'files' && typeof entry.source.url === 'string' ? entry.source.url : undefined
  return (
    <section aria-label={`Version ${entry.version}`} className="flex min-h-0 flex-col">
      <header className="flex flex-wrap items-center gap-2 border-b px-4 py-2.5">
        <h2 className="font-semibold">Version {entry.version}</h2>
        {url && /^https?:/.test(url) && (
          <a href={url} target="_blank" rel="noreferrer" className="text-sm underline">
            {sourceOf(entry)}
          </a>
        )}
        <span className="flex-1" />
        <Select
          aria-label="Compared with"
          className="w-64"
          value={String(base.version)}
          onValue={(version) => onChoose({ from: Number(version) })}
          options={others.map(({ version, message }) => ({
            value: String(version),
            label: `Compared with ${message ?? `version ${version}`}`,
          }))}
        />
        {canRestore && (
          <Button icon={<RotateCcw />} disabled={restore.isPending} onClick={() => restore.mutate()}>
            Restore
          </Button>
        )}
      </header>
      {mayEdit && !entry.isCurrent && <FilesNote subject={subject} version={entry.version} files={files.data} />}
      {mayEdit && <Name subject={subject} entry={entry} />}
      <div className="min-h-0 flex-1 space-y-8 overflow-y-auto p-4">
        <Loaded query={compared}>
          {({ text: difference }) =>
            difference === '' ? (
              <p className="text-muted">Both are the same.</p>
            ) : (
              <>
                {mayRender && base !== entry && (
                  <Messages
                    subject={subject}
                    from={base.version}
                    to={entry.version}
                    subscriberId={subscriberId}
                    onSubscriber={(subscriber) => onChoose({ subscriber })}
                  />
                )}
                <section aria-labelledby="definition" className="space-y-2">
                  <h3 id="definition" className="font-semibold">
                    Definition
                  </h3>
                  <Difference text={difference} />
                </section>
              </>
            )
          }
        </Loaded>
      </div>
    </section>
  )
}

/** Where it is kept in files, if it is; a deleted one is not known to be. */
function useFiles({ kind, id }: Subject): { isKnown: boolean; data: Workflow['files'] } {
  const workflow = useQuery({ ...workflows.one(id), enabled: kind === 'workflow', retry: false })
  const layout = useQuery({ ...layouts.one(id), enabled: kind === 'layout', retry: false })
  const { data, isPending } = kind === 'workflow' ? workflow : layout
  return { isKnown: !isPending, data: data?.files }
}

function Name({ subject, entry }: { subject: Subject; entry: Version }) {
  const [name, setName] = useState(entry.message ?? '')
  const rename = useAction({
    do: () => versions.rename(subject, entry.version, name.trim() || null),
    refresh: ['versions'],
    done: name.trim() === '' ? 'The name is gone' : 'Version named',
  })
  return (
    <form
      className="flex items-center gap-2 border-b px-4 py-2.5"
      onSubmit={(event) => {
        event.preventDefault()
        rename.mutate()
      }}
    >
      <Input
        aria-label="Name this version"
        placeholder="Name this version, such as “Before the launch”"
        value={name}
        onValue={setName}
        maxLength={500}
        className="min-w-0 flex-1"
      />
      <Button type="submit" disabled={rename.isPending || name.trim() === (entry.message ?? '')}>
        Save name
      </Button>
    </form>
  )
}

/** Lines that are new, gone or there for context; the signs say so too, not only the colors. */
function Difference({ text: difference }: { text: string }) {
  const lines = difference.split('\n').slice(2)
  return (
    <section aria-label="Difference">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <pre className="overflow-x-auto rounded-surface border text-code" tabIndex={0}>
        {lines.map((line, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other identity, and never move
            key={index}
            className={cn(
              'block min-w-fit px-3',
              line.startsWith('+') && 'bg-good/10',
              line.startsWith('-') && 'bg-bad/10',
              line.startsWith('@@') && 'bg-sunken text-muted',
            )}
          >
            {line || ' '}
          </span>
        ))}
      </pre>
    </section>
  )
}
