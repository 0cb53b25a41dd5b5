// The copies of a question: what each channel says, and to whom. A copy is a step of its channel, with the person who is asked
// in place of the subscriber of the run.
import type { WorkflowStep } from '../../db/queries/workflows.ts'
import { questionLanguage, questionWords } from '../../render/question-texts.ts'
import type { Translator } from '../../render/translations.ts'
import { renderText } from '../../render/values.ts'
import type { ControlValues } from '../contract/kind.ts'
import type { AskChannel, AskedPerson, QuestionTexts } from '../contract/question.ts'
import { type StepRun, situationOf } from '../contract/step-run.ts'

const longestLabel = 80

/** In the language of the translator. The subscriber in its templates is that of the run, whoever is asked. */
export function questionTexts(of: StepRun, translator: Translator): QuestionTexts & { subject: string } {
  const { values } = of
  const said = (value: unknown) => renderText(String(value ?? ''), situationOf(of), translator).trim()
  const question = said(values.question)
  const { label, required } = (values.freeText ?? {}) as { label?: unknown; required?: unknown }
  const answers = (Array.isArray(values.answers) ? values.answers : []) as Array<{ id: string; label?: unknown }>
  return {
    question,
    details: said(values.details) || null,
    subject: said(values.subject) || question,
    answers: answers.map(({ id, label: words }) => ({ id, label: said(words).slice(0, longestLabel) || id })),
    freeText: values.freeText === undefined ? null : { label: said(label), required: required === true },
  }
}

/** Whether the first two answers are buttons of the in-app copy; otherwise one leads to the page. */
export const hasButtons = ({ answers, freeText }: Pick<QuestionTexts, 'answers' | 'freeText'>): boolean =>
  answers.length <= 2 && freeText?.required !== true

/** The step of a copy: that of the question, as one of its channel. */
export const copyStep = (step: WorkflowStep, channel: string): WorkflowStep => ({
  ...{ _id: step._id, stepId: step.stepId, name: step.name, type: channel, controlValues: null },
})

/** What the templates of a copy read. */
export interface CopyVariables extends Record<string, unknown> {
  id: string
  text: string
  details: string | null
  answers: Array<{ id: string; label: string; url: string }>
  /** Whether an answer needs a text beside it. */
  needsText: boolean
}

interface CopyContent {
  values: ControlValues
  question: CopyVariables
}

/** @param of the step that asks */
export function copyContent(of: StepRun, person: AskedPerson, questionId: string, channel: AskChannel): CopyContent {
  const { subject, ...texts } = questionTexts(of, person.translator)
  const url = of.run.environment.answerLink(questionId, person.subscriber.id)
  const words = questionWords[questionLanguage(person.subscriber.locale)]
  const answers = texts.answers.map(({ id, label }) => ({ id, label, url: `${url}?answer=${id}` }))
  return {
    values: valuesOf(channel, texts),
    question: {
      ...{ id: questionId, text: texts.question, details: texts.details, subject, url, answers },
      needsText: texts.freeText?.required === true,
      ...{ first: answers[0]?.label, second: answers[1]?.label, words: { answer: words.answer, open: words.open } },
    },
  }
}

/** The same objects each time: compiled templates are cached by them. */
function valuesOf(channel: AskChannel, texts: QuestionTexts): ControlValues {
  if (channel !== 'in_app') return templates[channel]
  if (!hasButtons(texts)) return templates.page
  return texts.answers.length === 1 ? templates.one : templates.two
}

const body = '{{question.text}}{% if question.details %}\n\n{{question.details}}{% endif %}'
const button = (label: string) =>
  `<a href="{{${label}.url | escape}}" style="display:inline-block;margin:0 8px 8px 0;padding:10px 20px;border:1px solid #1f4fd8;border-radius:6px;color:#1f4fd8;text-decoration:none;font-weight:600">{{${label}.label | escape}}</a>`

const templates = {
  one: { body, primaryAction: { label: '{{question.first}}' } },
  two: { body, primaryAction: { label: '{{question.first}}' }, secondaryAction: { label: '{{question.second}}' } },
  page: {
    body,
    primaryAction: { label: '{{question.words.answer}}', redirect: { url: '{{question.url}}', target: '_blank' } },
  },
  email: {
    subject: '{{question.subject}}',
    editorType: 'html',
    // Without styles, and in the text part, lines end and answers stand apart too.
    body: `<p style="font-size:18px;font-weight:600">{{question.text | escape | newline_to_br}}</p>
{% if question.details %}<p>{{question.details | escape | newline_to_br}}</p>{% endif %}
<p>{% for answer in question.answers %}${button('answer')} {% endfor %}</p>
<p style="font-size:13px;color:#595959">{{question.words.open | escape}} <a href="{{question.url | escape}}">{{question.url | escape}}</a></p>`,
  },
  sms: { body: '{{question.text}}\n{{question.url}}' },
  chat: { body: `${body}\n{{question.url}}` },
}
