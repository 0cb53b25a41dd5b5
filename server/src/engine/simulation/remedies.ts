// What would open a step's closed gates: the fewest changes after which it sends. Each is tried in memory, together with those
// before it, before it is offered.
import { heldChannels } from '../../db/core/chat-addresses.ts'
import { hasPrimary, isSandbox } from '../../db/core/integration-facts.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import { contextKeysOf } from '../runs/compose.ts'
import { type Gate, type GateName, standInIntegration } from './gates.ts'
import type { Input, Members } from './scenario.ts'
import type { Seen, SeenStep, Situation } from './situation.ts'
import type { Brand } from './tools.ts'

/** Whose trigger it is. */
export interface Owner {
  subscriberId: string
  /** As stored; undefined for somebody nobody knows. */
  subscriber: SubscriberRow | undefined
  workflow: { id: string; identifier: string; name: string }
  /** As the trigger has it. */
  context: Members | undefined
  tenant: string | undefined
}

interface Request {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  body?: Members
}

export interface ChangeShown {
  gate: GateName
  text: string
  by: 'time' | 'subscriber' | 'you'
  /** Until when, if time does it. */
  wait: Date | null
  /** Null if it needs a value that only a person knows. */
  request: Request | null
}

export interface Change extends ChangeShown {
  apply(situation: Situation): Situation
}

export const shownChange = ({ gate, text, by, wait, request }: Change): ChangeShown => ({
  gate,
  text,
  by,
  wait,
  request,
})

/** Of equally many changes, those that come first here are smaller. */
const sizes: readonly GateName[] = ['address', 'preference', 'suppression', 'brake', 'workflow', 'integration']
const sizeOf = ({ by, gate }: Change): number => (by === 'time' ? 0 : 1 + sizes.indexOf(gate))

export function smaller(one: Change[], other: Change[]): boolean {
  if (one.length !== other.length) return one.length < other.length
  const [a, b] = [one, other].map((changes) => changes.map(sizeOf).sort((x, y) => y - x))
  const at = a?.findIndex((size, index) => size !== b?.[index]) ?? -1
  return at >= 0 && Number(a?.[at]) < Number(b?.[at])
}

const mostChanges = 6

interface Trying {
  owner: Owner
  brand: Brand
  /** Shared by all steps of one answer. */
  looks: { left: number }
  look(situation: Situation): Promise<Seen>
}

/** By the number of changes. Every remedy has to open the first closed gate, so only changes that might are tried. */
export async function findRemedy(
  situation: Situation,
  { stepId, type }: Pick<SeenStep, 'stepId' | 'type'>,
  trying: Trying,
): Promise<Change[] | undefined> {
  let tried: Array<{ changes: Change[]; situation: Situation }> = [{ changes: [], situation }]
  for (let count = 0; count <= mostChanges && tried.length > 0; count += 1) {
    const found: Change[][] = []
    const next: typeof tried = []
    for (const { changes, situation: changed } of tried) {
      if (trying.looks.left <= 0) return undefined
      trying.looks.left -= 1
      const seen = await trying.look(changed)
      const step = seen.steps.find((each) => each.stepId === stepId && each.type === type)
      if (!step) return undefined
      if (step.verdict === 'sends') {
        found.push(changes)
        continue
      }
      for (const change of changesFor(obstacleOf(seen, step), changed, trying))
        next.push({ changes: added(changes, change), situation: change.apply(changed) })
    }
    const [first, ...others] = found
    if (first) return others.reduce((best, each) => (smaller(each, best) ? each : best), first)
    tried = next
  }
  return undefined
}

/** Only the last wait counts: it is the longest. */
const added = (changes: Change[], change: Change): Change[] => [
  ...changes.filter(({ by }) => !(by === 'time' && change.by === 'time')),
  change,
]

interface Obstacle {
  gate: Gate
  step: SeenStep
}

