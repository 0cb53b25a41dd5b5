// The kinds of steps in the editor: initial values, and a one-line summary of each.
import type { StepIssues, WorkflowStep } from '../../../api/workflows.ts'
import { freeIdentifier } from '../../../ui/base/identifier.ts'
import { awaitedInWords, entriesIn } from '../../../ui/domain/awaited.ts'
import { lookOf, type StepKind } from '../../../ui/domain/step-kind.tsx'
import type { ControlValues, Draft, DraftStep } from './draft.ts'
import { wordsOf } from './schema-fields.ts'
import { allSteps, renamedCopy } from './tree.ts'

export const addable: Array<{ label: string; kinds: Array<{ kind: StepKind; hint: string }> }> = [
  {
    label: 'Send',
    kinds: [
      { kind: 'in_app', hint: 'A message in the inbox of your product' },
      { kind: 'email', hint: 'Blocks or HTML, with a layout' },
      { kind: 'sms', hint: 'A text message' },
      { kind: 'push', hint: 'To phones and browsers' },
      { kind: 'chat', hint: 'Slack, Teams, Discord…' },
    ],
  },
  {
    label: 'Wait',
    kinds: [
      { kind: 'digest', hint: 'Collects events into one message' },
      { kind: 'delay', hint: 'For a time, or until a time of day' },
      { kind: 'wait_for_event', hint: 'Until something happens' },
      { kind: 'ask', hint: 'Asks people, waits for the answer' },
      { kind: 'throttle', hint: 'At most so many per time window' },
    ],
  },
  {
    label: 'Choose',
    kinds: [
      { kind: 'branch', hint: 'Takes one of several paths' },
      { kind: 'exit', hint: 'Ends the run' },
    ],
  },
  {
    label: 'Do',
    kinds: [
      { kind: 'http_request', hint: 'Calls another service' },
      { kind: 'start_workflow', hint: 'Triggers it for others' },
      { kind: 'update_subscriber', hint: 'Changes their fields' },
    ],
  },
]

const beginnings: Partial<Record<StepKind, ControlValues>> = {
  email: { editorType: 'block', body: '' },
  digest: { type: 'regular', amount: 10, unit: 'minutes' },
  delay: { type: 'regular', amount: 1, unit: 'hours' },
  throttle: { type: 'fixed', amount: 1, unit: 'hours', threshold: 1 },
  http_request: { method: 'POST' },
  wait_for_event: { for: [{}], amount: 1, unit: 'hours' },
  ask: {
    answers: [
      { id: 'yes', label: 'Yes' },
      { id: 'no', label: 'No' },
    ],
    ...{ amount: 1, unit: 'hours' },
  },
  branch: { arms: [{ name: 'First', steps: [] }], default: { name: 'Otherwise', steps: [] } },
}

export function newStep(kind: StepKind, draft: Draft): DraftStep {
  const all = allSteps(draft.steps)
  const taken = new Set(all.map(({ stepId }) => stepId))
  const stepId = freeIdentifier(`${kind.replaceAll('_', '-')}-step`, taken)
  const { label } = lookOf(kind)
  const number = all.filter(({ type }) => type === kind).length + 1
  return {
    stepId,
    name: number === 1 ? label : `${label} ${number}`,
    type: kind,
    controlValues: beginnings[kind] ?? {},
    active: true,
    shouldStopOnFail: false,
    onUnknown: undefined,
    replyCallback: null,
  }
}

export function copyOf(step: DraftStep, draft: Draft): DraftStep {
  const taken = new Set(allSteps(draft.steps).map(({ stepId }) => stepId))
  return { ...renamedCopy(step, taken), name: `${step.name} copy`.slice(0, 128) }
}

const shortUnits: Record<string, [one: string, many: string]> = {
  seconds: ['s', 's'],
  minutes: ['min', 'min'],
  hours: ['hour', 'hours'],
  days: ['day', 'days'],
  weeks: ['week', 'weeks'],
  months: ['month', 'months'],
}

