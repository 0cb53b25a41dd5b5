// Filters of notifications: tags in groups, members of their data, states. As text in a URL, or as JSON.
import type { MemberCondition, MessageFilter } from '../../db/queries/message-filter.ts'
import { fail } from '../../errors.ts'
import { generalError } from '../edge/validation.ts'

const mostTagGroups = 30
const mostTagsPerGroup = 100
const mostTags = 200
const deepestData = 2
const longestDataText = 256
const mostCountFilters = 30

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

/** A list: any of them. `{or: [...]}`: the same. `{and: [{or: [...]}, ...]}`: one of every group. Empty: no filter. */
export function readTags(tags: unknown): string[][] {
  const groups = groupsOf(tags)
  if (!groups)
    throw generalError(['tags must be a list of tags, {"or": [...tags]} or {"and": [{"or": [...tags]}, ...]}'])
  if (groups.length > mostTagGroups) throw generalError([`tags must contain no more than ${mostTagGroups} groups`])
  if (groups.some((group) => group.length > mostTagsPerGroup))
    throw generalError([`tags must contain no more than ${mostTagsPerGroup} elements in a group`])
  if (groups.flat().length > mostTags) throw generalError([`tags must contain no more than ${mostTags} elements`])
  return groups.filter((group) => group.length > 0)
}

function groupsOf(tags: unknown): string[][] | undefined {
  if (tags === undefined || tags === null) return []
  if (isTexts(tags)) return [tags]
  if (!isObject(tags) || (tags.or !== undefined && tags.and !== undefined)) return undefined
  if (tags.or !== undefined) return isTexts(tags.or) ? [tags.or] : undefined
  if (tags.and === undefined) return Object.keys(tags).length === 0 ? [] : undefined
  if (!Array.isArray(tags.and)) return undefined
  const groups = tags.and.map((group) => (isObject(group) && isTexts(group.or) ? group.or : undefined))
  return groups.includes(undefined) ? undefined : (groups as string[][])
}

