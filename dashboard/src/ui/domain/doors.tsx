// Whether somebody gets a notification: of each message the gates it has to pass as a row of doors, the sentence of the shut one,
// and what would open it.
import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleX, DoorClosed, DoorClosedLocked, DoorOpen, Hourglass } from 'lucide-react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Change, type ExplainedStep, type Explanation, explain, type Gate } from '../../api/explain.ts'
import { Button } from '../base/button.tsx'
import { cn } from '../base/class-names.ts'
import { Badge, type Tone } from '../base/status.tsx'
import { absoluteTime } from '../base/time.tsx'
import { useConfirm } from '../frame/dialog.tsx'
import { reasonLabel } from './reasons.ts'
import { channels, lookOf, StepIcon, wordOf } from './step-kind.tsx'

interface ExplainedProps {
  explanation: Explanation
  /** The person's name. */
  who: string
}

const isChannel = ({ type }: ExplainedStep) => (channels as readonly string[]).includes(type)

export function Explained({ explanation, who }: ExplainedProps) {
  const { steps, past = false, passedOver, problem } = explanation
  const messages = steps.filter(isChannel)
  const sent = messages.filter(({ verdict }) => verdict === 'sends')
  return (
    <div className="space-y-4">
      <Summary explanation={explanation} who={who} sent={sent} />
      {problem && <p className="text-sm text-muted">{problem}</p>}
      {passedOver && (
        <p className="text-sm text-muted">
          {who} got no run of this trigger: {reasonLabel(passedOver.reason)}.
        </p>
      )}
      <ol className="grid gap-3 @3xl:grid-cols-2" aria-label="Messages">
        {messages.map((step) => (
          <li key={step.stepId} className="min-w-0">
            <Message step={step} steps={steps} explanation={explanation} who={who} isPast={past} />
          </li>
        ))}
      </ol>
    </div>
  )
}

function Summary({ explanation, who, sent }: ExplainedProps & { sent: ExplainedStep[] }) {
  const { wouldGet, past = false, steps } = explanation
  const names = [...new Set(sent.map(({ type }) => (type === 'in_app' ? 'in-app message' : wordOf(type))))]
  const by = new Intl.ListFormat('en').format(names)
  const waits = past && steps.some((step) => isChannel(step) && step.verdict === 'waits')
  const Icon = wouldGet ? CircleCheck : waits ? Hourglass : CircleX
  const sentence = wouldGet
    ? `${who} ${past ? 'got it' : 'would get it'} by ${by}.`
    : waits
      ? `${who} has not got it yet.`
      : `${who} ${past ? 'did not get it' : 'would not get it'}.`
  return (
    <p role="status" className="flex items-center gap-2 text-base font-medium">
      <Icon className={cn('size-5 shrink-0', wouldGet ? 'text-good' : waits ? 'text-info' : 'text-bad')} aria-hidden />
      <span className="min-w-0 break-words" dir="auto">
        {sentence}
      </span>
    </p>
  )
}

const verdicts: Record<ExplainedStep['verdict'], { tone: Tone; ahead: string; past: string }> = {
  sends: { tone: 'good', ahead: 'Would be sent', past: 'Sent' },
  waits: { tone: 'info', ahead: 'Waits', past: 'Waiting' },
  passes: { tone: 'good', ahead: 'Passes', past: 'Passed' },
  held_back: { tone: 'warn', ahead: 'Held back', past: 'Held back' },
  fails: { tone: 'bad', ahead: 'Would fail', past: 'Failed' },
  not_reached: { tone: 'neutral', ahead: 'Not reached', past: 'Not reached' },
}

interface MessageProps extends ExplainedProps {
  step: ExplainedStep
  steps: ExplainedStep[]
  isPast: boolean
}

