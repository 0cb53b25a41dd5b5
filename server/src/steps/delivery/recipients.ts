// Who a message reaches, in the words of the suppression list.
import { type AddressChannel, comparedAddress, isAddress } from '../../db/core/addresses.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import type { ChatTarget, Message } from '../../providers/provider.ts'
import { type Data, inCase, isPlain } from '../../providers/provider-data.ts'
import type { Recipients } from '../contract/suppression.ts'

/** No provider takes more for one message, and each costs a lock. */
const mostAddresses = 1_000

/** Those it is addressed to, and those that provider data adds. */
export function recipientsOf(message: Message): Recipients {
  const { channel, addresses } = addresseesOf(message)
  const added = addressesIn(channel, message.providerData)
  const all = added.length === 0 ? addresses : [...new Set([...addresses, ...added])]
  if (all.length > mostAddresses)
    throw new DeliveryError('rejected', { says: `it is for more than ${mostAddresses} addresses` })
  return { channel, addresses: all }
}

function addresseesOf(message: Message): Recipients {
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

/** Words in the names of members that say whom a message reaches, and of those that say whom it comes from. */
const ofRecipients = new Set(
  'to cc bcc recipient recipients receiver receivers destination destinations dst phone phones number numbers msisdn mobile'.split(
    ' ',
  ),
)
const ofSenders = new Set(['from', 'sender', 'reply', 'return', 'source', 'src'])

function isOfRecipients(name: string): boolean {
  const words = inCase(name, 'snake').split('_')
  return words.some((word) => ofRecipients.has(word)) && !words.some((word) => ofSenders.has(word))
}

/**
 * The addresses that provider data gives a message, whatever the provider calls them. Of push and chat any text can be one: none
 * that is not equals an entry of the list.
 */
export function addressesIn(channel: AddressChannel, data: Data): string[] {
  const found: string[] = []
  const isNamed = channel === 'email' || channel === 'sms'
  const look = (value: unknown, isRecipient: boolean): void => {
    if (typeof value === 'string' && isRecipient) {
      for (const text of isNamed ? value.split(/[,;]/) : [value])
        if (isAddress(channel, comparedAddress(channel, text))) found.push(text)
    } else if (Array.isArray(value)) for (const each of value) look(each, isRecipient)
    else if (isPlain(value))
      for (const [name, inner] of Object.entries(value)) look(inner, isRecipient || isOfRecipients(name))
  }
  look(data, !isNamed)
  return found
}

/** The data without the members that would send a mail to others, too. */
export function withoutAddressees(data: Data): Data {
  const clean = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(clean)
    if (!isPlain(value)) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name, inner]) => !isOfRecipients(name) || addressesIn('email', { to: inner }).length === 0)
        .map(([name, inner]) => [name, clean(inner)]),
    )
  }
  return addressesIn('email', data).length === 0 ? data : (clean(data) as Data)
}

/** The message for the other recipients; undefined if nobody is left whom it is addressed to. */
export function withoutRecipients<M extends Message>(message: M, gone: ReadonlySet<string>): M | undefined {
  if (gone.size === 0) return message
  // What a provider's own data says cannot be taken apart.
  if (addressesIn(message.channel, message.providerData).some((address) => gone.has(address))) return undefined
  if (message.channel !== 'email') return undefined
  const [to, cc, bcc] = [message.to, message.cc, message.bcc].map((list) => list.filter((each) => !gone.has(each)))
  return to?.length === 0 ? undefined : { ...message, to, cc, bcc }
}
