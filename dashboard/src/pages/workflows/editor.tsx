// The workflow editor: the flow of steps, the selected step beside it, saving, issues, settings and test runs.
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import {
  ChevronRight,
  CircleCheck,
  Code,
  CopyPlus,
  DoorOpen,
  FastForward,
  Play,
  Settings2,
  TriangleAlert,
} from 'lucide-react'
import { useCallback, useEffect, useRef, useState } from 'react'
import { toast } from 'sonner'
import { useCan, useCanEditContent } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { ApiError } from '../../api/client.ts'
import { type Workflow, workflows } from '../../api/workflows.ts'
import { useEnvironment } from '../../shell/environment.ts'
import { Button, ButtonLink } from '../../ui/base/button.tsx'
import { cn } from '../../ui/base/class-names.ts'
import { useShortcut } from '../../ui/base/shortcuts.ts'
import { ErrorState, Skeleton } from '../../ui/base/states.tsx'
import { Badge } from '../../ui/base/status.tsx'
import { useSteady } from '../../ui/base/steady.ts'
import { FilesBadge, FilesNote, useFilesRule } from '../../ui/domain/files-note.tsx'
import { StepIcon, type StepKind } from '../../ui/domain/step-kind.tsx'
import { SubjectTabs } from '../../ui/domain/subject-tabs.tsx'
import { Switch } from '../../ui/form/switch.tsx'
import { Menu, MenuItem, MenuLabel } from '../../ui/frame/menu.tsx'
import { Page as Frame } from '../../ui/frame/page.tsx'
import { flag, text, useUrlState } from '../../ui/list/url-state.ts'
import type { Draft, DraftStep } from './draft/draft.ts'
import { usePreviewData } from './draft/preview-data.ts'
import { copyOf, type Issue, newStep } from './draft/steps.ts'
import {
  allSteps,
  changeStep,
  deepestBranch,
  insertStep,
  moveStep,
  nestingOf,
  type Spot,
  spotOf,
  wrapStep,
} from './draft/tree.ts'
import { useCheck } from './draft/use-check.ts'
import { useDraft } from './draft/use-draft.ts'
import { BrakeBanner } from './panels/brake.tsx'
import { Compare } from './panels/compare.tsx'
import { Flow, FlowKeys } from './panels/flow.tsx'
import { OthersHere } from './panels/others-here.tsx'
import { SaveImpact } from './panels/save-impact.tsx'
import { SaveStatus } from './panels/save-status.tsx'
import { Settings } from './panels/settings.tsx'
import { StepPanel } from './panels/step.tsx'
import { SyncItems } from './panels/sync-workflow.tsx'
import { TestRun } from './panels/test-run.tsx'
import { TriggerPanel } from './panels/trigger.tsx'
import { SimulatePanel } from './simulate/panel.tsx'

export function Page() {
  const { workflowId = '' } = useParams({ strict: false })
  const workflow = useQuery(workflows.one(workflowId))
  if (workflow.data) return <Editor key={workflow.data._id} workflow={workflow.data} />
  if (workflow.error)
    return (
      <Frame title="Workflow">
        <ErrorState
          error={workflow.error}
          {...(workflow.error instanceof ApiError && workflow.error.status === 404
            ? {}
            : { onRetry: () => void workflow.refetch() })}
        />
        <p className="text-center">
          <ButtonLink to="/workflows" search={{}}>
            All workflows
          </ButtonLink>
        </p>
      </Frame>
    )
  return (
    <Frame title="Workflow" fills heading={<Skeleton className="h-5 w-48" />}>
      <div className="mx-auto max-w-76 space-y-12 pt-8" role="status" aria-label="Loading">
        {[1, 2, 3].map((number) => (
          <Skeleton key={number} className="h-14 rounded-surface" />
        ))}
      </div>
    </Frame>
  )
}

const none: readonly Issue[] = []
const schema = { step: text(), wide: flag(), settings: flag(), run: flag(), simulate: flag() }