function Message({ step, steps, explanation, who, isPast }: MessageProps) {
  const { tone, ...words } = verdicts[step.verdict]
  const shut = step.gates.find(({ passed }) => passed === false)
  const sentence = shut ? sentenceOf(shut, step, who) : restOf(step, steps)
  const isLater = step.at !== null && step.at !== explanation.at
  return (
    <section
      aria-label={`${lookOf(step.type).label} ${step.stepId}`}
      className="h-full rounded-surface border bg-page p-3.5"
    >
      <h2 className="flex items-center gap-2 text-sm font-medium">
        <StepIcon kind={step.type} />
        {lookOf(step.type).label}
        <code className="min-w-0 truncate text-xs font-normal text-muted">{step.stepId}</code>
        <Badge tone={tone} className="ml-auto shrink-0">
          {isPast ? words.past : words.ahead}
        </Badge>
      </h2>
      <Doors gates={step.gates} shut={shut} />
      {sentence && (
        <p className="mt-3 text-sm break-words" dir="auto">
          {sentence}
        </p>
      )}
      {isLater && step.at && <p className="mt-1 text-xs text-muted">Its turn comes {absoluteTime(step.at)}.</p>}
      {step.remedy && <Remedy changes={step.remedy.changes} explanation={explanation} who={who} />}
      {!step.remedy && shut && !isPast && step.verdict !== 'sends' && (
        <p className="mt-2 text-xs text-muted">Nothing that can be changed here would help.</p>
      )}
    </section>
  )
}

export const gateLabels: Record<Gate['gate'], string> = {
  workflow: 'Workflow',
  branch: 'Branch',
  schedule: 'Schedule',
  preference: 'Preference',
  condition: 'Condition',
  filters: 'Filters',
  throttle: 'Throttle',
  cap: 'Cap',
  integration: 'Integration',
  address: 'Address',
  content: 'Content',
  brake: 'Brake',
  suppression: 'Suppression',
}

/** Open, shut or unknown by picture and word; the first shut one stands out. */
function Doors({ gates, shut }: { gates: Gate[]; shut: Gate | undefined }) {
  return (
    <ol className="mt-3 flex flex-wrap gap-x-1 gap-y-2" aria-label="Gates">
      {gates.map((gate) => {
        const { passed } = gate
        const Icon = passed === true ? DoorOpen : passed === false ? DoorClosedLocked : DoorClosed
        const word = passed === true ? 'open' : passed === false ? 'shut' : 'not known'
        return (
          <li
            key={gate.gate}
            className={cn(
              'flex w-[4.9rem] flex-col items-center gap-1 rounded-control border border-transparent py-1.5 text-center text-xs',
              passed === true && 'text-muted [&>svg]:text-good',
              passed === null && 'text-muted [&>svg]:text-faint',
              passed === false && 'font-medium [&>svg]:text-bad',
              gate === shut && 'border-bad/30 bg-bad/8',
            )}
          >
            <Icon className="size-5" aria-hidden />
            <span className="w-full truncate">{gateLabels[gate.gate]}</span>
            <span className={cn('text-xs', passed === true && 'sr-only')}>{word}</span>
          </li>
        )
      })}
    </ol>
  )
}

const nouns: Record<string, string> = {
  email: 'email address',
  sms: 'phone number',
  push: 'device that is registered for push',
  chat: 'chat that is connected',
}

const listed = (reason: unknown) => String(reason ?? '').replaceAll('_', ' ')
const at = (value: unknown) => (typeof value === 'string' ? absoluteTime(value) : undefined)

function sentenceOf(gate: Gate, { type, reason }: ExplainedStep, who: string): string {
  const channel = wordOf(type)
  switch (gate.gate) {
    case 'workflow':
      if (reason === 'no_tenant_found') return 'The tenant does not exist.'
      return 'The workflow is switched off.'
    case 'schedule':
      return `It is outside the hours that ${who} has set.${at(gate.opensAt) ? ` They open ${at(gate.opensAt)}.` : ''}`
    case 'preference':
      return preferenceSentence(gate, channel, who)
    case 'condition': {
      const values = Object.entries((gate.values ?? {}) as Record<string, unknown>)
      const read = values.map(([name, value]) => `${name} is ${JSON.stringify(value)}`).join(', ')
      return `The step’s condition does not hold${read ? `: ${read}` : ''}.`
    }
    case 'branch': {
      const read = Object.entries((gate.values ?? {}) as Record<string, unknown>)
      const told = read.map(([name, value]) => `${name} is ${JSON.stringify(value)}`).join(', ')
      return `The branch takes the arm “${String(gate.taken)}”, not “${String(gate.arm)}”${told ? `: ${told}` : ''}.`
    }
    case 'filters':
      return 'The step’s filters do not let it pass.'
    case 'throttle':
      return `The throttle has let as many pass as it may${at(gate.until) ? `, until ${at(gate.until)}` : ''}.`
    case 'cap':
      return `${who} has had as many messages as the cap “${String(gate.cap)}” allows${at(gate.until) ? `, until ${at(gate.until)}` : ''}.`
    case 'integration':
      return `No provider is ready for ${channel}.`
    case 'address':
      return `${who} has no ${nouns[type] ?? 'address'} that can be used.`
    case 'content':
      return 'The message cannot be composed from this payload.'
    case 'brake':
      return `The workflow is braked: ${String(gate.percent ?? '?')} % of its emails ${gate.cause === 'complaints' ? 'were complained about' : 'bounced'}.`
    case 'suppression':
      return `The address is on the suppression list${gate.reason ? `: ${listed(gate.reason)}` : ''}.`
  }
}

