// SES events through an SNS topic: the notification's signature, the subscription's confirmation, the events.
import { verify, X509Certificate } from 'node:crypto'
import { DeliveryError } from '../delivery-error.ts'
import { type DeliveryEvent, type EventStatus, eventOf, type InboundRequest } from '../events.ts'
import { at, type Tools, textAt } from '../provider.ts'

const means: Record<string, EventStatus> = {
  Bounce: 'bounced',
  Complaint: 'complaint',
  Delivery: 'delivered',
  Send: 'sent',
  Reject: 'rejected',
  Open: 'opened',
  Click: 'clicked',
  DeliveryDelay: 'delayed',
  Subscription: 'unsubscribed',
}

const oldestMs = 15 * 60 * 1000
const certificateSeconds = 24 * 60 * 60

/** https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message-verify-message-signature.html */
const signedMembers: Record<string, string[]> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
}

export async function isFromSns({ body }: InboundRequest, region: string, tools: Tools): Promise<boolean> {
  const members = signedMembers[textAt(body, 'Type') ?? '']
  const certificateUrl = textAt(body, 'SigningCertURL') ?? textAt(body, 'SigningCertUrl')
  const sentAt = Date.parse(textAt(body, 'Timestamp') ?? '')
  const isRecent = Math.abs(tools.clock.now().getTime() - sentAt) <= oldestMs
  const isOfRegion = textAt(body, 'TopicArn')?.split(':')[3] === region
  if (!members || !certificateUrl || !isRecent || !isOfRegion || !isOfSns(certificateUrl)) return false
  const signed = members.flatMap((name) => {
    const value = at(body, name)
    return typeof value === 'string' ? [`${name}\n${value}\n`] : []
  })
  const algorithm = textAt(body, 'SignatureVersion') === '2' ? 'sha256' : 'sha1'
  const signature = Buffer.from(textAt(body, 'Signature') ?? '', 'base64')
  try {
    const { publicKey } = new X509Certificate(await certificate(certificateUrl, tools))
    return verify(algorithm, Buffer.from(signed.join('')), publicKey, signature)
  } catch (error) {
    // Without a valid certificate, refuse; after a network failure, let SNS retry.
    if (error instanceof DeliveryError && error.kind === 'later') throw error
    return false
  }
}

const certificate = (url: string, { ask, remember }: Tools) =>
  remember(url, async () => ({ value: (await ask(url)).text, seconds: certificateSeconds }))

/** The certificate must be Amazon's: anyone can sign with their own. */
function isOfSns(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, host } = new URL(url)
  return protocol === 'https:' && /^sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$/.test(host)
}

/** Follows the link in the first request of a topic. @returns whether it was that */
export async function confirmSubscription({ body }: InboundRequest, { ask }: Pick<Tools, 'ask'>): Promise<boolean> {
  if (textAt(body, 'Type') !== 'SubscriptionConfirmation') return false
  const url = textAt(body, 'SubscribeURL') ?? ''
  if (isOfSns(url)) await ask(url)
  return true
}

/** What was published to the topic. */
export const snsMessage = ({ body }: InboundRequest): unknown => parse(textAt(body, 'Message') ?? '')

export async function snsEvents(request: InboundRequest, tools: Tools): Promise<DeliveryEvent[]> {
  const { body } = request
  if (await confirmSubscription(request, tools)) return []
  const event = snsMessage(request)
  const name = textAt(event, 'eventType') ?? textAt(event, 'notificationType')
  // Details are in a member named after the event: `bounce`, `deliveryDelay`.
  const details = at(
    event,
    (name ?? '').replace(/^./, (first) => first.toLowerCase()),
  )
  const said = {
    id: textAt(event, 'mail.messageId'),
    event: name,
    means,
    at: textAt(details, 'timestamp') ?? textAt(event, 'mail.timestamp'),
    externalId: textAt(body, 'MessageId'),
  }
  if (name === 'Bounce') {
    const permanent = textAt(details, 'bounceType') === 'Permanent'
    return recipientsIn(details, 'bouncedRecipients').flatMap((bounced) =>
      eventOf(event, {
        ...said,
        permanent,
        response: textAt(bounced, 'diagnosticCode'),
        recipient: textAt(bounced, 'emailAddress'),
      }),
    )
  }
  // A mail provider takes back what it took for spam.
  if (name === 'Complaint' && textAt(details, 'complaintFeedbackType') === 'not-spam') return []
  if (name === 'Subscription' && at(details, 'newTopicPreferences.unsubscribeAll') !== true) return []
  const complained = recipientsIn(details, 'complainedRecipients')
  return eventOf(event, {
    ...said,
    response: textAt(details, 'smtpResponse') ?? textAt(details, 'reason'),
    // Of several it lists everybody who may have complained, not who did.
    recipient: complained.length === 1 ? textAt(complained[0], 'emailAddress') : undefined,
  })
}

/** At least one, of whom nothing is known. */
function recipientsIn(details: unknown, name: string): unknown[] {
  const list = at(details, name)
  return Array.isArray(list) && list.length > 0 ? list : [undefined]
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch {
    return undefined
  }
}