function Editor({ workflow }: { workflow: Workflow }) {
  const environment = useEnvironment()
  const { isReadOnly } = useFilesRule(workflow.files)
  const mayEdit = useCanEditContent() && !isReadOnly
  const mayRun = useCan('editor')
  const canSync = useCan('editor')
  const isCode = workflow.origin === 'external'
  // In Production, saving changes what recipients get: it needs a click, and says what it is for.
  const autosaves = environment.type === 'dev'
  const [open, setOpen] = useUrlState(schema)
  const state = useDraft(workflow, {
    canEdit: mayEdit,
    autosaves,
    onRenamed: (from, to) => open.step === from && setOpen({ step: to }),
  })
  const { draft, saved, change, flush } = state
  const data = usePreviewData(workflow.workflowId, allSteps(draft.steps))
  const selected = allSteps(draft.steps).find(({ stepId }) => stepId === open.step)
  const canShape = mayEdit && !isCode
  const isSimulating = open.simulate && !isCode

  const check = useCheck(saved, draft, data)
  const { issues } = check
  const set = (patch: Partial<Draft>) => change((before) => ({ ...before, ...patch }))
  const setStep = (stepId: string, patch: (step: DraftStep) => Partial<DraftStep>) =>
    change((before) => ({
      ...before,
      steps: changeStep(before.steps, stepId, (step) => ({ ...step, ...patch(step) })),
    }))
  const select = (step: string | undefined) => setOpen({ step: step ?? '', ...(step ? {} : { wide: false }) })

  const inPanel = useSteady({
    onChange: setStep,
    onWide: (wide: boolean) => setOpen({ wide }),
    onClose: () => select(undefined),
  })

  /** @returns false if branches would be nested too deep */
  const shape = (steps: DraftStep[]): boolean => {
    const isTooDeep = nestingOf(steps) > deepestBranch
    if (isTooDeep) toast.error(`Branches can be nested ${deepestBranch} deep.`)
    else change((before) => ({ ...before, steps }))
    return !isTooDeep
  }
  const insert = (step: DraftStep, spot: Spot) => {
    if (shape(insertStep(draft.steps, spot, step))) select(step.stepId)
  }
  const wrap = (step: DraftStep): string | undefined => {
    const branch = newStep('branch', draft)
    if (!shape(wrapStep(draft.steps, step.stepId, branch))) return undefined
    select(branch.stepId)
    return branch.stepId
  }
  const remove = (step: DraftStep) => {
    const spot = spotOf(draft.steps, step.stepId) ?? { at: 0 }
    change((before) => ({ ...before, steps: changeStep(before.steps, step.stepId, () => undefined) }))
    if (selected && allSteps([step]).some(({ stepId }) => stepId === selected.stepId)) select(undefined)
    toast(`“${step.name}” deleted`, {
      action: {
        label: 'Undo',
        onClick: () => {
          // The server may have deleted the step, so its _id is invalid. The stepId stays.
          const { _id, ...rest } = step
          change((before) => {
            if (allSteps(before.steps).some(({ stepId }) => stepId === step.stepId)) return before
            return { ...before, steps: insertStep(before.steps, spot, rest) }
          })
          select(step.stepId)
        },
      },
    })
  }
  useShortcut('escape', () => select(undefined), selected !== undefined)
  const [isSaving, setSaving] = useState(false)
  const closeSaving = useCallback(() => setSaving(false), [])
  const save = () => {
    if (autosaves) void flush()
    else if (state.isDirty) setSaving(true)
  }
  const saveStatus = <SaveStatus state={state} autosaves={autosaves} onSave={save} />
  useShortcut('mod+s', save, mayEdit)
  useShortcut('t', () => setOpen({ run: true }), mayRun)

  const told = useRef(false)
  useEffect(() => {
    if (!state.isRestored || told.current) return
    told.current = true
    toast('Your unsaved changes are restored.')
  }, [state.isRestored])

  return (
    <Frame
      title={draft.name}
      fills
      heading={
        <span className="flex min-w-0 items-center gap-1.5">
          <Link to="/workflows" search={{}} className="shrink-0 text-base font-normal text-muted hover:text-ink">
            Workflows
          </Link>
          <ChevronRight className="size-4 shrink-0 text-faint" aria-hidden />
          <span className="truncate text-lg" dir="auto" title={draft.name}>
            {draft.name}
          </span>
          {isCode && <Badge>From code</Badge>}
          <FilesBadge files={saved.files} />
          {!mayEdit && <Badge>Read only</Badge>}
        </span>
      }
      actions={
        <>
          <SubjectTabs kind="workflow" id={workflow.workflowId} current="editor" />
          <OthersHere others={state.others} />
          {mayEdit && saveStatus}
          <IssueList steps={allSteps(draft.steps)} issues={issues} onOpen={select} />
          <label className="mx-1 flex items-center gap-2 text-sm" htmlFor="workflow-active">
            <Switch
              id="workflow-active"
              value={draft.active}
              disabled={!mayEdit}
              onValue={(active) => set({ active })}
            />
            <span className="max-sm:sr-only">{draft.active ? 'Active' : 'Inactive'}</span>
          </label>
          {!isCode && (
            <Button
              icon={<FastForward />}
              aria-pressed={open.simulate}
              className={cn(open.simulate && 'bg-hover')}
              hint="Play it in memory, over days. Nothing is sent"
              onClick={() => setOpen({ simulate: !open.simulate })}
            >
              Simulate
            </Button>
          )}
          <Button
            icon={<Play />}
            shortcut="t"
            hint={mayRun ? 'Run it with your own payload' : 'Viewers cannot run workflows'}
            disabled={!mayRun}
            onClick={() => setOpen({ run: true })}
          >
            Test run
          </Button>
          <Button
            variant="ghost"
            size="icon"
            hint="Settings"
            onClick={() => setOpen({ settings: true }, { push: true })}
          >
            <Settings2 />
          </Button>
          <Menu label="More">
            <MenuItem icon={<Code />} onSelect={() => select(undefined)}>
              Code for your program
            </MenuItem>
            <ExplainItem workflowId={workflow.workflowId} />
            {canShape && <DuplicateItem workflowId={workflow.workflowId} />}
            {canSync && !isCode && <SyncItems workflow={workflow} />}
          </Menu>
        </>
      }
    >
      <div className="flex h-full min-h-0 flex-col">
        {workflow.brake && <BrakeBanner workflowId={workflow.workflowId} brake={workflow.brake} />}
        <FilesNote
          subject={{ kind: 'workflow', id: workflow.workflowId }}
          version={saved.version}
          files={saved.files}
        />
        <Compare conflict={state.conflict} autosaves={autosaves} onResolve={state.resolve} />
        <div
          className={cn(
            'grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] grid-rows-[minmax(0,1fr)]',
            isSimulating && 'max-lg:hidden',
            selected
              ? open.wide
                ? ''
                : 'lg:grid-cols-[minmax(272px,1fr)_minmax(0,2.9fr)]'
              : 'max-lg:block max-lg:overflow-y-auto lg:grid-cols-[minmax(0,1fr)_minmax(0,460px)]',
          )}
        >
          <div
            className={cn(
              'min-h-0 bg-raised bg-[radial-gradient(var(--line)_1px,transparent_1px)] bg-[length:20px_20px] lg:overflow-y-auto',
              selected && (open.wide ? 'hidden' : 'max-lg:hidden'),
            )}
          >
            <Flow
              workflowId={workflow.workflowId}
              steps={draft.steps}
              issues={issues}
              checks={check.steps}
              selected={selected?.stepId}
              canEdit={canShape}
              onSelect={select}
              onAdd={(kind: StepKind, spot) => {
                const step = newStep(kind, draft)
                insert(step, spot)
                return step.stepId
              }}
              onMove={(step, to) => shape(moveStep(draft.steps, step.stepId, to))}
              onWrap={wrap}
              onDuplicate={(step) => {
                const { within, at } = spotOf(draft.steps, step.stepId) ?? { at: 0 }
                insert(copyOf(step, draft), { within, at: at + 1 })
              }}
              onRemove={remove}
              onToggle={(step) => setStep(step.stepId, () => ({ active: !step.active }))}
            />
            {canShape && draft.steps.length > 0 && (
              <FlowKeys hasArms={draft.steps.some(({ type }) => type === 'branch')} />
            )}
          </div>
          <div className="min-h-0 min-w-0 lg:border-l">
            {selected ? (
              <StepPanel
                key={selected.stepId}
                workflow={saved}
                steps={draft.steps}
                step={selected}
                issues={issues.get(selected.stepId) ?? none}
                check={check.steps.get(selected.stepId)}
                readOnly={!mayEdit}
                isWide={open.wide}
                data={data}
                {...inPanel}
              />
            ) : (
              <TriggerPanel workflow={saved} data={data} />
            )}
          </div>
        </div>
        {isSimulating && (
          <SimulatePanel
            workflow={saved}
            draft={draft}
            isDirty={state.isDirty}
            mayEdit={mayEdit}
            data={data}
            onClose={() => setOpen({ simulate: false })}
          />
        )}
      </div>
      <Settings
        open={open.settings}
        onClose={() => setOpen({ settings: false })}
        workflow={saved}
        draft={draft}
        readOnly={!mayEdit}
        saving={mayEdit && saveStatus}
        onChange={set}
      />
      <SaveImpact open={isSaving} onClose={closeSaving} state={state} />
      <TestRun
        open={open.run && mayRun}
        onClose={() => setOpen({ run: false })}
        workflow={saved}
        data={data}
        isActive={draft.active}
        onActivate={() => set({ active: true })}
        flush={async () => {
          if (autosaves || !state.isDirty) return flush()
          setSaving(true)
          return false
        }}
      />
    </Frame>
  )
}

