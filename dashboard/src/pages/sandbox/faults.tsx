// Simulates provider failures in the sandbox, to see how Belfry handles them.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { TriangleAlert, X } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type SandboxFault, sandbox } from '../../api/sandbox.ts'
import { Button } from '../../ui/base/button.tsx'
import { lookOf, StepIcon } from '../../ui/domain/step-kind.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Input } from '../../ui/form/input.tsx'
import { Select } from '../../ui/form/select.tsx'

const kinds: Array<{ value: SandboxFault['fault']; label: string; hint: string }> = [
  { value: 'rate_limited', label: 'Too many requests (429)', hint: 'retried after the time it names' },
  { value: 'server_error', label: 'Server error (500)', hint: 'retried' },
  { value: 'timeout', label: 'No answer (timeout)', hint: 'retried if that is safe' },
  { value: 'reset', label: 'Connection lost (reset)', hint: 'retried if that is safe' },
  { value: 'bounce', label: 'Bounce', hint: 'not retried' },
  { value: 'rejected', label: 'Rejected (400)', hint: 'not retried' },
  { value: 'unauthorized', label: 'Wrong credentials (401)', hint: 'sent through the next integration' },
]
const labelOf = (fault: SandboxFault['fault']) => kinds.find(({ value }) => value === fault)?.label ?? fault

const every = 'every'
const places = [
  { value: every, label: 'Every channel' },
  ...(['email', 'sms', 'chat', 'push'] as const).map((value) => ({
    value,
    label: lookOf(value).label,
    icon: <StepIcon kind={value} />,
  })),
]

/** Polled while there are any: faults for a number of messages end by themselves. */
const useFaults = () =>
  useQuery({ ...sandbox.faults(), refetchInterval: ({ state }) => ((state.data?.length ?? 0) > 0 ? 3_000 : false) })

/** Shown on every sandbox page while a fault is active. */
export function FaultBanner() {
  const faults = useFaults().data ?? []
  const canEdit = useCan('editor')
  const putBack = async (all: SandboxFault[]) => {
    for (const fault of all) await sandbox.fail(fault)
  }
  const workAgain = useAction({
    do: () => sandbox.workAgain(),
    refresh: ['sandbox'],
    done: 'The sandbox works again',
    undo: () => putBack(faults),
  })
  const remove = useAction({
    do: async (gone: SandboxFault) => {
      await sandbox.workAgain()
      await putBack(faults.filter((fault) => fault !== gone))
    },
    refresh: ['sandbox'],
    done: 'Fault stopped',
    undo: () => putBack(faults),
  })
  if (faults.length === 0) return null
  return (
    <section
      aria-label="Faults"
      className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b bg-warn/10 px-4 py-2 text-sm sm:px-6"
    >
      <TriangleAlert className="size-4 text-warn" aria-hidden />
      <span className="font-medium">The sandbox is failing</span>
      <ul className="flex flex-wrap gap-1.5">
        {faults.map((fault) => (
          <li
            key={fault.channel ?? every}
            className="inline-flex h-6 items-center gap-1.5 rounded-full border border-warn/40 bg-page pr-0.5 pl-2 text-xs"
          >
            {fault.channel && <StepIcon kind={fault.channel} className="size-3.5" />}
            {labelOf(fault.fault)}
            {fault.count !== undefined && <span className="text-muted">{fault.count} more</span>}
            {canEdit && (
              <Button
                variant="ghost"
                size="icon-sm"
                className="size-5"
                hint={`Stop: ${labelOf(fault.fault)}`}
                onClick={() => remove.mutate(fault)}
              >
                <X className="size-3!" />
              </Button>
            )}
          </li>
        ))}
      </ul>
      <span className="ml-auto flex items-center gap-3">
        <Link to={'/activity' as never} className="text-xs text-accent underline underline-offset-2">
          Watch the activity
        </Link>
        {canEdit && (
          <Button size="sm" pending={workAgain.isPending} onClick={() => workAgain.mutate()}>
            Stop all faults
          </Button>
        )}
      </span>
    </section>
  )
}

export function FaultPanel({ onClose }: { onClose: () => void }) {
  const canEdit = useCan('editor')
  const [fault, setFault] = useState<SandboxFault['fault']>('rate_limited')
  const [place, setPlace] = useState(every)
  const [count, setCount] = useState('1')
  const [wait, setWait] = useState('10')
  const takesWait = fault === 'rate_limited' || fault === 'server_error'
  const fail = useAction({
    do: () =>
      sandbox.fail({
        fault,
        ...(place === every ? {} : { channel: place as NonNullable<SandboxFault['channel']> }),
        ...(count.trim() === '' ? {} : { count: Number(count) }),
        ...(takesWait && wait.trim() !== '' ? { retryAfterSeconds: Number(wait) } : {}),
      }),
    refresh: ['sandbox'],
    done: 'Now trigger a workflow and watch',
  })
  const chosen = kinds.find(({ value }) => value === fault)
  return (
    <section aria-label="Simulate a failure" className="border-b bg-raised px-4 py-3 sm:px-6">
      <form
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          fail.mutate()
        }}
      >
        <FieldFrame label="Failure" className="w-full sm:w-60">
          {(control) => (
            <Select
              {...control}
              value={fault}
              onValue={setFault}
              options={kinds.map(({ value, label }) => ({ value, label }))}
            />
          )}
        </FieldFrame>
        <FieldFrame label="Channel" className="w-full sm:w-40">
          {(control) => <Select {...control} value={place} onValue={setPlace} options={places} />}
        </FieldFrame>
        <FieldFrame label="Number of messages" className="w-full sm:w-44">
          {(control) => (
            <Input
              {...control}
              type="number"
              min={1}
              max={1_000_000}
              value={count}
              onValue={setCount}
              placeholder="Until stopped"
            />
          )}
        </FieldFrame>
        {takesWait && (
          <FieldFrame label="Retry-After, seconds" className="w-full sm:w-40">
            {(control) => <Input {...control} type="number" min={0} max={86_400} value={wait} onValue={setWait} />}
          </FieldFrame>
        )}
        <Button
          type="submit"
          variant="primary"
          pending={fail.isPending}
          disabled={!canEdit}
          {...(canEdit ? {} : { hint: 'Viewers cannot do this' })}
        >
          Start
        </Button>
        <Button variant="ghost" onClick={onClose}>
          Close
        </Button>
      </form>
      <p className="mt-2 text-xs text-muted">How Belfry handles it: the message is {chosen?.hint}.</p>
    </section>
  )
}
