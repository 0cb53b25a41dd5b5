import { describe, expect, test } from 'vitest'
import { heldApi } from '../../../test/held.ts'
import { makeWorkflow, runOf, type Step, trigger } from '../../../test/runs.ts'
import { type Answer, type Api, sendTo, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const ada = { subscriberId: 'ada', email: 'ada@example.com' }
const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:124.0) Gecko/20100101 Firefox/124.0' }
const targets = ['https://acme.example/a?x=1&y=2', 'https://acme.example/b', 'https://acme.example/c#d']
const body = `<html><body>${targets.map((url) => `<a href="${url.replace('&', '&amp;')}">x</a>`).join('')}
  <a href="mailto:a@acme.example">m</a><a href="{{unsubscribe_url}}">u</a><a data-track="off" href="https://acme.example/off">o</a>
  </body></html>`
const email: Step = { type: 'email', stepId: 'mail', controlValues: { subject: 'Hi', body, editorType: 'html' } }
const both = { opens: true, clicks: true }

interface Tracked {
  api: Api
  html: string
  text: string
  /** Paths below this service. */
  links: string[]
  image: string
}

async function sent({
  tracking = both as object,
  steps = [email],
  api,
}: {
  tracking?: object
  steps?: Step[]
  api?: Api
} = {}): Promise<Tracked> {
  const own = api ?? (await server.freshApi())
  await own.post('/v1/integrations', {
    ...{ providerId: 'email-webhook', channel: 'email', name: 'mail', active: true },
    identifier: `mail-${own.environmentId}`,
    credentials: { webhookUrl: vendor.url, secretKey: 'x', from: 'a@acme.example', senderName: 'Acme' },
  })
  vendor.plays(() => ({ body: {} }))
  await makeWorkflow(own, 'news', steps, { tracking })
  await own.post('/v2/webhooks/endpoints', { url: 'https://hooks.example/x', eventTypes: told })
  return mailOf(own)
}

async function mailOf(api: Api): Promise<Tracked> {
  await trigger(api, 'news', ada, { transactionId: 'sent' })
  await server.drain()
  const { html, text } = JSON.parse(vendor.asked.findLast(({ path }) => path === '/')?.body ?? '{}')
  const paths = (name: string) =>
    [...html.matchAll(new RegExp(`"[^"]*(/l/${name}/[^"]*)"`, 'g'))].map(([, path]) => path)
  const [image = ''] = paths('o')
  return { api, html, text, links: paths('c'), image }
}

const told = ['message.seen', 'message.read', 'message.clicked']
const fetched = (path: string, headers: Record<string, string> = browser, method = 'GET'): Promise<Answer> =>
  sendTo(server.url + path, method, undefined, headers)
const later = (seconds: number) => server.clock.advance({ seconds })
/** Until everything is judged. */
async function settled(): Promise<void> {
  later(6)
  await server.drain()
}

async function outcomeOf({ api }: Tracked) {
  const { jobs } = await runOf(api, 'sent')
  const lines = jobs[0].executionDetails.filter(({ detail }: { detail: string }) =>
    ['Message opened', 'Message clicked', 'Fetched by a robot'].includes(detail),
  )
  const { body } = await api.get('/v2/webhooks/events?limit=50')
  const [message] = (await api.get('/v1/messages?transactionId=sent')).body.data
  return {
    lines: lines.map((line: { detail: string; raw?: string }) =>
      [line.detail, line.raw && JSON.parse(line.raw).url].filter(Boolean).join(' '),
    ),
    whole: lines,
    events: body.data
      .map(({ type, data }: { type: string; data: { url?: string } }) => [type, data.url].filter(Boolean).join(' '))
      .sort(),
    seen: message.seen,
    read: message.read,
  }
}
/** The last mail there. */
async function inSandbox(api: Api): Promise<string> {
  const [{ _id, id = _id }] = (await api.get('/v1/sandbox/messages')).body.data
  return (await api.get(`/v1/sandbox/messages/${id}`)).body.html
}

