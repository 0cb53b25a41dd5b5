import { beforeEach, describe, expect, test } from 'vitest'
import { plainChat, testProvider } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor, type VendorReply } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import type { ChatTarget } from '../provider.ts'
import { msteams } from './msteams.ts'

const credentials = { clientId: 'bot-1', secretKey: 'client-secret', tenantId: 'tenant-1' }
const channel: ChatTarget = {
  type: 'ms_teams_channel',
  teamId: 'team-1',
  channelId: '19:abc@thread.tacv2',
  tenantId: 't2',
}
const person: ChatTarget = { type: 'ms_teams_user', userId: '29:user', tenantId: 't2' }
const hook: ChatTarget = { type: 'webhook', url: 'https://acme.webhook.office.com/webhookb2/hook-secret' }
const signedIn = { body: { token_type: 'Bearer', expires_in: 3599, access_token: 'bot-token' } }
const signIn = {
  url: 'https://login.microsoftonline.com/tenant-1/oauth2/v2.0/token',
  form: {
    grant_type: 'client_credentials',
    client_id: 'bot-1',
    client_secret: 'client-secret',
    scope: 'https://api.botframework.com/.default',
  },
}
const headers = { authorization: 'Bearer bot-token' }
const conversations = 'https://smba.trafficmanager.net/teams/v3/conversations'
const channelData = { tenant: { id: 't2' }, team: { id: 'team-1' }, channel: { id: '19:abc@thread.tacv2' } }
const card = { '@type': 'MessageCard', text: 'Hi' }
const result = { providerMessageId: '1612' }

testProvider(msteams, {
  credentials,
  message: { target: channel },
  before: [signedIn],
  accepted: { status: 201, body: { id: '1612' } },
  errorBody: (message) => ({ error: { code: 'BadArgument', message } }),
  unauthorized: { status: 401, body: { message: 'Authorization has been denied for this request.' } },

  sends: [
    {
      title: 'in a channel, from the bot',
      requests: [
        signIn,
        {
          url: `${conversations}/19%3Aabc%40thread.tacv2/activities`,
          headers,
          json: { type: 'message', text: 'Hi', channelData },
        },
      ],
      result,
    },
    {
      title: 'for a person, in a conversation with the bot',
      message: { target: person, providerData: { textFormat: 'markdown' } },
      replies: [signedIn, { status: 201, body: { id: 'a:1' } }, { status: 201, body: { id: '1612' } }],
      requests: [
        signIn,
        {
          url: conversations,
          headers,
          json: {
            isGroup: false,
            bot: { id: 'bot-1' },
            members: [{ id: '29:user' }],
            channelData: { tenant: { id: 't2' } },
          },
        },
        {
          url: `${conversations}/a%3A1/activities`,
          headers,
          json: { type: 'message', text: 'Hi', textFormat: 'markdown' },
        },
      ],
      result,
    },
    {
      title: 'in the tenant of the bot, where the endpoint belongs to no connection',
      message: { target: { ...channel, tenantId: '' } },
      requests: [
        signIn,
        {
          url: `${conversations}/19%3Aabc%40thread.tacv2/activities`,
          json: { type: 'message', text: 'Hi', channelData: { ...channelData, tenant: { id: 'tenant-1' } } },
        },
      ],
      result,
    },
    {
      title: 'from a bot of no tenant',
      credentials: { tenantId: '' },
      requests: [
        { ...signIn, url: 'https://login.microsoftonline.com/botframework.com/oauth2/v2.0/token' },
        {
          url: `${conversations}/19%3Aabc%40thread.tacv2/activities`,
          json: { type: 'message', text: 'Hi', channelData },
        },
      ],
      result,
    },
    {
      title: 'through a webhook',
      message: { target: hook },
      replies: [{ headers: { 'request-id': 'r-1' }, body: '1' }],
      requests: [{ url: hook.url, json: { text: 'Hi' } }],
      result: { providerMessageId: 'r-1' },
    },
    {
      title: 'as a card, where it is written as one',
      message: {
        target: hook,
        content: JSON.stringify(card),
        providerData: { _passthrough: { body: { themeColor: 'f00' } } },
      },
      replies: [{ status: 202, headers: { 'x-ms-workflow-run-id': 'w-1' }, body: '' }],
      requests: [{ url: hook.url, json: { ...card, themeColor: 'f00' } }],
      result: { providerMessageId: 'w-1' },
    },
  ],

  refusals: [
    [
      'the bot is not there',
      { status: 403, body: { error: { code: 'BotNotInConversationRoster', message: 'The bot is not part of it' } } },
      {
        code: 'recipient_refused',
        kind: 'address',
        says: 'MSTEAMS_BOT_NOT_INSTALLED: Bot is not installed in this team/channel or for this user',
      },
    ],
    [
      'there is no such channel',
      { status: 404, body: { error: { code: 'NotFound', message: 'no' } } },
      { kind: 'address', says: 'MSTEAMS_CHANNEL_NOT_FOUND: Teams channel or user not found' },
    ],
    [
      'the token is not accepted',
      { status: 401, body: {} },
      { kind: 'credentials', says: 'MSTEAMS_INVALID_CREDENTIALS: Invalid bot credentials or token' },
    ],
    [
      'the bot may not write',
      { status: 403, body: { error: { code: 'Forbidden', message: 'no' } } },
      { kind: 'credentials', says: 'MSTEAMS_INSUFFICIENT_PERMISSIONS: Insufficient permissions to send message' },
    ],
    [
      'for another reason',
      { status: 400, body: { error: { code: 'BadSyntax', message: 'not so' } } },
      { code: 'rejected', says: 'MS Teams API Error: 400 - not so' },
    ],
  ],
})

