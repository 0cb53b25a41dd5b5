// The states of a question in words.
import type { Question } from '../../api/questions.ts'
import type { Tone } from '../base/status.tsx'
import { lookOf } from './step-kind.tsx'

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

/** How an answer was given, where that is no channel of a copy. */
const otherWays: Record<string, string> = { api: 'the API', page: 'its page' }
export const wayOf = (channel: string): string => otherWays[channel] ?? lookOf(channel).label

/** "Approve: Ada Lovelace", or nothing yet. */
export function answerOf({ answer, answers, answeredBy }: Question): string {
  if (answer === null) return ''
  const label = answers.find(({ id }) => id === answer)?.label ?? answer
  const who = whoAnswered(answeredBy)
  return who === '' ? label : `${label}: ${who}`
}

export const whoAnswered = (by: Question['answeredBy']): string => by?.name || by?.subscriberId || ''
