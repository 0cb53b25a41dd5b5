// The SMS step.
import { renderSms } from '../../render/messages.ts'
import type { CallTools } from '../contract/call-tools.ts'
import { messageIdFor, type NewMessage } from '../contract/message.ts'
import { detail, type StepOutcome } from '../contract/outcome.ts'
import type { StepRun } from '../contract/step-run.ts'
import { type LinkName, linkedSituation } from '../delivery/consent-links.ts'
import { dispatch, openingDetails } from '../delivery/dispatch.ts'
import {
  channelOverrides,
  integrationsFor,
  memberOf,
  noIntegration,
  objectIn,
  openIntegration,
  providerDataFor,
  selected,
  stepOverrides,
  textIn,
} from '../delivery/integration-choice.ts'
import { isKnown } from '../delivery/progress.ts'
import { deliveredMessage, deliveryOutcome } from '../delivery/report.ts'
import { textFrom, textStep } from './text-step.ts'

const channel = 'sms'
const links = ['unsubscribe_url', 'preferences_url'] as const satisfies readonly LinkName[]

export const sms = textStep({
  type: channel,
  fields: { body: 'SMS_BODY' },
  render: renderSms,
  call,
  links,
})

async function call(of: StepRun, tools: CallTools): Promise<StepOutcome> {
  const { run } = of
  const id = messageIdFor(of.job.id, channel)
  const phone = phoneOf(of)
  const { body } = of.isRendered
    ? { body: textFrom(of.values.body) }
    : renderSms(
        of.values,
        linkedSituation(of, tools, { channel, messageId: id, address: phone }, links),
        run.translator,
      )
  const integrations = integrationsFor(of, channel)
  const [first] = integrations
  if (!first) return noIntegration(of, channel)
  const row = (state: Pick<NewMessage, 'status'> & Partial<NewMessage>): NewMessage => ({
    id,
    channel,
    phone: phone ?? null,
    content: tools.storesContent ? body : null,
    ...state,
  })
  const about = { providerId: first.provider_id, messageId: id }
  const details = isKnown(of, channel)
    ? []
    : [...openingDetails(of), selected(first, of, tools.brand), detail('message_created', undefined, about)]
  if (phone === undefined)
    return {
      kind: 'skip',
      reason: 'missing_phone',
      providerId: first.provider_id,
      details: [...details, detail('missing_phone', undefined, about)],
      messages: [
        row({
          status: 'warning',
          provider_id: first.provider_id,
          integration_id: first.id,
          error_id: 'no_subscriber_phone',
          error_text: 'Subscriber does not have active phone',
        }),
      ],
    }
  if (isEmpty(of, body)) {
    const error = 'The message is empty: the text of the step rendered to nothing'
    return {
      ...{ kind: 'fail', reason: 'content_failed', error, stops: false, providerId: first.provider_id },
      details: [...details, detail('content_failed', { error }, about)],
      messages: [row({ status: 'error', provider_id: first.provider_id, error_id: 'sms_empty', error_text: error })],
    }
  }
  const report = await dispatch(of, tools, [
    {
      key: channel,
      messageId: id,
      integrations,
      message(integration, attempt) {
        const { credentials } = openIntegration(integration, tools.secrets)
        const overrides = channelOverrides(of, channel, integration.provider_id, tools.brand)
        const from = textIn(overrides.from) ?? textIn(credentials.from)
        return {
          channel,
          id,
          attempt,
          to: textIn(overrides.to) ?? phone,
          ...(from === undefined ? {} : { from }),
          content: body || (textIn(overrides.content) ?? ''),
          providerData: providerDataFor(of, integration.provider_id, tools.brand),
          customData: objectIn(overrides.customData),
        }
      },
    },
  ])
  return deliveryOutcome(report, {
    details,
    messages: report.changed.has(channel) ? [row(deliveredMessage(report, [channel], 'unexpected_sms_error'))] : [],
  })
}

/** Neither the step nor the trigger has text, and no provider template is named. */
function isEmpty({ run, step, providerData = {} }: StepRun, body: string): boolean {
  const { overrides } = run.event
  const isSaid = textIn(body) !== undefined || textIn(memberOf(overrides.sms, 'content')) !== undefined
  const added = [providerData, objectIn(overrides.providers), objectIn(stepOverrides(overrides, step).providers)]
  const isAdded = added.some((members) => Object.keys(members).length > 0)
  return !isSaid && !isAdded && memberOf(overrides.sms, 'customData') === undefined
}

function phoneOf({ run }: StepRun): string | undefined {
  const { payload, overrides } = run.event
  return textIn(memberOf(overrides.sms, 'to')) ?? textIn(payload.phone) ?? textIn(run.subscriber.phone)
}
