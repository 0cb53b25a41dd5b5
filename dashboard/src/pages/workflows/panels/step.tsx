// The selected step: its controls and the preview.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Maximize2, Minimize2, Plug, TriangleAlert, X } from 'lucide-react'
import { memo, useState } from 'react'
import { type StepCheck, type Workflow, workflows } from '../../../api/workflows.ts'
import { Button } from '../../../ui/base/button.tsx'
import { cn } from '../../../ui/base/class-names.ts'
import { RequestCode } from '../../../ui/code/code-block.tsx'
import { JsonView } from '../../../ui/code/json-view.tsx'
import { endingEvent, entriesIn } from '../../../ui/domain/awaited.ts'
import { StepIcon } from '../../../ui/domain/step-kind.tsx'
import { FieldFrame } from '../../../ui/form/form.tsx'
import { Input } from '../../../ui/form/input.tsx'
import { Segments } from '../../../ui/frame/tabs.tsx'
import { SwitchControl } from '../controls/basic.tsx'
import { Fold } from '../controls/fold.tsx'
import { StepControls } from '../controls/step.tsx'
import { type DraftStep, plainStep } from '../draft/draft.ts'
import type { PreviewData } from '../draft/preview-data.ts'
import { StepContext, type StepEditing, useStep } from '../draft/step-context.ts'
import { controlsOfNew, type Issue, sendsMessages } from '../draft/steps.ts'
import { allSteps, stepsBefore } from '../draft/tree.ts'
import { useVariables } from '../draft/use-variables.ts'
import { Preview } from './preview.tsx'

interface StepPanelProps {
  workflow: Workflow
  /** All steps of the draft. */
  steps: readonly DraftStep[]
  step: DraftStep
  issues: readonly Issue[]
  check: StepCheck | undefined
  readOnly: boolean
  isWide: boolean
  data: PreviewData
  onChange: (stepId: string, patch: (step: DraftStep) => Partial<DraftStep>) => void
  onWide: (isWide: boolean) => void
  onClose: () => void
}

