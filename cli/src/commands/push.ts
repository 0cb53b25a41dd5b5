// `validate`, `plan` and `push`: what the files say, checked, compared and brought in.
import { execFileSync } from 'node:child_process'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { type Checked, checkFolder } from '../folder/check.ts'
import { type Kind, kindNames } from '../folder/layout.ts'
import type { FileProblem } from '../folder/problems.ts'
import { type Folder, isObject, type LocalResource, readFolder } from '../folder/read.ts'
import { State } from '../folder/state.ts'
import { writeOutput } from '../folder/write.ts'
import { type Change, type Issue, inWords, type Plan, type Pushed, readEnvironment } from '../remote.ts'
import type { Service } from '../service.ts'
import type { Terminal } from '../terminal.ts'
import { counted } from '../words.ts'
import { audienceOf, differingInWords, reportOf, waitingInWords } from './plan-report.ts'

const keyOf = ({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`
const isError = ({ severity }: FileProblem) => severity === 'error'

export function validate(context: Context): void {
  const { terminal, dir } = context
  const folder = readFolder(dir)
  const { problems } = checkFolder(folder)
  const valid = !problems.some(isError)
  const files = new Set(folder.resources.map(({ source }) => source.file)).size
  terminal.result({ valid, files, problems }, () => {
    const errors = problems.filter(isError).length
    const warnings = problems.length - errors
    const count = `${counted(files, 'file')}, ${counted(errors, 'error')}, ${counted(warnings, 'warning')}`
    return [...problems.map((problem) => lineOf(terminal, problem)), count].join('\n')
  })
  if (!valid) process.exitCode = 2
}

function lineOf(
  terminal: Terminal,
  { file, line, column, severity, message }: FileProblem,
  to?: 'stdout' | 'stderr',
): string {
  const painted = terminal.paint(severity === 'error' ? 'red' : 'yellow', severity, to)
  return `${file}:${line}:${column} ${painted} ${message}`
}

/** Tells all problems, and ends where one is an error. @param undone what was not done therefore */
export function refuseErrors(terminal: Terminal, found: readonly FileProblem[], undone: string): void {
  for (const problem of found) terminal.warn(lineOf(terminal, problem, 'stderr'))
  const problems = found.filter(isError)
  if (problems.length > 0)
    throw new Failure('usage', 'files_invalid', `${counted(problems.length, 'error')} in the files; ${undone}`, {
      problems,
    })
}

interface Prepared {
  folder: Folder
  checked: Checked
  service: Service
  state: State
  body: { source: Source; message?: string; prune: boolean; kinds: Kind[]; resources: Pushing[] }
}
interface Pushing {
  kind: string
  id: string
  base?: string
  path: string
  definition: Record<string, unknown>
}
interface Source {
  repository?: string | undefined
  commit?: string | undefined
  url?: string | undefined
  dirty?: boolean | undefined
}

export interface PushOptions {
  dryRun?: boolean
  prune?: boolean
  force?: boolean
  message?: string
  strict?: boolean
  commit?: string
  repository?: string
}

/** Refuses files with errors; then asks for the environment, because bases are kept per environment. */
async function prepare(context: Context, ids: string[], options: PushOptions): Promise<Prepared> {
  const { dir, terminal, env } = context
  const folder = readFolder(dir)
  const checked = checkFolder(folder)
  refuseErrors(terminal, checked.problems, 'nothing was sent')
  const unknown = ids.filter((id) => !folder.resources.some((resource) => resource.id === id))
  if (unknown.length > 0) throw new Failure('usage', 'unknown_id', `There are no files of ${unknown.join(', ')}`)
  if (options.prune && ids.length > 0)
    throw new Failure(
      'usage',
      'prune_needs_all',
      '--prune deletes what the files no longer have; do not name ids with it',
    )
  const service = context.service()
  const environment = await readEnvironment(service)
  const state = new State(dir, { url: service.url, environment: environment.identifier })
  const resources = folder.resources
    .filter(({ id }) => ids.length === 0 || ids.includes(id))
    .map((resource): Pushing => {
      const base = options.force ? 'any' : state.baseOf(keyOf(resource))
      return {
        ...{ kind: resource.kind, id: resource.id, path: resource.path },
        ...(base === undefined ? {} : { base }),
        definition: withSecrets(resource, env),
      }
    })
  const source = sourceOf(dir, folder, options)
  const body = {
    ...{ source, prune: options.prune ?? false, resources },
    kinds: folder.settings.kinds.map((name) => kindNames[name]),
    ...(options.message === undefined ? {} : { message: options.message }),
  }
  return { folder, checked, service, state, body }
}

/** Puts the values of environment variables in the place of `{$secret: NAME}`. Those that are not set, or empty, stay references. */
export function withSecrets(
  { kind, definition }: Pick<LocalResource, 'kind' | 'definition'>,
  env: NodeJS.ProcessEnv,
): Record<string, unknown> {
  if (kind !== 'integration' && kind !== 'variable') return definition
  const fill = (value: unknown): unknown => {
    if (!isObject(value)) return value
    if (typeof value.$secret === 'string') return env[value.$secret] || value
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fill(member)]))
  }
  return fill(definition) as Record<string, unknown>
}

/** From Git, where there is one. */
function sourceOf(dir: string, { settings }: Folder, { commit, repository }: PushOptions): Source {
  const git = (...args: string[]) => {
    try {
      return execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    } catch {
      return undefined
    }
  }
  const head = commit ?? git('rev-parse', 'HEAD')
  const remote = repository ?? settings.source.repository ?? repositoryIn(git('remote', 'get-url', 'origin'))
  const url = settings.source.url && head ? settings.source.url.replaceAll('{commit}', head) : undefined
  const dirty = commit === undefined && head !== undefined ? git('status', '--porcelain', '--', '.') !== '' : false
  return Object.fromEntries(
    Object.entries({ repository: remote, commit: head, url, dirty }).filter(([, value]) => value !== undefined),
  )
}

/** `acme/app` of `git@github.com:acme/app.git`; never what stands in front of an @. */
function repositoryIn(remote: string | undefined): string | undefined {
  const match = remote?.match(/[:/]([^:/@]+\/[^/@]+?)(?:\.git)?$/)
  return match?.[1]
}

export interface PlanOptions extends PushOptions {
  subscriber?: string[]
  triggers?: number
  html?: string
  exitCode?: boolean
}

export async function plan(context: Context, ids: string[], options: PlanOptions): Promise<void> {
  const { terminal } = context
  const { service, body } = await prepare(context, ids, options)
  const { subscriber = [], triggers = 0, html } = options
  const wantsRenders = subscriber.length > 0 || triggers > 0 || html !== undefined
  const render = wantsRenders ? { render: { subscriberIds: subscriber, triggers } } : {}
  const answer = await service.post<Plan>('/v2/definitions/plan', { ...body, ...render })
  if (html !== undefined) {
    writeOutput(html, reportOf(answer))
    terminal.say(`report: ${html}`)
  }
  terminal.result(answer, () => planInWords(terminal, answer))
  if (answer.conflicts.length > 0)
    terminal.warn(
      `${counted(answer.conflicts.length, 'conflict')}: a push would be refused; pull first, or push with --force`,
    )
  if (options.exitCode && answer.changes.length > 0) process.exitCode = 1
}

const signs = { created: '+', updated: '~', deleted: '-' } as const
const colors = { created: 'green', updated: 'yellow', deleted: 'red' } as const

function planInWords(
  terminal: Terminal,
  { changes, conflicts, issues, renders = [], hasMore = false, waiting = [], summary }: Plan,
): string {
  return [
    ...changes.flatMap((change) => changeInWords(terminal, change)),
    ...conflicts.map(({ kind, id, why, current }) => {
      const by = current?.author?.name ? ` by ${current.author.name}` : ''
      return `${terminal.paint('red', 'conflict')} ${kind} ${id}: ${why}${by}`
    }),
    ...issues.map((issue) => `${terminal.paint('yellow', 'issue')} ${issueInWords(issue)}`),
    ...renders
      .filter(({ same }) => !same)
      .map((render) => {
        const { workflowId, stepId, error } = render
        return `message ${workflowId} ${stepId} ${audienceOf(render)}: ${error ?? 'differs'}`
      }),
    ...(renders.length > 0 ? [differingInWords(renders, hasMore)] : []),
    ...waiting
      .filter(({ change }) => change !== 'none')
      .map(({ workflowId, stepId, runs, change }) => `${waitingInWords(runs)} in ${workflowId} ${stepId}: ${change}`),
    inWords(summary),
  ].join('\n')
}

function changeInWords(terminal: Terminal, { kind, id, action, paths = [] }: Change): string[] {
  const shown = (value: unknown) => {
    const text = JSON.stringify(value)
    return text.length > 60 ? `${text.slice(0, 57)}…` : text
  }
  return [
    `${terminal.paint(colors[action], signs[action])} ${kind} ${id}`,
    ...(action === 'updated'
      ? paths.map(({ path, before, after }) => `    ${path}: ${shown(before)} → ${shown(after)}`)
      : []),
  ]
}

const issueInWords = ({ kind, id, stepId, path, message }: Issue) =>
  `${kind} ${id}${stepId === null ? '' : ` ${stepId}`} ${path}: ${message}`

export async function push(context: Context, ids: string[], options: PushOptions): Promise<void> {
  const { terminal } = context
  const { service, state, body, checked } = await prepare(context, ids, options)
  const { dryRun = false } = options
  if (options.strict) {
    const [first] = checked.problems
    const preview = await service.post<Plan>('/v2/definitions/plan', body)
    if (first || preview.issues.length > 0)
      throw new Failure(
        'usage',
        'issues',
        `${counted(Math.max(preview.issues.length, checked.problems.length), 'issue')}, and --strict was said; nothing was pushed`,
        { issues: preview.issues, problems: checked.problems },
      )
  }
  const answer = await service.post<Pushed>('/v2/definitions/push', { ...body, dryRun }, { isIdempotent: true })
  if (answer.applied) {
    const changed = new Map(answer.changes.map((change) => [keyOf(change), change]))
    // Left out, because its secret was not set.
    const missing = new Set(answer.issues.filter(({ issueType }) => issueType === 'MISSING_SECRET').map(keyOf))
    for (const resource of body.resources) {
      const key = keyOf(resource)
      const unchanged = missing.has(key) ? undefined : checked.normal.get(key)?.revision
      state.set(key, changed.get(key)?.revision ?? unchanged)
    }
    for (const [key, { action }] of changed) if (action === 'deleted') state.set(key, undefined)
    state.saveOrWarn(terminal)
  }
  terminal.result(answer, () =>
    [
      ...answer.changes.flatMap((change) => changeInWords(terminal, change)),
      ...answer.issues.map((issue) => `${terminal.paint('yellow', 'issue')} ${issueInWords(issue)}`),
      `${dryRun ? 'Would be: ' : ''}${inWords(answer.summary)}`,
    ].join('\n'),
  )
}
