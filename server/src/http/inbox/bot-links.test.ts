import { createHmac } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type InboxClient, openInbox } from '../../../test/inbox.ts'
import { makeWorkflow, runOf, storyOf, trigger } from '../../../test/runs.ts'
import { type Answer, Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const publicUrl = 'https://notify.example.com'
const server = useServer({ extraProviders: ['telegram'], allowPrivateAddresses: true, publicUrl })
const telegram = useVendor()
const token = '110201543:AAHdqTcv'
let api: Api
let inbox: InboxClient
/** The integration named `bot`. */
let integrationId: string

beforeEach(async () => {
  api = await server.freshApi()
  inbox = await openInbox(server, api, 'ada')
  telegram.plays(({ path }) => {
    if (path.endsWith('/getMe')) return { body: { ok: true, result: { id: 1, is_bot: true, username: 'acme_bot' } } }
    if (path.endsWith('/sendMessage')) return { body: { ok: true, result: { message_id: 77 } } }
    return { body: { ok: true, result: true, description: 'Webhook was set' } }
  })
  integrationId = await addBot('bot')
  await addChat('slack', { providerId: 'slack', credentials: { clientId: 'c', secretKey: 's' } })
})

async function addChat(identifier: string, more: { providerId: string; credentials: object }): Promise<string> {
  const { body, text } = await api.post('/v1/integrations', { ...more, identifier, channel: 'chat', active: true })
  expect(body?._id, text).toBeDefined()
  return body._id
}
const addBot = (identifier: string, more: object = {}) =>
  addChat(identifier, { providerId: 'telegram', credentials: { token, baseUrl: `${telegram.url}/`, ...more } })

const ask = (more: object = {}, from = inbox) =>
  from.post('/channel-endpoints/link', { integrationIdentifier: 'bot', ...more })
/** The secret that Telegram must send with every update. */
const secretToken = () => {
  const told = telegram.asked.find(({ path }) => path.endsWith('/setWebhook'))
  return JSON.parse(told?.body ?? '{}').secret_token as string
}
const wordOf = ({ body, text }: Answer) => {
  expect(body?.data?.url, text).toBeDefined()
  return new URL(body.data.url).searchParams.get('start') ?? ''
}

interface Said {
  text?: string
  chat?: { id: number; type: string }
  from?: { id: number; username?: string }
}
const adasChat = { id: 4815162342, type: 'private' }
const bring = (update: unknown, { secret = secretToken(), id = integrationId } = {}) =>
  new Api(api.url, '', '', '').post(`/v2/inbound-webhooks/bots/${api.environmentId}/${id}`, update, {
    'x-telegram-bot-api-secret-token': secret,
  })
const say = (text: string, more: Said = {}) =>
  bring({ update_id: 1, message: { message_id: 1, text, chat: adasChat, from: { id: 4815162342 }, ...more } })
const endpoints = async () => (await api.get('/v1/channel-endpoints')).body.data
const taken = { status: 200, text: '{}' }

describe('a link', () => {
  test('names the bot, and registers our webhook with Telegram', async () => {
    const answer = await ask()
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { providerMetadata: { botUsername: 'acme_bot', expiresAt: '2026-05-01T10:10:00.000Z' } } },
    })
    expect(answer.body.data.url).toMatch(/^https:\/\/t\.me\/acme_bot\?start=[\w-]{43}$/)
    expect(telegram.asked.map(({ method, path }) => [method, path])).toEqual([
      ['GET', `/bot${token}/getMe`],
      ['POST', `/bot${token}/setWebhook`],
    ])
    expect(JSON.parse(telegram.asked[1]?.body ?? '')).toEqual({
      url: `${publicUrl}/v2/inbound-webhooks/bots/${api.environmentId}/${integrationId}`,
      secret_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      allowed_updates: ['message', 'callback_query'],
    })
    expect(answer.text).not.toContain(secretToken())
  })

  test('is different each time, and the webhook is registered at most once a minute', async () => {
    const first = wordOf(await ask())
    expect(wordOf(await ask())).not.toBe(first)
    expect(telegram.asked).toHaveLength(2)
    server.clock.advance({ minutes: 1 })
    await ask()
    expect(telegram.asked).toHaveLength(4)
  })

  test('can be created by a backend too', async () => {
    const path = '/v1/integrations/channel-endpoints/link'
    const answer = await api.post(path, { integrationIdentifier: 'bot', subscriberId: 'ada' })
    expect(answer, answer.text).toMatchObject({
      status: 200,
      body: {
        url: expect.stringContaining('https://t.me/acme_bot?start='),
        providerMetadata: { botUsername: 'acme_bot' },
      },
    })
    await say(`/start ${new URL(answer.body.url).searchParams.get('start') ?? ''}`)
    expect(await endpoints()).toMatchObject([{ subscriberId: 'ada' }])
    expect(await api.post(path, { integrationIdentifier: 'bot', subscriberId: 'nobody' })).toMatchObject({
      status: 404,
    })
    expect(await api.post(path, { integrationIdentifier: 'bot' })).toMatchObject({ status: 422 })
  })

  test('is refused without a bot', async () => {
    expect(await ask({ integrationIdentifier: 'slack' })).toMatchObject({
      ...{ status: 400, body: { code: 'link_not_offered' } },
    })
    expect(await ask({ integrationIdentifier: 'nothing' })).toMatchObject({ status: 404 })
    expect(telegram.asked).toEqual([])
  })

  test('is refused to a page without an HMAC hash, if the integration requires one', async () => {
    await addBot('strict', { hmac: true })
    const body = { integrationIdentifier: 'strict' }
    expect(await ask(body)).toMatchObject({ status: 400, body: { code: 'subscriber_hash_invalid' } })
    const subscriberHash = createHmac('sha256', api.key).update('ada').digest('hex')
    expect(await ask(body, await openInbox(server, api, 'ada', { subscriberHash }))).toMatchObject({ status: 200 })
  })

  test.each([
    [
      ...['the address is not HTTPS', 400, 'link_refused', 'An HTTPS URL must be provided for webhook'],
      {
        status: 400,
        body: { ok: false, description: 'Bad Request: bad webhook: An HTTPS URL must be provided for webhook' },
      },
    ],
    [
      ...['the token is none', 400, 'link_refused', 'Unauthorized'],
      { status: 401, body: { ok: false, error_code: 401, description: `Unauthorized ${token}` } },
    ],
    [
      ...['there were too many', 502, 'link_unavailable', 'Too Many Requests'],
      { status: 429, body: { ok: false, description: 'Too Many Requests: retry after 1' } },
    ],
    [...['something is broken', 502, 'link_unavailable', 'HTTP status 500'], { status: 500, body: '' }],
  ] as Array<[string, number, string, string, { status: number; body: unknown }]>)(
    'is not created when Telegram says that %s',
    async (_, status, code, reason, reply) => {
      telegram.plays(() => reply)
      const answer = await ask()
      expect(answer).toMatchObject({ status, body: { code } })
      expect(answer.body.message).toContain(reason)
      expect(answer.text).not.toContain(token)
      expect(JSON.stringify(server.logged)).not.toContain(token)
    },
  )
})

