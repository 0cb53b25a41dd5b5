// The filters of the run list, kept in the URL under the API's names.
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
  held: flag(),
  stepsAfter: text(),
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
  // Here `after` and `before` are times, not cursors: keep them when another filter changes.
  const change = useCallback(
    (patch: Partial<Filters>, options?: { push?: boolean }) => setFilters({ after, before, ...patch }, options),
    [setFilters, after, before],
  )
  return [filters, change] as const
}

export const noFilters = {
  search: '',
  status: [],
  workflowIds: [],
  templates: [],
  channels: [],
  reasons: [],
  held: false,
  stepsAfter: '',
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

const isFilled = (value: Filters[keyof Filters]) =>
  Array.isArray(value) ? value.length > 0 : value !== '' && value !== false

/** Whether any filter except the time range, and except those in `but`, is set. */
export const isFiltered = (filters: Filters, { but = [] as Array<keyof Filters> } = {}): boolean =>
  Object.keys(noFilters).some(
    (name) => !['after', 'before', ...but].includes(name) && isFilled(filters[name as keyof Filters]),
  )

/** At most so many tagged workflows are looked up. */
const maxTagged = 100

/**
 * The filter for the API. A span such as "24h" ends at the time it was chosen, so that the list stays the same while paging. Tags
 * are replaced by the workflows that have them; undefined until those are loaded.
 */
export function useRunFilter(filters: Filters): RunFilter | undefined {
  const { tags } = filters
  const tagged = useQuery({ ...workflows.list({ tags, limit: maxTagged }), enabled: tags.length > 0 })
  const ofTags = tags.length === 0 ? undefined : tagged.data?.workflows.map(({ workflowId }) => workflowId)
  const { after, before } = filters
  const range = useMemo(() => momentsOf({ after, before }), [after, before])
  const key = JSON.stringify([filters, range, ofTags])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key covers all of them
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
      // No workflow has such a tag: an id that matches nothing makes the server return no runs.
      ...(ofTags && workflowIds.length === 0 ? { workflowIds: ['-'] } : {}),
    } as RunFilter
  }, [key])
}
