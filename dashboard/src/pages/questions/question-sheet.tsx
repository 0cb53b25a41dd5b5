// One question: its answer or the buttons that give one, who was asked when, and until when it is open.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Activity } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Question, questions } from '../../api/questions.ts'
import { Button, ButtonLink } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { Status } from '../../ui/base/status.tsx'
import { absoluteTime, Countdown, Time } from '../../ui/base/time.tsx'
import { reasonLabel } from '../../ui/domain/reasons.ts'
import { lookOf, StepIcon } from '../../ui/domain/step-kind.tsx'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Textarea } from '../../ui/form/input.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Facts } from '../../ui/frame/page.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'
import { answerOf, stateTones, stateWords, whoAnswered } from './words.ts'

export function QuestionState({ question }: { question: Question }) {
  const { state } = question
  return (
    <Status tone={stateTones[state]} live={state === 'open'}>
      {stateWords[state]}
    </Status>
  )
}

export function QuestionSheet({ questionId, onClose }: { questionId: string | undefined; onClose: () => void }) {
  const query = useQuery({ ...questions.one(questionId ?? ''), enabled: questionId !== undefined })
  const title = query.data?.question ?? 'Question'
  return (
    <Sheet
      open={questionId !== undefined}
      onClose={onClose}
      label={title}
      title={<bdi>{title}</bdi>}
      subtitle={query.data?.workflowId ?? ''}
    >
      {questionId !== undefined && (
        <Loaded query={query} skeleton={<SkeletonText lines={6} />}>
          {(question) => <Whole question={question} />}
        </Loaded>
      )}
    </Sheet>
  )
}

function Whole({ question }: { question: Question }) {
  const { state, text, answeredBy, deadline, createdAt, notificationId, transactionId, round, id } = question
  return (
    <div className="space-y-6">
      <Facts
        facts={[
          ['State', <QuestionState key="state" question={question} />],
          ...(question.answer === null ? [] : [['Answer', <bdi key="answer">{answerOf(question)}</bdi>] as const]),
          ...(text === null ? [] : [['Text', <bdi key="text">{text}</bdi>] as const]),
          ...(answeredBy === null
            ? []
            : [['Through', `${lookOf(answeredBy.channel).label}, ${absoluteTime(answeredBy.createdAt)}`] as const]),
          ['Asked', absoluteTime(createdAt)],
          [
            state === 'open' ? 'Open for' : 'Deadline',
            state === 'open' ? <Countdown key="deadline" until={deadline} /> : absoluteTime(deadline),
          ],
          ...(round > 1 ? [['Round', String(round)] as const] : []),
          ['Transaction', <Id key="transaction" value={transactionId} />],
          ['Id', <Id key="id" value={id} />],
        ]}
      />
      {state === 'open' && <AnswerForm key={id} question={question} />}
      <Asked question={question} />
      <ButtonLink icon={<Activity />} to={`/activity/${encodeURIComponent(notificationId)}` as '/'}>
        Open the run
      </ButtonLink>
    </div>
  )
}

function AnswerForm({ question }: { question: Question }) {
  const canAnswer = useCan('editor')
  const ask = useConfirm()
  const [text, setText] = useState('')
  const { freeText } = question
  const refresh = ['questions', 'runs']
  const answer = useAction({
    do: (chosen: string) =>
      questions.answer(question.id, { answer: chosen, ...(text.trim() === '' ? {} : { text: text.trim() }) }),
    refresh,
    done: 'Answered',
  })
  const cancel = useAction({
    do: () => questions.cancel(question.id),
    refresh,
    done: 'Cancelled',
  })
  const onCancel = async () => {
    const yes = await ask({
      title: 'Cancel the question and its run?',
      body: 'Nobody can answer any more, and the remaining steps of the run are cancelled. What was sent stays sent.',
      confirm: 'Cancel it',
    })
    if (yes) cancel.mutate()
  }
  if (!canAnswer) return null
  const isMissing = freeText?.required === true && text.trim() === ''
  return (
    <section aria-label="Answer" className="space-y-3 rounded-surface border p-3">
      <p className="text-sm text-muted">Answer in your own name, instead of those who were asked:</p>
      {freeText && (
        <FieldFrame label={freeText.label} optional={!freeText.required}>
          {(control) => <Textarea {...control} dir="auto" maxLength={2_000} value={text} onValue={setText} />}
        </FieldFrame>
      )}
      <div className="flex flex-wrap gap-2">
        {question.answers.map(({ id, label }, index) => (
          <Button
            key={id}
            variant={index === 0 ? 'primary' : 'secondary'}
            disabled={isMissing || answer.isPending}
            onClick={() => answer.mutate(id)}
          >
            <bdi>{label}</bdi>
          </Button>
        ))}
        <Button variant="ghost" className="ml-auto" pending={cancel.isPending} onClick={() => void onCancel()}>
          Cancel the question…
        </Button>
      </div>
    </section>
  )
}

/** Each time somebody was asked, oldest first. */
function Asked({ question: { asked, answeredBy } }: { question: Question }) {
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
                  {lookOf(channel).label}: {reason ? reasonLabel(reason).toLowerCase() : status}
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
