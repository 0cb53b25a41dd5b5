// Definitions on their way: into files, or into the service at once.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { revisionOf } from '../../../server/src/engine/definitions/revision.ts'
import { keyOf } from '../../../server/src/http/definitions/plan.ts'
import { withSecrets } from '../commands/push.ts'
import { writeSchemas } from '../commands/schema.ts'
import { Failure } from '../failure.ts'
import { checkFolder } from '../folder/check.ts'
import { type Kind, type KindName, kindNames } from '../folder/layout.ts'
import { readFolder } from '../folder/read.ts'
import { applyEdits, editsFor, writeWhole } from '../folder/write.ts'
import { type Definitions, type Pushed, readDefinitions } from '../remote.ts'
import type { Service } from '../service.ts'
import type { Defined } from './intake.ts'
import { isJson } from './members.ts'
import type { Report } from './report.ts'

/** Writes files for what the folder does not have. A file that says something else stays. @returns the paths written */
export function writeDefinitions(dir: string, defined: Defined[], report: Report): string[] {
  const folder = readFolder(dir, { shouldExist: false })
  const names = (Object.keys(kindNames) as KindName[]).filter((name) =>
    defined.some(({ kind }) => kind === kindNames[name]),
  )
  const missing = names.filter((name) => !folder.settings.kinds.includes(name))
  const settings = path.join(dir, 'belfry.yaml')
  if (missing.length > 0 && existsSync(settings))
    report.unmapped({
      ...{ kind: 'file', id: 'belfry.yaml', path: 'kinds', code: 'kinds' },
      why: `add ${missing.join(', ')} to kinds, or a push leaves them out`,
    })
  const { normal } = checkFolder(folder)
  const local = new Map(folder.resources.map((each) => [keyOf(each), each]))
  const written = defined.filter((each) => {
    const there = local.get(keyOf(each))
    if (!there) return true
    if (normal.get(keyOf(each))?.revision !== revisionOf(each.definition))
      report.unmapped({
        ...{ kind: each.kind, id: each.id, path: '', code: 'exists' },
        why: `${there.path} says something else, and stays; remove it, or use another --dir`,
      })
    return false
  })
  const done = applyEdits(dir, editsFor(dir, folder.resources, written, []))
  if (!existsSync(settings) && done.written.length > 0) {
    const kinds = [...new Set([...folder.settings.kinds, ...missing])]
    writeWhole(settings, `format: 1\nkinds: [${kinds.join(', ')}]\n`)
  }
  writeSchemas(dir)
  return done.written.map((file) => file.split(path.sep).join('/'))
}

/** What depends on others comes behind them. Each group is all or nothing. */
const groups: Kind[][] = [['variable'], ['integration'], ['topic'], ['layout', 'workflow', 'translation']]
const mostAtOnce = 1_000

interface Pushing {
  service: Service
  report: Report
  /** What earlier imports wrote. */
  bases: Record<string, string>
  /** Secrets that are set by the names in the report come along. */
  env: NodeJS.ProcessEnv
}

/** Pushes definitions. What was changed here meanwhile stays, and is listed. @returns the new bases */
export async function pushDefinitions(
  { service, report, bases, env }: Pushing,
  defined: Defined[],
): Promise<Record<string, string>> {
  const next = { ...bases }
  const ours = (await withoutNative(service, report, defined)).map((each) => withKnownSecrets(each, env))
  for (const kinds of groups) {
    const all = ours.filter(({ kind }) => kinds.includes(kind))
    // Topics can be many; the others refer to each other.
    const size = kinds.includes('topic') ? mostAtOnce : Math.max(all.length, 1)
    for (let at = 0; at < all.length; at += size)
      Object.assign(next, await pushGroup({ service, report, bases, env }, all.slice(at, at + size)))
  }
  return next
}