describe('Teams', () => {
  const vendor = useVendor()
  const now = new Date('2026-05-01T10:00:00.000Z')
  const delivery = new Delivery({ http: useHttpTo(vendor), clock: { now: () => now }, brand: 'acme' })
  let sent = 0
  beforeEach(() => {
    sent += 1
  })
  const send = (target: ChatTarget, own: object = credentials) =>
    delivery.send(msteams, { id: `i${sent}`, credentials: { ...own } }, { ...plainChat, target })

  test('signs the bot in once for many messages', async () => {
    vendor.plays(({ path }) => (path.endsWith('/token') ? signedIn : { status: 201, body: { id: '1612' } }))
    for (let message = 0; message < 3; message += 1) await send(channel)
    expect(vendor.asked.filter(({ path }) => path.endsWith('/token'))).toHaveLength(1)
  })

  test('refuses a bot with a wrong secret', async () => {
    vendor.plays(() => ({ status: 400, body: { error: 'invalid_client', error_description: 'AADSTS7000215' } }))
    await expect(send(channel)).rejects.toMatchObject({ kind: 'credentials' })
  })

  test.each<[string, VendorReply, object]>([
    [
      'too fast',
      {
        body: 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with Context',
      },
      { code: 'rate_limited' },
    ],
    ['not possible', { body: 'Webhook message delivery failed with error: HTTP error 400' }, { code: 'rejected' }],
  ])('says with success that a webhook was %s', async (_, reply, error) => {
    vendor.plays(() => reply)
    await expect(send(hook, {})).rejects.toMatchObject(error)
  })

  test.each<[string, ChatTarget, object, object]>([
    [
      'for something that is no place in it',
      { type: 'phone', phoneNumber: '+1' },
      credentials,
      { code: 'message_refused', says: 'Invalid channel data type for MsTeams provider' },
    ],
    [
      'for a person in no tenant',
      { type: 'ms_teams_user', userId: '29:user', tenantId: '' },
      { clientId: 'bot-1', secretKey: 'client-secret' },
      { code: 'message_refused', says: expect.stringContaining('tenant is unknown') },
    ],
    [
      'for a channel without a bot',
      channel,
      { clientId: 'bot-1' },
      { code: 'incomplete_credentials', says: 'The bot needs a client ID and a client secret' },
    ],
  ])('gets no request %s', async (_, target, own, error) => {
    await expect(send(target, own)).rejects.toMatchObject(error)
    expect(vendor.asked).toEqual([])
  })
})
