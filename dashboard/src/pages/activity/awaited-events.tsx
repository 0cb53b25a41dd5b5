// What a waiting step waits for, with a button that posts the event.
import { Mail, RadioTower, Send } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import type { NewEvent } from '../../api/events.ts'
import { type Run, subscriberIdOf, whoOf } from '../../api/runs.ts'
import { Button } from '../../ui/base/button.tsx'
import { type AwaitedEntry, entriesIn, entryInWords } from '../../ui/domain/awaited.ts'
import { PostEvent } from '../../ui/domain/post-event.tsx'
import type { Job } from './why.ts'

export function AwaitedEvents({ job, run }: { job: Job; run: Run }) {
  const canPost = useCan('editor')
  const [event, setEvent] = useState<Partial<NewEvent>>()
  if (job.type !== 'wait_for_event' || job.status !== 'delayed') return null
  const { keys = [] } = (job.outcome ?? {}) as { keys?: Array<string | null> }
  const nameOf = (stepId: string) => run.jobs.find(({ step }) => step.stepId === stepId)?.step.name ?? stepId
  return (
    <section aria-label={`What ${job.step.name ?? job.step.stepId} waits for`}>
      <h4 className="mb-1.5 text-xs font-medium text-muted">Waits for the first of</h4>
      <ul className="divide-y rounded-control border">
        {entriesIn(job.step.controlVariables?.for).map((entry, index) => {
          const key = keys[index] ?? undefined
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: an entry is its place
            <li key={index} className="flex min-h-10 flex-wrap items-center gap-x-2.5 gap-y-1 px-3 py-1.5 text-sm">
              {entry.message === undefined ? (
                <RadioTower className="size-4 shrink-0 text-muted" aria-hidden />
              ) : (
                <Mail className="size-4 shrink-0 text-muted" aria-hidden />
              )}
              <span className="min-w-0 flex-1 break-words">
                <AwaitedText entry={entry} words={entryInWords(entry, nameOf)} about={key} who={whoOf(run)} />
              </span>
              {entry.event !== undefined && (
                <Button
                  size="sm"
                  icon={<Send />}
                  disabled={!canPost}
                  {...(canPost ? {} : { hint: 'Viewers cannot post events' })}
                  onClick={() =>
                    setEvent({
                      name: entry.event ?? '',
                      ...(key === undefined ? { subscriberId: subscriberIdOf(run) } : { key }),
                    })
                  }
                >
                  Post this event
                </Button>
              )}
            </li>
          )
        })}
      </ul>
      <PostEvent
        open={event !== undefined}
        onClose={() => setEvent(undefined)}
        {...(event ? { event } : {})}
        refresh={['runs']}
      />
    </section>
  )
}

interface AwaitedTextProps {
  entry: AwaitedEntry
  words: string
  /** The key as this run has it. */
  about: string | undefined
  who: string
}

function AwaitedText({ entry, words, about, who }: AwaitedTextProps) {
  if (entry.message !== undefined) return words
  return (
    <>
      <code>{words}</code>
      <span className="text-muted">
        {about === undefined ? (
          <>
            {' '}
            about <bdi>{who}</bdi>
          </>
        ) : (
          <>
            {' '}
            with the key <code>{about}</code>
          </>
        )}
        {entry.condition !== undefined && ', on a condition'}
      </span>
    </>
  )
}
