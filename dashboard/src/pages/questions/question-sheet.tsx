// One question: its answer or the buttons that give one, who was asked when, and until when it is open.
import { useQuery } from '@tanstack/react-query'
import { Activity } from 'lucide-react'
import { useState } from 'react'
import { useCan } from '../../api/auth.ts'
import { useAction } from '../../api/cache.ts'
import { type Question, questions } from '../../api/questions.ts'
import { Button, ButtonLink } from '../../ui/base/button.tsx'
import { Id } from '../../ui/base/copy.tsx'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { absoluteTime, Countdown } from '../../ui/base/time.tsx'
import { AskedPeople, QuestionState } from '../../ui/domain/question-parts.tsx'
import { answerOf, wayOf } from '../../ui/domain/question-words.ts'
import { FieldFrame } from '../../ui/form/form.tsx'
import { Textarea } from '../../ui/form/input.tsx'
import { useConfirm } from '../../ui/frame/dialog.tsx'
import { Facts } from '../../ui/frame/page.tsx'
import { Sheet } from '../../ui/frame/sheet.tsx'

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
            : [['Through', `${wayOf(answeredBy.channel)}, ${absoluteTime(answeredBy.createdAt)}`] as const]),
          ['Asked', absoluteTime(createdAt)],
          ['Deadline', state === 'open' ? <Countdown key="deadline" until={deadline} /> : absoluteTime(deadline)],
          ...(round > 1 ? [['Round', String(round)] as const] : []),
          ['Transaction', <Id key="transaction" value={transactionId} />],
          ['Id', <Id key="id" value={id} />],
        ]}
      />
      {state === 'open' && <AnswerForm key={id} question={question} />}
      <AskedPeople question={question} />
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
