// The question of a step that asks: its answer, who was asked when, and a link to it.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { questions } from '../../api/questions.ts'
import { Loaded, SkeletonText } from '../../ui/base/states.tsx'
import { AskedPeople, QuestionState } from '../../ui/domain/question-parts.tsx'
import { answerOf, wayOf } from '../../ui/domain/question-words.ts'
import type { Job } from './why.ts'

export function StepQuestion({ job }: { job: Job }) {
  const { questionId } = (job.outcome ?? {}) as { questionId?: string | null }
  const query = useQuery({ ...questions.one(questionId ?? ''), enabled: Boolean(questionId) })
  if (job.type !== 'ask' || !questionId) return null
  return (
    <Loaded query={query} skeleton={<SkeletonText lines={3} />}>
      {(question) => {
        const { answeredBy } = question
        return (
          <section aria-label={`Question of ${job.step.name ?? job.step.stepId}`} className="space-y-3">
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
              <bdi className="min-w-0 font-medium break-words">{question.question}</bdi>
              <QuestionState question={question} />
              <Link
                to={`/questions/${encodeURIComponent(question.id)}` as '/'}
                className="ml-auto whitespace-nowrap text-accent underline underline-offset-2"
              >
                Open the question
              </Link>
            </div>
            {question.answer !== null && (
              <p className="text-sm">
                <bdi className="font-medium">{answerOf(question)}</bdi>
                {answeredBy && <span className="text-muted"> through {wayOf(answeredBy.channel)}</span>}
                {question.text !== null && (
                  <bdi className="mt-1 block whitespace-pre-line text-muted">“{question.text}”</bdi>
                )}
              </p>
            )}
            <AskedPeople question={question} />
          </section>
        )
      }}
    </Loaded>
  )
}
