// The states of a question in words.
import type { Question } from '../../api/questions.ts'
import type { Tone } from '../../ui/base/status.tsx'

export const stateWords: Record<Question['state'], string> = {
  open: 'Open',
  answered: 'Answered',
  expired: 'Expired',
  canceled: 'Canceled',
}

export const stateTones: Record<Question['state'], Tone> = {
  open: 'info',
  answered: 'good',
  expired: 'warn',
  canceled: 'neutral',
}

/** "Approve: Ada Lovelace", or nothing yet. */
export function answerOf({ answer, answers, answeredBy }: Question): string {
  if (answer === null) return ''
  const label = answers.find(({ id }) => id === answer)?.label ?? answer
  const who = whoAnswered(answeredBy)
  return who === '' ? label : `${label}: ${who}`
}

export const whoAnswered = (by: Question['answeredBy']): string => by?.name || by?.subscriberId || ''