describe('a code sent to the bot', () => {
  test('creates an endpoint for the chat, which the page sees and messages reach', async () => {
    await makeWorkflow(api, 'news', [{ type: 'chat', controlValues: { body: 'Hello {{subscriber.subscriberId}}' } }])
    const word = wordOf(await ask())
    const { body: none } = await inbox.get('/channel-endpoints?integrationIdentifier=bot&providerId=telegram&limit=1')
    expect(none.data).toEqual([])
    expect(await say(`/start ${word}`, { from: { id: 4815162342, username: 'ada_l' } })).toMatchObject(taken)
    expect(await endpoints()).toMatchObject([
      {
        ...{ subscriberId: 'ada', providerId: 'telegram', integrationIdentifier: 'bot', type: 'webhook' },
        ...{ endpoint: { url: 'https://t.me/ada_l', channel: '4815162342' }, contextKeys: [] },
      },
    ])
    const { body } = await inbox.get('/channel-endpoints?integrationIdentifier=bot&providerId=telegram&limit=1')
    expect(body.data).toEqual([{ identifier: expect.any(String), type: 'webhook' }])

    const transactionId = await trigger(api, 'news', 'ada')
    await server.drain()
    expect(storyOf(await runOf(api, transactionId))[0]).toMatch(/^chat completed/)
    const sent = telegram.asked.filter(({ path }) => path === `/bot${token}/sendMessage`)
    expect(sent.map(({ body }) => JSON.parse(body))).toEqual([{ chat_id: '4815162342', text: 'Hello ada' }])
  })

  test('works once', async () => {
    const word = wordOf(await ask())
    await say(`/start ${word}`)
    expect(await say(`/start ${word}`, { chat: { id: 666, type: 'private' } })).toMatchObject(taken)
    expect(await endpoints()).toMatchObject([{ endpoint: { channel: '4815162342' } }])
  })

  test('expires after ten minutes', async () => {
    const [early, late] = [wordOf(await ask()), wordOf(await ask())]
    server.clock.advance({ minutes: 10, ms: -1 })
    await say(`/start ${early}`)
    expect(await endpoints()).toHaveLength(1)
    server.clock.advance({ ms: 1 })
    expect(await say(`/start ${late}`, { chat: { id: 666, type: 'private' } })).toMatchObject(taken)
    expect(await endpoints()).toHaveLength(1)
  })

  test('belongs to its subscriber, even if others have requested codes', async () => {
    const bob = await openInbox(server, api, 'bob')
    const words = { ada: wordOf(await ask()), bob: wordOf(await ask({ subscriberId: 'ada' }, bob)) }
    await say(`/start ${words.bob}`)
    expect(await endpoints()).toMatchObject([{ subscriberId: 'bob' }])
    await say(`/start ${words.ada}`)
    expect((await endpoints()).map(({ subscriberId }: { subscriberId: string }) => subscriberId).sort()).toEqual([
      ...['ada', 'bob'],
    ])
  })

  test('does not work with another bot', async () => {
    const word = wordOf(await ask())
    const other = await addBot('other')
    const update = { message: { text: `/start ${word}`, chat: adasChat, from: { id: 1 } } }
    expect(await bring(update, { id: other })).toMatchObject(taken)
    expect(await endpoints()).toEqual([])
    expect(await bring(update)).toMatchObject(taken)
    expect(await endpoints()).toMatchObject([{ integrationIdentifier: 'bot' }])
  })

  test('creates no second endpoint for the same chat, even concurrently', async () => {
    const words = await Promise.all([1, 2, 3, 4].map(async () => wordOf(await ask())))
    await Promise.all(words.map((word) => say(`/start ${word}`)))
    await say(`/start ${wordOf(await ask())}`)
    expect(await endpoints()).toHaveLength(1)
    await say(`/start ${wordOf(await ask())}`, { chat: { id: 42, type: 'private' } })
    expect(await endpoints()).toHaveLength(2)
  })

  test('uses the contexts of the session, or else of the request', async () => {
    const ofTenant = await openInbox(server, api, 'ada', { context: { tenant: 'acme' } })
    const context = { tenant: 'other' }
    await say(`/start ${wordOf(await ask({ context }, ofTenant))}`)
    await say(`/start ${wordOf(await ask({ context }))}`)
    const keys = (await endpoints()).map(({ contextKeys }: { contextKeys: string[] }) => contextKeys)
    expect(keys.sort()).toEqual([['tenant:acme'], ['tenant:other']])
    const { body } = await ofTenant.get('/channel-endpoints?providerId=telegram')
    expect(body.data).toHaveLength(1)
  })

  test('is void when the subscriber is deleted, even if created again', async () => {
    const word = wordOf(await ask())
    await api.delete('/v2/subscribers/ada')
    await api.post('/v2/subscribers', { subscriberId: 'ada' })
    expect(await say(`/start ${word}`)).toMatchObject(taken)
    expect(await endpoints()).toEqual([])
  })
})