interface IssueListProps {
  steps: readonly DraftStep[]
  issues: ReadonlyMap<string, readonly Issue[]>
  onOpen: (stepId: string) => void
}

/** The number of issues, with a link to each. */
function IssueList({ steps, issues, onOpen }: IssueListProps) {
  const all = steps.flatMap((step) => (issues.get(step.stepId) ?? []).map((issue) => ({ step, issue })))
  if (all.length === 0)
    return steps.length === 0 ? null : (
      <span className="inline-flex items-center gap-1.5 text-sm text-muted max-sm:hidden">
        <CircleCheck className="size-4 text-good" aria-hidden />
        No issues
      </span>
    )
  return (
    <Menu
      className="w-88"
      trigger={
        <Button size="sm" className="text-bad" icon={<TriangleAlert />}>
          {all.length} {all.length === 1 ? 'issue' : 'issues'}
        </Button>
      }
    >
      <MenuLabel>Issues to fix</MenuLabel>
      {all.map(({ step, issue }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two issues may have the same text
        <MenuItem key={index} icon={<StepIcon kind={step.type} />} onSelect={() => onOpen(step.stepId)}>
          <span className="block truncate">{issue.message}</span>
          <span className="block truncate text-xs text-muted">{step.name}</span>
        </MenuItem>
      ))}
    </Menu>
  )
}

function ExplainItem({ workflowId }: { workflowId: string }) {
  const navigate = useNavigate()
  return (
    <MenuItem icon={<DoorOpen />} onSelect={() => void navigate({ to: '/explain', search: { workflowId } })}>
      Would they get it?
    </MenuItem>
  )
}

function DuplicateItem({ workflowId }: { workflowId: string }) {
  const navigate = useNavigate()
  const duplicate = useAction({
    do: () => workflows.duplicate(workflowId),
    refresh: ['workflows'],
    done: 'Duplicated. This copy is inactive',
    onDone: (copy) =>
      void navigate({ to: '/workflows/$workflowId', params: { workflowId: copy.workflowId }, search: {} }),
  })
  return (
    <MenuItem icon={<CopyPlus />} onSelect={() => duplicate.mutate()}>
      Duplicate
    </MenuItem>
  )
}
