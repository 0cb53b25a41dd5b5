// Importing from Novu: Belfry under that brand is the source, and must reproduce itself. files.md §6.
import { existsSync, readdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { addIntegration } from '../../../server/test/integrations.ts'
import { makeWorkflow, trigger } from '../../../server/test/runs.ts'
import { type Api, useServer } from '../../../server/test/server.ts'
import { novu as novuSource } from '../../src/import/novu/source.ts'
import { contentsOf, useCommand } from '../command.ts'
import { plant, read, unaccounted } from './reading.ts'
import { cutAfter, everythingIn } from './sameness.ts'

const server = useServer({ brand: 'novu', retention: { activityDays: 90, messageDays: 365 } })
const command = useCommand()
let source: Api
let target: Api
let other: Awaited<ReturnType<typeof server.startAnother>>
let folder: string

beforeAll(async () => {
  other = await server.startAnother({ brand: 'svc' })
  source = await server.freshApi()
  await populate(source)
  return () => other.stop()
})
beforeEach(async () => {
  const made = await server.freshOrganizationWide()
  target = made.development
  folder = command.newFolder()
})

const place = () => ({
  url: other.url,
  key: target.key,
  env: { NOVU_SECRET_KEY: source.key, BELFRY_ENVIRONMENT: target.environmentId },
})
const belfry = (...args: string[]) => command.run(folder, place(), ...args)
const novu = (...args: string[]) => belfry('import', 'novu', '--from', source.url, '--json', ...args)

async function populate(api: Api): Promise<void> {
  const ok = async (answer: Promise<{ status: number; text: string }>) => {
    const { status, text } = await answer
    expect(status, text).toBeLessThan(300)
  }
  const organization = await server.organizationOf(api)
  await ok(organization.patch('/v1/organizations/settings', { targetLocales: ['fr_FR'] }))
  await ok(
    api.put('/v2/layouts/letter?upsert=true', {
      name: 'Letter',
      controlValues: { email: { body: '<html><body>{{content}}</body></html>', editorType: 'html' } },
    }),
  )
  await makeWorkflow(
    api,
    'comments',
    [
      { type: 'digest', stepId: 'collect', controlValues: { amount: 10, unit: 'minutes', digestKey: 'payload.post' } },
      {
        type: 'in_app',
        stepId: 'inbox',
        controlValues: {
          subject: 'News',
          body: '{{payload.who}}',
          primaryAction: { label: 'Open', redirect: { url: '/x' } },
        },
      },
      {
        ...{
          type: 'email',
          stepId: 'mail',
          controlValues: { subject: 'Hi', editorType: 'html', body: '<p>{{payload.who}}</p>', layoutId: 'letter' },
        },
        filters: [
          {
            isNegated: false,
            type: 'GROUP',
            value: 'AND',
            children: [{ field: 'plan', value: 'pro', operator: 'EQUAL', on: 'subscriber' }],
          },
        ],
        variants: [
          {
            name: 'Short',
            filters: [
              {
                isNegated: false,
                type: 'GROUP',
                value: 'OR',
                children: [{ field: 'x', value: '1', operator: 'EQUAL', on: 'payload' }],
              },
            ],
            controlValues: { subject: 'Short', editorType: 'html', body: '<p>x</p>' },
          },
        ],
      },
    ],
    {
      tags: ['a', 'b'],
      description: 'About comments',
      severity: 'high',
      isTranslationEnabled: true,
      preferences: {
        user: { all: { enabled: true }, channels: { email: { enabled: false } } },
        workflow: { all: { enabled: true, readOnly: false } },
      },
    },
  )
  await makeWorkflow(api, 'welcome', [
    { type: 'in_app', stepId: 'inbox', controlValues: { body: 'Welcome' } },
    {
      ...{ type: 'branch', stepId: 'choose' },
      controlValues: {
        arms: [
          {
            name: 'pro',
            condition: { '==': [{ var: 'subscriber.data.plan' }, 'pro'] },
            steps: [{ stepId: 'text', name: 'Text', type: 'sms', controlValues: { body: 'Hi' } }],
          },
        ],
        default: { steps: [] },
      },
    },
  ])
  await ok(
    api.post('/v2/translations', {
      resourceId: 'comments',
      resourceType: 'workflow',
      locale: 'en_US',
      content: { hello: 'Hello' },
    }),
  )
  await ok(
    api.post('/v2/translations', {
      resourceId: 'comments',
      resourceType: 'workflow',
      locale: 'fr_FR',
      content: { hello: 'Bonjour' },
    }),
  )
  await addIntegration(server, api, { identifier: 'phones', provider: 'fcm', channel: 'push', active: true })
  await addIntegration(server, api, { identifier: 'hooks', provider: 'discord', channel: 'chat', active: true })
  await ok(
    api.post('/v1/integrations', {
      providerId: 'sendgrid',
      channel: 'email',
      identifier: 'mails',
      name: 'Mails',
      active: true,
      credentials: { apiKey: 'SG.secret', from: 'a@example.com', senderName: 'A' },
    }),
  )
  await ok(
    organization.post('/v1/environment-variables', {
      key: 'SITE',
      values: [{ _environmentId: api.environmentId, value: 'https://example.com' }],
    }),
  )
  await ok(api.post('/v1/tenants', { identifier: 'acme', name: 'Acme', data: { tier: 1 } }))
  await ok(api.post('/v2/contexts', { type: 'region', id: 'eu', data: { zone: 'x' } }))
  await ok(
    api.post('/v1/subscribers/bulk', {
      subscribers: Array.from({ length: 105 }, (_, n) => ({
        subscriberId: `s-${String(n).padStart(3, '0')}`,
        firstName: `N${n}`,
        data: { n },
      })),
    }),
  )
  await ok(
    api.post('/v2/subscribers', {
      subscriberId: 'ada',
      firstName: 'Ada',
      lastName: 'L',
      email: 'ada@example.com',
      phone: '+15551234567',
      avatar: 'https://example.com/a.png',
      locale: 'en_GB',
      timezone: 'Europe/London',
      data: { plan: 'pro' },
    }),
  )
  await ok(
    api.put('/v1/subscribers/ada/credentials', {
      providerId: 'fcm',
      integrationIdentifier: 'phones',
      credentials: { deviceTokens: ['t1', 't2'] },
    }),
  )
  await ok(
    api.put('/v1/subscribers/ada/credentials', {
      providerId: 'discord',
      integrationIdentifier: 'hooks',
      credentials: { webhookUrl: 'https://example.com/hook' },
    }),
  )
  await ok(
    api.patch('/v2/subscribers/ada/preferences', {
      channels: { sms: false },
      schedule: {
        isEnabled: true,
        weeklySchedule: { monday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] } },
      },
    }),
  )
  await ok(
    api.patch('/v2/subscribers/ada/preferences', { workflowId: 'comments', channels: { email: true, in_app: false } }),
  )
  await ok(api.post('/v2/topics', { key: 'posts', name: 'Posts' }))
  await ok(
    api.post('/v2/topics/posts/subscriptions', {
      subscriptions: [{ subscriberId: 'ada', identifier: 'mine', name: 'Mine' }, 's-001'],
      preferences: [{ workflowId: 'comments', enabled: false }],
    }),
  )
  for (const [n, to] of ['ada', 'ada', 's-001'].entries())
    await trigger(api, 'welcome', to, { transactionId: `welcome-${n}` })
  await server.drain()
  const { data } = (await api.get('/v2/subscribers/ada/notifications')).body
  await ok(api.patch(`/v2/subscribers/ada/notifications/${data[0].id}/read`))
  await ok(api.patch(`/v2/subscribers/ada/notifications/${data[1].id}/archive`))
}