const nothing = { lines: [], events: [], seen: false, read: false }

describe('a tracked mail', () => {
  test('has links past us, the image, and all else as it was; what is stored has neither', async () => {
    const mail = await sent()
    expect(mail.links).toHaveLength(3)
    expect(mail.links.map((path) => new URL(path, server.url).searchParams.get('u'))).toEqual(targets)
    expect(mail.html).toContain('<a href="mailto:a@acme.example">m</a>')
    expect(mail.html).toMatch(/<a href="[^"]*\/l\/u\/[^"?]*">u<\/a><a href="https:\/\/acme\.example\/off">o<\/a>/)
    expect(mail.html).toMatch(/<img src="[^"]*\/l\/o\/[\w-]{1,220}\.gif"[^>]*><\/body>/)
    expect(mail.text).not.toContain('/l/c/')
    const [{ content }] = (await mail.api.get('/v1/messages?transactionId=sent')).body.data
    expect([content.includes('/l/c/'), content.includes('/l/o/'), content.includes('https://acme.example/b')]).toEqual([
      ...[false, false, true],
    ])
  })

  test.each([
    [{ opens: true }, 0, true],
    [{ clicks: true }, 3, false],
    [{}, 0, false],
  ])('with %j has %i links and the image: %s', async (tracking, links, hasImage) => {
    const mail = await sent({ tracking })
    expect([mail.links.length, mail.image !== '']).toEqual([links, hasImage])
    if (links === 0) expect(mail.html).toContain('data-track="off"')
  })

  test('also where the trigger brings the HTML', async () => {
    const mail = await sent()
    const html = '<p><a href="https://acme.example/own">x</a></p>'
    await trigger(mail.api, 'news', ada, { overrides: { email: { html } } })
    await server.drain()
    const last = JSON.parse(vendor.asked.at(-1)?.body ?? '{}')
    expect(last.html).toMatch(/<a href="[^"]*\/l\/c\/[\w-]+\?u=https%3A%2F%2Facme\.example%2Fown">x<\/a><\/p><img /)
  })
})

