// A question that a step puts to people: the copies it sends, what becomes of them, and the answer.
import type { AnsweredBy, AskedEntry, CopyOf, OfferedAnswer, QuestionState } from '../../db/core/tables.ts'
import type { RecipientPreferences } from '../../db/queries/preferences.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import type { Translator } from '../../render/translations.ts'

/** Channels that a question can be asked in. */
export const askChannels = ['in_app', 'email', 'chat', 'sms'] as const
export type AskChannel = (typeof askChannels)[number]

/** Of all questions of a run, with those of reminders: it can have no more steps. */
export const mostCopies = 30_000

/** Somebody who is to be asked, with what their copies obey. */
export interface AskedPerson {
  subscriber: SubscriberRow
  preferences: RecipientPreferences | undefined
  /** For the workflow's texts, in their language. */
  translator: Translator
}

export interface NewCopy extends Omit<CopyOf, 'of' | 'subscriberId'> {
  person: AskedPerson
  channel: AskChannel
}

/** What has become of a copy. */
export interface CopyState extends CopyOf {
  channel: string
  /** Whether it is on its way, was sent, could not be sent, or was held back. */
  state: 'underway' | 'sent' | 'failed' | 'held'
}

export interface GivenAnswer {
  answer: string
  /** The answer in the words of the question. */
  label: string
  text: string | null
  by: AnsweredBy
}

/** Said once, when it is put. */
export interface QuestionTexts {
  question: string
  details: string | null
  answers: OfferedAnswer[]
  freeText: { label: string; required: boolean } | null
}

/** What is stored of a question. */
export interface QuestionRecord {
  id: string
  state: QuestionState
  texts?: QuestionTexts
  answer: string | null
  /** The answer in its words. */
  label: string | null
  text: string | null
  answeredBy: AnsweredBy | null
  level: number
  round: number
  asked: AskedEntry[]
  deadline: string
}

/** What an outcome does about a question. */
export interface Asking {
  question: QuestionRecord
  copies: NewCopy[]
  /** Whose in-app copies become unread and unseen. */
  reminds: string[]
  /** What webhooks are told. */
  told: Array<'question.asked' | 'question.escalated' | 'question.answered' | 'question.expired'>
}

/** The subscriber's name as others read it. */
export const nameOf = ({ first_name, last_name }: Pick<SubscriberRow, 'first_name' | 'last_name'>): string | null =>
  [first_name, last_name].filter((part) => part !== null && part !== '').join(' ') || null