/** The first closed gate of the step, or of the one that ends the run before it. */
function obstacleOf({ steps }: Seen, step: SeenStep): Obstacle | undefined {
  const closedOf = (of: SeenStep) => of.gates.find(({ passed }) => passed === false)
  const own = closedOf(step)
  if (own) return { gate: own, step }
  if (step.verdict !== 'not_reached') return undefined
  const before = steps.slice(0, steps.indexOf(step))
  const ending = before.findLast(({ verdict }) => verdict === 'held_back' || verdict === 'fails')
  const gate = ending && closedOf(ending)
  return gate && { gate, step: ending }
}

function changesFor(obstacle: Obstacle | undefined, situation: Situation, trying: Trying): Change[] {
  if (!obstacle) return []
  switch (obstacle.gate.gate) {
    case 'workflow':
      return workflowChanges(situation, trying)
    case 'schedule':
      return scheduleChanges(obstacle, situation, trying)
    case 'preference':
      return preferenceChanges(obstacle, situation, trying)
    case 'throttle':
    case 'cap':
      return waits(obstacle, situation, obstacle.gate.until)
    case 'integration':
      return integrationChanges(obstacle, situation, trying)
    case 'address':
      return addressChanges(obstacle, trying)
    case 'suppression':
      return suppressionChanges(obstacle, trying)
    case 'brake':
      return brakeChanges(trying)
    case 'branch':
    case 'condition':
    case 'filters':
    case 'content':
      return []
  }
}

const nameOf = ({ subscriber, subscriberId }: Owner) => subscriber?.first_name ?? subscriberId

const words: Record<string, string> = {
  email: 'email',
  sms: 'SMS',
  in_app: 'in-app messages',
  chat: 'chat',
  push: 'push',
}
const wordFor = (channel: string | null) => words[channel ?? ''] ?? String(channel)

const enc = encodeURIComponent

/** Something that happens before the trigger. */
const before = (situation: Situation, make: (at: number) => Input): Situation => ({
  ...situation,
  scenario: { ...situation.scenario, inputs: [make(situation.scenario.startAt), ...situation.scenario.inputs] },
})

/** The same trigger later. */
function waits({ gate, step }: Obstacle, { scenario }: Situation, until: unknown): Change[] {
  if (!(until instanceof Date) || step.at === null) return []
  const byMs = until.getTime() - step.at.getTime()
  if (byMs <= 0) return []
  const wait = new Date(scenario.startAt + byMs)
  return [
    {
      ...{ gate: gate.gate, by: 'time', wait, request: null },
      text: `Trigger it again from ${wait.toISOString()} on`,
      apply: (situation) => ({
        ...situation,
        scenario: {
          ...situation.scenario,
          startAt: wait.getTime(),
          inputs: situation.scenario.inputs.map((input) => ({ ...input, at: wait.getTime() })),
        },
      }),
    },
  ]
}

function workflowChanges({ snapshot }: Situation, { owner }: Trying): Change[] {
  const { workflow, tenant: named } = owner
  const common = { gate: 'workflow', by: 'you', wait: null } as const
  const tenant = snapshot.tenants.find(({ identifier }) => identifier === named)
  if (named !== undefined && !tenant) {
    const made = { identifier: named, name: named, data: null, overrides: null, active: {} }
    return [
      {
        ...common,
        text: `Create the tenant "${named}"`,
        request: { method: 'POST', path: '/v1/tenants', body: { identifier: named, name: named } },
        apply: (situation) => ({
          ...situation,
          snapshot: { ...situation.snapshot, tenants: [...situation.snapshot.tenants, made] },
        }),
      },
    ]
  }
  if (tenant?.active[workflow.id] === false)
    return [
      {
        ...common,
        text: `Switch ${workflow.name} on for the tenant "${tenant.identifier}"`,
        request: {
          method: 'PUT',
          path: `/v1/workflow-overrides/workflows/${enc(workflow.identifier)}/tenants/${enc(tenant.identifier)}`,
          body: { active: true },
        },
        apply: (situation) => ({
          ...situation,
          snapshot: {
            ...situation.snapshot,
            tenants: situation.snapshot.tenants.map((each) =>
              each.identifier === named ? { ...each, active: { ...each.active, [workflow.id]: true } } : each,
            ),
          },
        }),
      },
    ]
  if (snapshot.workflow.active) return []
  return [
    {
      ...common,
      text: `Activate ${workflow.name}`,
      request: { method: 'PATCH', path: `/v2/workflows/${enc(workflow.identifier)}`, body: { active: true } },
      apply: (situation) => ({
        ...situation,
        snapshot: { ...situation.snapshot, workflow: { ...situation.snapshot.workflow, active: true } },
      }),
    },
  ]
}

