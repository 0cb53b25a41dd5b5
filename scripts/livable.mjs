// What of a scenario can be lived through, and what can only be simulated.

/**
 * @typedef {import('./lived.mjs').Members} Members
 * @typedef {{ ask: (method: string, path: string, body: unknown) => Promise<{ status: number }> }} Asking
 */

/** A scenario that can only be simulated. */
export class NotLivable extends Error {}

const sandboxFaults = new Set([
  'rate_limited',
  'timeout',
  'reset',
  'server_error',
  'bounce',
  'rejected',
  'unauthorized',
])
/** What the API does not tell of what has happened. */
const [onlyToldOfSteps, onlyToldOfWindows] = [new Set(['waits', 'attempts', 'windowId']), new Set(['id', 'endsAt'])]

export function refuseUnlivable(
  /** @type {Members} */ { integrations, answers, inputs, subscribers = [], expect = [] },
  /** @type {{ isAnswered: boolean }} */ { isAnswered },
) {
  if (integrations) throw new NotLivable('a held environment has the sandbox only, and the scenario names integrations')
  if (answers && Object.keys(answers).length > 0 && !isAnswered)
    throw new NotLivable('the scenario says what others would answer, and they are really called')
  if (subscribers.some((/** @type {Members} */ { base }) => base === 'stored'))
    throw new NotLivable('stored subscribers can only be simulated')
  for (const { type, fault, providerId, integrationIdentifier, version } of inputs) {
    if (type === 'fault' && !sandboxFaults.has(fault)) throw new NotLivable(`the sandbox has no fault ${fault}`)
    if (type === 'fault' && (providerId || integrationIdentifier))
      throw new NotLivable('the sandbox has faults for channels only')
    if (type === 'workflow' && version !== undefined)
      throw new NotLivable('an earlier version of a workflow can only be simulated')
  }
  for (const { window, totals, step } of expect) {
    for (const member of Object.keys(step ?? {}))
      if (onlyToldOfSteps.has(member)) throw new NotLivable(`only a simulation tells the ${member} of a step`)
    for (const member of Object.keys(window ?? {}))
      if (onlyToldOfWindows.has(member)) throw new NotLivable(`only a simulation tells the ${member} of a window`)
    if (window?.kind === 'throttle') throw new NotLivable('the windows of throttles are only told by a simulation')
    if (totals?.attempts !== undefined) throw new NotLivable('attempts are only counted by a simulation')
  }
}

/** Who and what is stored elsewhere can only be simulated: a held environment has only what the scenario invents. */
export async function refuseStored(
  /** @type {Asking} */ root,
  /** @type {Members} */ body,
  /** @type {Members[]} */ steps,
) {
  for (const { path, name } of namedIn(body, steps))
    if ((await root.ask('GET', path, undefined)).status === 200)
      throw new NotLivable(`${name} is stored, and only what the scenario invents can be lived through`)
}

/**
 * Whom and what the scenario names, but does not invent.
 * @returns {Array<{ path: string, name: string }>}
 */
function namedIn(/** @type {Members} */ { subscribers = [], topics = [], inputs }, /** @type {Members[]} */ steps) {
  const triggers = inputs.filter((/** @type {Members} */ { type }) => type === 'trigger')
  const started = steps.filter(({ type }) => type === 'start_workflow').map(({ controlValues }) => controlValues?.to)
  const asked = steps.flatMap(({ type, controlValues }) => (type === 'ask' ? (controlValues?.chain ?? []) : []))
  const recipients = [...triggers.map((/** @type {Members} */ { to }) => to), ...started].flat(2)
  const people = [
    ...[...recipients, ...triggers.map((/** @type {Members} */ { actor }) => actor)].map(
      (one) => one?.subscriberId ?? one,
    ),
    ...topics.flatMap((/** @type {Members} */ { subscriberIds }) => subscriberIds),
    ...asked.flatMap((/** @type {Members} */ level) => [level?.subscriberId, level?.subscriberIds].flat()),
    ...inputs.map((/** @type {Members} */ { subscriberId }) => subscriberId),
  ]
  const keys = [...recipients, ...asked].map((/** @type {any} */ one) => one?.topicKey)
  const tenants = triggers.map((/** @type {Members} */ { tenant }) => tenant?.identifier ?? tenant)
  const contexts = triggers.flatMap((/** @type {Members} */ { context }) =>
    Object.entries(context ?? {}).map(([type, value]) => ({ type, id: String(value?.id ?? value) })),
  )
  const enc = encodeURIComponent
  return [
    ...textsIn(people, subscribers, 'subscriberId').map((id) => ({ path: `/v2/subscribers/${enc(id)}`, name: id })),
    ...textsIn(keys, topics, 'topicKey').map((key) => ({ path: `/v2/topics/${enc(key)}`, name: `topic ${key}` })),
    ...textsIn(tenants, [], '').map((id) => ({ path: `/v1/tenants/${enc(id)}`, name: `tenant ${id}` })),
    ...contexts.map((/** @type {{ type: string, id: string }} */ { type, id }) => ({
      path: `/v2/contexts/${enc(type)}/${enc(id)}`,
      name: `context ${type}:${id}`,
    })),
  ]
}

/** Each once, without those that are invented, and without templates. @returns {string[]} */
function textsIn(/** @type {unknown[]} */ named, /** @type {Members[]} */ invented, /** @type {string} */ member) {
  const known = new Set(invented.map((each) => each[member]))
  const texts = named.flatMap((one) => (typeof one === 'string' && !/\{[{%]/.test(one) ? [one] : []))
  return [...new Set(texts)].filter((text) => !known.has(text))
}

/** Whether a template reads `env`. */
export const readsVariables = (/** @type {string} */ text) =>
  text
    .split(/\{[{%]/)
    .slice(1)
    .some((part) => /(?:^|[^.\w])env\./.test(part.split('}', 1)[0] ?? ''))

/** Whether somebody outside is asked: by the step, or by a filter of it. */
export const callsOthers = (/** @type {Members} */ { type, filters = [] }) =>
  type === 'http_request' ||
  filters.some((/** @type {Members} */ { children = [] }) =>
    children.some((/** @type {Members} */ { on }) => on === 'webhook'),
  )

/** Also those in the arms of branches. @returns {Members[]} */
export function stepsIn(/** @type {Members[]} */ steps) {
  return steps.flatMap(({ kind, ...own }) => {
    // Where clients know ten types only, others are wrapped in custom ones.
    const values = own.controlValues?.custom ?? own.controlValues
    const step = kind === undefined ? own : { ...own, type: kind, controlValues: values }
    const { arms = [], default: otherwise = {} } = step.type === 'branch' ? (step.controlValues ?? {}) : {}
    return [step, ...[...arms, otherwise].flatMap((arm) => stepsIn(arm?.steps ?? []))]
  })
}
