// Lives through a scenario: in an environment whose clock is held, which is made for it and deleted after it. Everything goes
// through the API, as a test of an application would.

import { refusalIn } from './answers.mjs'
import { callsOthers, NotLivable, readsVariables, refuseStored, refuseUnlivable, stepsIn } from './livable.mjs'
import { countOf, shownMessage, shownRun, windowsOf } from './lived.mjs'

/**
 * @typedef {import('./lived.mjs').Members} Members
 * @typedef {{ url: string, key: string, environment?: string | undefined, fetch?: typeof fetch }} Service
 * @typedef {(text: string, startAt?: number) => number} MomentMs
 * @typedef {{
 *   momentMs: MomentMs,
 *   isAnswered?: boolean,
 *   begin?: (environment: { key: string, environmentId: string }) => Promise<void>,
 *   signal?: AbortSignal,
 * }} Tools with `isAnswered`, whoever is called answers as the scenario says; `begin` makes the workflow, which is defined in code;
 *   `signal` ends it early, and the environment is deleted then too
 */

const pageSize = 50
class Api {
  /** @param {Service} service @param {AbortSignal | undefined} [signal] */
  constructor({ url, key, environment, fetch: ask = fetch }, signal) {
    this.url = url
    this.fetch = ask
    this.signal = signal
    this.headers = { authorization: `ApiKey ${key}`, ...(environment ? { 'belfry-environment': environment } : {}) }
  }