function preferenceSentence({ decidedBy, since }: Gate, channel: string, who: string): string {
  const when = at(since) ? `, since ${at(since)}` : ''
  switch (decidedBy) {
    case 'subscriberGlobal':
      return `${who} has switched ${channel} off for all workflows${when}.`
    case 'subscriberWorkflow':
      return `${who} has switched ${channel} off for this workflow${when}.`
    case 'snooze':
      return `${who} has paused commercial messages.`
    case 'tenant':
      return `The tenant has switched ${channel} off for this workflow${when}.`
    default:
      return `The workflow’s preferences switch ${channel} off${when}.`
  }
}

/** Of a step without a shut gate. */
function restOf({ verdict, reason, until }: ExplainedStep, steps: ExplainedStep[]): string | undefined {
  if (verdict === 'waits' && until) return `It waits until ${absoluteTime(until)}.`
  if (verdict !== 'not_reached') return reason ? `${reasonLabel(reason)}.` : undefined
  const before = steps.find((step) => step.verdict === 'held_back' && step.type === 'throttle')
  const gate = before?.gates.find(({ passed }) => passed === false)
  if (before && gate) return `The run ends before it: ${sentenceOf(gate, before, '')}`
  return reason ? `The run ends before it: ${reasonLabel(reason)}.` : 'The run ends before it.'
}

function Remedy({ changes, explanation, who }: { changes: Change[] } & ExplainedProps) {
  return (
    <div className="mt-3 border-t pt-3">
      <h3 className="text-xs font-medium text-muted">What would help</h3>
      <ul className="mt-1.5 space-y-2">
        {changes.map((change) => (
          <li key={change.gate} className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-sm">
            <span className="min-w-40 flex-1 break-words" dir="auto">
              {change.wait ? `Trigger it again from ${absoluteTime(change.wait)} on` : change.text}
            </span>
            <ChangeButton change={change} explanation={explanation} who={who} />
          </li>
        ))}
      </ul>
    </div>
  )
}

const verbs: Partial<Record<Gate['gate'], string>> = {
  workflow: 'Switch on',
  schedule: 'Switch off',
  preference: 'Switch on',
  integration: 'Connect',
  suppression: 'Lift',
  brake: 'Release',
}

/** Where somebody enters what only they know. */
const places: Partial<Record<Gate['gate'], { label: string; to(of: Explanation): string }>> = {
  address: { label: 'Open subscriber', to: (of) => `/subscribers/${encodeURIComponent(of.subscriberId)}` },
  integration: { label: 'Open integrations', to: () => '/integrations' },
  preference: { label: 'Open workflow', to: (of) => `/workflows/${encodeURIComponent(of.workflowId)}` },
}

function ChangeButton({ change, explanation, who }: { change: Change } & ExplainedProps) {
  const { gate, by, request } = change
  const ask = useConfirm()
  const isAdmin = useCan('admin')
  const canEdit = useCan('editor')
  const apply = useAction({
    do: async () => {
      const isTheirs = by === 'subscriber' || gate === 'suppression'
      const yes =
        !isTheirs ||
        (await ask({
          title: `${change.text}?`,
          body: `${who} has not asked for this here. Do it only if they want it.`,
          confirm: verbs[gate] ?? 'Do it',
          danger: false,
        }))
      if (yes && request) await explain.apply(request)
      return yes
    },
    refresh: ['explain', 'subscribers', 'suppressions', 'workflows', 'integrations'],
  })
  if (by === 'time') return null
  const place = places[gate]
  if (!request)
    return place ? (
      <Link to={place.to(explanation) as never} className="text-sm text-accent underline underline-offset-2">
        {place.label}
      </Link>
    ) : null
  const needsAdmin = /^\/v1\/(integrations|suppressions)\b|\/release-brake$/.test(request.path)
  if (!(needsAdmin ? isAdmin : canEdit)) return null
  return (
    <Button size="sm" pending={apply.isPending} onClick={() => apply.mutate()}>
      {verbs[gate] ?? 'Do it'}
    </Button>
  )
}