describe('a click', () => {
  test('leads to exactly the address, and counts once for each link after a pause', async () => {
    const mail = await sent()
    later(10)
    const [first = '', second = ''] = mail.links
    const answer = await fetched(first)
    expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([302, targets[0], ''])
    expect([...answer.headers.keys()].includes('set-cookie')).toBe(false)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    await server.drain()
    expect(await outcomeOf(mail)).toMatchObject(nothing)
    await fetched(first)
    await settled()
    const once = await outcomeOf(mail)
    expect(once).toMatchObject({
      lines: [`Message clicked ${targets[0]}`],
      events: [`message.clicked ${targets[0]}`, 'message.read', 'message.seen'],
      ...{ seen: true, read: true },
    })
    expect(once.whole[0]).toMatchObject({ source: 'Internal', status: 'Success' })
    expect(once.whole[0]).not.toHaveProperty('webhookStatus')
    await fetched(first)
    await fetched(second)
    await settled()
    expect(await outcomeOf(mail)).toMatchObject({
      lines: [`Message clicked ${targets[0]}`, `Message clicked ${targets[1]}`],
      events: [`message.clicked ${targets[0]}`, `message.clicked ${targets[1]}`, 'message.read', 'message.seen'],
    })
  })

  test.each([
    ['another address', (path: string) => path.replace('acme.example', 'evil.example')],
    ['the end of the address', (path: string) => path.replace(/u=.*/, 'u=https%3A%2F%2Fevil.example')],
    ['no address', (path: string) => path.replace(/\?.*/, '')],
    ['two addresses', (path: string) => `${path}&u=https%3A%2F%2Fevil.example`],
    [
      'a letter of the token',
      (path: string) => path.replace(/\/l\/c\/./, (all) => all.slice(0, -1) + (all.endsWith('A') ? 'B' : 'A')),
    ],
    ['the purpose', (path: string) => path.replace('/l/c/', '/l/u/')],
  ])('with %s changed leads nowhere', async (_, change) => {
    const mail = await sent()
    later(10)
    const answer = await fetched(change(mail.links[0] ?? ''))
    expect([answer.status, answer.body.code, answer.headers.get('location')]).toEqual([404, 'link_unknown', null])
    await settled()
    expect(await outcomeOf(mail)).toMatchObject(nothing)
  })

  test('whose address begins inside the token leads nowhere', async () => {
    // Moves the beginning of a signed address into the token, so that its end would be the address.
    const step = {
      ...email,
      controlValues: { ...email.controlValues, body: '<a href="https://acme.example/?to=https://evil.example/">x</a>' },
    }
    const mail = await sent({ steps: [step] })
    const [, token = ''] = /\/l\/c\/([\w-]+)\?/.exec(mail.links[0] ?? '') ?? []
    const bytes = Buffer.from(token, 'base64url')
    const moved = Buffer.concat([bytes.subarray(0, -16), Buffer.from('https://acme.example/?to='), bytes.subarray(-16)])
    const answer = await fetched(`/l/c/${moved.toString('base64url')}?u=${encodeURIComponent('https://evil.example/')}`)
    expect([answer.status, answer.headers.get('location')]).toEqual([404, null])
  })

  test.each<[string, Record<string, string>, string]>([
    ['a browser that looks ahead', { ...browser, purpose: 'prefetch' }, 'GET'],
    ['a browser that looks ahead, in other words', { ...browser, 'sec-purpose': 'prefetch' }, 'GET'],
    ['an older browser that looks ahead', { ...browser, 'x-moz': 'prefetch' }, 'GET'],
    ['somebody who does not want it', { ...browser, 'sec-gpc': '1' }, 'GET'],
    ['somebody who said so earlier', { ...browser, dnt: '1' }, 'GET'],
  ])('by %s is not counted, though redirected', async (_, headers, method) => {
    const mail = await sent()
    later(10)
    expect((await fetched(mail.links[0] ?? '', headers, method)).headers.get('location')).toBe(targets[0])
    expect((await fetched(mail.image, headers, method)).status).toBe(200)
    await settled()
    expect(await outcomeOf(mail)).toMatchObject(nothing)
  })

  test.each<[string, Record<string, string>, string]>([
    ['HEAD', browser, 'HEAD'],
    ['a robot', { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }, 'GET'],
    ['a program that says nothing', { 'user-agent': '' }, 'GET'],
    ['a program that says Mozilla/5.0', { 'user-agent': 'Mozilla/5.0' }, 'GET'],
  ])('by %s is a line about a robot, once', async (_, headers, method) => {
    const mail = await sent()
    later(10)
    for (const path of [...mail.links, mail.image, ...mail.links]) {
      const answer = await fetched(path, headers, method)
      expect(answer.status).toBe(path.startsWith('/l/c/') ? 302 : 200)
    }
    await settled()
    expect(await outcomeOf(mail)).toMatchObject({ ...nothing, lines: ['Fetched by a robot'] })
  })

  test('of three links within two seconds, or within two seconds of the sending, is that of a robot', async () => {
    const mail = await sent()
    later(1)
    await fetched(mail.links[0] ?? '')
    await fetched(mail.image)
    await settled()
    expect(await outcomeOf(mail)).toMatchObject({ ...nothing, lines: ['Fetched by a robot'] })
    const other = await sent()
    later(10)
    for (const path of other.links) {
      await fetched(path)
      later(0.5)
    }
    await settled()
    expect(await outcomeOf(other)).toMatchObject({ ...nothing, lines: ['Fetched by a robot'] })
  })

  test('a robot that gets and heads every link of a mail changes nothing but that line', async () => {
    const mail = await sent()
    const before = (await mail.api.get('/v2/subscribers/ada/preferences')).body
    const all = [...mail.html.matchAll(/"[^"]*(\/l\/[^"]*)"/g)].map(([, path = '']) => path)
    expect(all.length).toBe(5)
    for (const method of ['HEAD', 'GET']) for (const path of all) await fetched(path, browser, method)
    later(20)
    for (const method of ['HEAD', 'GET']) for (const path of all) await fetched(path, browser, method)
    await settled()
    const { lines, events, seen } = await outcomeOf(mail)
    // The image alone may have been a person, with a browser and ten seconds later.
    expect({ lines, events, seen }).toEqual({
      ...{ lines: ['Fetched by a robot', 'Message opened'], events: ['message.seen'], seen: true },
    })
    expect((await mail.api.get('/v1/suppressions')).body.data).toEqual([])
    expect((await mail.api.get('/v2/subscribers/ada/preferences')).body).toEqual(before)
  })

  test('survives a restart between click and pause', async () => {
    const mail = await sent()
    later(10)
    await fetched(mail.links[0] ?? '')
    const rows = await server.database.db
      .selectFrom('tracked_clicks')
      .select('url')
      .where('environment_id', '=', mail.api.environmentId)
      .execute()
    expect(rows).toEqual([{ url: targets[0] }])
    // Another process finds the timer.
    later(6)
    const other = await server.startAnother({})
    await other.engine.wake()
    await other.stop()
    expect((await outcomeOf(mail)).lines).toEqual([`Message clicked ${targets[0]}`])
    const left = await server.database.db.selectFrom('tracked_clicks').select('url').execute()
    expect(left).toEqual([])
  })

  test('many at once, of one message and of many, count once each', async () => {
    const api = await server.freshApi()
    const mail = await sent({ api })
    later(10)
    await Promise.all(Array.from({ length: 40 }, (_, at) => fetched(mail.links[at % 2] ?? '')))
    await settled()
    const { lines, events } = await outcomeOf(mail)
    expect(lines.sort()).toEqual([`Message clicked ${targets[0]}`, `Message clicked ${targets[1]}`])
    expect(events).toHaveLength(4)
  })

  test('on a message that was deleted leads on', async () => {
    const mail = await sent()
    later(10)
    const [{ _id }] = (await mail.api.get('/v1/messages?transactionId=sent')).body.data
    await fetched(mail.links[0] ?? '')
    expect((await mail.api.delete(`/v1/messages/${_id}`)).status).toBe(200)
    expect((await fetched(mail.links[1] ?? '')).status).toBe(302)
    await settled()
    const left = await server.database.db.selectFrom('tracked_clicks').select('url').execute()
    expect(left).toEqual([])
  })
})

describe('an open', () => {
  test('is an image of 43 bytes, which counts once', async () => {
    const mail = await sent()
    later(10)
    const answer = await fetched(mail.image)
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('content-length')]).toEqual([
      ...[200, 'image/gif', '43'],
    ])
    expect(answer.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(await outcomeOf(mail)).toMatchObject({
      lines: ['Message opened'],
      events: ['message.seen'],
      seen: true,
      read: false,
    })
    await fetched(mail.image)
    await fetched(mail.links[0] ?? '')
    await settled()
    expect(await outcomeOf(mail)).toMatchObject({
      lines: ['Message opened', `Message clicked ${targets[0]}`],
      events: [`message.clicked ${targets[0]}`, 'message.read', 'message.seen'],
    })
  })

  test('with another token, or without its ending, is unknown', async () => {
    const mail = await sent()
    for (const path of [
      mail.image.replace('.gif', ''),
      mail.image.replace('/l/o/', '/l/o/A'),
      mail.image.replace('/l/o/', '/l/v/').replace('.gif', ''),
    ])
      expect((await fetched(path)).status).toBe(404)
  })

  test('ends the wait of a step', async () => {
    const wait: Step = {
      type: 'wait_for_event',
      stepId: 'wait',
      controlValues: { for: [{ message: 'mail', happens: ['opened'] }], amount: 2, unit: 'hours' },
    }
    const mail = await sent({ steps: [email, wait] })
    later(10)
    await fetched(mail.image)
    await server.drain()
    const { jobs } = await runOf(mail.api, 'sent')
    expect(jobs[1].status).toBe('completed')
  })
})

