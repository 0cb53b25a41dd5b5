// Buttons under messages in chats: what vendors get, how their clicks are verified, and how messages are changed afterwards.
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeEach, describe, expect, test } from 'vitest'
import { plainChat } from '../../../test/provider-suite.ts'
import { useHttpTo, useVendor } from '../../../test/vendor.ts'
import { Delivery } from '../delivery.ts'
import { InboundRequest } from '../events.ts'
import type { ChatTarget, ClickableProvider } from '../provider.ts'
import { msteams } from './msteams.ts'
import { slack } from './slack.ts'
import { telegram } from './telegram.ts'

const vendor = useVendor()
let now = new Date('2026-05-01T10:00:00.000Z')
const delivery = new Delivery({ http: useHttpTo(vendor), clock: { now: () => now }, brand: 'acme' })
const buttons = [
  { label: 'Approve', value: 'token.0' },
  { label: 'Reject', value: 'token.1' },
]
const request = (rawBody: string, headers: Record<string, string>) =>
  new InboundRequest({ url: 'https://acme.example/bots', headers, rawBody: Buffer.from(rawBody) })
const clickable = (provider: unknown) => provider as ClickableProvider
const send = (provider: typeof slack, credentials: object, target: ChatTarget) =>
  delivery.send(
    provider,
    { id: 'one', credentials: { ...credentials } },
    { ...plainChat, content: 'Fine?', target, buttons },
  )
const last = () => JSON.parse(vendor.asked.at(-1)?.body ?? '{}')

beforeEach(() => {
  now = new Date('2026-05-01T10:00:00.000Z')
})

describe('Slack', () => {
  const target: ChatTarget = { type: 'slack_channel', channelId: 'C1', token: 'xoxb-token' }
  // The example of https://docs.slack.dev/authentication/verifying-requests-from-slack
  const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5'
  const body =
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c'
  const signed = {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': '1531420618',
    'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
  }
  const clicksOf = (rawBody: string, headers: Record<string, string>) =>
    delivery.clicks(clickable(slack), { id: 'one', credentials: { signingSecret } }, request(rawBody, headers))

  test('gets buttons, and an update afterwards', async () => {
    vendor.plays(() => ({ body: { ok: true, channel: 'C9', ts: '1503.7' } }))
    const sent = await send(slack, { signingSecret }, target)
    expect(sent.place).toEqual({ channel: 'C9', ts: '1503.7' })
    expect(last().blocks[1]).toMatchObject({
      type: 'actions',
      elements: [
        { type: 'button', value: 'token.0', text: { text: 'Approve' } },
        { type: 'button', value: 'token.1', text: { text: 'Reject' } },
      ],
    })
    const changing = { place: sent.place ?? {}, text: 'Fine?\n\nApprove: Ada', token: 'xoxb-token' }
    await delivery.change(clickable(slack), { id: 'one', credentials: { signingSecret } }, changing)
    expect(vendor.asked.at(-1)).toMatchObject({
      path: '/api/chat.update',
      headers: { authorization: 'Bearer xoxb-token' },
    })
    expect(last()).toMatchObject({
      channel: 'C9',
      ts: '1503.7',
      text: 'Fine?\n\nApprove: Ada',
      blocks: [{ type: 'section' }],
    })
  })

  test('its documented signature is right for five minutes, and only for its own bytes', async () => {
    now = new Date(1_531_420_618_000 + 299_000)
    expect(await clicksOf(body, signed)).toEqual([])
    expect(await clicksOf(`${body}x`, signed)).toBeUndefined()
    expect(await clicksOf(body, { ...signed, 'x-slack-signature': 'v0=00' })).toBeUndefined()
    now = new Date(1_531_420_618_000 + 301_000)
    expect(await clicksOf(body, signed)).toBeUndefined()
  })

  test('a click names the button and who pressed it', () => {
    const payload = { type: 'block_actions', user: { id: 'U1', name: 'ada' }, actions: [{ value: 'token.1' }] }
    const clicked = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
    const read = clickable(slack).buttons.read(request(clicked, { 'content-type': signed['content-type'] }))
    expect(read).toEqual([{ value: 'token.1', user: { id: 'U1', name: 'ada' } }])
  })

  test('a webhook, or an app without a signing secret, takes no buttons', () => {
    const { fits } = clickable(slack).buttons
    expect(fits(target, { signingSecret })).toBe(true)
    expect(fits(target, {})).toBe(false)
    expect(fits({ type: 'webhook', url: 'https://hooks.slack.com/x' }, { signingSecret })).toBe(false)
  })
})