export function amountOf({ amount, unit }: ControlValues): string | undefined {
  const count = Number(amount)
  const words = shortUnits[String(unit)]
  if (!words || !(count > 0)) return undefined
  return `${count} ${count === 1 ? words[0] : words[1]}`
}

/** The text on the line below a step: how long it waits. */
export function waitOf({ type, controlValues: values }: Pick<DraftStep, 'type' | 'controlValues'>): string | undefined {
  const { cron, dynamicKey } = values
  const until = typeof cron === 'string' && cron !== '' ? cronInWords(cron) : undefined
  if (type === 'digest') return `digest ${until ?? amountOf(values) ?? '…'}`
  if (type === 'delay') {
    if (values.type === 'timed') return `delay until ${until ?? '…'}`
    if (values.type === 'dynamic')
      return `delay until ${typeof dynamicKey === 'string' && dynamicKey !== '' ? dynamicKey : '…'}`
    return `delay ${amountOf(values) ?? '…'}`
  }
  if (type === 'throttle') {
    const window = values.type === 'dynamic' ? `until ${String(dynamicKey ?? '…')}` : `per ${amountOf(values) ?? '…'}`
    return `at most ${Number(values.threshold) || 1} ${window}`
  }
  if (type === 'ask') return askOf(values)
  if (type === 'wait_for_event') {
    const path = typeof dynamicKey === 'string' && dynamicKey !== '' ? dynamicKey : undefined
    return (until ?? path) ? `at most until ${until ?? path}` : `at most ${amountOf(values) ?? '…'}`
  }
  return undefined
}

/** "Yes or no, 2 levels, each 5 min": the answers, the chain and its patience. */
function askOf(values: ControlValues): string {
  const answers = (Array.isArray(values.answers) ? values.answers : []) as Array<{ label?: unknown }>
  const chain = Array.isArray(values.chain) ? values.chain.length : 0
  const patience = chain > 1 ? amountOf((values.patience ?? {}) as ControlValues) : undefined
  return [
    answers.map(({ label }) => String(label ?? '…')).join(' / '),
    ...(chain > 1 ? [`${chain} levels${patience === undefined ? '' : `, each ${patience}`}`] : []),
    `within ${amountOf(values) ?? '…'}`,
  ].join(', ')
}

const dayNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** Common cron expressions in words; others as they are. */
export function cronInWords(cron: string): string {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = cron.trim().split(/\s+/)
  const isPlain = (part: string) => /^\d{1,2}$/.test(part)
  if (month !== '*' || !isPlain(minute)) return cron
  if (hour === '*' && day === '*' && weekday === '*') return `every hour at :${minute.padStart(2, '0')}`
  if (!isPlain(hour)) return cron
  const time = `${hour}:${minute.padStart(2, '0')}`
  if (day === '*' && weekday === '*') return `every day at ${time}`
  if (day === '*' && weekday === '1-5') return `weekdays at ${time}`
  if (day === '*' && isPlain(weekday)) return `${dayNames[Number(weekday) % 7]}s at ${time}`
  if (isPlain(day) && weekday === '*') return `day ${day} of the month at ${time}`
  return cron
}

/** "Sets email and data, clears phone". */
function changesOf(fields: ControlValues): string {
  const names = (isCleared: boolean) =>
    subscriberFields
      .filter((name) => fields[name] !== undefined && (fields[name] === null) === isCleared)
      .map((name) => wordsOf(name).toLowerCase())
  const [set, cleared] = [names(false), names(true)]
  const parts = [
    ...(set.length > 0 ? [`sets ${listed.format(set)}`] : []),
    ...(cleared.length > 0 ? [`clears ${listed.format(cleared)}`] : []),
  ]
  const words = parts.join(', ')
  return words === '' ? 'Changes nothing yet' : words.charAt(0).toUpperCase() + words.slice(1)
}

const subscriberFields = ['firstName', 'lastName', 'email', 'phone', 'avatar', 'locale', 'timezone', 'data']
const listed = new Intl.ListFormat('en')

/** Kinds whose messages can be waited for. */
export const sendsMessages: ReadonlySet<string> = new Set(['in_app', 'email', 'sms', 'chat', 'push', 'ask'])

