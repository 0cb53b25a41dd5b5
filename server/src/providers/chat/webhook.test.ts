// Providers that only post to a webhook.
import { describe, expect, test } from 'vitest'
import { plainChat } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import type { ChatMessage, Provider } from '../provider.ts'
import { chatWebhook } from './chat-webhook.ts'
import { discord } from './discord.ts'
import { getstream } from './getstream.ts'
import { grafanaOnCall } from './grafana-on-call.ts'
import { mattermost } from './mattermost.ts'
import { rocketChat } from './rocket-chat.ts'
import { ryver } from './ryver.ts'
import { whatsappBusiness } from './whatsapp-business.ts'
import { zulip } from './zulip.ts'

const credentials = { apiKey: 'k-1', token: 't-1', user: 'u-1', apiToken: 'a-1', phoneNumberIdentification: '1' }
const elsewhere = { type: 'slack_user' as const, userId: 'U1', token: 'xoxb' }

describe('no request is sent', () => {
  const vendor = useVendor()
  const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
  const delivery = new Delivery({ http: useHttpTo(vendor), clock, brand: 'acme' })
  const send = (provider: Provider<ChatMessage>, target: ChatMessage['target']) =>
    delivery.send(provider, { id: 'one', credentials }, { ...plainChat, target })

  test.each<[string, Provider<ChatMessage>]>([
    ['Chat Webhook', chatWebhook],
    ['Discord', discord],
    ['GetStream', getstream],
    ['Grafana On Call', grafanaOnCall],
    ['Mattermost', mattermost],
    ['Rocket.Chat', rocketChat],
    ['Ryver', ryver],
    ['WhatsApp Business', whatsappBusiness],
    ['Zulip', zulip],
  ])('by %s, to a target of another chat', async (name, provider) => {
    const error = { code: 'message_refused', kind: 'never', says: `Invalid channel data for ${name} provider` }
    await expect(send(provider, elsewhere)).rejects.toMatchObject(error)
    expect(vendor.asked).toEqual([])
  })

  test('without a URL', async () => {
    const error = { kind: 'address', says: 'Webhook URL for the chat channel is missing' }
    await expect(send(mattermost, { type: 'webhook', url: '' })).rejects.toMatchObject(error)
  })

  test('by Rocket.Chat, without a room', async () => {
    const error = { kind: 'address', says: 'The room of the chat channel is missing' }
    await expect(send(rocketChat, { type: 'webhook', url: 'https://chat.example' })).rejects.toMatchObject(error)
    expect(vendor.asked).toEqual([])
  })

  test('to an invalid URL', async () => {
    await expect(send(discord, { type: 'webhook', url: 'nowhere' })).rejects.toMatchObject({ code: 'invalid_url' })
  })
})
