import { beforeAll, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { makeWorkflow, runOf, trigger } from '../../../test/runs.ts'
import { Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true }, { logLevel: 'trace' })
const vendor = useVendor()
let api: Api
let path: string

const call = (to: string, headers: Record<string, string>, body?: Record<string, string>) =>
  fetch(server.url + to, { headers, ...(body ? { method: 'POST', body: new URLSearchParams(body) } : {}) })
const german = { accept: 'text/html', 'accept-language': 'de-CH,de;q=0.9' }
const forged = () => `${path.slice(0, -3)}${path.at(-3) === 'A' ? 'B' : 'A'}${path.slice(-2)}`

beforeAll(async () => {
  api = await server.freshApi()
  const answers = ['a', 'b', 'c'].map((id) => ({ id, label: `Answer ${id}` }))
  await makeWorkflow(api, 'ask', [
    { type: 'ask', controlValues: { question: 'Which?', answers, channels: ['in_app'], amount: 1, unit: 'hours' } },
  ])
  await trigger(api, 'ask', 'ada')
  await server.drain()
  const [notification] = (await api.get('/v2/subscribers/ada/notifications')).body.data
  path = new URL(notification.primaryAction.redirect.url).pathname
})

test('tokens that are none count as attempts of the network address, others do not', async () => {
  const attempts = async () => {
    const { rows } = await server.database.pool.query(
      'SELECT coalesce(sum(attempts), 0)::int AS all FROM sign_in_attempts',
    )
    return rows[0].all
  }
  const before = await attempts()
  expect((await call(path, german)).status).toBe(200)
  expect(await attempts()).toBe(before)
  for (const body of [undefined, { answer: 'a' }]) expect((await call(forged(), german, body)).status).toBe(404)
  expect(await attempts()).toBe(before + 2)
})

test('a page that is unknown or closed says so in the language of the reader, and offers nothing to press', async () => {
  const unknown = await (await call(forged(), german)).text()
  expect(unknown).toContain('lang="de"')
  expect(unknown).toContain('Dieser Link ist nicht von uns')
  expect(await (await call(path, german, { answer: 'b' })).text()).toContain('Danke, Ihre Antwort ist angekommen.')
  const closed = await (await call(path, german)).text()
  expect(closed).toContain('Diese Frage ist beantwortet.')
  for (const page of [unknown, closed]) expect(page).not.toMatch(/<(button|form|input|textarea|a) /)
})

test('every refusal is in the language of the reader; only one that can be mended offers the answers again', async () => {
  const answers = [{ id: 'yes', label: 'Yes' }]
  const freeText = { label: 'Why?', required: true }
  await makeWorkflow(api, 'why', [
    {
      type: 'ask',
      controlValues: { question: 'Why?', answers, freeText, channels: ['in_app'], amount: 1, unit: 'hours' },
    },
  ])
  await trigger(api, 'why', 'bob')
  await server.drain()
  const [notification] = (await api.get('/v2/subscribers/bob/notifications')).body.data
  const own = new URL(notification.primaryAction.redirect.url).pathname
  const refusal = async (body: Record<string, string>) => {
    const answer = await call(own, german, body)
    const text = await answer.text()
    return { status: answer.status, text, isOffered: text.includes('<button') }
  }
  const needsText = await refusal({ answer: 'yes' })
  expect(needsText).toMatchObject({ status: 422, isOffered: true })
  expect(needsText.text).toContain('Bitte schreiben Sie etwas zu Ihrer Antwort.')
  const unknown = await refusal({ answer: 'perhaps', text: 'So' })
  expect(unknown).toMatchObject({ status: 422, isOffered: true })
  expect(unknown.text).toContain('Bitte wählen Sie eine dieser Antworten.')
  // What was written does not have to be written again.
  expect(unknown.text).toContain('>So</textarea>')
  await server.database.pool.query("UPDATE questions SET asked = '[]' WHERE question = 'Why?'")
  const stranger = await refusal({ answer: 'yes', text: 'So' })
  expect(stranger).toMatchObject({ status: 403, isOffered: false })
  expect(stranger.text).toContain('Diese Frage wurde Ihnen nicht gestellt.')
  // Whatever else is refused, too.
  const large = await call(own, german, { answer: 'yes', text: 'x'.repeat(40_000) })
  expect(large.status).toBe(413)
  const words = await large.text()
  expect(words).toContain('Das hat nicht geklappt.')
  expect(words).not.toMatch(/<(button|form|input|textarea|a) /)
})

