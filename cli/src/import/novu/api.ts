// Novu over its API.
import { Failure } from '../../failure.ts'
import { Service } from '../../service.ts'
import type { Terminal } from '../../terminal.ts'
import type { Intake } from '../intake.ts'
import { isJson, type Json } from '../members.ts'
import { type Ids, takeMessage, takeShownPreferences, takeSubscriber, takeSubscription } from './data.ts'
import { takeContext, takeIntegration, takeLayout, takeTenant, takeTopic, takeVariable } from './settings.ts'
import { takeTemplate, takeWorkflow } from './workflows.ts'

const perPage = 100
const messagesPerPage = 1_000
/** Requests at once, where each subscriber takes one. */
const atOnce = 8

export async function readApi(
  intake: Intake,
  terminal: Terminal,
  { url, key }: { url: string; key: string },
): Promise<void> {
  const source = new Service({ url, key })
  const ids: Ids = { subscribers: new Map(), workflows: new Map(), integrations: new Map() }
  const environment = await source.get<Json>('/v1/environments/me')
  terminal.say('reading definitions…')
  const layouts = await readLayouts(source, intake)
  await readWorkflows(source, intake, { ids, layouts })
  await readTranslations(source, intake)
  for (const integration of listIn(await source.get('/v1/integrations')))
    if (integration._environmentId === environment._id || integration._environmentId === undefined)
      takeIntegration(intake, integration, ids)
  await optional(intake, 'variable', async () => {
    for (const variable of listIn(await source.get('/v1/environment-variables')))
      takeVariable(intake, variable, String(environment._id))
  })
  await optional(intake, 'tenants', () =>
    numbered(source, '/v1/tenants', perPage, (tenant) => takeTenant(intake, tenant)),
  )
  await optional(intake, 'contexts', async () => {
    const known: Json[] = []
    await cursored(source, '/v2/contexts', async (page) => {
      known.push(...page)
      for (const context of page) takeContext(intake, context)
    })
    if (known.length > 0)
      intake.report.unmapped({
        ...{ kind: 'preferences', id: '*', path: 'contextKeys', code: 'not_readable' },
        why: 'the API cannot list preferences in contexts; import from files of mongoexport to take them along',
      })
  })
  terminal.say('reading subscribers…')
  await cursored(source, '/v2/subscribers', async (page) => {
    const people = page.flatMap((value) => takeSubscriber(intake, value, ids) ?? [])
    const answers = await inParallel(people, (id) =>
      source.get<Json>(`/v2/subscribers/${encodeURIComponent(id)}/preferences?criticality=all`),
    )
    for (const [index, answer] of answers.entries()) takeShownPreferences(intake, people[index] ?? '', answer)
  })
  terminal.say('reading topics…')
  await readTopics(source, intake)
  terminal.say('reading the inbox history…')
  await numbered(source, '/v1/messages?channel=in_app', messagesPerPage, (message) => {
    if (message.channel === 'in_app') takeMessage(intake, message, ids)
  })
}

async function readWorkflows(
  source: Service,
  intake: Intake,
  { ids, layouts }: { ids: Ids; layouts: ReadonlyMap<string, string> },
): Promise<void> {
  const listed: Json[] = []
  await offsets(source, '/v2/workflows', 'workflows', (workflow) => listed.push(workflow))
  for (const { workflowId, _id } of listed) {
    const workflow = await source.get<Json>(`/v2/workflows/${encodeURIComponent(String(workflowId))}`)
    ids.workflows.set(String(_id), String(workflowId))
    const steps = Array.isArray(workflow.steps) ? workflow.steps.filter(isJson) : []
    const isOld = /cloud-v1$/.test(String(workflow.origin))
    const isBare = steps.every(({ controlValues }) => !isJson(controlValues) || Object.keys(controlValues).length === 0)
    if (workflow.origin === 'external') {
      intake.report.unmapped({
        ...{ kind: 'workflow', id: String(workflowId), path: '', code: 'code_first' },
        why: 'code declares it; point its bridge here, and sync it',
      })
      continue
    }
    const template = isOld && steps.length > 0 && isBare ? await templateOf(source, String(_id)) : undefined
    if (template) takeTemplate(intake, template, { layoutOf: (id) => layouts.get(id) })
    else takeWorkflow(intake, workflow)
  }
}