const preferencesPath = ({ subscriberId }: Owner) => `/v2/subscribers/${enc(subscriberId)}/preferences`

function scheduleChanges(obstacle: Obstacle, situation: Situation, { owner }: Trying): Change[] {
  if (obstacle.gate.opensAt !== null) return waits(obstacle, situation, obstacle.gate.opensAt)
  const body = { schedule: { isEnabled: false }, ...(owner.context ? { context: owner.context } : {}) }
  return [
    {
      ...{ gate: 'schedule', by: 'subscriber', wait: null },
      text: `${nameOf(owner)} switches the schedule off, which never opens`,
      request: { method: 'PATCH', path: preferencesPath(owner), body },
      apply: (changed) => withChoices(changed, owner, { schedule: { isEnabled: false } }),
    },
  ]
}

/** The pause ends by itself, or when its subscriber ends it. */
function snoozeChanges(obstacle: Obstacle, situation: Situation, { owner }: Trying): Change[] {
  const resumed = ({ snapshot }: Situation) =>
    snapshot.subscribers.map((each) =>
      each.subscriber_id === owner.subscriberId ? { ...each, snoozed_until: null } : each,
    )
  return [
    ...waits(obstacle, situation, obstacle.gate.until),
    {
      ...{ gate: 'preference', by: 'subscriber', wait: null },
      text: `${nameOf(owner)} ends the pause from commercial messages`,
      request: { method: 'PATCH', path: preferencesPath(owner), body: { snoozedUntil: null } },
      apply: (changed) => ({ ...changed, snapshot: { ...changed.snapshot, subscribers: resumed(changed) } }),
    },
  ]
}

function preferenceChanges(obstacle: Obstacle, situation: Situation, trying: Trying): Change[] {
  const { gate, step } = obstacle
  if (gate.decidedBy === 'snooze') return snoozeChanges(obstacle, situation, trying)
  const { snapshot } = situation
  const { owner } = trying
  const { workflow } = owner
  const channel = step.channel as 'email'
  const word = wordFor(channel)
  const isCritical = gate.decidedBy === 'workflow' || gate.decidedBy === 'user'
  const own: Change = {
    ...{ gate: 'preference', by: 'subscriber', wait: null },
    text: `${nameOf(owner)} switches ${word} on for ${workflow.name}`,
    request: owner.subscriber
      ? {
          method: 'PATCH',
          path: preferencesPath(owner),
          body: {
            ...{ workflowId: workflow.identifier, channels: { [channel]: true } },
            ...(owner.context ? { context: owner.context } : {}),
          },
        }
      : null,
    apply: (situation) => withChoices(situation, owner, { channels: { [channel]: true } }),
  }
  if (!isCritical) return [own]
  // Where subscribers have no say, only the workflow can change it.
  const byWorkflow: Change = {
    ...{ gate: 'preference', by: 'you', wait: null, request: null },
    text: `Switch ${word} on in the preferences of ${workflow.name}`,
    apply: (situation) => {
      const { workflow: row } = situation.snapshot
      const on = { channels: { [channel]: { enabled: true } } }
      const open = (given: Members | null | undefined) =>
        given && { ...given, channels: { ...(given.channels as Members | undefined), ...on.channels } }
      const preferences = { preferences: open(row.preferences), user_preferences: open(row.user_preferences) }
      return { ...situation, snapshot: { ...situation.snapshot, workflow: { ...row, ...preferences } as typeof row } }
    },
  }
  return snapshot.workflow.critical ? [byWorkflow] : [own, byWorkflow]
}

