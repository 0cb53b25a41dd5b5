// Checks a folder without a service: the plan of a push against nothing says what is wrong, and what each definition means.
import { Secrets } from '../../../server/src/db/core/secrets.ts'
import { revisionOf } from '../../../server/src/engine/definitions/revision.ts'
import { noSettings } from '../../../server/src/engine/definitions/settings.ts'
import { type DefinitionIssue, keyOf, planPush } from '../../../server/src/http/definitions/plan.ts'
import type { Problem } from '../../../server/src/http/definitions/pushed.ts'
import { secretCredentials } from '../../../server/src/providers/catalog.ts'
import type { FileProblem } from './problems.ts'
import { type Folder, isObject, type LocalResource } from './read.ts'
import type { Definition } from './source.ts'

export interface Checked {
  problems: FileProblem[]
  /** What each definition means, without defaults and spellings; those with errors are missing. */
  normal: Map<string, { definition: Definition; revision: string }>
}

const many = 1_000_000

export function checkFolder({ resources, settings, problems }: Folder): Checked {
  const hasKind = (name: (typeof settings.kinds)[number]) => settings.kinds.includes(name)
  const envKeys = hasKind('variables')
    ? resources.filter(({ kind }) => kind === 'variable').map(({ id }) => id)
    : namesUnderEnv(resources)
  const byKey = new Map(resources.map((resource) => [keyOf(resource), resource]))
  const plan = planPush(
    // It changes definitions while it reads them, and repeats are known already.
    structuredClone([...byKey.values()].map(({ kind, id, definition }) => ({ kind, id, base: 'any', definition }))),
    { prunes: new Set() },
    {
      rows: { layouts: [], workflows: [], translations: [] },
      ...{ settings: noSettings, files: [], envKeys, environmentId: '', now: new Date() },
      limits: { workflows: many, layouts: many, steps: many, variables: many },
      opening: { secrets: new Secrets('0'.repeat(64)), hidesCredentials: false, isHeld: false, hasEverySecret: true },
    },
  )
  /** What another kind would have to say, where that is not kept in files. */
  const isUnknowable = ({ kind, path, message }: Problem) =>
    (!hasKind('layouts') && /(?:^|\.)layoutId$/.test(path) && message.startsWith('there is no layout')) ||
    (kind === 'translation' &&
      ['workflows', 'layouts'].some((name) => path.startsWith(`${name}.`) && !hasKind(name as 'layouts')))
  const found: FileProblem[] = [
    ...plan.problems.filter((each) => !isUnknowable(each)).map((each) => placed(byKey, each, 'error', 'definition')),
    ...plan.issues.map((issue) => {
      const path = issue.stepId === null ? issue.path : `steps.${issue.stepId}.controlValues.${issue.path}`
      return placed(byKey, { ...issue, path }, isFatal(issue) ? 'error' : 'warning', issue.issueType.toLowerCase())
    }),
    ...resources.flatMap(plainSecrets),
  ]
  const seen = new Set<string>()
  const all = [...problems, ...found].filter((each) => {
    const key = JSON.stringify(each)
    return !seen.has(key) && seen.add(key)
  })
  return {
    problems: all.sort(
      (a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line || a.column - b.column,
    ),
    normal: new Map(
      [...plan.normal].map(([key, definition]) => [key, { definition, revision: revisionOf(definition) }]),
    ),
  }
}

/** Templates that cannot be read, and steps that do not exist, fail for everybody. Other issues depend on what is sent. */
const isFatal = ({ issueType, message }: DefinitionIssue) =>
  issueType === 'ILLEGAL_VARIABLE_IN_CONTROL_VALUE' &&
  (message.startsWith('Variable "steps.') || !/^(?:Variable|Filter|Repeat|Turn on|Translation)\b/.test(message))

function placed(
  byKey: ReadonlyMap<string, LocalResource>,
  { kind, id, path, message }: Pick<Problem, 'kind' | 'id' | 'path' | 'message'>,
  severity: FileProblem['severity'],
  code: string,
): FileProblem {
  const resource = byKey.get(keyOf({ kind, id }))
  if (!resource) return { file: '', line: 1, column: 1, severity, code, message }
  const names = path === '' ? [] : path.split('.')
  const text = path === '' || message.startsWith(path) ? message : `${path}: ${message}`
  return { file: resource.source.file, ...resource.source.at(names, resource.node), severity, code, message: text }
}

/** Secrets do not belong in files. */
function plainSecrets({ kind, definition, source, node }: LocalResource): FileProblem[] {
  const report = (at: string[]): FileProblem => ({
    ...{ file: source.file, ...source.at(at, node), severity: 'error', code: 'secret' },
    message: `${at.join('.')} is a secret; write {$secret: NAME}, and set NAME where you push`,
  })
  if (kind === 'variable')
    return definition.isSecret === true && typeof definition.value === 'string' ? [report(['value'])] : []
  if (kind !== 'integration' || !isObject(definition.credentials)) return []
  return Object.entries(definition.credentials)
    .filter(([name, value]) => secretCredentials.has(name) && !(isObject(value) && '$secret' in value))
    .map(([name]) => report(['credentials', name]))
}

/** Where variables are not kept in files, every name may exist. */
function namesUnderEnv(resources: LocalResource[]): string[] {
  const names = new Set<string>()
  for (const { definition } of resources)
    for (const [, name = ''] of JSON.stringify(definition).matchAll(/\benv\.([A-Za-z]\w*)/g)) names.add(name)
  return [...names]
}