/** Its functions stay the same, so that it is not drawn again while the editor saves or asks who else is there. */
export const StepPanel = memo(function StepPanel(props: StepPanelProps) {
  const { workflow, steps, step, issues, check, readOnly, isWide, data, onWide, onClose } = props
  const onChange = (patch: Partial<DraftStep>) => props.onChange(step.stepId, () => patch)
  const [tab, setTab] = useState<'edit' | 'preview'>('edit')
  const saved = useSaved(workflow, step)
  const schema = saved?.variables ?? workflow.steps.at(-1)?.variables
  const { variables, variablesInLists, example } = useVariables(workflow, schema)
  const all = allSteps<Pick<DraftStep, 'stepId' | 'type' | 'controlValues'>>(workflow.steps.map(plainStep))
  const place = all.findIndex(({ stepId }) => stepId === step.stepId)
  const before = place === -1 ? all : all.slice(0, place)
  const digests = before.filter(({ type }) => type === 'digest').map(({ stepId }) => stepId)
  const editing: StepEditing = {
    ...{ step, values: step.controlValues, variables, variablesInLists, issues, check, digests, readOnly },
    sends: stepsBefore(steps, step.stepId).filter(({ type }) => sendsMessages.has(type)),
    set: (patch) =>
      props.onChange(step.stepId, ({ controlValues }) => {
        const given = typeof patch === 'function' ? patch(controlValues) : patch
        const next = Object.entries({ ...controlValues, ...given }).filter(([, value]) => value !== undefined)
        return { controlValues: Object.fromEntries(next) }
      }),
  }
  const ofChannel = issues.filter(({ path, isOfExample }) => path === undefined && !isOfExample)
  const ofExample = issues.filter(({ isOfExample }) => isOfExample)
  return (
    <StepContext value={editing}>
      <section aria-label={`Step ${step.name}`} className="@container flex h-full min-h-0 flex-col bg-page">
        <header className="flex h-13 shrink-0 items-center gap-2 border-b pr-2 pl-4">
          <StepIcon kind={step.type} tile />
          <Input
            aria-label="Step name"
            className="h-8 min-w-0 flex-1 border-transparent bg-transparent px-1.5 text-base font-semibold hover:border-line-strong disabled:bg-transparent disabled:text-ink"
            dir="auto"
            maxLength={128}
            disabled={readOnly}
            value={step.name}
            onValue={(name) => onChange({ name })}
          />
          <div className="@3xl:hidden">
            <Segments
              label="Show"
              value={tab}
              onValue={setTab}
              options={[
                { value: 'edit', label: 'Edit' },
                { value: 'preview', label: 'Preview' },
              ]}
            />
          </div>
          <span className="max-lg:hidden">
            <Button
              variant="ghost"
              size="icon"
              hint={isWide ? 'Show the flow again' : 'Use the whole width'}
              onClick={() => onWide(!isWide)}
            >
              {isWide ? <Minimize2 /> : <Maximize2 />}
            </Button>
          </span>
          <Button variant="ghost" size="icon" hint="Close" shortcut="esc" onClick={onClose}>
            <X />
          </Button>
        </header>
        <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] @3xl:grid-cols-[minmax(0,11fr)_minmax(0,10fr)]">
          <div className={cn('min-h-0 overflow-y-auto px-4 py-4', tab !== 'edit' && 'hidden @3xl:block')}>
            {ofChannel.map(({ message }) => (
              <p
                key={message}
                className="mb-4 flex items-start gap-2 rounded-control border border-warn/30 bg-warn/8 px-3 py-2 text-sm"
              >
                <Plug className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
                <span>
                  {message}.{' '}
                  {message.startsWith('No inbox') ? (
                    <Link to={'/inbox' as '/'} className="font-medium underline underline-offset-2">
                      Put it into your page
                    </Link>
                  ) : (
                    <Link to={'/integrations' as '/'} className="font-medium underline underline-offset-2">
                      Open integrations
                    </Link>
                  )}
                </span>
              </p>
            ))}
            {ofExample.map(({ message }) => (
              <p
                key={message}
                className="mb-4 flex items-start gap-2 rounded-control border border-bad/30 bg-bad/8 px-3 py-2 text-sm"
              >
                <TriangleAlert className="mt-0.5 size-4 shrink-0 text-bad" aria-hidden />
                <span className="min-w-0 break-words">{message}.</span>
              </p>
            ))}
            <StepControls controls={saved && !ownControls.has(step.type) ? saved.controls : controlsOfNew(step)} />
            <StepSettings saved={saved} onChange={onChange} />
          </div>
          <div
            className={cn(
              'min-h-0 overflow-y-auto border-l bg-raised px-4 py-4 [scrollbar-gutter:stable] @max-3xl:border-l-0',
              tab !== 'preview' && 'hidden @3xl:block',
            )}
          >
            <h2 className="sr-only">Preview</h2>
            <h3 className="sr-only">As delivered</h3>
            {step.type === 'wait_for_event' ? (
              <EndingRequest subscriberId={data.subscriberId} payload={data.payload ?? example} />
            ) : nothingSent[step.type] ? (
              <p className="text-sm text-muted">{nothingSent[step.type]}</p>
            ) : (
              <Preview
                workflow={workflow}
                step={step}
                hasDigest={digests.length > 0 || step.type === 'digest'}
                data={data}
              />
            )}
          </div>
        </div>
      </section>
    </StepContext>
  )
})

/** Kinds that decide where the run goes, or when: there is nothing to show. */
const nothingSent: Record<string, string | undefined> = {
  branch: 'A branch sends nothing itself: its arms do.',
  exit: 'An exit sends nothing.',
  ask: 'Everybody who is asked gets the question on these channels, with a button or a link for each answer.',
  start_workflow: 'It sends nothing itself: the workflow that it starts does.',
  update_subscriber: 'An update sends nothing. Later steps see the subscriber as it leaves them.',
}

/** Kinds whose controls are not those that the server describes. */
const ownControls: ReadonlySet<string> = new Set([
  ...['branch', 'exit', 'wait_for_event', 'start_workflow', 'update_subscriber', 'ask'],
])