async function pushGroup({ service, report, bases }: Pushing, group: Defined[]): Promise<Record<string, string>> {
  let wanted = group.map((each) => ({ ...each, base: bases[keyOf(each)] }))
  const countOf = (kind: Kind) => report.countsOf(`${kind}s`)
  const leaveOut = (keys: ReadonlySet<string>) => {
    for (const each of wanted) if (keys.has(keyOf(each))) countOf(each.kind).failed += 1
    wanted = wanted.filter((each) => !keys.has(keyOf(each)))
  }
  const list = ({ kind, id }: { kind: string; id: string }, path: string, code: string, why: string) =>
    report.unmapped({ kind, id, path, code, why })
  while (wanted.length > 0) {
    const resources = wanted.map(({ base, ...each }) => ({ ...each, ...(base === undefined ? {} : { base }) }))
    const body = { source: { importedFrom: report.source }, message: `Imported from ${report.source}`, resources }
    try {
      const { changes, issues } = await service.post<Pushed>('/v2/definitions/push', body, { isIdempotent: true })
      const changed = new Map(changes.map((change) => [keyOf(change), change]))
      for (const each of wanted) countOf(each.kind)[changed.has(keyOf(each)) ? 'imported' : 'unchanged'] += 1
      for (const issue of issues)
        if (issue.issueType === 'MISSING_SECRET') list(issue, issue.path, 'secret', issue.message)
      return Object.fromEntries([...changed].flatMap(([key, { revision }]) => (revision ? [[key, revision]] : [])))
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const { conflicts = [], problems = [] } = (error.ctx ?? {}) as {
        conflicts?: Array<{ kind: Kind; id: string; current: { version: number | null; author: unknown } | null }>
        problems?: Array<{ kind: Kind; id: string; path: string; message: string }>
      }
      if (error.code === 'definitions_conflict' && conflicts.length > 0) {
        // What the service itself made, and nobody has changed, may be replaced.
        const untouched = conflicts.filter(({ kind, current }) => kind === 'layout' && isUntouched(current))
        const own = new Set(untouched.map(keyOf))
        wanted = wanted.map((each) => (own.has(keyOf(each)) ? { ...each, base: 'any' } : each))
        const others = conflicts.filter((each) => !own.has(keyOf(each)))
        for (const each of others)
          list(each, '', 'exists', 'it is here already and says something else; it stays. Push its file to replace it')
        leaveOut(new Set(others.map(keyOf)))
      } else if (error.code === 'definitions_invalid' && problems.length > 0) {
        for (const each of problems) list(each, each.path, 'invalid', each.message)
        leaveOut(new Set(problems.map(keyOf)))
      } else if (
        error.exitCode === new Failure('refused', '', '').exitCode &&
        group.every(({ kind }) => isSetting(kind))
      ) {
        // A key that may not write these still imports the rest.
        for (const each of wanted) list(each, '', 'refused', error.message)
        leaveOut(new Set(wanted.map(keyOf)))
      } else throw error
    }
  }
  return {}
}

/** An integration whose secrets are not set is not active, and becomes so when somebody sets them. */
function withKnownSecrets(each: Defined, env: NodeJS.ProcessEnv): Defined {
  const definition = withSecrets(each, env)
  if (each.kind !== 'integration') return { ...each, definition }
  const { active, primary, credentials = {}, ...rest } = definition
  const known = Object.entries(credentials as object).filter(([, value]) => !(isJson(value) && '$secret' in value))
  const isWhole = known.length === Object.keys(credentials as object).length
  return {
    ...each,
    definition: {
      ...rest,
      ...(known.length > 0 ? { credentials: Object.fromEntries(known) } : {}),
      ...(isWhole && active ? { active } : {}),
      ...(isWhole && primary ? { primary } : {}),
    },
  }
}

const isSetting = (kind: Kind) => kind === 'variable' || kind === 'integration'
const isUntouched = (current: { version: number | null; author: unknown } | null) =>
  current !== null && current.version === 1 && current.author === null

/** An environment has each of the service's own providers once, from the beginning. */
async function withoutNative(service: Service, report: Report, defined: Defined[]): Promise<Defined[]> {
  const isNative = ({ definition }: Pick<Defined, 'definition'>) => /^svc(?:-|$)/.test(String(definition.providerId))
  const native = defined.filter((each) => each.kind === 'integration' && isNative(each))
  if (native.length === 0) return defined
  const { resources }: Definitions = await readDefinitions(service, ['integrations'])
  const skipped = new Set<Defined>()
  for (const each of native) {
    const here = resources.find(({ definition }) => definition.providerId === each.definition.providerId)
    if (!here) continue
    skipped.add(each)
    report.countsOf('integrations').unchanged += 1
    if (here.id !== each.id)
      report.changed({
        ...{ kind: 'integration', id: each.id, path: 'identifier', from: each.id, to: here.id },
        why: 'this provider belongs to the service, and an environment has it once',
      })
  }
  return defined.filter((each) => !skipped.has(each))
}