test('a logo from an http address may be shown, where the brand has one', async () => {
  const images = async () =>
    (await call(path, german)).headers.get('content-security-policy')?.match(/img-src ([^;]*)/)?.[1]
  expect(await images()).toBe('https: data:')
  const logoUrl = 'http://127.0.0.1/logo.png'
  await api.patch(`/v2/environments/${api.environmentId}/consent`, { brand: { logoUrl } })
  expect(await images()).toBe('https: http: data:')
})

test('a language that is named twice is ignored', async () => {
  for (const to of [path, forged()]) {
    const answer = await call(`${to}?lang=fr&lang=en`, german)
    expect([answer.status, (await answer.text()).includes('lang="de"')]).toEqual([to === path ? 200 : 404, true])
  }
  expect((await call(`${path}?lang=fr&lang=en`, german, { answer: 'b' })).status).toBe(200)
})

test('a text counts as the browser counts it, is stored whole, and is refused if it is too long', async () => {
  const own = await server.freshApi()
  const answers = ['yes', 'no', 'later'].map((id) => ({ id, label: id }))
  const freeText = { label: 'Why?', required: false }
  await makeWorkflow(own, 'why', [
    {
      type: 'ask',
      controlValues: { question: 'Why?', answers, freeText, channels: ['in_app'], amount: 1, unit: 'hours' },
    },
  ])
  const asked = async (to: string) => {
    await trigger(own, 'why', to)
    await server.drain()
    const [notification] = (await own.get(`/v2/subscribers/${to}/notifications`)).body.data
    const [{ id }] = (await own.get(`/v2/questions?subscriberId=${to}`)).body.data
    return { page: new URL(notification.primaryAction.redirect.url).pathname, id }
  }
  const textOf = async (id: string) => (await own.get(`/v2/questions/${id}`)).body.text

  const lines = Array.from({ length: 50 }, (_, at) => 'x'.repeat(at === 49 ? 40 : 39)).join('\r\n')
  const whole = lines.replaceAll('\r\n', '\n')
  expect([lines.length, whole.length]).toEqual([2_049, 2_000])
  const one = await asked('one')
  const json = { accept: 'application/json' }
  const tooLong = await call(one.page, json, { answer: 'yes', text: `${lines}x` })
  expect([tooLong.status, await tooLong.json()]).toMatchObject([422, { code: 'answer_too_long' }])
  const refused = await call(one.page, german, { answer: 'yes', text: `${lines}x` })
  const said = await refused.text()
  expect(refused.status).toBe(422)
  expect(said).toContain('Bitte schreiben Sie höchstens 2.000 Zeichen.')
  expect(said).toContain(`>${whole}x</textarea>`)
  expect(await textOf(one.id)).toBeNull()
  expect((await call(one.page, german, { answer: 'yes', text: lines })).status).toBe(200)
  expect(await textOf(one.id)).toBe(whole)

  const two = await asked('two')
  expect((await call(two.page, german, { answer: 'yes', text: `${'x'.repeat(1_999)}😀` })).status).toBe(200)
  expect(await textOf(two.id)).toBe(`${'x'.repeat(1_999)}😀`)

  // In a form, each of these takes nine bytes.
  const three = await asked('three')
  expect((await call(three.page, german, { answer: 'yes', text: '語'.repeat(2_000) })).status).toBe(200)
  expect(await textOf(three.id)).toBe('語'.repeat(2_000))
})

