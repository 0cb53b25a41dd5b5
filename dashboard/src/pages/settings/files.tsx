// Definitions in files: who may change what they own, the last pushes, and the commands.
import { useQuery } from '@tanstack/react-query'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type DefinitionPush, definitions, type Edits } from '../../api/definitions.ts'
import { environments } from '../../api/environments.ts'
import { Loaded } from '../../ui/base/states.tsx'
import { Status } from '../../ui/base/status.tsx'
import { Time } from '../../ui/base/time.tsx'
import { CodeBlock } from '../../ui/code/code-block.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Select } from '../../ui/form/select.tsx'

const choices = [
  { value: 'allow', label: 'Allow changes here' },
  { value: 'warn', label: 'Allow changes here, with a warning' },
  { value: 'refuse', label: 'Refuse changes here' },
] as const satisfies ReadonlyArray<{ value: Edits; label: string }>

export function FilesSettings({ canChange }: { canChange: boolean }) {
  const settings = useQuery(definitions.settings())
  const pushes = useQuery(definitions.pushes())
  const change = useAction({ do: definitions.setEdits, refresh: ['definitions'], done: 'Saved' })
  return (
    <div className="max-w-160 space-y-6">
      <Loaded query={settings}>
        {({ edits }) => (
          <FieldFrame label="Workflows and layouts from files" hint="Those that were pushed from a repository.">
            {(control) => (
              <Select
                {...control}
                className="w-80"
                value={edits}
                disabled={!canChange || change.isPending}
                onValue={(next: Edits) => change.mutate(next)}
                options={choices}
              />
            )}
          </FieldFrame>
        )}
      </Loaded>
      <section aria-labelledby="last-pushes">
        <h3 id="last-pushes" className="mb-2 text-sm font-medium">
          Last pushes
        </h3>
        <Loaded query={pushes}>{({ data }) => <Pushes pushes={data.slice(0, 10)} />}</Loaded>
      </section>
      <Commands />
    </div>
  )
}

function Pushes({ pushes }: { pushes: DefinitionPush[] }) {
  if (pushes.length === 0)
    return (
      <p className="text-sm text-muted">Nothing was pushed yet. The commands below bring your workflows into files.</p>
    )
  return (
    <ul className="divide-y rounded-surface border">
      {pushes.map((push) => (
        <li key={push.id} className="space-y-1 px-3 py-2 text-sm">
          <div className="flex items-center justify-between gap-3">
            {push.conflicts.length > 0 ? <Status tone="bad">Refused</Status> : <Status tone="good">Pushed</Status>}
            <span className="min-w-0 truncate text-xs text-muted">
              {push.author?.name ?? 'An API key'} · <Time at={push.pushedAt} />
            </span>
          </div>
          {push.message && (
            <p className="break-words" dir="auto">
              {push.message}
            </p>
          )}
          <p className="flex flex-wrap gap-x-3 gap-y-0.5 text-xs break-words text-muted">
            <Commit push={push} />
            <span className="min-w-0">
              {push.conflicts.length > 0 ? conflictsOf(push.conflicts) : countsOf(push.summary)}
            </span>
          </p>
        </li>
      ))}
    </ul>
  )
}

function Commit({ push: { commit, url, repository } }: { push: DefinitionPush }) {
  const name = [repository, commit?.slice(0, 7)].filter(Boolean).join(' @ ')
  if (name === '') return null
  return url && /^https?:\/\//.test(url) ? (
    <a href={url} target="_blank" rel="noreferrer" className="font-mono text-xs break-all underline underline-offset-2">
      {name}
    </a>
  ) : (
    <code className="text-xs break-all text-muted">{name}</code>
  )
}

const countsOf = ({ created, updated, deleted, unchanged }: DefinitionPush['summary']): string => {
  const parts = Object.entries({ created, updated, deleted, unchanged }).filter(([, count]) => count > 0)
  return parts.length === 0 ? 'Nothing in it' : parts.map(([word, count]) => `${count} ${word}`).join(', ')
}

const reasons: Record<string, string> = {
  changed: 'changed here',
  exists: 'exists already',
  deleted: 'was deleted here',
  code_first: 'is declared in code',
}

const conflictsOf = (conflicts: DefinitionPush['conflicts']): string =>
  `Nothing was changed: ${conflicts.map(({ kind, id, why }) => `${kind} ${id} ${reasons[why] ?? why}`).join(', ')}`

function Commands() {
  const canSeeKeys = useCan('owner')
  const { data: keys } = useQuery({ ...environments.apiKeys(), enabled: canSeeKeys })
  const key = keys?.[0]?.key
  const code = [
    `export BELFRY_URL=${window.location.origin}`,
    `export BELFRY_API_KEY=${key ?? 'YOUR_API_KEY'}`,
    'npx @belfry/cli pull    # writes belfry/ beside your code',
    'npx @belfry/cli plan    # shows what a push would change',
    'npx @belfry/cli push    # brings it in: all of it, or nothing',
  ].join('\n')
  return (
    <section aria-labelledby="files-commands">
      <h3 id="files-commands" className="mb-1 text-sm font-medium">
        From your repository
      </h3>
      <p className="mb-2 text-sm text-muted">
        {key
          ? 'The API key of this environment is filled in. Keep it out of the repository.'
          : 'Fill in the API key of this environment. An owner can find it under API keys.'}
      </p>
      <CodeBlock code={code} />
    </section>
  )
}
