// `diff`, `history` and `restore`: the versions of a workflow or layout, and the files beside what is stored.
import { unifiedDiff } from '../../../server/src/engine/definitions/unified-diff.ts'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import { checkFolder } from '../folder/check.ts'
import { readFolder } from '../folder/read.ts'
import { readDefinitions, refuseUnknown } from '../remote.ts'

interface Version {
  version: number
  createdAt: string
  author: { name: string | null; type: string } | null
  message: string | null
  source: { kind: string; commit?: string | null; dirty?: boolean } | null
  paths: string[]
  saves: number
  isCurrent: boolean
}

interface Named {
  layout?: boolean
}

const pathOf = (id: string, { layout = false }: Named) =>
  `/v2/${layout ? 'layouts' : 'workflows'}/${encodeURIComponent(id)}/versions`

export async function history(
  context: Context,
  id: string,
  options: Named & { all?: boolean; limit?: number },
): Promise<void> {
  const { terminal } = context
  const { limit = 20, all = false } = options
  const page = await context
    .service()
    .get<{ data: Version[]; next: number | null }>(`${pathOf(id, options)}?limit=${limit}${all ? '&all=true' : ''}`)
  terminal.result(page, () =>
    page.data
      .map(({ version, createdAt, author, message, source, saves, paths, isCurrent }) =>
        [
          terminal.paint('bold', `${isCurrent ? '*' : ' '} ${version}`.padEnd(6)),
          createdAt.slice(0, 16).replace('T', ' '),
          (author?.name ?? author?.type ?? 'unknown').padEnd(16),
          placeOf(source),
          message ?? `${paths.slice(0, 3).join(', ')}${saves > 1 ? ` (${saves} saves)` : ''}`,
        ].join('  '),
      )
      .join('\n'),
  )
}

/** The commit, where there is one, and whether the files were other ones by then. */
function placeOf(source: Version['source']): string {
  const { kind = '', commit, dirty = false } = source ?? {}
  return commit ? `${commit.slice(0, 7)}${dirty ? ', changed' : ''}` : kind
}

export async function restore(
  context: Context,
  id: string,
  version: string,
  options: Named & { message?: string },
): Promise<void> {
  const number = readVersion(version)
  const { message } = options
  const body = message === undefined ? {} : { message }
  const restored = await context
    .service()
    .post<{ version: number }>(`${pathOf(id, options)}/${number}/restore`, body, { isIdempotent: true })
  context.terminal.result(
    { id, version: restored.version, restored: number },
    () => `${id} is at version ${restored.version}, with the content of ${number}`,
  )
}

function readVersion(text: string): number {
  const version = Number(text)
  if (!Number.isInteger(version) || version < 1) throw new Failure('usage', 'no_version', `"${text}" is not a version`)
  return version
}

interface DiffOptions extends Named {
  from?: string
  to?: string
}

/** Two versions, or what is stored against the files. */
export async function diff(context: Context, id: string | undefined, options: DiffOptions): Promise<void> {
  const { from, to } = options
  const texts =
    from === undefined && to === undefined
      ? await againstFiles(context, id, options)
      : [await betweenVersions(context, id, options)]
  const text = texts.filter((each) => each !== '').join('')
  context.terminal.result({ text }, () => text)
}

async function betweenVersions(context: Context, id: string | undefined, options: DiffOptions): Promise<string> {
  if (id === undefined) throw new Failure('usage', 'no_id', 'Say which workflow: belfry diff <id> --from 1 --to 2')
  const query = (['from', 'to'] as const).flatMap((name) => {
    const given = options[name]
    return given === undefined ? [] : [`${name}=${readVersion(given)}`]
  })
  const { text } = await context.service().get<{ text: string }>(`${pathOf(id, options)}/compare?${query.join('&')}`)
  return text
}

async function againstFiles(context: Context, id: string | undefined, { layout }: Named): Promise<string[]> {
  const folder = readFolder(context.dir)
  const { normal } = checkFolder(folder)
  const stored = await readDefinitions(context.service(), folder.settings.kinds)
  refuseUnknown(id === undefined ? [] : [id], folder.resources, stored)
  const remote = new Map(stored.resources.map((resource) => [`${resource.kind} ${resource.id}`, resource]))
  const local = new Map(folder.resources.map((resource) => [`${resource.kind} ${resource.id}`, resource]))
  return [...new Set([...remote.keys(), ...local.keys()])].sort().flatMap((key) => {
    const [there, here] = [remote.get(key), local.get(key)]
    const either = there ?? here
    if (!either || (id !== undefined && either.id !== id) || (layout && either.kind !== 'layout')) return []
    const mine = here && (normal.get(key)?.definition ?? here.definition)
    return [
      unifiedDiff(
        either.kind,
        { name: there ? `server ${key}` : '/dev/null', definition: there?.definition },
        { name: here ? here.source.file : '/dev/null', definition: mine },
      ),
    ]
  })
}