describe('any other update', () => {
  test.each<[string, (word: string) => unknown]>([
    ['a start without a word', () => ({ message: { text: '/start', chat: adasChat } })],
    ['a word alone', (word) => ({ message: { text: word, chat: adasChat } })],
    ['a word that is none of ours', () => ({ message: { text: `/start ${'x'.repeat(43)}`, chat: adasChat } })],
    ['a word in a group', (word) => ({ message: { text: `/start ${word}`, chat: { id: -1, type: 'group' } } })],
    ['a word in no chat', (word) => ({ message: { text: `/start ${word}` } })],
    ['a picture', () => ({ message: { photo: [], chat: adasChat } })],
    ['a list', () => []],
    ['no JSON', () => 'hello'],
  ])('is accepted and ignored: %s', async (_, updateWith) => {
    const word = wordOf(await ask())
    expect(await bring(updateWith(word))).toMatchObject(taken)
    expect(await endpoints()).toEqual([])
    // The code still works.
    await say(`/start ${word}`)
    expect(await endpoints()).toHaveLength(1)
  })

  test('is refused without Telegram’s secret', async () => {
    const update = { message: { text: `/start ${wordOf(await ask())}`, chat: adasChat } }
    for (const secret of ['', 'x', `${secretToken()}0`, secretToken().toUpperCase(), token])
      expect(await bring(update, { secret })).toMatchObject({
        status: 401,
        body: { code: 'inbound_signature_invalid' },
      })
    expect(await endpoints()).toEqual([])
  })

  test('is refused without a bot token to verify it', async () => {
    await ask()
    const secret = createHmac('sha256', '').update('inbound webhook').digest('hex')
    const id = await addBot('unfinished', { token: '' })
    expect(await bring({}, { id, secret })).toMatchObject({ status: 401 })
  })

  test('is refused without a bot', async () => {
    await ask()
    const { body } = await api.get('/v1/integrations')
    const slack = body.find(({ identifier }: { identifier: string }) => identifier === 'slack')._id
    // Slack tells of clicks, which have to be signed.
    expect(await bring({}, { id: slack, secret: 'x' })).toMatchObject({ status: 401 })
    for (const id of ['0'.repeat(24)]) expect(await bring({}, { id })).toMatchObject({ status: 404 })
  })
})

