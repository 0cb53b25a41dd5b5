// Clicks in Slack, Teams and Telegram from the message with its buttons to the message that says who decided.
import { createHmac } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { makeWorkflow, runOf, trigger } from '../../../test/runs.ts'
import { type Api, sendTo, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'
import { HttpClient } from '../../providers/http-client.ts'

const server = useServer({ extraProviders: ['telegram'], allowPrivateAddresses: true })
const vendor = useVendor()
const { publicKey, privateKey } = await generateKeyPair('RS256')
const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
const signingSecret = '8f742231b10e8888abcd99yyyzzz85a5'
let api: Api
let integrationId: string

beforeEach(async () => {
  api = await server.freshApi()
  await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada' })
  // Whatever address of a vendor is called, the local one answers.
  const { exchange } = HttpClient.prototype
  vi.spyOn(HttpClient.prototype, 'exchange').mockImplementation(function toVendor(this: HttpClient, url, request) {
    const { pathname, search, hostname } = new URL(url)
    return exchange.call(this, hostname === '127.0.0.1' ? url : `${vendor.url}${pathname}${search}`, request)
  })
  vendor.plays(({ path }) => {
    if (path.includes('/oauth2/')) return { body: { access_token: 'bot-token', expires_in: 3599 } }
    if (path.endsWith('/keys')) return { body: { keys: [jwk] } }
    if (path.endsWith('/sendMessage')) return { body: { ok: true, result: { message_id: 77 } } }
    if (path.includes('/conversations/')) return { body: { id: '1612' } }
    return { body: { ok: true, channel: 'C9', ts: '1503.7', result: true } }
  })
  return () => vi.restoreAllMocks()
})

const sentTo = (part: string) =>
  vendor.asked.filter(({ path }) => path.includes(part)).map(({ body }) => JSON.parse(body || '{}'))

interface Chat {
  provider: string
  credentials: object
  connection?: object
  endpoint: object
  /** The values of the buttons of the message that was sent. */
  values(): string[]
  /** What the vendor sends after a click; signed wrongly with `isForged`. */
  click(value: string, isForged?: boolean): Promise<{ body: string; headers: Record<string, string> }>
  /** The texts of messages that were changed. */
  changes(): string[]
  user: { userId: string; name: string }
}

const chats: Record<string, Chat> = {
  Slack: {
    provider: 'slack',
    credentials: { clientId: 'c', secretKey: 's', signingSecret },
    connection: { workspace: { id: 'T1' }, auth: { accessToken: 'xoxb-token' } },
    endpoint: { type: 'slack_channel', endpoint: { channelId: 'C1' } },
    values: () =>
      sentTo('/chat.postMessage')
        .at(-1)
        .blocks.find(({ type }: { type: string }) => type === 'actions')
        .elements.map(({ value }: { value: string }) => value),
    async click(value, isForged = false) {
      const payload = { type: 'block_actions', user: { id: 'U1', name: 'ada.l' }, actions: [{ value }] }
      const body = new URLSearchParams({ payload: JSON.stringify(payload) }).toString()
      const at = String(Math.floor(server.clock.now().getTime() / 1000))
      const signature = createHmac('sha256', isForged ? 'another' : signingSecret)
        .update(`v0:${at}:${body}`)
        .digest('hex')
      return {
        body,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-slack-request-timestamp': at,
          'x-slack-signature': `v0=${signature}`,
        },
      }
    },
    changes: () => sentTo('/chat.update').map(({ text }) => text),
    user: { userId: 'U1', name: 'ada.l' },
  },
  Teams: {
    provider: 'msteams',
    credentials: { clientId: 'bot-1', secretKey: 's', tenantId: 't1' },
    connection: { workspace: { id: 't1' }, auth: { accessToken: 'unused' } },
    endpoint: { type: 'ms_teams_channel', endpoint: { teamId: 'team-1', channelId: '19:abc' } },
    values: () =>
      vendor.asked
        .filter(({ method, path }) => method === 'POST' && path.includes('/activities'))
        .map(({ body }) => JSON.parse(body))
        .at(-1)
        .attachments[0].content.actions.map(({ data }: { data: { answer: string } }) => data.answer),
    async click(value, isForged = false) {
      const token = await new SignJWT({})
        .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
        .setIssuer('https://api.botframework.com')
        .setAudience(isForged ? 'another-bot' : 'bot-1')
        .setExpirationTime(server.clock.now().getTime() / 1000 + 600)
        .sign(privateKey)
      const from = { id: '29:x', aadObjectId: 'U1', name: 'Ada L' }
      return {
        body: JSON.stringify({ type: 'message', from, value: { answer: value } }),
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      }
    },
    changes: () =>
      vendor.asked.filter(({ method }) => method === 'PUT').map(({ body }) => JSON.parse(body).text as string),
    user: { userId: 'U1', name: 'Ada L' },
  },
  Telegram: {
    provider: 'telegram',
    credentials: { token: '1:A' },
    endpoint: { type: 'webhook', endpoint: { url: 'https://t.me/ada', channel: '-1' } },
    values: () =>
      sentTo('/sendMessage')
        .at(-1)
        .reply_markup.inline_keyboard.map(([{ callback_data }]: [{ callback_data: string }]) => callback_data),
    async click(value, isForged = false) {
      const secret = createHmac('sha256', isForged ? '2:B' : '1:A')
        .update('inbound webhook')
        .digest('hex')
      const from = { id: 4815, first_name: 'Ada' }
      return {
        body: JSON.stringify({ update_id: 1, callback_query: { id: 'q1', from, data: value } }),
        headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
      }
    },
    changes: () => sentTo('/editMessageText').map(({ text }) => text),
    user: { userId: '4815', name: 'Ada' },
  },
}