describe('what a workflow counts', () => {
  test('stays where it is left out, is merged, and null ends it', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [email])
    const tracking = async () => (await api.get('/v2/workflows/news')).body.tracking
    expect(await tracking()).toEqual({ opens: false, clicks: false })
    await api.patch('/v2/workflows/news', { tracking: { clicks: true } })
    await api.patch('/v2/workflows/news', { tracking: { opens: true } })
    expect(await tracking()).toEqual(both)
    const { name, steps, preferences, origin } = (await api.get('/v2/workflows/news')).body
    await api.put('/v2/workflows/news', { name, steps, preferences, origin })
    expect(await tracking()).toEqual(both)
    await api.patch('/v2/workflows/news', { tracking: { opens: false } })
    expect(await tracking()).toEqual({ opens: false, clicks: true })
    await api.patch('/v2/workflows/news', { tracking: null })
    expect(await tracking()).toEqual({ opens: false, clicks: false })
    for (const wrong of [{ opens: 'yes' }, 'all', true])
      expect(await api.patch('/v2/workflows/news', { tracking: wrong })).toMatchObject({ status: 422 })
  })

  test('is that of the version that a run began with', async () => {
    const wait: Step = { type: 'delay', controlValues: { type: 'regular', amount: 1, unit: 'minutes' } }
    const { development: api } = await server.freshOrganization()
    await makeWorkflow(api, 'news', [wait, email])
    await trigger(api, 'news', ada, { transactionId: 'sent' })
    await server.drain()
    await api.patch('/v2/workflows/news', { tracking: both })
    later(61)
    await server.drain()
    const html = await inSandbox(api)
    expect([html.includes('https://acme.example/b'), html.includes('/l/c/')]).toEqual([true, false])
  })
})