describe('by its address', () => {
  test('a dry run writes nothing, and reports what there is', async () => {
    const before = await everythingIn(target, other.url)
    const { code, json } = await novu()
    expect(code).toBe(0)
    expect(json).toMatchObject({
      source: 'novu',
      kinds: {
        ...{ workflows: { found: 2 }, layouts: { found: 2 }, translations: { found: 2 }, topics: { found: 1 } },
        ...{ subscribers: { found: 106, imported: 0 }, preferences: { found: 2 }, credentials: { found: 2 } },
        ...{
          'topic-subscriptions': { found: 2 },
          messages: { found: 3 },
          tenants: { found: 1 },
          contexts: { found: 1 },
        },
      },
    })
    expect(await everythingIn(target, other.url)).toEqual(before)
    expect(readdirSync(folder)).toEqual([])
  })

  test('the report accounts for every member of every answer', async () => {
    const planted: Array<{ name: string; path: string[] }> = []
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const { pathname } = new URL(request.url ?? '', 'http://x')
      const headers = { authorization: request.headers.authorization ?? '' }
      const given = await fetch(source.url + request.url, { headers })
      // Schemas and texts come as they are, whatever is in them.
      const left = ['payloadSchema', 'tracking', ...(pathname.includes('master-json') ? ['workflows', 'layouts'] : [])]
      const { planted: body, places } = plant(await given.json(), left)
      const number = planted.length
      planted.push(...places.map(({ name, path: at }) => ({ name: `${name}of${number}`, path: [pathname, ...at] })))
      response.writeHead(given.status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body).replaceAll(/planted\d+/g, `$&of${number}`))
    }
    const proxy = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done))
    const from = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const result = await read(novuSource({ from }, { NOVU_SECRET_KEY: source.key })).finally(() => proxy.close())
    // What these lists have is read again one by one; the frame of a page, and what names another thing, are no content.
    const isContent = ({ path: [place = '', ...at] }: { path: string[] }) =>
      !/^\/v1\/environments\/me$|^\/v2\/(?:workflows|layouts|translations\/list)$/.test(place) &&
      !(at.length === 0 && /^\/v2\/(?:subscribers|topics|contexts)$|\/subscriptions$|^\/v1\//.test(place)) &&
      !(place.endsWith('/subscriptions') && at.length > 2) &&
      !(/\/preferences$|\/subscriptions\//.test(place) && at.includes('workflow'))
    const derived = ['updatedBy', 'variables', 'dataSchema', 'uiSchema', 'issues', 'payloadExample', 'controls']
    const wholes = [...derived, 'configurations', 'template', 'subscriber', 'payload', 'overrides']
    const found = planted.filter(isContent)
    expect(found.length).toBeGreaterThan(300)
    expect(unaccounted(found, result, wholes)).toEqual([])
  })

  test('reproduces itself: everything reads the same on both sides, and the same again changes nothing', async () => {
    const { code, json, stderr } = await novu('--apply', '--report', path.join(folder, 'out.md'))
    expect(code, stderr).toBe(0)
    expect(
      json.unmapped.filter(({ code: why }: { code: string }) => !['secret', 'not_readable'].includes(why)),
    ).toEqual([])
    expect(await everythingIn(target, other.url)).toEqual(await everythingIn(source, other.url))
    const report = contentsOf(folder)['out.md'] ?? ''
    expect(report).toContain('MAILS_APIKEY')
    expect(JSON.stringify(json) + report).not.toContain('SG.secret')
    expect(existsSync(path.join(folder, '.belfry', 'imports'))).toBe(true)
    // No items of people are left behind.
    expect(Object.keys(contentsOf(path.join(folder, '.belfry'))).every((file) => file.endsWith('bases.json'))).toBe(
      true,
    )

    const again = (await novu('--apply')).json
    for (const [kind, { imported, failed }] of Object.entries(again.kinds) as Array<
      [string, { imported: number; failed: number }]
    >)
      expect([kind, imported, failed]).toEqual([kind, 0, 0])
    const { body } = await fetch(`${other.url}/v2/workflows/comments/versions`, {
      headers: { authorization: `ApiKey ${target.key}`, 'belfry-environment': target.environmentId },
    }).then(async (answer) => ({ body: (await answer.json()) as { data: Array<{ source: unknown }> } }))
    expect(body.data.map(({ source: from }) => from)).toEqual([{ kind: 'import', from: 'novu' }])
  })

  test('an import that is cut anywhere goes on, and ends as one that was not', async () => {
    const whole = await everythingIn(source, other.url)
    for (const isAnswered of [false, true]) {
      const made = await server.freshOrganizationWide()
      target = made.development
      folder = command.newFolder()
      let runs = 0
      for (let requests = 1; ; requests += 3) {
        const proxy = await cutAfter(other.url, requests, { isAnswered })
        const { code } = await command.run(
          folder,
          { ...place(), url: other.url, env: { ...place().env, BELFRY_URL: proxy.url } },
          'import',
          'novu',
          '--from',
          source.url,
          '--apply',
          '--url',
          proxy.url,
        )
        await proxy.close()
        runs += 1
        if (code === 0) break
        expect(code).toBe(4)
        expect(runs).toBeLessThan(40)
      }
      expect(runs).toBeGreaterThan(3)
      expect(await everythingIn(target, other.url)).toEqual(whole)
    }
  })

  test('definitions become files with --dir, which can be pushed', async () => {
    await novu('--dir', 'belfry')
    expect(Object.keys(contentsOf(path.join(folder, 'belfry')))).toEqual(
      expect.arrayContaining([
        ...['belfry.yaml', 'integrations.yaml', 'topics.yaml', 'variables.yaml', 'layouts/letter/body.html'],
        ...['translations/fr_FR.json', 'workflows/comments/workflow.yaml', 'workflows/comments/mail.html'],
      ]),
    )
    expect(
      (await belfry('validate', '--json')).json.problems.filter(
        ({ severity }: { severity: string }) => severity === 'error',
      ),
    ).toEqual([])
    // Files that say the same are no problem, in whatever order.
    const again = (await novu('--dir', 'belfry')).json
    expect(again.unmapped.filter(({ code }: { code: string }) => code === 'exists')).toEqual([])
    // Pushed, it is the same as at the source.
    const pushed = await belfry('push', '--force', '--json')
    expect(pushed.code, pushed.stderr).toBe(0)
    const { definitions } = await everythingIn(target, other.url)
    expect(definitions).toEqual((await everythingIn(source, other.url)).definitions)
  })

  test('what was changed here stays, and is listed', async () => {
    await novu('--apply')
    const answer = await fetch(`${other.url}/v2/workflows/comments`, {
      ...{ method: 'PATCH', body: JSON.stringify({ name: 'Ours' }) },
      headers: {
        authorization: `ApiKey ${target.key}`,
        'belfry-environment': target.environmentId,
        'content-type': 'application/json',
      },
    })
    expect(answer.status).toBe(200)
    await source.patch('/v2/workflows/comments', { name: 'Theirs' })
    const { json } = await novu('--apply')
    expect(json.unmapped).toContainEqual(expect.objectContaining({ kind: 'workflow', id: 'comments', code: 'exists' }))
    await source.patch('/v2/workflows/comments', { name: 'comments' })
  })

  test('without a key of the source, or with a wrong place, it says so', async () => {
    expect(
      await command.run(folder, { url: other.url, key: target.key }, 'import', 'novu', '--from', source.url),
    ).toMatchObject({ code: 2, stderr: expect.stringContaining('NOVU_SECRET_KEY') })
    expect(await belfry('import', 'novu', '--from', 'nowhere')).toMatchObject({ code: 2 })
    expect(await belfry('import', 'nothing')).toMatchObject({ code: 2 })
  })
})
