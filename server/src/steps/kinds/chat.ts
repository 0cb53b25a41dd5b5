// The chat step: sends to every chat endpoint and address of the subscriber.
import { makeButton } from '../../db/core/link-tokens.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { deliveryProvider } from '../../providers/index.ts'
import { shownAddress } from '../../providers/masking.ts'
import { type ChatButton, type ChatTarget, isClickable } from '../../providers/provider.ts'
import { renderChat } from '../../render/messages.ts'
import type { CallTools } from '../contract/call-tools.ts'
import { messageIdFor, type NewMessage } from '../contract/message.ts'
import { type Detail, detail, type StepOutcome } from '../contract/outcome.ts'
import type { StepRun } from '../contract/step-run.ts'
import type { Destination } from '../delivery/attempt.ts'
import { type LinkName, linkedSituation } from '../delivery/consent-links.ts'
import { dispatch, openingDetails } from '../delivery/dispatch.ts'
import { channelOverrides, openIntegration, selected } from '../delivery/integration-choice.ts'
import { isKnown, progressOf } from '../delivery/progress.ts'
import { deliveredMessage, deliveryOutcome } from '../delivery/report.ts'
import type { CopyVariables } from './ask-copies.ts'
import { type ChatGroup, chatGroupsOf, redacted } from './chat-targets.ts'
import { textFrom, textStep } from './text-step.ts'

const channel = 'chat'
const links = ['unsubscribe_url', 'preferences_url'] as const satisfies readonly LinkName[]

export const chat = textStep({ type: channel, fields: { body: 'CHAT_BODY' }, render: renderChat, call, links })

async function call(of: StepRun, tools: CallTools): Promise<StepOutcome> {
  const { run } = of
  // One text for all of them, so its links speak for no address.
  const linked = { channel, messageId: messageIdFor(of.job.id, channel), address: undefined } as const
  const { body } = of.isRendered
    ? { body: textFrom(of.values.body) }
    : renderChat(of.values, linkedSituation(of, tools, linked, links), run.translator)
  const { groups, details: problems } = await chatGroupsOf(of, tools)
  if (groups.length === 0 && problems.length === 0) {
    const line = detail(run.contextKeys.length > 0 ? 'no_channel_in_context' : 'no_channel')
    return { kind: 'skip', reason: 'some_channels_missing_credentials', details: [line] }
  }
  const asked = questionFor(of, tools)
  const isFirst = of.job.delivery === null
  const details: Detail[] = isFirst ? [...openingDetails(of), ...problems] : []
  const destinations: Destination[] = []
  const messageOf = (group: ChatGroup) => messageIdFor(of.job.id, group.key)
  for (const group of groups) {
    const { integration, targets, missing } = group
    const about = { providerId: integration.provider_id, messageId: messageOf(group) }
    if (isFirst || targets.some(({ key }) => !isKnown(of, key))) {
      details.push(selected(integration, of, tools.brand), detail('message_created', undefined, about))
      if (missing) details.push(detail(missing, undefined, about))
    }
    for (const { key, target, customData, providerData, channelData } of targets) {
      const buttons = asked && takesButtons(integration, target, tools) ? asked.buttons : undefined
      destinations.push({
        key,
        messageId: about.messageId,
        integrations: [integration],
        ...(target.type === 'webhook' && URL.canParse(target.url) ? { host: new URL(target.url).host } : {}),
        told: { channelData: redacted(channelData) },
        message: (_, attempt) => ({
          channel,
          // Each has an id of its own, though they share a stored message: none repeats another.
          id: messageIdFor(of.job.id, key),
          attempt,
          target,
          content: asked && buttons ? asked.text : body,
          ...(buttons ? { buttons } : {}),
          providerData,
          customData: { ...customData, ...channelOverrides(of, channel, integration.provider_id, tools.brand) },
        }),
      })
    }
  }
  const report = await dispatch(of, tools, destinations)
  const before = progressOf(of)
  const changed = groups.filter(({ targets, missing }) =>
    missing
      ? isFirst
      : // Once one target has it, the message is sent; later targets do not change it.
        targets.some(({ key }) => report.changed.has(key)) &&
        !targets.some(({ key }) => before[key]?.status === 'sent'),
  )
  const messages = changed.map((group): NewMessage => {
    const { integration, targets, missing } = group
    const state = missing
      ? {
          status: 'warning' as const,
          provider_id: integration.provider_id,
          integration_id: integration.id,
          ...errors[missing],
        }
      : {
          ...deliveredMessage(
            report,
            targets.map(({ key }) => key),
            'unexpected_chat_error',
          ),
          identifier: null,
        }
    return {
      id: messageOf(group),
      channel,
      content: tools.storesContent ? body : null,
      webhook_url: group.webhookUrl === undefined ? null : shownAddress(group.webhookUrl),
      phone: group.phone ?? null,
      channel_data: targets.map(({ channelData }) => redacted(channelData)),
      ...state,
    }
  })
  const missing = groups.find((group) => group.missing)?.missing
  return deliveryOutcome(report, {
    details,
    messages,
    skipped: missing && {
      reason: missing === 'missing_webhook_url' ? missing : 'some_channels_missing_credentials',
      line: detail('chat_some_skipped'),
    },
    failedLine: detail('chat_all_failed'),
  })
}

/** A question has buttons instead of the link, unless it asks for a text that has to be written. */
function questionFor({ run }: StepRun, tools: CallTools): { text: string; buttons: ChatButton[] } | undefined {
  const question = run.question as CopyVariables | undefined
  if (!question || question.needsText) return undefined
  const link = { environmentId: run.environment.id, questionId: question.id, subscriberRowId: run.subscriber.id }
  return {
    text: question.details === null ? question.text : `${question.text}\n\n${question.details}`,
    buttons: question.answers.map(({ label }, place) => ({ label, value: makeButton(tools.secrets, link, place) })),
  }
}

function takesButtons(integration: IntegrationRow, target: ChatTarget, { secrets }: CallTools): boolean {
  const provider = deliveryProvider(integration.provider_id)
  return isClickable(provider) && provider.buttons.fits(target, openIntegration(integration, secrets).credentials)
}

const errors = {
  missing_webhook_url: {
    error_id: 'no_subscriber_chat_channel_id',
    error_text: 'Webhook URL for the chat channel is missing',
  },
  missing_chat_phone: {
    error_id: 'no_subscriber_chat_phone_number',
    error_text: 'Subscriber is missing a phone number',
  },
} as const