describe('Telegram', () => {
  test('gets a keyboard, and an edit afterwards', async () => {
    vendor.plays(() => ({ body: { ok: true, result: { message_id: 77 } } }))
    const sent = await send(telegram, { token: '1:A' }, { type: 'webhook', url: 'https://t.me/x', channel: '-1' })
    expect(sent.place).toEqual({ chat: '-1', message: '77' })
    expect(last().reply_markup.inline_keyboard).toEqual([
      [{ text: 'Approve', callback_data: 'token.0' }],
      [{ text: 'Reject', callback_data: 'token.1' }],
    ])
    const changing = { place: sent.place ?? {}, text: 'Over', token: '' }
    await delivery.change(clickable(telegram), { id: 'one', credentials: { token: '1:A' } }, changing)
    expect(vendor.asked.at(-1)?.path).toBe('/bot1:A/editMessageText')
    expect(last()).toEqual({ chat_id: '-1', message_id: 77, text: 'Over' })
  })
})

describe('Teams', () => {
  const credentials = { clientId: 'bot-1', secretKey: 's', tenantId: 't1' }
  const clicksOf = (token: string) =>
    delivery.clicks(
      clickable(msteams),
      { id: `teams ${token}`, credentials },
      request(
        JSON.stringify({
          type: 'message',
          from: { id: '29:x', aadObjectId: 'U1', name: 'Ada' },
          value: { answer: 'token.0' },
        }),
        { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      ),
    )

  test('gets a card, and an update afterwards', async () => {
    vendor.plays(({ path }) =>
      path.includes('/oauth2/') ? { body: { access_token: 'bot-token', expires_in: 3599 } } : { body: { id: '1612' } },
    )
    const target: ChatTarget = { type: 'ms_teams_channel', teamId: 't', channelId: '19:abc', tenantId: 't2' }
    const sent = await send(msteams, credentials, target)
    expect(sent.place).toEqual({ conversation: '19:abc', activity: '1612' })
    expect(last().attachments[0].content.actions).toMatchObject([
      { type: 'Action.Submit', title: 'Approve', data: { answer: 'token.0' } },
      { title: 'Reject' },
    ])
    await delivery.change(
      clickable(msteams),
      { id: 'one', credentials },
      { place: sent.place ?? {}, text: 'Over', token: '' },
    )
    expect(vendor.asked.at(-1)).toMatchObject({
      method: 'PUT',
      path: '/teams/v3/conversations/19%3Aabc/activities/1612',
    })
  })

  test('a click is believed if the Bot Framework signed it for this bot', async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256')
    const other = await generateKeyPair('RS256')
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
    vendor.plays(() => ({ body: { keys: [jwk] } }))
    const token = ({
      key = privateKey,
      audience = 'bot-1',
      issuer = 'https://api.botframework.com',
      seconds = 0,
    } = {}) =>
      new SignJWT({})
        .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
        .setIssuer(issuer)
        .setAudience(audience)
        .setExpirationTime(now.getTime() / 1000 + 600 + seconds)
        .sign(key)
    expect(await clicksOf(await token())).toEqual([{ value: 'token.0', user: { id: 'U1', name: 'Ada' } }])
    expect(await clicksOf(await token({ key: other.privateKey }))).toBeUndefined()
    expect(await clicksOf(await token({ audience: 'another-bot' }))).toBeUndefined()
    expect(await clicksOf(await token({ issuer: 'https://evil.example' }))).toBeUndefined()
    expect(await clicksOf(await token({ seconds: -2_000 }))).toBeUndefined()
    expect(await clicksOf('')).toBeUndefined()
  })
})