/** The second line of a card: the content or effect of the step. */
export function summaryOf({ type, controlValues: values }: DraftStep): string {
  const said = (name: string) =>
    typeof values[name] === 'string' ? String(values[name]).replaceAll(/\s+/g, ' ').trim() : ''
  if (type === 'ask') return said('question') || 'No question yet'
  if (type === 'wait_for_event') return awaitedInWords(entriesIn(values.for))
  const wait = waitOf({ type, controlValues: values })
  if (wait) return type === 'digest' && said('digestKey') ? `by ${said('digestKey')}` : (explanations[type] ?? '')
  if (type === 'http_request') return said('url') ? `${said('method')} ${said('url')}` : 'No address yet'
  if (type === 'custom') return 'Runs in your code'
  if (type === 'branch') return 'Takes the first arm whose condition holds'
  if (type === 'exit') return 'Ends the run'
  if (type === 'start_workflow') return said('workflowId') ? `Starts ${said('workflowId')}` : 'No workflow yet'
  if (type === 'update_subscriber') return changesOf(values)
  return said('subject') || (type === 'email' ? '' : said('body')) || 'No text yet'
}

const explanations: Record<string, string> = {
  digest: 'Collects events into one message',
  delay: 'Waits before the next step',
  throttle: 'Ends the run when there are too many',
}

export const hasCondition = ({ controlValues: { skip } }: DraftStep): boolean =>
  typeof skip === 'object' && skip !== null && Object.keys(skip).length > 0

export interface Issue {
  /** The dotted path of the control; undefined for issues of the channel. */
  path: string | undefined
  message: string
  variableName?: string | undefined
  /** Found by trying the step with the example of the preview. */
  isOfExample?: boolean
}

export function issuesOf(issues: StepIssues | undefined): Issue[] {
  const ofControls = Object.entries(issues?.controls ?? {}).flatMap(([path, found]) =>
    found.map(({ message, variableName }) => ({ path, message, variableName })),
  )
  const ofChannel = Object.values(issues?.integration ?? {}).flatMap((found) =>
    found.map(({ message }) => ({ path: undefined, message })),
  )
  return [...ofControls, ...ofChannel]
}

/** Controls of a step that is not saved yet; after the first save the server returns its schemas. */
const firstControls: Partial<Record<string, Record<string, string>>> = {
  in_app: {
    ...{ subject: 'IN_APP_PRIMARY_SUBJECT', body: 'IN_APP_BODY', avatar: 'IN_APP_AVATAR' },
    ...{ primaryAction: 'IN_APP_BUTTON_DROPDOWN', secondaryAction: 'IN_APP_BUTTON_DROPDOWN', redirect: 'URL_TEXT_BOX' },
  },
  email: { subject: 'TEXT_INLINE_LABEL', layoutId: 'LAYOUT_SELECT', body: 'EMAIL_BODY' },
  sms: { body: 'SMS_BODY' },
  chat: { body: 'CHAT_BODY' },
  push: { subject: 'PUSH_SUBJECT', body: 'PUSH_BODY' },
  digest: { type: 'DIGEST_TYPE' },
  delay: { type: 'DELAY_TYPE' },
  throttle: { type: 'THROTTLE_TYPE' },
  branch: { arms: 'BRANCH_ARMS' },
  start_workflow: { workflowId: 'START_WORKFLOW' },
  update_subscriber: { data: 'UPDATE_SUBSCRIBER' },
  wait_for_event: { for: 'WAIT_FOR' },
  ask: { question: 'ASK' },
  exit: {},
  http_request: { method: 'DESTINATION_METHOD', headers: 'DESTINATION_HEADERS', body: 'DESTINATION_BODY' },
}

export function controlsOfNew({ type, controlValues }: DraftStep): WorkflowStep['controls'] {
  const components = { ...firstControls[type], skip: 'QUERY_EDITOR' }
  const properties = Object.entries(components).map(([name, component]) => [name, { component }])
  return { dataSchema: {}, uiSchema: { properties: Object.fromEntries(properties) }, values: controlValues }
}