describe('a question', () => {
  const question = {
    ...{ question: 'Fine?', answers: ['yes', 'no'].map((id) => ({ id, label: id })), channels: ['chat'] },
    ...{ amount: 1, unit: 'hours' },
  }
  const press = (value: string, more: { secret?: string } = {}) => {
    const from = { id: 4815162342, first_name: 'Ada', last_name: 'Lovelace' }
    return bring({ update_id: 2, callback_query: { id: 'q1', from, data: value } }, more)
  }
  const sent = (method: string) =>
    telegram.asked.filter(({ path }) => path.endsWith(method)).map(({ body }) => JSON.parse(body ?? '{}'))

  test('has buttons in the chat; a click answers, and the message says who decided', async () => {
    await say(`/start ${wordOf(await ask())}`)
    await makeWorkflow(api, 'approval', [{ name: 'ask', stepId: 'ask', type: 'ask', controlValues: question }])
    const transactionId = await trigger(api, 'approval', 'ada')
    await server.drain()
    const [message] = sent('/sendMessage')
    expect(message.text).toBe('Fine?')
    const [[yes], [no]] = message.reply_markup.inline_keyboard
    expect([yes.text, no.text]).toEqual(['yes', 'no'])
    expect(Buffer.byteLength(yes.callback_data)).toBeLessThanOrEqual(64)
    expect((await press(yes.callback_data, { secret: 'forged' })).status).toBe(401)
    expect(await press(`${yes.callback_data[0] === 'A' ? 'B' : 'A'}${yes.callback_data.slice(1)}`)).toMatchObject({
      status: 200,
    })
    expect((await runOf(api, transactionId)).jobs[0].status).toBe('delayed')
    expect(await press(no.callback_data)).toMatchObject({
      ...{ status: 200, body: { method: 'answerCallbackQuery', callback_query_id: 'q1' } },
    })
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0].outcome).toMatchObject({
      ...{ outcome: 'answered', answer: 'no' },
      answeredBy: {
        ...{ subscriberId: 'ada', channel: 'chat' },
        as: { provider: 'telegram', userId: '4815162342', name: 'Ada Lovelace' },
      },
    })
    expect(sent('/editMessageText')).toMatchObject([{ message_id: 77, text: 'Fine?\n\nno: Ada Lovelace' }])
    // The same person says the same elsewhere.
    const [{ id }] = (await api.get(`/v2/questions?transactionId=${transactionId}`)).body.data
    const again = (answer: string) => api.post(`/v2/questions/${id}/answer`, { answer, subscriberId: 'ada' })
    expect(await again('no')).toMatchObject({ status: 200, body: { isYours: true, answeredBy: { channel: 'chat' } } })
    expect((await again('yes')).status).toBe(409)
    // Too late: nothing changes, and nobody is refused in the chat.
    expect((await press(yes.callback_data)).status).toBe(200)
    await server.drain()
    expect((await runOf(api, transactionId)).jobs[0].outcome.answer).toBe('no')
  })

  test('that asks for a text leads to the page', async () => {
    await say(`/start ${wordOf(await ask())}`)
    const freeText = { label: 'Why?', required: true }
    const controlValues = { ...question, freeText }
    await makeWorkflow(api, 'approval', [{ name: 'ask', stepId: 'ask', type: 'ask', controlValues }])
    await trigger(api, 'approval', 'ada')
    await server.drain()
    const [message] = sent('/sendMessage')
    expect(message.text).toMatch(/^Fine\?\nhttps:\/\/notify\.example\.com\/a\/[\w-]+$/)
    expect(message).not.toHaveProperty('reply_markup')
  })

  test('whose message cannot be changed at once is changed later', async () => {
    await say(`/start ${wordOf(await ask())}`)
    await makeWorkflow(api, 'approval', [{ name: 'ask', stepId: 'ask', type: 'ask', controlValues: question }])
    const transactionId = await trigger(api, 'approval', 'ada')
    await server.drain()
    let isDown = true
    telegram.plays(({ path }) =>
      path.endsWith('/editMessageText') && isDown ? { status: 503, body: {} } : { body: { ok: true, result: true } },
    )
    expect(await api.delete(`/v1/events/trigger/${transactionId}`)).toMatchObject({ text: 'true' })
    const { engine, stop } = await server.startAnother()
    const { rows } = await server.database.pool.query(
      `SELECT j.payload FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id
       WHERE t.identifier = 'change_chats'`,
    )
    expect(rows).toHaveLength(1)
    const change = () => engine.tasks().change_chats?.(rows[0].payload, {} as never)
    await expect(change()).rejects.toThrow('could not be changed')
    isDown = false
    await change()
    expect(sent('/editMessageText').at(-1)).toMatchObject({ text: 'Fine?\n\nThis question is over.' })
    await stop()
  })
})
