// The email step.
import { documentToHtml } from '../render/block-liquid.ts'
import { readDocument } from '../render/blocks.ts'
import { renderEmailHtml, renderHeader } from '../render/email.ts'
import { RenderError } from '../render/limits.ts'
import { type ControlValues, closedObject, objectSchema, type StepKind, skip, skipUi, withoutNulls } from './kind.ts'

/** What an email without a body shows: nothing, in the block editor's own terms. */
const emptyDocument = JSON.stringify({ type: 'doc', content: [{ type: 'paragraph' }] })
const kept = ['skip', 'editorType', 'disableOutputSanitization', 'layoutId', 'from']

export const email: StepKind = {
  type: 'email',
  obeysSchedule: true,
  channel: 'email',
  dataSchema: objectSchema(
    {
      skip,
      body: { type: 'string', default: '' },
      editorType: { type: 'string', enum: ['block', 'html'], default: 'block' },
      subject: { type: 'string', minLength: 1 },
      disableOutputSanitization: { type: 'boolean', default: false },
      layoutId: { anyOf: [{ type: 'string' }, { type: 'null' }] },
      from: objectSchema({ email: { type: 'string' }, name: { type: 'string' } }),
    },
    ['subject'],
  ),
  uiSchema: {
    group: 'EMAIL',
    properties: {
      ...skipUi,
      body: { component: 'EMAIL_BODY', placeholder: '' },
      subject: { component: 'TEXT_INLINE_LABEL', placeholder: '' },
      editorType: { component: 'EMAIL_EDITOR_SELECT', placeholder: 'block' },
      disableOutputSanitization: { component: 'DISABLE_SANITIZATION_SWITCH', placeholder: false },
      layoutId: { component: 'LAYOUT_SELECT' },
    },
  },

  normalise(values) {
    const given = withoutNulls(values)
    const normal: ControlValues = {}
    for (const name of kept) if (given[name] !== undefined) normal[name] = given[name]
    // Null says "no layout", which an absent one does not.
    if (values.layoutId === null) normal.layoutId = null
    if (typeof given.subject === 'string' && given.subject !== '') normal.subject = given.subject
    normal.body = asText(given.body) || emptyDocument
    return normal
  },

  /** The two editors do not share documents: the body becomes one that the chosen editor can open. */
  toStored(values) {
    if (values.body === undefined || values.body === null) return values
    const body = asText(values.body)
    if (values.editorType === 'html') return { ...values, body: asHtml(body, values.layoutId === null) }
    return { ...values, body: values.editorType === 'block' && !isDocument(body) ? '' : body }
  },
  usesLayout: true,

  preview({ subject, body, disableOutputSanitization }, { of, translator, layout, branding }) {
    const template = { subject: asText(subject), body: asText(body), layout, branding }
    const isRaw = disableOutputSanitization === true
    return {
      subject: renderHeader(template.subject, of, translator),
      body: renderEmailHtml({ ...template, disableOutputSanitization: isRaw }, of, translator),
    }
  },

  resultSchema: () => closedObject,
}

/** What cannot be read or rewritten is kept: its author is told what is wrong with it when it is looked at. */
function attempt<T>(work: () => T, otherwise: T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof RenderError) return otherwise
    throw error
  }
}

const isDocument = (body: string) => attempt(() => readDocument(body) !== undefined, true)

const asHtml = (body: string, isWhole: boolean) =>
  attempt(() => {
    const document = readDocument(body)
    return document ? documentToHtml(document, { isWhole }) : body
  }, body)

/** The block editor's document may come as an object or as its JSON. */
const asText = (body: unknown): string =>
  typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body)
