// The sandbox keeps what a provider would have received, and fails on demand.
import type { SandboxFault } from '../../db/queries/sandbox.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import type { ChatTarget, EmailMessage, Message, Sandbox } from '../../providers/provider.ts'
import type { CallTools, SandboxStore } from '../contract/call-tools.ts'
import type { StepRun } from '../contract/step-run.ts'

type Tools = Pick<CallTools, 'clock'> & { sandbox: SandboxStore }

/** Where a message comes from. */
interface Origin {
  environmentId: string
  transactionId: string
  subscriberId: string
  workflow: string
  stepId: string
}

export const sandboxFor = ({ run, step }: StepRun, tools: Tools): Sandbox =>
  sandboxOf(
    {
      environmentId: run.environment.id,
      transactionId: run.transactionId,
      subscriberId: run.subscriber.subscriber_id,
      workflow: run.workflow.identifier,
      stepId: step.stepId,
    },
    tools,
  )

export const sandboxOf = (origin: Origin, { sandbox, clock }: Tools): Sandbox => ({
  async take(message) {
    const { environmentId } = origin
    const told = await sandbox.takeFault(environmentId, message.channel)
    if (told) throw failure(told.fault, told.retry_after_seconds ?? undefined)
    const { channel, id } = message
    const files = channel === 'email' ? message.attachments : []
    await sandbox.add(
      {
        ...origin,
        id,
        channel,
        ...keptOf(message),
        attachments: files.map(({ name, mime, cid, disposition }) => ({ name, mime, cid, disposition })),
        files: files.map(({ file }) => Buffer.from(file)),
      },
      clock.now(),
    )
    return { id }
  },
})

export function failure(fault: SandboxFault, afterSeconds: number | undefined): DeliveryError {
  const host = 'sandbox'
  switch (fault) {
    case 'rate_limited':
      return new DeliveryError('rate_limited', { host, status: 429, afterSeconds })
    case 'timeout':
      return new DeliveryError('timeout', { host })
    case 'reset':
      return new DeliveryError('connection_lost', { host, reason: 'ECONNRESET' })
    case 'server_error':
      return new DeliveryError('unavailable', { host, status: 500, afterSeconds })
    case 'bounce':
      return new DeliveryError('recipient_refused', { host, says: 'The sandbox was set to bounce this message' })
    case 'rejected':
      return new DeliveryError('rejected', { host, status: 400 })
    case 'unauthorized':
      return new DeliveryError('unauthorized', { host, status: 401 })
  }
}

/** What is kept of it: its recipients and texts, and the rest as the provider would have received it. */
export const keptOf = (message: Message) => ({ ...shown(message), message: withoutSecrets(message) })

function shown(message: Message): {
  recipients: string[]
  subject: string | null
  html: string | null
  text: string | null
} {
  switch (message.channel) {
    case 'email':
      return {
        recipients: [...message.to, ...message.cc, ...message.bcc],
        subject: message.subject,
        html: message.html,
        text: message.text ?? null,
      }
    case 'sms':
      return { recipients: [message.to], subject: null, html: null, text: message.content }
    case 'push':
      return { recipients: [message.target], subject: message.title, html: null, text: message.content }
    case 'chat':
      return { recipients: [addressOf(message.target)], subject: null, html: null, text: message.content }
  }
}

function addressOf(target: ChatTarget): string {
  switch (target.type) {
    case 'webhook':
      return target.url
    case 'slack_channel':
    case 'ms_teams_channel':
      return target.channelId
    case 'slack_user':
    case 'ms_teams_user':
      return target.userId
    case 'phone':
      return target.phoneNumber
  }
}

/** Without content stored elsewhere, and without tokens, which are of no use here. */
function withoutSecrets(message: Message): Record<string, unknown> {
  if (message.channel === 'email') {
    const { attachments: _, html: _html, text: _text, ...rest } = message satisfies EmailMessage
    return rest
  }
  if (message.channel !== 'chat' || !('token' in message.target)) return { ...message }
  const { token: _, ...target } = message.target
  return { ...message, target }
}
