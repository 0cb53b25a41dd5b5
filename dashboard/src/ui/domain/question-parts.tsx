// What two pages show of a question: its state, and who was asked when.
import { Link } from '@tanstack/react-router'
import type { Question } from '../../api/questions.ts'
import { Status } from '../base/status.tsx'
import { Time } from '../base/time.tsx'
import { stepOutcome } from './outcomes.tsx'
import { stateTones, stateWords, whoAnswered } from './question-words.ts'
import { reasonLabel } from './reasons.ts'
import { lookOf, StepIcon } from './step-kind.tsx'

export function QuestionState({ question }: { question: Question }) {
  const { state } = question
  return (
    <Status tone={stateTones[state]} live={state === 'open'}>
      {stateWords[state]}
    </Status>
  )
}

/** Each time somebody was asked, oldest first. */
export function AskedPeople({ question: { asked, answeredBy } }: { question: Question }) {
  if (asked.length === 0) return <p className="text-sm text-muted">Nobody has been asked yet.</p>
  const who = whoAnswered(answeredBy)
  return (
    <section aria-label="Who was asked">
      <h3 className="mb-2 text-sm font-semibold">Who was asked</h3>
      <ol className="divide-y rounded-surface border">
        {asked.map(({ subscriberId, level, askedAt, remindedAt, channels }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: somebody may be asked twice
          <li key={index} className="space-y-1 px-3 py-2 text-sm">
            <div className="flex items-center gap-2">
              <Link
                to={`/subscribers/${encodeURIComponent(subscriberId)}` as '/'}
                className="min-w-0 truncate font-medium underline decoration-line-strong underline-offset-2"
              >
                <bdi>{subscriberId}</bdi>
              </Link>
              {answeredBy?.subscriberId === subscriberId && who !== '' && <Status tone="good">answered</Status>}
              <span className="ml-auto shrink-0 text-xs text-muted">
                level {level + 1} · <Time at={askedAt} />
              </span>
            </div>
            <ul className="flex flex-wrap gap-x-3 gap-y-1 text-xs text-muted">
              {channels.map(({ channel, status, reason }) => (
                <li key={channel} className="flex items-center gap-1.5">
                  <StepIcon kind={channel} />
                  {lookOf(channel).label}:{' '}
                  {(reason ? reasonLabel(reason) : stepOutcome({ type: channel, status }).word).toLowerCase()}
                </li>
              ))}
              {remindedAt.length > 0 && (
                <li>
                  reminded {remindedAt.length === 1 ? 'once' : `${remindedAt.length} times`}, last{' '}
                  <Time at={remindedAt.at(-1)} />
                </li>
              )}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  )
}
