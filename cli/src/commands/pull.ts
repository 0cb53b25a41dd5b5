// `pull`: what changed there and not here comes into the files.
import path from 'node:path'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { checkFolder } from '../folder/check.ts'
import { type Folder, type LocalResource, readFolder } from '../folder/read.ts'
import { State } from '../folder/state.ts'
import { applyEdits, editsFor } from '../folder/write.ts'
import { type RemoteResource, readDefinitions, refuseUnknown } from '../remote.ts'
import { counted } from '../words.ts'
import { writeSchemas } from './schema.ts'

const keyOf = ({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`

export type Decision = 'write' | 'remove' | 'keep' | 'same' | 'conflict'

/** The three-way rule: `base` is what was last the same on both sides; undefined means that one side has none. */
export function decide(base: string | undefined, here: string | undefined, there: string | undefined): Decision {
  if (here === there) return 'same'
  if (there === base) return 'keep'
  if (here === base) return there === undefined ? 'remove' : 'write'
  return 'conflict'
}

export async function pull(context: Context, ids: string[], { force = false }: { force?: boolean }): Promise<void> {
  const { dir, terminal } = context
  const service = context.service()
  const folder = readFolder(dir, { shouldExist: false })
  refuseUnreadable(folder)
  const { resources, environment, passedOver } = await readDefinitions(service, folder.settings.kinds)
  refuseUnknown(ids, folder.resources, { resources, passedOver })
  const state = new State(dir, { url: service.url, environment: environment.identifier })
  const { normal } = checkFolder(folder)
  const isWanted = ({ id }: { id: string }) => ids.length === 0 || ids.includes(id)
  const local = new Map(folder.resources.map((resource) => [keyOf(resource), resource]))
  const remote = new Map(resources.map((resource) => [keyOf(resource), resource]))
  const written: RemoteResource[] = []
  const removed: LocalResource[] = []
  const conflicts: Array<{ kind: string; id: string }> = []
  let unchanged = 0
  for (const key of new Set([...remote.keys(), ...local.keys()])) {
    const [there, here] = [remote.get(key), local.get(key)]
    const either = there ?? here
    if (!either || !isWanted(either)) continue
    // A definition with errors is a change of its own.
    const mine = here && (normal.get(key)?.revision ?? 'invalid')
    // A fresh checkout began as what files pushed; an empty folder began as nothing.
    const base = state.baseOf(key) ?? (here ? there?.files?.revision : undefined)
    const decision = decide(base, mine, there?.revision)
    const overwrite = force && decision === 'conflict'
    if (decision === 'conflict' && !force) conflicts.push({ kind: either.kind, id: either.id })
    else if (there && (decision === 'write' || overwrite)) written.push(there)
    else if (here && !there && (decision === 'remove' || overwrite)) removed.push(here)
    else unchanged += 1
    if (decision !== 'keep' && decision !== 'conflict') state.set(key, there?.revision)
    if (overwrite) state.set(key, there?.revision)
  }
  if (conflicts.length > 0)
    throw new Failure(
      'conflict',
      'changed_on_both_sides',
      `Changed here and there, nothing was written: ${conflicts.map(keyOf).join(', ')}. Use --force to take theirs`,
      { conflicts },
    )
  const edits = editsFor(dir, folder.resources, written, removed, normal)
  const done = applyEdits(dir, edits)
  writeSchemas(dir)
  state.saveOrWarn(terminal)
  const passed = passedOver.filter(isWanted)
  const asPath = (file: string) => file.split(path.sep).join('/')
  const result = {
    ...{ written: done.written.map(asPath), removed: done.removed.map(asPath) },
    ...{ unchanged, passedOver: passed },
  }
  for (const { kind, id, why } of passed) terminal.say(`passed over ${kind} ${id}: ${why.replace('_', '-')}`)
  terminal.result(result, () =>
    [
      ...result.written.map((file) => `${terminal.paint('green', 'written')} ${file}`),
      ...result.removed.map((file) => `${terminal.paint('red', 'removed')} ${file}`),
      `${counted(result.written.length, 'file')} written, ${result.removed.length} removed, ${counted(unchanged, 'definition')} unchanged`,
    ].join('\n'),
  )
}

/** A file that is no YAML has no identifier, so it cannot be compared. Lists would be written anew without what is in them. Without the settings, other kinds would be pulled than are meant. */
function refuseUnreadable({ problems }: Folder): void {
  const fatal = problems.filter(
    ({ code, severity }) => severity === 'error' && ['yaml', 'shape', 'duplicate', 'settings'].includes(code),
  )
  const [first] = fatal
  if (first)
    throw new Failure('usage', 'files_invalid', `${first.file}:${first.line}:${first.column} ${first.message}`, {
      problems: fatal,
    })
}