/** Of a workflow's channels, or the schedule, which is global. In the contexts of the trigger. */
function withChoices(
  situation: Situation,
  owner: Owner,
  choice: { channels?: Members; schedule?: Members },
): Situation {
  const { subscriberId, workflow } = owner
  return before(situation, (at) => ({
    ...{ type: 'preferences', at, subscriberId },
    ...(choice.channels
      ? { workflowId: workflow.identifier, channels: choice.channels as Record<string, boolean> }
      : {}),
    ...(choice.schedule ? { schedule: choice.schedule } : {}),
    contextKeys: contextKeysOf(owner.context ?? null),
  }))
}

function suppressionChanges({ gate, step }: Obstacle, { owner }: Trying): Change[] {
  const {
    suppressionId: id,
    reason,
    scope,
  } = gate as unknown as { suppressionId: string; reason: string; scope: { type: string } }
  const channel = step.channel as 'email'
  // What somebody has reported as spam is not for others to lift.
  if (reason === 'complaint') return []
  if (reason === 'unsubscribe' && (scope.type === 'workflow' || scope.type === 'category') && owner.subscriber)
    return [
      {
        ...{ gate: 'suppression', by: 'subscriber', wait: null },
        text: `${nameOf(owner)} subscribes to ${owner.workflow.name} by ${wordFor(channel)} again`,
        request: {
          method: 'PATCH',
          path: preferencesPath(owner),
          body: {
            ...{ workflowId: owner.workflow.identifier, channels: { [channel]: true } },
            ...(owner.context ? { context: owner.context } : {}),
          },
        },
        apply: (situation) => withChoices(situation, owner, { channels: { [channel]: true } }),
      },
    ]
  return [
    {
      ...{ gate: 'suppression', by: 'you', wait: null },
      text: 'Remove the address from the suppression list',
      request: { method: 'DELETE', path: `/v1/suppressions/${enc(id)}` },
      apply: (situation) => ({
        ...situation,
        snapshot: {
          ...situation.snapshot,
          suppressions: situation.snapshot.suppressions.filter((entry) => entry.id !== id),
        },
      }),
    },
  ]
}

/** Whoever releases it should have looked at the bounces behind it. */
const brakeChanges = ({ owner: { workflow } }: Trying): Change[] => [
  {
    ...{ gate: 'brake', by: 'you', wait: null },
    text: `Release the brake of ${workflow.name}`,
    request: { method: 'POST', path: `/v2/workflows/${enc(workflow.identifier)}/release-brake` },
    apply: (situation) => ({
      ...situation,
      snapshot: { ...situation.snapshot, workflow: { ...situation.snapshot.workflow, brake: null } },
    }),
  },
]

const missing: Record<string, string> = {
  email: 'an email address',
  sms: 'a phone number',
  push: 'a device that has registered for push',
  chat: 'a chat that is connected',
}

function addressChanges({ step }: Obstacle, { owner }: Trying): Change[] {
  const channel = step.channel as 'email' | 'sms' | 'push' | 'chat'
  const isStored = channel === 'email' || channel === 'sms'
  const set = channel === 'email' ? { email: 'somebody@example.invalid' } : { phone: '+10000000000' }
  return [
    {
      ...{ gate: 'address', by: isStored ? 'you' : 'subscriber', wait: null, request: null },
      text: `${nameOf(owner)} needs ${missing[channel]}`,
      apply: (situation) =>
        isStored
          ? before(situation, (at) => ({
              type: 'subscriber',
              at,
              subscriberId: owner.subscriberId,
              set,
              isDeleted: false,
            }))
          : withoutChannels(
              withIntegration(situation, standInIntegration(channel, situation.snapshot.environment.id)),
              owner,
            ),
    },
  ]
}

