// What in-app copies of a question say once it is closed. Nothing here does I/O.
import type { AnsweredBy, QuestionState } from '../../db/core/tables.ts'
import { questionLanguage, questionWords } from '../../render/question-texts.ts'

export interface Decision {
  state: QuestionState
  answer: string | null
  /** The answer in its words. */
  label: string | null
  answeredBy: AnsweredBy | null
}

interface Copy {
  data?: unknown
  content?: string | null
  cta?: unknown
}

/** Whether the message is a copy of a question that is open. */
export const isOpenCopy = ({ data }: Copy): boolean =>
  (data as { question?: { state?: unknown } } | null | undefined)?.question?.state === 'open'

interface Reader {
  subscriberId: string
  locale: string | null
}

/** With who decided, or that it is over, and without buttons. Its action is done only if its reader pressed one of them. */
export function closedCopy(copy: Copy, decision: Decision, { subscriberId, locale }: Reader) {
  const { state, answer, answeredBy } = decision
  const data = copy.data as Record<string, object>
  const cta = (copy.cta ?? {}) as { action?: object }
  const isPressed = answeredBy?.channel === 'in_app' && answeredBy.subscriberId === subscriberId
  return {
    data: { ...data, question: { ...data.question, state, answer, answeredBy } },
    content: `${copy.content ?? ''}\n\n${decisionText(decision, locale)}`,
    cta: {
      ...cta,
      data: { url: '' },
      action: { ...cta.action, ...(isPressed ? { status: 'done' } : {}), buttons: [] },
    },
  }
}

/** "Approve: Ada Lovelace", or that it is over. */
export function decisionText({ state, label, answeredBy }: Omit<Decision, 'answer'>, locale: string | null): string {
  if (state !== 'answered') return questionWords[questionLanguage(locale)].over
  const who = deciderName(answeredBy)
  return (who === null ? (label ?? '') : `${label ?? ''}: ${who}`).replace(/[<>]/g, '')
}

export const deciderName = (by: AnsweredBy | null): string | null =>
  by && (by.as?.name ?? by.member?.name ?? by.name ?? by.subscriberId)
