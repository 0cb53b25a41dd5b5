// The changes in one workflow or layout, field by field, old above new.
import type { ResourceDiff } from '../../api/environments.ts'
import { Status, type Tone } from '../base/status.tsx'
import { StepIcon } from './step-kind.tsx'

type Change = ResourceDiff['changes'][number]

const words: Record<Change['action'], { word: string; tone: Tone }> = {
  added: { word: 'Added', tone: 'good' },
  modified: { word: 'Changed', tone: 'warn' },
  deleted: { word: 'Removed', tone: 'bad' },
  moved: { word: 'Moved', tone: 'info' },
}
const nouns: Record<Change['resourceType'], string> = {
  workflow: 'Workflow',
  layout: 'Layout',
  step: 'Step',
  localization_group: 'Translations',
}

export function Changes({ resource }: { resource: ResourceDiff }) {
  return (
    <ul aria-label="Changes" className="space-y-4">
      {resource.changes.map((change, index) => {
        const info = change.sourceResource ?? change.targetResource
        const { word, tone } = words[change.action]
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step may appear twice, as moved and as changed
          <li key={index}>
            <div className="flex items-center gap-2 text-sm">
              {change.stepType && <StepIcon kind={change.stepType} />}
              <span className="text-muted">{nouns[change.resourceType]}</span>
              {change.resourceType === 'step' && (
                <span className="truncate font-medium" dir="auto">
                  {info?.name}
                </span>
              )}
              <span className="text-xs">
                <Status tone={tone}>{word}</Status>
              </span>
              {change.action === 'moved' && (
                <span className="text-xs text-muted">
                  from position {(change.previousIndex ?? 0) + 1} to {(change.newIndex ?? 0) + 1}
                </span>
              )}
            </div>
            {change.diffs && <Fields previous={change.diffs.previous} next={change.diffs.new} />}
          </li>
        )
      })}
    </ul>
  )
}

type Members = Record<string, unknown>
interface FieldChange {
  path: string
  previous: string | undefined
  next: string | undefined
}

function Fields({ previous, next }: { previous: Members | null; next: Members | null }) {
  // The heading of an added or removed step already shows these.
  const said = previous === null || next === null ? ['stepId', 'name', 'type'] : []
  const changes = fieldChanges(previous, next).filter(({ path }) => !said.includes(path))
  if (changes.length === 0) return null
  return (
    <dl className="mt-2 space-y-2">
      {changes.map(({ path, previous: before, next: after }) => (
        <div key={path}>
          <dt className="mb-1 font-mono text-xs text-muted">{path.replace(/^controlValues\./, '')}</dt>
          <dd className="overflow-hidden rounded-control border bg-page font-mono text-code">
            {before !== undefined && <Line sign="−" text={before} className="bg-bad/8" label="Before" />}
            {after !== undefined && <Line sign="+" text={after} className="bg-good/8" label="After" />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const Line = ({ sign, text, className, label }: { sign: string; text: string; className: string; label: string }) => (
  <div className={`flex max-h-60 gap-2 overflow-y-auto px-2 py-1 ${className}`}>
    <span aria-hidden className="text-muted select-none">
      {sign}
    </span>
    <span className="sr-only">{label}: </span>
    <span className="min-w-0 flex-1 break-words whitespace-pre-wrap" dir="auto">
      {text === '' ? <span className="text-muted">empty</span> : text}
    </span>
  </div>
)

/** The leaves that differ, by path. Lists are compared as a whole: their items have no keys. */
function fieldChanges(previous: unknown, next: unknown, path = ''): FieldChange[] {
  if (isMembers(previous) || isMembers(next)) {
    const isObject = (value: unknown) => value === undefined || value === null || isMembers(value)
    if (isObject(previous) && isObject(next)) {
      const [before, after] = [previous ?? {}, next ?? {}] as [Members, Members]
      const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
      return names.flatMap((name) => fieldChanges(before[name], after[name], path === '' ? name : `${path}.${name}`))
    }
  }
  const [before, after] = [textOf(previous), textOf(next)]
  return before === after ? [] : [{ path, previous: before, next: after }]
}

const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const textOf = (value: unknown): string | undefined =>
  value === undefined || value === null
    ? undefined
    : typeof value === 'string'
      ? value
      : JSON.stringify(value, undefined, 2)
