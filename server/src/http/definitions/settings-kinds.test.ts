// Topics, integrations and variables in files: files.md §2, §3.
import { beforeEach, describe, expect, test } from 'vitest'
import { signInAs } from '../../../test/people.ts'
import { type Api, useServer } from '../../../test/server.ts'

const server = useServer()
let api: Api
/** With the key of one environment. */
let bound: Api
beforeEach(async () => {
  ;({ development: bound } = await server.freshOrganization())
  api = await server.organizationOf(bound)
})

type Definition = Record<string, unknown>
const topic = (more: Definition = {}) => ({ kind: 'topic', id: 'news', definition: { key: 'news', ...more } })
const integration = (more: Definition = {}, besides: Definition = {}) => ({
  ...{ kind: 'integration', id: 'mails', ...besides },
  definition: {
    ...{ identifier: 'mails', name: 'Mails', channel: 'email', providerId: 'sendgrid', active: true },
    credentials: { apiKey: 'SG.secret', from: 'hello@example.com' },
    ...more,
  },
})
const variable = (more: Definition = {}) => ({
  ...{ kind: 'variable', id: 'SITE' },
  definition: { key: 'SITE', value: 'https://example.com', ...more },
})
const kinds = 'kinds=topic,integration,variable'

const push = (resources: object[], more: object = {}, to = api) =>
  to.post('/v2/definitions/push', { resources, ...more })
async function pushed(resources: object[], more: object = {}) {
  const answer = await push(resources, more)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}
const problemsOf = async (resources: object[]) => {
  const answer = await push(resources)
  expect(answer.body.code).toBe('definitions_invalid')
  return answer.body.ctx.problems.map(({ path, message }: any) => `${path}: ${message}`)
}
const read = async (id: string) => (await api.get(`/v2/definitions?${kinds}&ids=${id}`)).body.resources[0]

describe('topics, integrations and variables', () => {
  test('are not read unless asked for, and are pushed with everything else, once', async () => {
    const first = await pushed([variable(), topic({ name: 'News' }), integration()])
    expect(first.summary).toEqual({ created: 3, updated: 0, deleted: 0, unchanged: 0 })
    expect((await pushed([variable(), topic({ name: 'News' }), integration()])).summary.unchanged).toBe(3)
    const all = (await api.get(`/v2/definitions?${kinds}`)).body.resources
    expect(all.map(({ kind, version }: any) => [kind, version])).toContainEqual(['topic', null])
    expect(all.filter(({ files }: any) => files).map(({ definition }: any) => definition)).toEqual([
      {
        ...{ identifier: 'mails', name: 'Mails', channel: 'email', providerId: 'sendgrid', active: true },
        credentials: { apiKey: { $secret: 'MAILS_APIKEY' }, from: 'hello@example.com' },
      },
      { key: 'news', name: 'News' },
      { key: 'SITE', value: 'https://example.com' },
    ])
    const usual = (await api.get('/v2/definitions')).body.resources
    expect(usual.map(({ kind }: any) => kind)).toEqual(['layout'])
  })

  test('what a file leaves out becomes the default', async () => {
    await pushed([topic({ name: 'News', joinableFromBrowser: true }), integration()])
    await pushed([topic(), integration({ active: false })])
    expect((await read('news')).definition).toEqual({ key: 'news' })
    expect((await read('mails')).definition).not.toHaveProperty('active')
  })

  test('an edit made elsewhere is a conflict', async () => {
    await pushed([topic({ name: 'News' })])
    await api.patch('/v2/topics/news', { name: 'Other' })
    const answer = await push([topic({ name: 'Mine' })])
    expect(answer.body.ctx.conflicts).toMatchObject([{ kind: 'topic', id: 'news', why: 'changed' }])
  })

  test('are pruned when the list no longer has them', async () => {
    await pushed([topic(), integration({ primary: true }), variable()])
    const { changes } = await pushed([], { prune: true })
    expect(changes.map(({ kind, action }: any) => [kind, action])).toEqual([
      ['integration', 'deleted'],
      ['topic', 'deleted'],
      ['variable', 'deleted'],
    ])
    const list = (await api.get('/v1/integrations')).body
    expect(list.filter(({ channel, primary }: any) => channel === 'email' && primary)).toHaveLength(1)
    expect((await api.get('/v2/topics/news')).status).toBe(404)
  })
})

