// The clock of an environment that is held for tests: its time on every page, and the buttons that move it.
import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { Hourglass } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { toast } from 'sonner'
import { useCan } from '../api/auth.ts'
import { cache, useAction } from '../api/cache.ts'
import { currentEnvironment } from '../api/client.ts'
import { type Advance, type Advanced, clock } from '../api/clock.ts'
import { Button } from '../ui/base/button.tsx'
import { ProgressBar } from '../ui/base/states.tsx'
import { holdTime } from '../ui/base/time.tsx'
import { Input } from '../ui/form/input.tsx'
import { advanceOf, restOf } from './advance.ts'
import { isOnRealTime } from './navigation.ts'

const format = new Intl.DateTimeFormat('en', {
  ...{ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  ...{ second: '2-digit', hourCycle: 'h23', timeZone: 'UTC', timeZoneName: 'short' },
})

const counted = (count: number, one: string) => `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`

function summary({ waitsEnded, messages }: Pick<Advanced, 'waitsEnded' | 'messages'>): string {
  const sent = Object.values(messages as Record<string, number>).reduce((sum, each) => sum + each, 0)
  return `${counted(waitsEnded, 'wait')} ended, ${counted(sent, 'message')} sent`
}

export function HeldClock() {
  const canMove = useCan('editor')
  const [text, setText] = useState('')
  /** Where the clock stood when this page began to move it. */
  const [from, setFrom] = useState<number>()
  const query = useQuery(clock.now({ isMoving: from !== undefined }))
  const stopping = useRef<AbortController>(undefined)
  const move = useAction({
    do: async (given: Advance) => {
      const stop = new AbortController()
      stopping.current = stop
      const { signal } = stop
      setFrom(Date.parse(query.data?.now ?? ''))
      const sums = { waitsEnded: 0, messages: {} as Record<string, number> }
      try {
        // A call works for a minute; what is left goes on with the same target.
        let rest: Advance | undefined
        for (let next = given; ; next = rest) {
          const answer = await clock.advance(next, signal)
          sums.waitsEnded += answer.waitsEnded
          for (const [channel, count] of Object.entries(answer.messages as Record<string, number>))
            sums.messages[channel] = (sums.messages[channel] ?? 0) + count
          if (answer.reached) return summary(sums)
          rest ??= restOf(given, answer.from)
          if (!rest) return `${summary(sums)}; stopped on the way`
        }
      } catch (error) {
        // What the last call has done until then is not told.
        if (signal.aborted) return 'Stopped on the way'
        throw error
      } finally {
        setFrom(undefined)
      }
    },
    onDone: (told) => {
      toast.success(told)
      setText('')
      // Everything that a page shows may have changed.
      void cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] === currentEnvironment() })
    },
  })
  const held = query.data
  const path = useLocation({ select: ({ pathname }) => pathname })
  const shownAt = held?.held && !isOnRealTime(path) ? Date.parse(held.now) : undefined
  useEffect(() => {
    holdTime(shownAt)
    return () => holdTime(undefined)
  }, [shownAt])
  if (!held?.held) return null
  const { now, waiting = { count: 0, next: null }, advancingTo } = held
  const isMoving = move.isPending || Boolean(advancingTo)
  const go = (given: Advance) => move.mutate(given)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') go(advanceOf(text))
  }
  return (
    <section
      aria-label="Held clock"
      className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-warn/30 bg-warn/8 px-4 py-1.5 text-sm sm:px-6"
    >
      <Hourglass className="size-4 shrink-0 text-warn" aria-hidden />
      <time dateTime={now} className="font-medium tabular-nums">
        {format.format(new Date(now))}
      </time>
      {isMoving ? (
        <div className="w-64">
          <Progress from={from} now={now} to={advancingTo} waiting={waiting.count} />
        </div>
      ) : (
        <span className="min-w-0 text-muted">
          {waiting.count === 0
            ? 'Nothing waits. Trigger something, then move the clock.'
            : `${waiting.count === 1 ? 'One wait' : `${waiting.count.toLocaleString('en')} waits`}, the next ends ${format.format(new Date(waiting.next ?? now))}`}
        </span>
      )}
      {canMove && (
        <div className="ml-auto flex flex-wrap items-center gap-1.5">
          {isMoving ? (
            // Only whoever moves it can stop it.
            move.isPending && (
              <Button size="sm" onClick={() => stopping.current?.abort()}>
                Stop on the way
              </Button>
            )
          ) : (
            <>
              <Button size="sm" onClick={() => go({ by: '1h' })}>
                +1 h
              </Button>
              <Button size="sm" onClick={() => go({ by: '1d' })}>
                +1 d
              </Button>
              <Button size="sm" disabled={waiting.count === 0} onClick={() => go({ to: 'next' })}>
                To the next
              </Button>
              <form onSubmit={submit} className="flex items-center gap-1.5">
                <Input
                  aria-label="Move the clock by or to"
                  placeholder="3d, or 2026-05-01T10:00Z"
                  className="h-7 w-52 text-xs"
                  value={text}
                  onValue={setText}
                />
                <Button size="sm" type="submit" disabled={text.trim() === ''}>
                  Go
                </Button>
              </form>
            </>
          )}
        </div>
      )}
    </section>
  )
}

interface ProgressProps {
  from: number | undefined
  now: string
  to: string | null | undefined
  waiting: number
}

/** How far it has come, and how many waits are left. */
function Progress({ from, now, to, waiting }: ProgressProps) {
  const [begun, end, at] = [from ?? Date.parse(now), Date.parse(to ?? now), Date.parse(now)]
  const part = end > begun ? Math.round(((at - begun) / (end - begun)) * 100) : 0
  return <ProgressBar label={`Moving the clock, ${counted(waiting, 'wait')} left`} done={part} total={100} />
}
