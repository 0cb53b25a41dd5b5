// What the SMS, chat and push steps share: short texts without markup.
import type { renderPush, renderSms } from '../../render/messages.ts'
import {
  closedObject,
  objectSchema,
  pickFilled,
  type StepKind,
  type StepType,
  skip,
  skipUi,
  withoutNulls,
} from '../contract/kind.ts'

interface TextStep {
  type: StepType & StepKind['channel']
  /** The texts, and the component that edits each. */
  fields: Record<string, string>
  render: typeof renderSms | typeof renderPush
  call: NonNullable<StepKind['call']>
  links?: readonly string[]
}

export function textStep({ type, fields, render, call, links = [] }: TextStep): StepKind {
  const names = Object.keys(fields)
  return {
    type,
    channel: type,
    links,
    obeysSchedule: true,
    call,
    dataSchema: objectSchema({ skip, ...Object.fromEntries(names.map((name) => [name, { type: 'string' }])) }, names),
    uiSchema: {
      group: type.toUpperCase(),
      properties: {
        ...skipUi,
        ...Object.fromEntries(
          Object.entries(fields).map(([name, component]) => [name, { component, placeholder: '' }]),
        ),
      },
    },
    normalise: (values) => pickFilled(withoutNulls(values), ['skip', ...names]),
    preview: (values, { of, translator }) => ({ ...render(values, of, translator) }),
    resultSchema: () => closedObject,
  }
}

/** A value from the user's code, unchecked. */
export const textFrom = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)
