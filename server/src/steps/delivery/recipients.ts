// Who a message reaches, in the words of the suppression list.
import type { ChatTarget, Message } from '../../providers/provider.ts'
import type { Recipients } from '../contract/suppression.ts'

export function recipientsOf(message: Message): Recipients {
  const { channel } = message
  switch (channel) {
    case 'email':
      return { channel, addresses: [...new Set([...message.to, ...message.cc, ...message.bcc])] }
    case 'sms':
      return { channel, addresses: [message.to] }
    case 'push':
      return { channel, addresses: [message.target] }
    case 'chat':
      return { channel, addresses: [chatAddress(message.target)] }
  }
}

function chatAddress(target: ChatTarget): string {
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
      return target.phoneNumber.startsWith('+') ? target.phoneNumber : `+${target.phoneNumber}`
  }
}

/** The message for the other recipients; undefined if nobody is left whom it is addressed to. */
export function withoutRecipients<M extends Message>(message: M, gone: ReadonlySet<string>): M | undefined {
  if (gone.size === 0) return message
  if (message.channel !== 'email') return undefined
  const [to, cc, bcc] = [message.to, message.cc, message.bcc].map((list) => list.filter((each) => !gone.has(each)))
  return to?.length === 0 ? undefined : { ...message, to, cc, bcc }
}
