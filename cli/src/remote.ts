// Definitions as the service answers them.
import { Failure } from './failure.ts'
import { type Kind, type KindName, kindNames } from './folder/layout.ts'
import type { Definition } from './folder/source.ts'
import type { Service } from './service.ts'

export interface RemoteResource {
  kind: Kind
  id: string
  revision: string
  version: number | null
  files: { revision: string; drifted: boolean } | null
  definition: Definition
}

export interface Definitions {
  environment: { name: string; identifier: string }
  resources: RemoteResource[]
  passedOver: Array<{ kind: Kind; id: string; why: string }>
}

export interface Change {
  kind: Kind
  id: string
  action: 'created' | 'updated' | 'deleted'
  version?: number | null
  revision?: string | null
  paths?: Array<{ path: string; before: unknown; after: unknown }>
}

export interface Issue {
  kind: Kind
  id: string
  stepId: string | null
  path: string
  issueType: string
  message: string
}

interface Summary {
  created: number
  updated: number
  deleted: number
  unchanged: number
}

export interface Conflict {
  kind: Kind
  id: string
  why: string
  current: { author: { name: string | null } | null; version: number | null } | null
}

export interface Plan {
  changes: Change[]
  conflicts: Conflict[]
  issues: Issue[]
  renders?: Render[]
  hasMore?: boolean
  waiting?: Array<{ workflowId: string; stepId: string; runs: number; change: string }>
  summary: Summary
}

export interface Render {
  workflowId: string
  stepId: string
  channel: string
  /** Null for an example. */
  subscriberId: string | null
  transactionId: string | null
  same: boolean
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  error: string | null
}

export interface Pushed {
  applied: boolean
  changes: Change[]
  issues: Issue[]
  summary: Summary
}

export const readDefinitions = (service: Service, kinds: readonly KindName[]): Promise<Definitions> =>
  service.get<Definitions>(`/v2/definitions?kinds=${kinds.map((name) => kindNames[name]).join(',')}`)

/** A name that nobody has is a slip, and no definition without changes. Code-first workflows are known, though no files. */
export function refuseUnknown(
  ids: readonly string[],
  local: ReadonlyArray<{ id: string }>,
  { resources, passedOver }: Pick<Definitions, 'resources' | 'passedOver'>,
): void {
  const known = new Set([...local, ...resources, ...passedOver].map(({ id }) => id))
  const unknown = ids.filter((id) => !known.has(id))
  if (unknown.length > 0)
    throw new Failure(
      'usage',
      'unknown_id',
      `Neither the files nor the service have ${unknown.join(', ')}, of the kinds that are kept in files`,
    )
}

/** The environment that the key opens. */
export const readEnvironment = (service: Service): Promise<Definitions['environment']> =>
  service.get<Definitions['environment']>('/v1/environments/me')

export const inWords = ({ created, updated, deleted, unchanged }: Summary): string =>
  `${created} created, ${updated} updated, ${deleted} deleted, ${unchanged} unchanged`