test('an export has opens and clicks; an erasure takes them and what is not judged yet, and links still lead on', async () => {
  const mail = await sent()
  later(10)
  await fetched(mail.image)
  await fetched(mail.links[0] ?? '')
  await settled()
  await fetched(mail.links[1] ?? '')
  const { data } = (await mail.api.get('/v2/subscribers/ada/export')).body
  const messageId = expect.stringMatching(/^[0-9a-f]{24}$/)
  expect(data.opens).toEqual([{ messageId, at: expect.any(String) }])
  expect(data.clicks).toEqual([{ messageId, at: expect.any(String), url: targets[0] }])
  expect(data.tracked_clicks).toEqual([expect.objectContaining({ messageId, url: targets[1] })])
  expect((await mail.api.post('/v2/subscribers/ada/erase')).status).toBe(202)
  await server.drain()
  const { db } = server.database
  const own = mail.api.environmentId
  expect(await db.selectFrom('tracked_clicks').select('url').where('environment_id', '=', own).execute()).toEqual([])
  expect(await db.selectFrom('timers').select('kind').where('environment_id', '=', own).execute()).toEqual([])
  const answer = await fetched(mail.links[2] ?? '')
  expect([answer.status, answer.headers.get('location')]).toEqual([302, targets[2]])
  await settled()
  expect(await db.selectFrom('tracked_clicks').select('url').where('environment_id', '=', own).execute()).toEqual([])
})

test('where the clock is held, clicks are judged when it has moved on', async () => {
  const api = await heldApi(server)
  await makeWorkflow(api, 'news', [email], { tracking: both })
  await trigger(api, 'news', ada, { transactionId: 'sent' })
  await server.drain()
  await api.advance({ by: '10s' })
  const html = await inSandbox(api)
  const [, path = ''] = /"[^"]*(\/l\/c\/[^"]*)"/.exec(html) ?? []
  expect((await fetched(path.replaceAll('&amp;', '&'))).status).toBe(302)
  const lines = async () =>
    (await runOf(api, 'sent')).jobs[0].executionDetails.map(({ detail }: { detail: string }) => detail)
  await server.drain()
  expect(await lines()).not.toContain('Message clicked')
  await api.advance({ by: '6s' })
  await server.drain()
  expect(await lines()).toContain('Message clicked')
})