/** `tags=a&tags=b`, `tags[]=a&tags[]=b`, groups as `tags[0][]=a&tags[1][]=b`, or any of the forms above as one JSON text. */
export function tagsOfQuery(query: Record<string, unknown>): unknown {
  const plain = [query.tags ?? [], query['tags[]'] ?? []].flat()
  const [only] = plain
  if (plain.length === 1 && typeof only === 'string' && /^\s*[{[]/.test(only)) return parsed(only) ?? [only]
  const groups = Object.entries(query).flatMap(([name, value]) =>
    /^tags\[\d+\](\[\d*\])?$/.test(name) ? [{ name: Number(/\d+/.exec(name)?.[0]), values: [value].flat() }] : [],
  )
  if (groups.length === 0) return plain.length === 0 ? undefined : plain
  const byNumber = new Map<number, unknown[]>()
  for (const { name, values } of groups) byNumber.set(name, [...(byNumber.get(name) ?? []), ...values])
  return { and: [...(plain.length > 0 ? [plain] : []), ...byNumber.values()].map((or) => ({ or })) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The forms that a data filter accepts besides plain values. */
export interface DataForms {
  /** `[a, b]` and `{"or": [a, b]}`: any of them; `{"and": [{"or": [a]}, ...]}`: one of every group. */
  lists?: boolean
}

/** Parses `data`, the text of a JSON object. @returns the object, to echo it, and its conditions */
export function readData(
  text: string | undefined,
  forms: DataForms = {},
): { data?: Record<string, unknown>; conditions: MemberCondition[] } {
  if (text === undefined || text === '') return { conditions: [] }
  const data = parsed(text)
  if (data === undefined) throw fail('data_filter_invalid', { reason: 'Invalid JSON format for data parameter' })
  if (!isObject(data)) throw fail('data_filter_invalid', { reason: 'Data must be an object' })
  return { data, conditions: conditionsOfData(data, forms) }
}

function conditionsOfData(data: Record<string, unknown>, { lists = false }: DataForms): MemberCondition[] {
  const conditions = lists ? formsOf(data, deepestData) : leavesOf(data, deepestData)
  if (!conditions)
    throw fail('data_filter_invalid', { reason: `Maximum nesting level exceeded (${deepestData} levels max)` })
  for (const name of conditions.flatMap(({ path }) => path))
    if (/^[$.]/.test(name) || reservedNames.has(name))
      throw fail('data_filter_invalid', { reason: `"${name}" cannot be the name of a member` })
  for (const value of conditions.flatMap(({ anyOf }) => anyOf)) {
    if (Array.isArray(value)) throw fail('data_filter_invalid', { reason: 'Arrays are not supported in data filter' })
    if (typeof value === 'object' && value !== null)
      throw fail('data_filter_invalid', { reason: 'Values in data filter are texts, numbers, booleans or null' })
    if (typeof value === 'string' && value.length > longestDataText)
      throw fail('data_filter_invalid', { reason: `Texts in data filter have at most ${longestDataText} characters` })
  }
  return conditions
}

const reservedNames = new Set(['__proto__', 'constructor', 'prototype'])

/** Like `leavesOf`, but also accepts lists and groups of values. */
function formsOf(object: Record<string, unknown>, depth: number): MemberCondition[] | undefined {
  if (depth === 0) return undefined
  const conditions: MemberCondition[] = []
  for (const [name, value] of Object.entries(object)) {
    const groups = groupsOfValues(value)
    // An empty group is no condition.
    if (groups) conditions.push(...groups.filter(({ length }) => length > 0).map((anyOf) => ({ path: [name], anyOf })))
    const inner = groups ? [] : formsOf(value as Record<string, unknown>, depth - 1)
    if (!inner) return undefined
    conditions.push(...inner.map(({ path, anyOf }) => ({ path: [name, ...path], anyOf })))
  }
  return conditions
}

/** Undefined for an object with other members. */
function groupsOfValues(value: unknown): unknown[][] | undefined {
  if (Array.isArray(value)) return [value]
  if (!isObject(value)) return [[value]]
  const [[form, inner] = ['', undefined], ...others] = Object.entries(value)
  if (others.length > 0 || !Array.isArray(inner)) return undefined
  if (form === 'or') return [inner]
  const groups = inner.map((group) =>
    isObject(group) && Array.isArray(group.or) ? (group.or as unknown[]) : undefined,
  )
  return form === 'and' && !groups.includes(undefined) ? (groups as unknown[][]) : undefined
}

/** Every member that is not an object, with its path; undefined if nested deeper than `depth`. */
export function leavesOf(object: Record<string, unknown>, depth: number): MemberCondition[] | undefined {
  if (depth === 0) return undefined
  const conditions: MemberCondition[] = []
  for (const [name, value] of Object.entries(object)) {
    if (!isObject(value)) {
      conditions.push({ path: [name], anyOf: [value] })
      continue
    }
    const inner = leavesOf(value, depth - 1)
    if (!inner) return undefined
    conditions.push(...inner.map(({ path, anyOf }) => ({ path: [name, ...path], anyOf })))
  }
  return conditions
}

export function refuseUnreadArchived({ read, archived }: Pick<MessageFilter, 'read' | 'archived'>): void {
  if (read === false && archived === true) throw fail('unread_and_archived')
}

const severities = ['high', 'medium', 'low', 'none']
const states = ['read', 'seen', 'archived', 'snoozed'] as const

interface CountFilter {
  filter: MessageFilter
  /** As sent, since clients match their counts by it. */
  shown: Record<string, unknown>
}

/** Parses `filters` of a count, the text of a JSON list of filters. */
export function readCountFilters(text: string | undefined, forms: DataForms = {}): CountFilter[] {
  const list = parsed(text ?? '')
  if (!Array.isArray(list)) throw fail('count_filters_invalid')
  if (list.length > mostCountFilters)
    throw generalError([`filters must contain no more than ${mostCountFilters} elements`])
  return list.map((shown: unknown) => {
    if (!isObject(shown)) throw fail('count_filters_invalid')
    const filter: MessageFilter = { tags: readTags(shown.tags) }
    for (const state of states) {
      const value = shown[state] ?? undefined
      if (value !== undefined && typeof value !== 'boolean') throw fail('count_filters_invalid')
      filter[state] = value
    }
    const severity = [shown.severity ?? []].flat()
    if (!severity.every((one) => severities.includes(one as string))) throw fail('count_filters_invalid')
    filter.severity = severity as string[]
    if (shown.contextKeys !== undefined && !isTexts(shown.contextKeys)) throw fail('count_filters_invalid')
    filter.contextKeys = shown.contextKeys
    if (shown.data !== undefined && !isObject(shown.data)) throw fail('count_filters_invalid')
    filter.data = conditionsOfData(shown.data ?? {}, forms)
    filter.createdFrom = momentOf(shown.createdGte)
    filter.createdTo = momentOf(shown.createdLte)
    refuseUnreadArchived(filter)
    return { filter, shown }
  })
}

function momentOf(value: unknown): Date | undefined {
  if (value === undefined || value === null) return undefined
  const moment = new Date(typeof value === 'number' ? value : Number.NaN)
  if (Number.isNaN(moment.getTime())) throw fail('count_filters_invalid')
  return moment
}

/** `severity=a` or `severity[]=a&severity[]=b`. */
export function severityOfQuery(query: Record<string, unknown>): string[] | undefined {
  const found = [query.severity ?? [], query['severity[]'] ?? []].flat()
  const unknown = found.find((one) => !severities.includes(one as string))
  if (unknown !== undefined)
    throw generalError([`each value in severity must be one of the following values: ${severities.join(', ')}`])
  return found.length === 0 ? undefined : (found as string[])
}
