// The page of a question: made on the server, one form, no script. It works with JavaScript off, and in 360 pixels.
import { escapeUTF8 } from 'entities'
import { decisionText } from '../../engine/runs/question-copies.ts'
import type { ConsentLanguage } from '../../render/consent-texts.ts'
import { questionWords } from '../../render/question-texts.ts'
import { type PageBrand, usualColor, whole } from '../consent/page.ts'
import type { ShownQuestion } from './shape.ts'

interface Shown {
  question: Pick<ShownQuestion, 'question' | 'details' | 'answers' | 'freeText' | 'state' | 'answer' | 'answeredBy'>
  brand: PageBrand
  language: ConsentLanguage
  /** The answer that the link has chosen. */
  chosen?: string | undefined
  /** The reader has just answered. */
  isDone?: boolean
  /** What was written, if it has to be written again. */
  text?: string | undefined
  /** What is wrong with the answer that was sent. */
  problem?: string | undefined
}

export function questionPage({ question, brand, language, chosen, isDone = false, text, problem }: Shown): string {
  const { state, answer, answeredBy } = question
  const words = questionWords[language]
  const label = question.answers.find(({ id }) => id === answer)?.label ?? answer
  const decided =
    state === 'answered'
      ? `<p role="status">${escapeUTF8(isDone ? words.done : words.decided)}</p>
<p class="text"><strong>${escapeUTF8(decisionText({ state, label, answeredBy }, language))}</strong></p>`
      : `<p role="status">${escapeUTF8(words.over)}</p>`
  const logo =
    brand.logoUrl === null ? '' : `<img src="${escapeUTF8(brand.logoUrl)}" alt="${escapeUTF8(brand.name ?? '')}">`
  const content = `${logo}
<h1 class="text">${escapeUTF8(question.question)}</h1>
${question.details === null ? '' : `<p class="text">${escapeUTF8(question.details)}</p>`}
${problem === undefined ? '' : `<p role="alert">${escapeUTF8(problem)}</p>`}
${state === 'open' ? formOf(question, chosen, text) : decided}`
  const title = brand.name === null ? question.question : `${question.question} – ${brand.name}`
  return whole({ title, content, language, color: brand.primaryColor ?? usualColor })
}

/** The chosen answer comes first and stands out. */
function formOf({ answers, freeText }: Shown['question'], chosen: string | undefined, text = ''): string {
  const isChosen = answers.some(({ id }) => id === chosen)
  const sorted = [...answers].sort((a, b) => Number(b.id === chosen) - Number(a.id === chosen))
  const buttons = sorted.map(
    ({ id, label }) =>
      `<button name="answer" value="${escapeUTF8(id)}" type="submit"${isChosen && id !== chosen ? ' class="quiet"' : ''}>${escapeUTF8(label)}</button>`,
  )
  const field = freeText
    ? `<label for="text">${escapeUTF8(freeText.label)}</label>
<textarea id="text" name="text" dir="auto" maxlength="2000"${freeText.required ? ' required' : ''}>${escapeUTF8(text)}</textarea>`
    : ''
  return `<form method="post" class="answers">
${field}
${buttons.join('\n')}
</form>`
}