describe('secrets', () => {
  test('a reference keeps the stored value, and a new value is a change that shows none', async () => {
    await pushed([integration(), variable({ isSecret: true, value: 'hush' })])
    const references = [
      integration({ credentials: { apiKey: { $secret: 'ANY_NAME' }, from: 'hello@example.com' } }),
      variable({ isSecret: true, value: { $secret: 'SITE_VALUE' } }),
    ]
    expect((await pushed(references)).summary.unchanged).toBe(2)
    const stored = (await api.get('/v1/integrations')).body.find(({ identifier }: any) => identifier === 'mails')
    expect(stored.credentials.apiKey).toBe('SG.secret')
    const plan = await api.post('/v2/definitions/plan', {
      resources: [integration({ credentials: { apiKey: 'SG.other', from: 'hello@example.com' } })],
    })
    expect(plan.body.changes[0].paths).toEqual([{ path: 'credentials.apiKey', before: null, after: null }])
    expect(JSON.stringify((await api.get(`/v2/definitions?${kinds}`)).body)).not.toMatch(/SG\.|hush/)
  })

  test('a new integration without its secret is inactive, with a warning; a variable without is left out', async () => {
    const answer = await pushed([
      integration({ primary: true, credentials: { apiKey: { $secret: 'MAILS_APIKEY' } } }),
      variable({ isSecret: true, value: { $secret: 'SITE_VALUE' } }),
    ])
    expect(answer.issues).toMatchObject([
      { kind: 'variable', id: 'SITE', path: 'value', issueType: 'MISSING_SECRET' },
      { kind: 'integration', id: 'mails', path: 'credentials.apiKey', issueType: 'MISSING_SECRET' },
    ])
    expect((await read('mails')).definition).not.toHaveProperty('active')
    expect(await read('SITE')).toBeUndefined()
    await pushed([integration({ primary: true, credentials: { apiKey: { $secret: 'MAILS_APIKEY' } } })])
    expect((await read('mails')).definition).not.toHaveProperty('active')
    await pushed([integration({ primary: true })])
    expect((await read('mails')).definition).toMatchObject({ active: true, primary: true })
  })

  test('a secret variable is not shown later', async () => {
    await pushed([variable({ isSecret: true, value: 'hush' })])
    expect(await problemsOf([variable({ value: { $secret: 'SITE_VALUE' } })])).toEqual([
      expect.stringMatching(/^isSecret: the values of a secret are not shown later/),
    ])
  })
})

describe('integrations', () => {
  test('one is primary per channel: the one before loses it', async () => {
    const { changes } = await pushed([integration({ primary: true })])
    expect(changes).toMatchObject([
      { kind: 'integration', id: expect.stringMatching(/^email-sandbox/), action: 'updated' },
      { kind: 'integration', id: 'mails', action: 'created' },
    ])
    const emails = (await api.get('/v1/integrations')).body.filter(({ channel }: any) => channel === 'email')
    expect(emails.map(({ identifier, primary, priority }: any) => [identifier.slice(0, 5), primary, priority])).toEqual(
      [
        ['email', false, 1],
        ['mails', true, 2],
      ],
    )
  })

  test('what cannot be is named', async () => {
    expect(await problemsOf([integration({ providerId: 'pigeon' })])).toEqual([
      'providerId: there is no provider "pigeon"',
    ])
    expect(await problemsOf([integration({ channel: 'sms' })])).toEqual(['channel: "sendgrid" is a provider of email'])
    expect(await problemsOf([integration({ active: false, primary: true })])).toEqual([
      'primary: a primary integration has to be active',
    ])
    const second = { ...integration({ identifier: 'two', primary: true }), id: 'two' }
    expect(await problemsOf([integration({ primary: true }), second])).toEqual(['primary: "mails" is primary already'])
    const native = integration({ providerId: 'svc-email', credentials: {} })
    expect(await problemsOf([native])).toEqual([
      expect.stringMatching(/has this provider, and an environment has it once/),
    ])
    expect(await problemsOf([integration({ colour: 'red' })])).toHaveLength(1)
    expect(await problemsOf([integration({}, { id: 'another' })])).toEqual([
      'identifier: is not the id "another" under which it was sent',
    ])
    await pushed([integration()])
    expect(await problemsOf([integration({ providerId: 'postmark' })])).toEqual([
      'providerId: an integration keeps its provider and channel; take another identifier',
    ])
    expect(await problemsOf([{ ...topic({ key: 'a b' }), id: 'a b' }])).toHaveLength(1)
  })
})

describe('who may', () => {
  test('integrations and variables take an admin, topics an editor', async () => {
    const editor = await signInAs(server, api, 'editor')
    expect((await push([topic()], {}, editor)).status).toBe(200)
    for (const resource of [integration(), variable()])
      expect((await push([resource], {}, editor)).body.code).toBe('insufficient_role')
    const admin = await signInAs(server, api, 'admin')
    expect((await push([integration(), variable()], {}, admin)).status).toBe(200)
    // The key of one environment does not make variables for all of them.
    const another = { kind: 'variable', id: 'NEW', definition: { key: 'NEW', value: 'x' } }
    expect((await push([another], {}, bound)).body.code).toBe('organization_key_needed')
    expect((await push([variable({ value: 'other' })], {}, bound)).status).toBe(200)
    // Nor can an editor delete them.
    expect((await push([], { prune: true }, editor)).body.code).toBe('insufficient_role')
  })
})