/** The sandbox stands in for a device or a chat, if there is none. */
const withoutChannels = (situation: Situation, { subscriberId }: Owner): Situation => ({
  ...situation,
  snapshot: {
    ...situation.snapshot,
    endpoints: [],
    subscribers: situation.snapshot.subscribers.map((row) =>
      row.subscriber_id === subscriberId ? { ...row, channels: [] } : row,
    ),
  },
})

function withIntegration(situation: Situation, row: IntegrationRow): Situation {
  const { environment } = situation.snapshot
  const isPrimary = hasPrimary(row.channel)
  const others = environment.integrations
    .filter(({ id }) => id !== row.id)
    .map((other) => (isPrimary && other.channel === row.channel ? { ...other, is_primary: false } : other))
  const integrations = [...others, { ...row, active: true, ...(isPrimary ? { is_primary: true, conditions: [] } : {}) }]
  return { ...situation, snapshot: { ...situation.snapshot, environment: { ...environment, integrations } } }
}

function integrationChanges({ step }: Obstacle, situation: Situation, { owner, brand }: Trying): Change[] {
  const channel = step.channel as 'email'
  const { snapshot, spare } = situation
  const { environment } = snapshot
  const common = { gate: 'integration', by: 'you', wait: null } as const
  const all = [...environment.integrations, ...spare].filter(
    (row) => row.channel === channel && row.kind === 'delivery',
  )
  const isDevelopment = environment.type === 'dev'
  if (hasPrimary(channel)) {
    const able = all.filter((row) => !row.is_primary && (isDevelopment || !isSandbox(row)))
    const chosen = able.find((row) => !isSandbox(row)) ?? able[0]
    if (chosen)
      return [
        {
          ...common,
          text: `Make "${chosen.name}" the primary integration for ${wordFor(channel)}`,
          request: { method: 'POST', path: `/v1/integrations/${chosen.id}/set-primary` },
          apply: (changed) => withIntegration(changed, chosen),
        },
      ]
  } else {
    const used = usedBy(owner, snapshot, channel)
    const chosen = spare.find((row) => row.channel === channel && (used.has(row.id) || String(channel) === 'in_app'))
    if (chosen)
      return [
        {
          ...common,
          text: `Activate the integration "${chosen.name}"`,
          request: { method: 'PUT', path: `/v1/integrations/${chosen.id}`, body: { active: true } },
          apply: (changed) => withIntegration(changed, chosen),
        },
      ]
  }
  const made = standInIntegration(channel, environment.id)
  const isOurs = String(channel) === 'in_app' || (isDevelopment && hasPrimary(channel) && all.length === 0)
  const providerId = made.provider_id.replace(/^svc/, brand.word)
  return [
    {
      ...common,
      text: isOurs
        ? `Connect ${String(channel) === 'in_app' ? 'the inbox' : 'the sandbox'}`
        : `Connect a provider for ${wordFor(channel)}, which needs its credentials`,
      request: isOurs
        ? { method: 'POST', path: '/v1/integrations', body: { providerId, channel, active: true } }
        : null,
      apply: (changed) => withoutChannelsOf(withIntegration(changed, made), owner, channel),
    },
  ]
}

/** A device or chat of an integration that is gone cannot be reached by another. */
const withoutChannelsOf = (situation: Situation, owner: Owner, channel: string): Situation =>
  channel === 'chat' || channel === 'push' ? withoutChannels(situation, owner) : situation

function usedBy({ subscriber }: Owner, { endpoints }: Situation['snapshot'], channel: string): Set<string> {
  return new Set([
    ...heldChannels(subscriber?.channels ?? []).map(({ _integrationId }) => _integrationId),
    ...(channel === 'chat' ? endpoints.map(({ integration_id }) => integration_id) : []),
  ])
}