/** A workflow of version 1, whose content version 2 of the API does not show. */
async function templateOf(source: Service, id: string): Promise<Json | undefined> {
  try {
    return await source.get<Json>(`/v1/workflows/${encodeURIComponent(id)}`)
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'unreachable') throw error
    return undefined
  }
}

/** @returns their identifiers, by them and by internal id */
async function readLayouts(source: Service, intake: Intake): Promise<Map<string, string>> {
  const listed: Json[] = []
  await offsets(source, '/v2/layouts', 'layouts', (layout) => listed.push(layout))
  for (const { layoutId } of listed)
    takeLayout(intake, await source.get<Json>(`/v2/layouts/${encodeURIComponent(String(layoutId))}`))
  return new Map(
    listed.flatMap(({ _id, layoutId }) => [_id, layoutId].map((id) => [String(id), String(layoutId)] as const)),
  )
}

/** All locales that some workflow or layout has texts in. */
async function readTranslations(source: Service, intake: Intake): Promise<void> {
  await optional(intake, 'translation', async () => {
    const locales = new Set<string>()
    await offsets(source, '/v2/translations/list', 'data', (group) => {
      for (const locale of Array.isArray(group.locales) ? group.locales : []) locales.add(String(locale))
    })
    for (const locale of [...locales].sort()) {
      const texts = await source.get<Json>(`/v2/translations/master-json?locale=${encodeURIComponent(locale)}`)
      intake.define('translation', locale, texts)
    }
  })
}

async function readTopics(source: Service, intake: Intake): Promise<void> {
  const topics: Json[] = []
  await cursored(source, '/v2/topics', async (page) => {
    topics.push(...page)
  })
  for (const topic of topics) {
    if (!takeTopic(intake, topic)) continue
    const path = `/v2/topics/${encodeURIComponent(String(topic.key))}/subscriptions`
    await cursored(source, path, async (page) => {
      const details = await inParallel(page, async (subscription) => {
        if (typeof subscription.identifier !== 'string') return subscription
        const more = await source.get<Json>(`${path}/${encodeURIComponent(subscription.identifier)}`)
        return { ...subscription, ...more }
      })
      for (const subscription of details) {
        const subscriber = isJson(subscription.subscriber) ? subscription.subscriber : {}
        takeSubscription(intake, subscription, {
          topicKey: topic.key,
          topicName: typeof topic.name === 'string' ? topic.name : undefined,
          subscriberId: subscriber.subscriberId,
        })
      }
    })
  }
}

const listIn = (value: unknown): Json[] =>
  (Array.isArray(value) ? value : isJson(value) && Array.isArray(value.data) ? value.data : []).filter(isJson)

/** What an older or smaller installation does not have is listed. */
async function optional(
  intake: Intake,
  kind: 'variable' | 'tenants' | 'contexts' | 'translation',
  read: () => Promise<void>,
) {
  try {
    await read()
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'unreachable') throw error
    intake.report.unmapped({ kind, id: '*', path: '', code: 'not_readable', why: error.message })
  }
}

async function inParallel<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += atOnce)
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))))
  return results
}

const withQuery = (path: string, query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`

/** Oldest first, so that what is added meanwhile comes at the end. */
async function cursored(source: Service, path: string, take: (page: Json[]) => Promise<void>): Promise<void> {
  let after: string | null = null
  do {
    const cursor: string = after === null ? '' : `&after=${encodeURIComponent(after)}`
    const page: { data?: unknown; next?: string | null } = await source.get(
      withQuery(path, `limit=${perPage}&orderDirection=ASC${cursor}`),
    )
    await take(listIn(page))
    after = page.next ?? null
  } while (after !== null)
}

async function numbered(source: Service, path: string, limit: number, take: (value: Json) => void): Promise<void> {
  for (let page = 0; ; page += 1) {
    const answer = await source.get<Json>(withQuery(path, `page=${page}&limit=${limit}`))
    for (const value of listIn(answer)) take(value)
    if (answer.hasMore !== true) return
  }
}

async function offsets(source: Service, path: string, member: string, take: (value: Json) => void): Promise<void> {
  for (let offset = 0; ; ) {
    const answer = await source.get<unknown>(withQuery(path, `limit=${perPage}&offset=${offset}`))
    const values = Array.isArray(answer) ? answer.filter(isJson) : listIn(isJson(answer) ? answer[member] : answer)
    for (const value of values) take(value)
    offset += values.length
    if (values.length < perPage) return
  }
}