interface EndingRequestProps {
  subscriberId: string | undefined
  payload: Record<string, unknown>
}

/** A wait sends nothing. Instead of a preview, how a program ends it. */
function EndingRequest({ subscriberId = 'ada', payload }: EndingRequestProps) {
  const { values } = useStep()
  const event = endingEvent(entriesIn(values.for), payload, subscriberId)
  if (!event) return <p className="text-sm text-muted">A wait sends nothing.</p>
  return (
    <>
      <p className="mb-3 text-sm text-pretty text-muted">
        A wait sends nothing. Your program ends it with this request, for the example payload:
      </p>
      <RequestCode request={{ method: 'POST', path: '/v2/events', body: event }} />
    </>
  )
}

/** As the server has it. A step in an arm is asked for by itself, with its controls and variables. */
function useSaved(workflow: Workflow, { _id, stepId }: DraftStep): Workflow['steps'][number] | undefined {
  const own = workflow.steps.find((step) => step.stepId === stepId)
  const nested = useQuery({
    ...workflows.step(workflow.workflowId, stepId, workflow.version),
    enabled: own === undefined && _id !== undefined,
  })
  return own ?? nested.data
}

interface StepSettingsProps {
  saved: Workflow['steps'][number] | undefined
  onChange: (patch: Partial<DraftStep>) => void
}

/** Steps that send through a provider. */
const channels: ReadonlySet<string> = new Set(['email', 'sms', 'chat', 'push'])

function StepSettings({ saved, onChange }: StepSettingsProps) {
  const { step, readOnly } = useStep()
  const callback = step.replyCallback ?? {}
  return (
    <div className="mt-4">
      <Fold title="Step" aside={step.stepId}>
        <div className="space-y-4">
          <SwitchControl
            path="(active)"
            label="On"
            hint="Runs that start while it is off skip this step."
            value={step.active}
            onValue={(active) => onChange({ active })}
          />
          <SwitchControl
            path="(shouldStopOnFail)"
            label="End the run when it fails"
            hint="Otherwise the next steps still run."
            value={step.shouldStopOnFail}
            onValue={(shouldStopOnFail) => onChange({ shouldStopOnFail })}
          />
          {channels.has(step.type) && (
            <SwitchControl
              path="(onUnknown)"
              label="Never send twice"
              hint="After a crash or timeout it may have arrived. Then it fails instead of being sent again."
              value={step.onUnknown === 'hold'}
              onValue={(isHeld) => onChange({ onUnknown: isHeld ? 'hold' : undefined })}
            />
          )}
          {step.type === 'http_request' && (
            <SwitchControl
              path="(onUnknown)"
              label="Repeat after a crash"
              hint="If Belfry stops during the request, it is sent again. Otherwise the step fails."
              value={step.onUnknown === 'retry'}
              onValue={(isRepeated) => onChange({ onUnknown: isRepeated ? 'retry' : undefined })}
            />
          )}
          {step.type === 'email' && (
            <>
              <SwitchControl
                path="(replyCallback)"
                label="Forward replies"
                hint="Replies to the email are posted to your URL."
                value={callback.active}
                onValue={(active) => onChange({ replyCallback: active ? { ...callback, active } : null })}
              />
              {callback.active && (
                <FieldFrame label="URL for replies">
                  {(control) => (
                    <Input
                      {...control}
                      type="url"
                      disabled={readOnly}
                      placeholder="https://app.example.com/replies"
                      value={callback.url ?? ''}
                      onValue={(url) => onChange({ replyCallback: { ...callback, url } })}
                    />
                  )}
                </FieldFrame>
              )}
            </>
          )}
          {(saved?.filters?.length ?? 0) > 0 && (
            <JsonView title="Filters of version 1, kept as they are" value={saved?.filters} open={0} />
          )}
          {(saved?.variants?.length ?? 0) > 0 && (
            <JsonView title="Variants of version 1, kept as they are" value={saved?.variants} open={0} />
          )}
        </div>
      </Fold>
    </div>
  )
}