  /** @returns {Promise<{ status: number, body: any }>} */
  async ask(/** @type {string} */ method, /** @type {string} */ path, /** @type {unknown} */ body) {
    const response = await this.fetch(this.url + path, {
      method,
      headers: { ...this.headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(this.signal ? { signal: this.signal } : {}),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }

  /** The answer to a request that has to succeed. */
  async need(/** @type {string} */ method, /** @type {string} */ path, /** @type {unknown} */ body = undefined) {
    const answer = await this.ask(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${refusalIn(answer.body)}`)
    const { data } = answer.body ?? {}
    // Where answers are wrapped, all but pages are.
    return data !== undefined && !Array.isArray(data) ? data : answer.body
  }

  /** Of somebody or something that may be gone, or not have what is asked for: then nothing happens. */
  async may(/** @type {string} */ method, /** @type {string} */ path, /** @type {unknown} */ body = undefined) {
    const answer = await this.ask(method, path, body)
    const { code = answer.body?.data?.code, message } = answer.body ?? {}
    if (answer.status >= 300 && answer.status !== 404 && code !== 'button_not_found')
      throw new Error(`${method} ${path}: ${answer.status} ${message ?? ''}`)
  }
}

/**
 * What came of a scenario, in the form of a simulation's answer.
 * @param {Service} service whose key may make environments
 * @param {Members} body
 * @param {Tools} tools
 * @returns {Promise<Members>}
 */
export async function live(service, body, { momentMs, isAnswered = false, begin, signal }) {
  const root = new Api(service)
  const { name: identifier, workflow, isStored } = await workflowOf(root, body)
  if (workflow.origin === 'external' && !begin)
    throw new NotLivable('it is defined in code, which would really be called')
  refuseUnlivable(body, { isAnswered })
  const others = await othersOf(root, body, { identifier, workflow })
  const all = [...others.steps, ...draftsIn(body).flatMap(({ steps }) => steps), ...(workflow.steps ?? [])]
  await refuseStored(root, body, stepsIn(all))
  if (!isAnswered && stepsIn(all).some(callsOthers)) throw new NotLivable('its HTTP requests would really be made')
  if (readsVariables(JSON.stringify(all)))
    throw new NotLivable('its texts have variables of the environment, and a held one has none')
  const startAt = momentMs(String(body.startAt ?? new Date().toISOString()))
  signal?.throwIfAborted()
  // Without the signal: an environment whose answer is not waited for could not be deleted.
  const environment = await root.need('POST', '/v1/environments', {
    name: `Scenario ${Math.random().toString(36).slice(2, 10)}`,
    color: '#8e44ad',
    clock: { now: new Date(startAt).toISOString(), seed: body.seed ?? 0 },
  })
  try {
    const [{ key }] = environment.apiKeys
    const api = new Api({ ...service, key, environment: undefined }, signal)
    const life = new Life(api, { body, identifier, startAt, momentMs })
    const named = [...others.names, ...(isStored && !begin ? [identifier] : [])]
    const layouts = stepsIn(all).some(({ type }) => type === 'email' || type === 'ask') ? await layoutsOf(root) : []
    await publish(root, environment._id, [
      ...named.map((resourceId) => ({ resourceType: 'workflow', resourceId })),
      ...layouts.map((resourceId) => ({ resourceType: 'layout', resourceId })),
    ])
    await copyGuards(root, api)
    if (begin) await begin({ key, environmentId: environment._id })
    else if (!isStored) await life.make(workflow)
    await life.prepare(body.subscribers ?? [])
    return await life.live()
  } finally {
    await root.ask('DELETE', `/v1/environments/${environment._id}`, undefined)
  }
}

/**
 * @typedef {import('./scenario-files.mjs').Expectation} Expectation
 * @typedef {{
 *   momentMs: MomentMs,
 *   checkExpectations: (expect: Members[], startAt: number) => void,
 *   expectations: (expect: Members[], lived: Members, startAt: number) => { expectations: Expectation[] },
 *   signal?: AbortSignal,
 * }} Rules what the service itself knows about moments and expectations
 */

/**
 * Lives through a scenario of a file, and compares. One that can only be simulated is skipped.
 * @param {Service} service
 * @param {import('./scenario-files.mjs').Scenario} scenario
 * @param {Rules} rules
 * @returns {Promise<import('./scenario-files.mjs').Played>}
 */
export async function liveThrough(service, scenario, rules) {
  const { expect = [], startAt = new Date().toISOString() } = /** @type {Members} */ (scenario.body)
  try {
    const begins = rules.momentMs(String(startAt))
    rules.checkExpectations(expect, begins)
    const lived = await live(service, { ...scenario.body, startAt }, rules)
    return { ...scenario, failed: rules.expectations(expect, lived, begins).expectations.filter(({ holds }) => !holds) }
  } catch (error) {
    if (error instanceof NotLivable) return { ...scenario, failed: [], skipped: error.message }
    return { ...scenario, failed: [], problem: error instanceof Error ? error.message : String(error) }
  }
}

/** The workflow to be made, with the name that triggers mean. */
async function workflowOf(/** @type {Api} */ root, /** @type {Members} */ { workflow }) {
  const { workflowId, draft, version } = workflow ?? {}
  if (version !== undefined) throw new NotLivable('an earlier version of a workflow can only be simulated')
  const name = workflowId ?? draft?.workflowId ?? 'draft'
  if (draft) return { name, workflow: { name: 'Draft', active: true, ...draft, workflowId: name }, isStored: false }
  return { name, workflow: await root.need('GET', `/v2/workflows/${encodeURIComponent(name)}`), isStored: true }
}

/** What inputs put in the place of the workflow. @returns {Members[]} */
const draftsIn = (/** @type {Members} */ { inputs }) =>
  inputs.flatMap((/** @type {Members} */ { draft }) => draft ?? [])

/** Other workflows that triggers or preferences name or steps start, and those that theirs start. */
async function othersOf(
  /** @type {Api} */ root,
  /** @type {Members} */ body,
  /** @type {{ identifier: string, workflow: Members }} */ { identifier, workflow },
) {
  const known = new Set([identifier])
  /** @type {string[]} */
  const names = []
  /** @type {Members[]} */
  const steps = []
  let next = [
    ...body.inputs.flatMap((/** @type {Members} */ { type, name, workflowId }) =>
      type === 'trigger' ? (name ?? []) : type === 'preferences' ? (workflowId ?? []) : [],
    ),
    ...(body.subscribers ?? []).flatMap((/** @type {Members} */ { preferences }) =>
      Object.keys(preferences?.workflows ?? {}),
    ),
    ...startedBy([...(workflow.steps ?? []), ...draftsIn(body).flatMap((draft) => draft.steps)]),
  ]
  while (next.length > 0) {
    const found = []
    for (const name of new Set(next)) {
      if (known.has(name)) continue
      known.add(name)
      const { status, body: told } = await root.ask('GET', `/v2/workflows/${encodeURIComponent(name)}`, undefined)
      // One that is not there cannot be started, in both.
      if (status === 404) continue
      names.push(name)
      found.push(...(told.data ?? told).steps)
    }
    steps.push(...found)
    next = startedBy(found)
  }
  return { names, steps }
}

/** @returns {string[]} */
function startedBy(/** @type {Members[]} */ steps) {
  const names = stepsIn(steps).flatMap(({ type, controlValues }) =>
    type === 'start_workflow' ? [String(controlValues?.workflowId ?? '')] : [],
  )
  if (names.some((name) => /\{[{%]/.test(name)))
    throw new NotLivable('a step starts a workflow that only its template knows')
  return names
}

/** @returns {Promise<string[]>} */
async function layoutsOf(/** @type {Api} */ root) {
  const { layouts } = await root.need('GET', '/v2/layouts?limit=1000')
  return layouts.map((/** @type {Members} */ { layoutId }) => layoutId)
}

/** As they are in the environment of the key, with the layouts and texts of workflows. */
async function publish(/** @type {Api} */ root, /** @type {string} */ target, /** @type {Members[]} */ resources) {
  if (resources.length === 0) return
  const { _id: sourceEnvironmentId } = await root.need('GET', '/v1/environments/me')
  await root.need('POST', `/v2/environments/${target}/publish`, { sourceEnvironmentId, resources })
}

/** Caps and quiet hours hold for simulations, too. */
async function copyGuards(/** @type {Api} */ from, /** @type {Api} */ to) {
  const { quietHours, caps } = await from.need('GET', '/v2/guards')
  if (caps.length > 0 || quietHours !== 'skip') await to.need('PUT', '/v2/guards', { quietHours, caps })
}

class Life {
  /** @param {Api} api @param {{ body: Members, identifier: string, startAt: number, momentMs: MomentMs }} given */
  constructor(api, { body, identifier, startAt, momentMs }) {
    this.api = api
    this.body = body
    this.identifier = identifier
    this.startAt = startAt
    this.momentMs = momentMs
    this.now = startAt
    /** @type {Members[]} */
    this.triggers = []
    this.transactions = new Set()
    /** Which input has set the fault of a channel. @type {Map<string | undefined, number>} */
    this.faults = new Map()
    /** Steps that ended, as the advances told. @type {Members[]} */
    this.events = []
  }

  async make(/** @type {Members} */ workflow) {
    await this.api.need('POST', '/v2/workflows', workflow)
  }

  async prepare(/** @type {Members[]} */ people) {
    for (const { preferences, ...fields } of people) {
      await this.api.need('POST', '/v1/subscribers', fields)
      if (preferences) await this.#choose(fields.subscriberId, preferences)
    }
    for (const { preferences, subscriberId } of people)
      for (const [workflowId, { channels }] of Object.entries(preferences?.workflows ?? {}))
        await this.#prefer(subscriberId, { workflowId, channels })
    for (const { topicKey, subscriberIds } of this.body.topics ?? []) {
      await this.api.need('POST', '/v2/topics', { key: topicKey, name: topicKey })
      await this.api.need('POST', `/v2/topics/${encodeURIComponent(topicKey)}/subscriptions`, { subscriberIds })
    }
  }

  async #choose(/** @type {string} */ subscriberId, /** @type {Members} */ { channels, schedule }) {
    if (channels || schedule)
      await this.#prefer(subscriberId, { ...(channels ? { channels } : {}), ...(schedule ? { schedule } : {}) })
  }

  #prefer(/** @type {string} */ subscriberId, /** @type {Members} */ body) {
    return this.api.need('PATCH', `/v2/subscribers/${encodeURIComponent(subscriberId)}/preferences`, body)
  }

  /** Waits that end at a moment come before its inputs. */
  async live() {
    const horizon = this.startAt + durationOf(this.momentMs, this.body.horizon ?? '30d')
    const given = this.body.inputs.map((/** @type {Members} */ input, /** @type {number} */ index) => ({
      ...{ at: this.momentMs(input.at, this.startAt), index, input },
      ...{ isBefore: false },
    }))
    // A fault has ended at `until`, also for what is due then.
    const ends = given.flatMap((/** @type {Members} */ { input, index }) =>
      input.type === 'fault' && input.until !== undefined
        ? [
            {
              at: this.momentMs(input.until, this.startAt),
              index,
              input: { type: 'fault_end', channel: input.channel },
              isBefore: true,
            },
          ]
        : [],
    )
    const inputs = [...given, ...ends].sort(
      (a, b) => a.at - b.at || Number(b.isBefore) - Number(a.isBefore) || a.index - b.index,
    )
    for (const { at, index, input, isBefore } of inputs) {
      if (at > horizon) break
      await this.#advance(isBefore ? Math.max(this.now, at - 1) : at)
      await this.#take(input, index, at)
      await this.#advance(this.now)
    }
    for (;;) {
      const { waiting } = await this.api.need('GET', '/v1/clock')
      if (waiting.next === null || Date.parse(waiting.next) > horizon) break
      await this.#advance(Date.parse(waiting.next))
    }
    return this.#answer()
  }

  async #advance(/** @type {number} */ to) {
    for (let isThere = false; !isThere; ) {
      const told = await this.api.need('POST', '/v1/clock/advance', {
        to: new Date(Math.max(to, this.now)).toISOString(),
      })
      this.events.push(...told.events)
      this.now = Date.parse(told.now)
      isThere = told.reached
    }
  }

  async #take(/** @type {Members} */ input, /** @type {number} */ index, /** @type {number} */ at) {
    const { type, at: _, ...said } = input
    const person = encodeURIComponent(said.subscriberId ?? '')
    switch (type) {
      case 'trigger':
        return this.#trigger(said, index, at)
      case 'cancel':
        if (said.key !== undefined) return this.#cancelByKey(said)
        return this.api.need('DELETE', `/v1/events/trigger/${encodeURIComponent(said.transactionId)}`)
      case 'event':
        return this.api.need('POST', '/v2/events', said)
      case 'answer':
        return this.#answerQuestions(said)
      case 'seen':
      case 'read':
      case 'unread':
      case 'acted':
        return this.#mark(type, said, person)
      case 'preferences': {
        const { subscriberId: _id, ...choice } = said
        return this.api.may('PATCH', `/v2/subscribers/${person}/preferences`, choice)
      }
      case 'subscriber':
        // This way, the messages they got stay.
        if (said.delete) return this.api.may('DELETE', `/v1/subscribers/${person}`)
        return this.api.need('POST', '/v1/subscribers', { ...said.set, subscriberId: said.subscriberId })
      case 'workflow': {
        const path = `/v2/workflows/${encodeURIComponent(this.identifier)}`
        if (said.active !== undefined) return this.api.need('PATCH', path, { active: said.active })
        const { origin, preferences } = await this.api.need('GET', path)
        const kept = { origin, preferences: { user: preferences.user, workflow: preferences.default } }
        const changed = { name: 'Draft', active: true, ...kept, ...said.draft, workflowId: this.identifier }
        return this.api.need('PUT', path, changed)
      }
      case 'fault': {
        const { fault, channel, count, retryAfterSeconds } = said
        this.faults.set(channel, index)
        return this.api.need('PUT', '/v1/sandbox/faults', { fault, channel, count, retryAfterSeconds })
      }
      case 'fault_end': {
        // Another has taken its place.
        if (this.faults.get(said.channel) !== index) return
        const faults = await this.api.need('GET', '/v1/sandbox/faults')
        await this.api.need('DELETE', '/v1/sandbox/faults')
        for (const fault of faults)
          if (fault.channel !== said.channel) await this.api.need('PUT', '/v1/sandbox/faults', fault)
        return
      }
      default:
        throw new NotLivable(`${type} can only be simulated`)
    }
  }

  /** A call cancels so many runs, then there may be more. */
  async #cancelByKey(/** @type {Members} */ { key, workflowId, subscriberId }) {
    for (let hasMore = true; hasMore; )
      ({ hasMore } = await this.api.need('POST', '/v1/events/cancel', { key, workflowId, subscriberId }))
  }

  /** Its place among the triggers of the list, whenever they happen. */
  #placeOf(/** @type {number} */ index) {
    return this.body.inputs.slice(0, index + 1).filter((/** @type {Members} */ { type }) => type === 'trigger').length
  }

  async #trigger(/** @type {Members} */ { broadcast, ...said }, /** @type {number} */ index, /** @type {number} */ at) {
    const transactionId = said.transactionId ?? `sim-${this.#placeOf(index)}`
    const path = broadcast ? '/v1/events/trigger/broadcast' : '/v1/events/trigger'
    const { status, body } = await this.api.ask('POST', path, { name: this.identifier, ...said, transactionId })
    const told = body?.data ?? body
    const isNew = !this.transactions.has(transactionId)
    const trigger = { input: index, at: new Date(at).toISOString(), transactionId, isNew }
    if (status >= 300)
      this.triggers.push({ ...trigger, status: 'error', error: { code: told?.code, message: told?.message } })
    else {
      this.transactions.add(transactionId)
      this.triggers.push({ ...trigger, status: told.status })
    }
  }

  /** Every open question that this person was asked; an answer that is refused changes nothing. */
  async #answerQuestions(/** @type {Members} */ { subscriberId, answer, text, transactionId, stepId }) {
    const query = new URLSearchParams({ state: 'open', subscriberId, limit: '100' })
    if (transactionId !== undefined) query.set('transactionId', transactionId)
    const { data } = (await this.api.ask('GET', `/v2/questions?${query.toString()}`, undefined)).body
    for (const question of data.reverse())
      if (stepId === undefined || question.stepId === stepId)
        await this.api.ask('POST', `/v2/questions/${question.id}/answer`, { subscriberId, answer, text })
  }

  async #mark(
    /** @type {string} */ type,
    /** @type {Members} */ { subscriberId, transactionId, stepId, action },
    /** @type {string} */ person,
  ) {
    const messages = await this.#all('/v1/messages', { channel: 'in_app', subscriberId })
    const found = messages.filter(
      (message) =>
        (transactionId === undefined || message.transactionId === transactionId) &&
        (stepId === undefined || message.stepId === stepId),
    )
    const path = `/v2/subscribers/${person}/notifications`
    const notificationIds = found.map(({ _id }) => _id)
    if (type === 'seen' && found.length > 0) await this.api.may('POST', `${path}/seen`, { notificationIds })
    if (type === 'read' || type === 'unread')
      for (const id of notificationIds) await this.api.may('PATCH', `${path}/${id}/${type}`)
    if (type === 'acted')
      for (const id of notificationIds)
        await this.api.may('PATCH', `${path}/${id}/actions/${action ?? 'primary'}/complete`)
  }

  /** All pages of a list, oldest first. @returns {Promise<Members[]>} */
  async #all(/** @type {string} */ path, /** @type {Record<string, string>} */ query = {}) {
    const all = []
    for (let page = 0; ; page += 1) {
      const { body } = await this.api.ask(
        'GET',
        `${path}?${String(new URLSearchParams({ ...query, limit: String(pageSize), page: String(page) }))}`,
        undefined,
      )
      all.push(...(body.data ?? []))
      if (!body.hasMore) return all.reverse()
    }
  }

  async #answer() {
    const activity = await this.#all('/v1/notifications')
    const runs = await Promise.all(activity.map(({ _id }) => this.api.need('GET', `/v1/notifications/${_id}`)))
    const integrations = await this.#integrations()
    const messages = await this.#messages(runs, integrations)
    const shown = runs.map((run) => shownRun(run, messages, { hasDetails: this.body.details === true }))
    const steps = shown.flatMap((run) => run.steps)
    return {
      startAt: new Date(this.startAt).toISOString(),
      endAt: new Date(this.now).toISOString(),
      triggers: await Promise.all(this.triggers.map((trigger) => this.#shownTrigger(trigger, shown))),
      runs: shown,
      windows: windowsOf(shown),
      messages: messages.map(({ jobId: _, ...message }) => message),
      events: this.events,
      totals: {
        ...{ triggers: this.triggers.length, runs: shown.length },
        messages: countOf(messages.filter(({ status }) => status === 'sent').map(({ channel }) => channel)),
        reasons: countOf(steps.flatMap(({ reason }) => reason ?? [])),
      },
    }
  }

  async #integrations() {
    const list = await this.api.ask('GET', '/v1/integrations', undefined)
    return /** @type {Members[]} */ (list.body.data ?? list.body)
  }

  async #messages(/** @type {Members[]} */ runs, /** @type {Members[]} */ integrations) {
    const all = []
    const inbox = new Map((await this.#all('/v1/messages', { channel: 'in_app' })).map((each) => [each._id, each]))
    for (const run of runs)
      for (const [position, job] of run.jobs.entries())
        for (const message of job.messages) {
          const answer = await this.api.ask('GET', `/v1/sandbox/messages/${message._id}`, undefined)
          const kept = answer.status === 200 ? (answer.body.data ?? answer.body) : undefined
          const found = { kept, stored: inbox.get(message._id) }
          all.push({ place: [run._id, position], ...shownMessage(run, job, message, found, integrations) })
        }
    const order = (/** @type {Members} */ a, /** @type {Members} */ b) =>
      Date.parse(a.at) - Date.parse(b.at) || (a.place < b.place ? -1 : 1)
    return all.sort(order).map(({ place: _, ...message }, index) => ({ id: `m${index + 1}`, ...message }))
  }

  async #shownTrigger(/** @type {Members} */ { isNew, ...trigger }, /** @type {Members[]} */ runs) {
    const own = isNew ? runs.filter(({ transactionId }) => transactionId === trigger.transactionId) : []
    const report =
      isNew && trigger.status === 'processed'
        ? await this.api.need('GET', `/v1/events/trigger/${encodeURIComponent(trigger.transactionId)}`)
        : undefined
    const passedOver = (report?.passedOver ?? []).map((/** @type {Members} */ { createdAt: _, ...group }) => group)
    return { ...trigger, runs: own.length, passedOver }
  }
}

const durationOf = (/** @type {MomentMs} */ momentMs, /** @type {string} */ text) =>
  momentMs(`+${text}`, Date.UTC(2001, 0, 1)) - Date.UTC(2001, 0, 1)