test('a text that cannot be stored is refused in either kind of form', async () => {
  const body = new FormData()
  body.append('answer', 'a')
  body.append('text', 'a\u0000b')
  expect((await fetch(server.url + path, { method: 'POST', headers: german, body })).status).toBe(400)
  expect((await call(path, german, { answer: 'a', text: 'a\u0000b' })).status).toBe(400)
})

test('the token is in no log', async () => {
  const token = String(path.split('/').at(-1))
  await call(`${path}?answer=a`, german)
  await call(path, { accept: 'application/json' }, { answer: 'c' })
  const lines = JSON.stringify(server.logged)
  expect(server.logged.length).toBeGreaterThan(0)
  expect(lines).not.toContain(token)
})

test('whoever may not answer for others sees no link that does, wherever a message is shown', async () => {
  const own = await server.freshApi()
  const sms = { baseUrl: vendor.url, apiKeyRequestHeader: 'x-key', apiKey: 'k' }
  for (const [providerId, channel, credentials] of [
    ['generic-sms', 'sms', sms],
    ['svc-email', 'email', {}],
  ] as const)
    await own.post('/v1/integrations', { providerId, channel, active: true, credentials })
  await own.post('/v2/subscribers', { subscriberId: 'ada', email: 'ada@example.com', phone: '+4915112345678' })
  const answers = ['a', 'b', 'c'].map((id) => ({ id, label: `Answer ${id}` }))
  const channels = ['in_app', 'email', 'sms']
  await makeWorkflow(own, 'ask', [
    { type: 'ask', controlValues: { question: 'Which?', answers, channels, amount: 1, unit: 'hours' } },
  ])
  const transactionId = await trigger(own, 'ask', 'ada')
  await server.drain()
  const [{ primaryAction }] = (await own.get('/v2/subscribers/ada/notifications')).body.data
  const token = String(new URL(primaryAction.redirect.url).pathname.split('/').at(-1))
  const { _id } = await runOf(own, transactionId)
  const { key } = (await own.post('/v2/api-keys', { name: 'Reader', scopes: ['read'] })).body
  const reader = new Api(own.url, key, own.environmentId, own.organizationId)
  const [viewer, editor] = [await signInAs(server, own, 'viewer'), await signInAs(server, own, 'editor')]
  const [{ id: stored }] = (await own.get('/v1/sandbox/messages')).body.data
  const paths = [
    ...[
      '/v1/messages',
      `/v1/notifications/${_id}`,
      '/v2/subscribers/ada/notifications',
      `/v1/sandbox/messages/${stored}`,
    ],
    ...['/v1/subscribers/ada/notifications/feed', '/v1/sandbox/messages'],
  ]
  for (const path of paths) {
    for (const by of [reader, viewer]) {
      const { status, text } = await by.get(path)
      expect([path, status, text.includes(token)]).toEqual([path, 200, false])
      expect(text, path).not.toContain(token.slice(0, 20))
    }
    expect([path, (await editor.get(path)).text.includes(token)]).toEqual([path, true])
  }
  // Nor can one be guessed letter by letter.
  for (const [by, found] of [
    [viewer, 0],
    [editor, 1],
  ] as const)
    expect((await by.get(`/v1/sandbox/messages?search=${token.slice(0, 20)}`)).body.data).toHaveLength(found)
  // Also what was said to a provider, whose encoding is its own.
  const record = await editor.get(`/v1/notifications/${_id}`)
  expect(record.text).toContain(`\\"body\\":\\"{`)
  expect((await viewer.get(`/v1/notifications/${_id}`)).text).toContain(`\\"body\\":\\"***\\"`)
  expect(
    (await viewer.get('/v1/messages')).body.data.map(({ content }: { content: string }) => content),
  ).toContainEqual(expect.stringContaining('/a/***'))
})
