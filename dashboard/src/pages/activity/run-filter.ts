// What the list of runs is narrowed to, as it stands in the URL: by the names the API has for it.
import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import type { RunFilter } from '../../api/runs.ts'
import { workflows } from '../../api/workflows.ts'
import { momentsOf } from '../../ui/list/filters.tsx'
import { flag, manyOf, oneOf, text, type UrlState, useUrlState } from '../../ui/list/url-state.ts'

const schema = {
  search: text(),
  status: manyOf(['processing', 'completed', 'error']),
  workflowIds: manyOf(),
  templates: manyOf(),
  channels: manyOf(),
  reasons: manyOf(),
  severity: manyOf(['high', 'medium', 'low', 'none']),
  tags: manyOf(),
  transactionId: manyOf(),
  subscriberIds: manyOf(),
  emails: manyOf(),
  topicKey: text(),
  subscriptionId: text(),
  contextKeys: manyOf(),
  after: text(),
  before: text(),
  charts: flag(),
  view: oneOf(['charts', 'table'], 'charts'),
}
export type Filters = UrlState<typeof schema>

export function useFilters() {
  const [filters, setFilters] = useUrlState(schema)
  const { after, before } = filters
  // Here these two are times, which stay when something else is chosen.
  const change = useCallback(
    (patch: Partial<Filters>, options?: { push?: boolean }) => setFilters({ after, before, ...patch }, options),
    [setFilters, after, before],
  )
  return [filters, change] as const
}

export const nothingChosen = {
  search: '',
  status: [],
  workflowIds: [],
  templates: [],
  channels: [],
  reasons: [],
  severity: [],
  tags: [],
  transactionId: [],
  subscriberIds: [],
  emails: [],
  topicKey: '',
  subscriptionId: '',
  contextKeys: [],
  after: '',
  before: '',
} satisfies Partial<Filters>

const isFilled = (value: Filters[keyof Filters]) => (Array.isArray(value) ? value.length > 0 : value !== '')

/** Whether anything but the time is chosen; and but these. */
export const isNarrowed = (filters: Filters, { but = [] as Array<keyof Filters> } = {}): boolean =>
  Object.keys(nothingChosen).some(
    (name) => !['after', 'before', ...but].includes(name) && isFilled(filters[name as keyof Filters]),
  )

/** Workflows with a tag that are looked for at most. */
const mostTagged = 100

/**
 * The filter for the API. A span such as "24h" is counted back from when it was chosen, so that one list stays one list. Tags
 * belong to workflows: they stand for those that have one. Undefined until it is known which.
 */
export function useRunFilter(filters: Filters): RunFilter | undefined {
  const { tags } = filters
  const tagged = useQuery({ ...workflows.list({ tags, limit: mostTagged }), enabled: tags.length > 0 })
  const ofTags = tags.length === 0 ? undefined : tagged.data?.workflows.map(({ workflowId }) => workflowId)
  const { after, before } = filters
  const range = useMemo(() => momentsOf({ after, before }), [after, before])
  const key = JSON.stringify([filters, range, ofTags])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key has all of it
  return useMemo(() => {
    if (tags.length > 0 && ofTags === undefined) return undefined
    const { charts: _, view: _view, tags: _tags, search, topicKey, subscriptionId, ...lists } = filters
    const chosen = lists.workflowIds
    const workflowIds = ofTags ? ofTags.filter((id) => chosen.length === 0 || chosen.includes(id)) : chosen
    const filled = Object.fromEntries(Object.entries({ ...lists, workflowIds }).filter(([, value]) => isFilled(value)))
    return {
      ...filled,
      after: undefined,
      before: undefined,
      ...range,
      ...(search ? { search } : {}),
      ...(topicKey ? { topicKey } : {}),
      ...(subscriptionId ? { subscriptionId } : {}),
      // No workflow has such a tag: nothing is to be found, and this says so to the server.
      ...(ofTags && workflowIds.length === 0 ? { workflowIds: ['-'] } : {}),
    } as RunFilter
  }, [key])
}
