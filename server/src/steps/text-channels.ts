// The SMS, chat and push steps: short texts without mark-up.
import { renderChat, renderPush, renderSms } from '../render/messages.ts'
import {
  closedObject,
  objectSchema,
  pickFilled,
  type StepKind,
  type StepType,
  skip,
  skipUi,
  withoutNulls,
} from './kind.ts'

function textStep(
  type: StepType & StepKind['channel'],
  fields: Record<string, string>,
  render: typeof renderSms | typeof renderPush,
): StepKind {
  const names = Object.keys(fields)
  return {
    type,
    channel: type,
    obeysSchedule: true,
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

export const sms = textStep('sms', { body: 'SMS_BODY' }, renderSms)
export const chat = textStep('chat', { body: 'CHAT_BODY' }, renderChat)
export const push = textStep('push', { subject: 'PUSH_SUBJECT', body: 'PUSH_BODY' }, renderPush)