interface Asked {
  to?: string
  chain?: object[]
}

/** A run that asks Ada in this chat. */
async function asking({ provider, credentials, connection, endpoint }: Chat, { to = 'ada', ...more }: Asked = {}) {
  const added = await api.post('/v1/integrations', {
    ...{ identifier: 'bot', providerId: provider, channel: 'chat', credentials, active: true, check: false },
  })
  integrationId = added.body._id
  expect(integrationId, added.text).toBeDefined()
  const common = { integrationIdentifier: 'bot', subscriberId: 'ada' }
  if (connection) {
    const answer = await api.post('/v1/channel-connections', { ...common, identifier: 'conn', ...connection })
    expect(answer, answer.text).toMatchObject({ status: 201 })
  }
  const { status, text } = await api.post('/v1/channel-endpoints', {
    ...{ ...common, ...endpoint },
    ...(connection ? { connectionIdentifier: 'conn' } : {}),
  })
  expect(status, text).toBe(201)
  const answers = ['yes', 'no'].map((id) => ({ id, label: id }))
  await makeWorkflow(api, 'approval', [
    {
      ...{ name: 'ask', stepId: 'ask', type: 'ask' },
      controlValues: { question: 'Fine?', answers, channels: ['chat'], amount: 1, unit: 'hours', ...more },
    },
  ])
  const transactionId = await trigger(api, 'approval', to)
  await server.drain()
  return { transactionId, outcome: async () => (await runOf(api, transactionId)).jobs[0].outcome }
}

const bring = ({ body, headers }: { body: string; headers: Record<string, string> }) =>
  sendTo(`${api.url}/v2/inbound-webhooks/bots/${api.environmentId}/${integrationId}`, 'POST', body, headers)

describe.each(Object.entries(chats))('in %s', (_, chat) => {
  test('a signed click answers, and the message says who decided', async () => {
    const { outcome } = await asking(chat)
    const [yes = '', no = ''] = chat.values()
    expect((await bring(await chat.click(no, true))).status).toBe(401)
    expect((await outcome()).outcome).toBeNull()
    const answer = await bring(await chat.click(no))
    expect(answer.status, answer.text).toBe(200)
    await server.drain()
    expect(await outcome()).toMatchObject({
      ...{ outcome: 'answered', answer: 'no' },
      answeredBy: { subscriberId: 'ada', channel: 'chat', as: { provider: chat.provider, ...chat.user } },
    })
    expect(chat.changes()).toEqual([`Fine?\n\nno: ${chat.user.name}`])
    // Too late: nothing changes, and nobody is refused in the chat.
    expect((await bring(await chat.click(yes))).status).toBe(200)
    expect((await outcome()).answer).toBe('no')
  })

  test('the message says that it is over when the run is erased', async () => {
    for (const subscriberId of ['bob']) await api.post('/v2/subscribers', { subscriberId })
    await asking(chat, { to: 'bob', chain: [{ subscriberId: 'ada' }] })
    expect((await api.post('/v2/subscribers/bob/erase', {})).status).toBe(202)
    await server.drain()
    expect(chat.changes()).toEqual(['This question is over.'])
  })

  test('a click is acknowledged while another transaction holds the run, and is taken afterwards', async () => {
    const { transactionId, outcome } = await asking(chat)
    const [yes = ''] = chat.values()
    const { _id } = await runOf(api, transactionId)
    await server.database.db.transaction().execute(async (tx) => {
      await sql`SELECT FROM notifications WHERE id = ${_id} FOR UPDATE`.execute(tx)
      expect((await bring(await chat.click(yes))).status).toBe(200)
    })
    await server.drain()
    expect(await outcome()).toMatchObject({ outcome: 'answered', answer: 'yes' })
    expect(chat.changes()).toEqual([`Fine?\n\nyes: ${chat.user.name}`])
  })
})
