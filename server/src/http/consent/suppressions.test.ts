import { describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { makeWorkflow } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
const ada = { channel: 'email', address: 'ada@example.com' }
const csv = { 'content-type': 'text/csv' }

const add = async (api: Api, more: object = {}, status = 201) => {
  const answer = await api.post('/v1/suppressions', { ...ada, ...more })
  expect(answer, answer.text).toMatchObject({ status })
  return answer.body
}
const listed = async (api: Api, query = '') => (await api.get(`/v1/suppressions?${query}`)).body.data
const addresses = async (api: Api, query = '') =>
  (await listed(api, query)).map(({ address }: { address: string }) => address)

describe('adding', () => {
  test('an address shows the whole entry, in the form in which it is compared', async () => {
    const api = await server.freshApi()
    const entry = await add(api, { address: ' Ada@EXAMPLE.com', note: 'by phone' })
    expect(entry).toEqual({
      ...{ _id: expect.any(String), ...ada, addressHash: expect.stringMatching(/^[0-9a-f]{64}$/), reason: 'manual' },
      ...{ scope: { type: 'all' }, source: 'api', subscriberId: null, integrationId: null, messageId: null },
      ...{ note: 'by phone', expiresAt: null, createdAt: expect.any(String), updatedAt: expect.any(String) },
    })
    expect(await api.get(`/v1/suppressions/${entry._id}`)).toMatchObject({ status: 200, body: entry })
  })

  test('the same again returns that entry with the later end', async () => {
    const api = await server.freshApi()
    const inDays = (days: number) => new Date(server.clock.now().getTime() + days * 86_400_000).toISOString()
    const { _id } = await add(api, { expiresAt: inDays(2) })
    expect(await add(api, { expiresAt: inDays(1) }, 200)).toMatchObject({ _id, expiresAt: inDays(2) })
    expect(await add(api, { expiresAt: inDays(3) }, 200)).toMatchObject({ _id, expiresAt: inDays(3) })
    expect(await add(api, { address: 'ADA@example.com' }, 200)).toMatchObject({ _id, expiresAt: null })
    expect(await add(api, { expiresAt: inDays(1) }, 200)).toMatchObject({ _id, expiresAt: null })
    for (const other of [{ reason: 'complaint' }, { scope: { type: 'commercial' } }, { channel: 'push' }])
      expect((await add(api, other))._id).not.toBe(_id)
  })

  test('one that has expired begins anew', async () => {
    const api = await server.freshApi()
    const { _id } = await add(api, { expiresAt: new Date(server.clock.now().getTime() + 1_000) })
    server.clock.advance({ seconds: 1 })
    expect(await listed(api)).toEqual([])
    expect(await listed(api, 'includeExpired=true')).toMatchObject([{ _id }])
    expect((await add(api))._id).not.toBe(_id)
    expect(await listed(api, 'includeExpired=true')).toHaveLength(1)
  })

  test('a scope names a workflow that exists, or a category', async () => {
    const api = await server.freshApi()
    await makeWorkflow(api, 'news', [])
    const workflow = { type: 'workflow', workflowId: 'news' }
    expect(await add(api, { scope: workflow })).toMatchObject({ scope: workflow })
    const category = { type: 'category', category: 'offers', except: ['news'] }
    expect(await add(api, { scope: category })).toMatchObject({ scope: category })
    // Who holds back more wins.
    expect(await add(api, { scope: { type: 'category', category: 'offers' } }, 200)).toMatchObject({
      scope: { ...category, except: [] },
    })
  })

  test('by a person is noted as such', async () => {
    const api = await server.freshApi()
    const editor = await signInAs(server, api, 'editor')
    const answer = await editor.send('POST', '/v1/suppressions', ada)
    expect(answer, answer.text).toMatchObject({ status: 201, body: { source: 'dashboard' } })
  })

  test.each([
    [{ address: 'ada' }, 'suppression_address_invalid', '"ada" is no address for email'],
    [{ channel: 'sms', address: '123' }, 'suppression_address_invalid', '"123" is no address for sms'],
    [{ scope: { type: 'workflow', workflowId: 'x' } }, 'suppression_workflow_unknown', 'There is no workflow x'],
    [
      { expiresAt: '2020-01-01T00:00:00.000Z' },
      'suppression_expired',
      'expiresAt lies in the past, leave it out to suppress for ever',
    ],
  ])('%j is refused', async (more, code, message) => {
    expect(await server.api.post('/v1/suppressions', { ...ada, ...more })).toMatchObject({
      status: 422,
      body: { code, message },
    })
  })

  test.each([
    { channel: 'in_app' },
    { reason: 'soft_bounces' },
    { scope: { type: 'workflow' } },
    { scope: { type: 'category' } },
    { scope: { type: 'category', category: 'No' } },
    { note: 'x'.repeat(501) },
    { expiresAt: 'soon' },
  ])('%j is no entry', async (more) => {
    expect(await server.api.post('/v1/suppressions', { ...ada, ...more })).toMatchObject({ status: 422 })
  })
})

test('the list is newest first, filtered and paged', async () => {
  const api = await server.freshApi()
  for (const [index, more] of [
    { address: 'one@example.com' },
    { address: 'two@example.com', reason: 'complaint' },
    { address: 'tag', channel: 'push', scope: { type: 'commercial' } },
  ].entries()) {
    server.clock.advance({ seconds: index + 1 })
    await add(api, more)
  }
  expect(await addresses(api)).toEqual(['tag', 'two@example.com', 'one@example.com'])
  expect(await addresses(api, 'reason=complaint')).toEqual(['two@example.com'])
  expect(await addresses(api, 'channel=push')).toEqual(['tag'])
  expect(await addresses(api, 'scope=commercial')).toEqual(['tag'])
  expect(await addresses(api, 'source=import')).toEqual([])
  expect(await addresses(api, 'subscriberId=ada')).toEqual([])
  expect(await addresses(api, 'address=ONE@example.com')).toEqual(['one@example.com'])
  expect(await addresses(api, 'address=tag&channel=email')).toEqual([])
  const first = (await api.get('/v1/suppressions?limit=2')).body
  expect(first).toMatchObject({ totalCount: 3, previous: null })
  expect(await addresses(api, `limit=2&after=${first.next}`)).toEqual(['one@example.com'])
  expect(await api.get('/v1/suppressions?limit=101')).toMatchObject({ status: 422 })
})

test('removing tells of it; a complaint is protected', async () => {
  const api = await server.freshApi()
  await api.post('/v2/webhooks/endpoints', { url: 'http://127.0.0.1:1/', eventTypes: ['suppression.removed'] })
  const { _id } = await add(api)
  expect(await api.delete(`/v1/suppressions/${_id}`)).toMatchObject({ status: 204 })
  for (const again of [api.delete(`/v1/suppressions/${_id}`), api.get(`/v1/suppressions/${_id}`)])
    expect(await again).toMatchObject({
      status: 404,
      body: { code: 'suppression_not_found', message: `There is no suppression ${_id}` },
    })
  server.clock.advance({ seconds: 1 })
  const complaint = `/v1/suppressions/${(await add(api, { reason: 'complaint' }))._id}`
  expect(await api.delete(complaint)).toMatchObject({
    status: 409,
    body: {
      code: 'suppression_protected',
      message: 'Somebody has complained; to write to this address again, say force=true',
    },
  })
  expect(await api.delete(`${complaint}?force=true`)).toMatchObject({ status: 204 })
  const events = (await api.get('/v2/webhooks/events')).body.data
  expect(events).toHaveLength(2)
  expect(events[1]).toMatchObject({ type: 'suppression.removed', data: { object: { _id, address: ada.address } } })
})

test('a check says which entry would decide', async () => {
  const api = await server.freshApi()
  await makeWorkflow(api, 'news', [])
  await makeWorkflow(api, 'alarm', [], {
    preferences: { user: null, workflow: { all: { enabled: true, readOnly: true } } },
  })
  const check = async (more: object = {}) => (await api.post('/v1/suppressions/check', { ...ada, ...more })).body
  expect(await check()).toEqual({ suppressed: false, entry: null })
  const entry = await add(api, { scope: { type: 'workflow', workflowId: 'news' } })
  expect(await check()).toEqual({ suppressed: false, entry: null })
  expect(await check({ workflowId: 'news', address: 'ADA@example.com' })).toEqual({ suppressed: true, entry })
  await add(api)
  expect(await check({ workflowId: 'alarm' })).toEqual({ suppressed: false, entry: null })
  expect(await api.post('/v1/suppressions/check', { ...ada, workflowId: 'x' })).toMatchObject({
    status: 422,
    body: { code: 'suppression_workflow_unknown' },
  })
  expect(await api.post('/v1/suppressions/check', { ...ada, address: 'x' })).toMatchObject({ status: 422 })
})

describe('CSV', () => {
  const importing = (api: Api, text: string | Uint8Array, headers = csv) =>
    api.post('/v1/suppressions/import', text, headers)

  test('good rows are taken, bad ones told, repeated ones counted as existing', async () => {
    const api = await server.freshApi()
    const text = 'address,reason\nada@example.com,\nnobody,\nADA@example.com,manual\nbob@example.com,complaint\n'
    expect(await importing(api, text)).toMatchObject({
      status: 200,
      body: {
        ...{ imported: 2, existing: 1, rejected: 1 },
        errors: [{ line: 3, problem: '"nobody" is no address for email' }],
      },
    })
    expect((await importing(api, text)).body).toMatchObject({ imported: 0, existing: 3, rejected: 1 })
    expect(await listed(api)).toMatchObject([{ source: 'import' }, { source: 'import' }])
  })

  test('of one entry twice in a file, the later end and the common exceptions count', async () => {
    const api = await server.freshApi()
    const until = (days: number) => new Date(server.clock.now().getTime() + days * 86_400_000).toISOString()
    const lines = [
      'address,reason,scope,expiresAt,note',
      `ada@example.com,manual,all,,For ever`,
      `ada@example.com,manual,all,${until(1)},`,
      `bob@example.com,manual,all,${until(9)},`,
      `bob@example.com,manual,all,${until(2)},`,
      'cleo@example.com,unsubscribe,category:offers|news|weekly,,',
      'cleo@example.com,unsubscribe,category:offers|weekly|daily,,',
    ]
    expect((await importing(api, lines.join('\n'))).body).toMatchObject({ imported: 3, existing: 3, rejected: 0 })
    const found = Object.fromEntries((await listed(api)).map((entry: { address: string }) => [entry.address, entry]))
    expect(found).toMatchObject({
      'ada@example.com': { expiresAt: null, note: 'For ever' },
      'bob@example.com': { expiresAt: until(9) },
      'cleo@example.com': { scope: { category: 'offers', except: ['weekly'] } },
    })
  })

  test('an export imported elsewhere gives the same list, and here nothing new', async () => {
    const { development: api, production: other } = await server.freshOrganization()
    await makeWorkflow(api, 'news', [])
    await add(api, { note: '=1+1', scope: { type: 'workflow', workflowId: 'news' } })
    await add(api, { address: 'bob@example.com', scope: { type: 'category', category: 'offers', except: ['news'] } })
    await add(api, { channel: 'sms', address: '+14155550123', reason: 'stop', scope: { type: 'commercial' } })
    await add(api, { address: 'gone@example.com', expiresAt: new Date(server.clock.now().getTime() + 1_000) })
    server.clock.advance({ seconds: 1 })
    const exported = await api.get('/v1/suppressions/export')
    expect(exported).toMatchObject({ status: 200 })
    expect(exported.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(exported.text.split('\r\n')).toHaveLength(5)
    expect(exported.text).toContain(`,'=1+1`)
    expect((await importing(other, exported.text)).body).toMatchObject({ imported: 3, existing: 0, rejected: 0 })
    expect((await importing(api, exported.text)).body).toMatchObject({ imported: 0, existing: 3, rejected: 0 })
    const facts = async (of: Api) =>
      (await listed(of))
        .map(({ channel, address, addressHash, reason, scope, note, expiresAt }: Record<string, unknown>) =>
          JSON.stringify({ channel, address, addressHash, reason, scope, note, expiresAt }),
        )
        .sort()
    expect(await facts(other)).toEqual(await facts(api))
  })

  test('notes that begin with an apostrophe or a space stay as they are when imported here', async () => {
    const api = await server.freshApi()
    await add(api, { note: "'=x" })
    await add(api, { address: 'bob@example.com', note: ' lead ' })
    const { text } = await api.get('/v1/suppressions/export')
    expect((await importing(api, text)).body).toMatchObject({ imported: 0, existing: 2, rejected: 0 })
    expect((await listed(api)).map(({ note }: { note: string }) => note)).toEqual([' lead ', "'=x"])
  })

  test('what is no CSV is refused', async () => {
    const api = await server.freshApi()
    const refused = async (text: string | Uint8Array, status: number, code: string, headers = csv) =>
      expect(await importing(api, text, headers)).toMatchObject({ status, body: { code } })
    await refused('', 400, 'csv_invalid')
    await refused('address\n"x', 400, 'csv_invalid')
    await refused(Uint8Array.of(0xff, 0xfe), 400, 'csv_invalid')
    await refused(`address\n${'a@b.example\n'.repeat(100_001)}`, 413, 'too_many_rows')
    await refused('x'.repeat(10 * 1024 * 1024 + 1), 413, 'body_too_large')
    await refused('{}', 415, 'csv_expected', { 'content-type': 'application/json' })
  })
})

test('what people and keys do is in the audit log, without addresses', async () => {
  const { development: api } = await server.freshOrganization()
  const { _id } = await add(api, { reason: 'unsubscribe' })
  await api.delete(`/v1/suppressions/${_id}`)
  await api.post('/v1/suppressions/import', 'address\nada@example.com', csv)
  await api.get('/v1/suppressions/export')
  const entries = (await api.get('/v1/audit?action=suppression')).body.data
  expect(entries.map(({ action, details }: Record<string, unknown>) => [action, details])).toEqual([
    ['suppression.exported', {}],
    ['suppression.imported', { imported: 1, existing: 0, rejected: 0 }],
    ['suppression.removed', {}],
    ['suppression.added', { channel: 'email', reason: 'unsubscribe', scope: 'all' }],
  ])
  expect(JSON.stringify(entries)).not.toContain('ada@example.com')
})

test('an erasure keeps the entry without the person, and an export has it', async () => {
  const api = await server.freshApi()
  await api.post('/v2/subscribers', { subscriberId: 'ada', email: 'Ada@example.com', phone: '+1 415 555 0123' })
  const { _id, addressHash } = await add(api, { note: 'a note' })
  await add(api, { channel: 'sms', address: '+14155550123' })
  await add(api, { address: 'bob@example.com' })
  const exported = JSON.parse((await api.get('/v2/subscribers/ada/export')).text)
  expect(exported.data.suppressions).toMatchObject([{ id: _id, addressHash, address: ada.address }, { channel: 'sms' }])
  expect(await api.post('/v2/subscribers/ada/erase', {})).toMatchObject({ status: 202 })
  expect((await api.get(`/v1/suppressions/${_id}`)).body).toMatchObject({ addressHash, address: null, note: null })
  expect(await listed(api, `address=${ada.address}`)).toMatchObject([{ _id }])
  expect(await addresses(api)).toEqual(['bob@example.com', null, null])
  expect((await api.post('/v1/suppressions/check', ada)).body).toMatchObject({ suppressed: true })
})
