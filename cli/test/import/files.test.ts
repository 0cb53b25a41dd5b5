// Importers that read files, with fixtures after the documented shapes of their services. files.md §6.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import { addIntegration } from '../../../server/test/integrations.ts'
import { type Api, useServer } from '../../../server/test/server.ts'
import { identifierOf } from '../../src/import/identifier.ts'
import { channelsIn, keepAnswers } from '../../src/import/knock/source.ts'
import { interrupt } from '../../src/interrupts.ts'
import { useCommand, write } from '../command.ts'
import * as fixtures from './fixtures.ts'

const server = useServer({ retention: { activityDays: 0, messageDays: 0 } })
const command = useCommand()
const root = fileURLToPath(new URL('../../..', import.meta.url))
let api: Api
let folder: string

beforeEach(async () => {
  api = await server.freshApi()
  folder = command.newFolder()
})

const run = (...args: string[]) => command.run(folder, { url: api.url, key: api.key }, 'import', ...args, '--json')
const applied = async (...args: string[]) => {
  const { code, json, stderr } = await run(...args, '--apply')
  expect(code, stderr).toBe(0)
  if (process.env.SHOW) console.log(JSON.stringify(json.unmapped, null, 1), stderr)
  return json
}
const lines = (values: object[]) => values.map((value) => JSON.stringify(value)).join('\n')
const get = async (at: string) => (await api.get(at)).body
const definition = async (id: string, kind = 'workflow') =>
  (await get(`/v2/definitions?kinds=${kind}&ids=${id}`)).resources[0]?.definition
type Report = any
const listed = ({ unmapped }: Report) =>
  unmapped.map(({ kind, id, path: at, code }: Report) => `${kind} ${id} ${at} ${code}`.replaceAll('  ', ' '))
const failures = ({ kinds }: Report) => Object.values(kinds).map(({ failed }: Report) => failed)

describe('Novu, files of mongoexport', () => {
  beforeEach(() =>
    write(
      folder,
      Object.fromEntries(
        Object.entries(fixtures.novu).map(([name, documents]) => [`novu/${name}.json`, lines(documents)]),
      ),
    ),
  )

  test('everything comes along: both versions of workflows, people, choices, tokens, topics and the inbox', async () => {
    const report = await applied('novu', '--from', 'novu')
    expect(failures(report).every((count) => count === 0)).toBe(true)
    expect(await definition('order-shipped')).toEqual({
      ...{ workflowId: 'order-shipped', name: 'Order shipped', tags: ['orders'], active: true, validatePayload: false },
      preferences: { workflow: { channels: { sms: { enabled: false } } } },
      steps: [
        {
          stepId: 'collect',
          name: 'collect',
          type: 'digest',
          controlValues: { type: 'regular', amount: 5, unit: 'minutes' },
        },
        {
          ...{ stepId: 'mail', name: 'Mail', type: 'email' },
          controlValues: {
            ...{
              subject: 'Order {{payload.order.id}}',
              editorType: 'html',
              layoutId: 'letter',
              from: { name: 'Shop' },
            },
            body: '<p>Hi {{subscriber.firstName}}, {% if payload.gift %}a gift{% else %}yours{% endif %}: {% for item in steps.collect.events %}{{item.name}} {% endfor %}</p>',
          },
          filters: [
            {
              isNegated: false,
              type: 'GROUP',
              value: 'AND',
              children: [{ on: 'payload', field: 'vip', value: 'true', operator: 'EQUAL' }],
            },
          ],
        },
      ],
    })
    expect(await definition('comments')).toMatchObject({
      ...{ workflowId: 'comments', name: 'Comments', active: true },
      preferences: { workflow: { all: { readOnly: true } } },
      steps: [{ stepId: 'inbox', type: 'in_app', controlValues: { body: 'Hello {{payload.who}}' } }],
    })
    expect(await definition('letter', 'layout')).toMatchObject({
      name: 'Letter',
      controlValues: { email: { body: expect.stringContaining('<body>\n<main>{{content}}</main>\n</body>') } },
    })
    expect(await definition('mails', 'integration')).toEqual({
      ...{ identifier: 'mails', name: 'Mails', channel: 'email', providerId: 'sendgrid' },
      credentials: { from: 'a@example.com' },
    })
    expect(await get('/v2/subscribers/ada')).toMatchObject({
      ...{ firstName: 'Ada', email: 'ada@example.com', data: { plan: 'pro' }, createdAt: '2025-01-02T03:04:05.000Z' },
      channels: [{ providerId: 'fcm', integrationIdentifier: 'phones', credentials: { deviceTokens: ['t1'] } }],
    })
    expect(await get('/v2/subscribers/ada/preferences')).toMatchObject({
      global: { channels: { email: false } },
      workflows: expect.arrayContaining([
        expect.objectContaining({
          channels: { email: true },
          workflow: expect.objectContaining({ identifier: 'order-shipped' }),
        }),
      ]),
    })
    expect((await get('/v2/subscribers/ada/notifications')).data).toMatchObject([
      {
        id: '65a1f0c2e4b0a1b2c3d4e5f6',
        body: 'Bob wrote',
        isRead: true,
        transactionId: 'c-1',
        primaryAction: { label: 'Open' },
      },
    ])
    expect((await get('/v2/topics/posts/subscriptions')).data).toMatchObject([{ subscriber: { subscriberId: 'ada' } }])
    // What is off for one subscription is off for that only.
    expect((await get('/v2/topics/posts/subscriptions/own')).preferences).toMatchObject([
      {
        ...{ enabled: false, workflow: { identifier: 'comments' } },
        condition: { '==': [{ var: 'payload.who' }, 'Bob'] },
      },
    ])
    expect(
      (await get('/v2/subscribers/ada/preferences')).workflows.filter(({ updatedAt }: Report) => updatedAt),
    ).toMatchObject([{ workflow: { identifier: 'order-shipped' } }])
    expect(report.kinds.preferences).toMatchObject({ found: 2 })
    expect((await get('/v1/tenants')).data).toMatchObject([{ identifier: 'acme' }])
    expect((await get('/v2/contexts/region/eu')).data).toEqual({ zone: 'x' })
    expect(await definition('en_US', 'translation')).toEqual({
      ...{ workflows: { comments: { hello: 'Hello' } }, layouts: { letter: { bye: 'Bye' } } },
    })
    expect((await get('/v2/subscribers/ada/preferences')).global.schedule).toMatchObject({
      ...{ isEnabled: true, weeklySchedule: { monday: { hours: [{ start: '09:00 AM', end: '05:00 PM' }] } } },
    })
    expect(listed(report)).toEqual(
      expect.arrayContaining([
        'integration mails credentials.apiKey secret',
        'workflow order-shipped steps.mail.template.preheader no_equivalent',
        'preferences ada _topicSubscriptionId not_found',
        'file jobs.json no_equivalent',
      ]),
    )
    expect(JSON.stringify(report)).not.toContain('nvsk.')
    const again = await applied('novu', '--from', 'novu')
    for (const [kind, { imported }] of Object.entries(again.kinds) as Report)
      expect([kind, imported]).toEqual([kind, 0])
  })

  test('several environments are not mixed: one is chosen, and variables have its values', async () => {
    const [one, other, none] = [1, 9, 8].map((n) => n.toString(16).padStart(24, '0')) as [string, string, string]
    const of = (id: string) => ({ _environmentId: { $oid: id } })
    const variable = (key: string, values: object[]) => ({ _id: { $oid: none }, key, values })
    write(folder, {
      'novu/environmentvariables.json': lines([
        variable('SITE', [
          { ...of(other), value: 'https://dev.example.com' },
          { ...of(one), value: 'https://example.com' },
        ]),
        variable('DEV_ONLY', [{ ...of(other), value: 'x' }]),
      ]),
    })
    const values = async (...args: string[]) => {
      const { code, json, stderr } = await run('novu', '--from', 'novu', '--dir', 'files', ...args)
      expect(code, stderr).toBe(0)
      const file = path.join(folder, 'files/variables.yaml')
      return { report: json, text: existsSync(file) ? readFileSync(file, 'utf8') : '' }
    }
    const { report: whole, text } = await values()
    expect(text).toContain('https://example.com')
    expect(text).not.toMatch(/dev\.example|DEV_ONLY/)
    expect(listed(whole)).toContain('variable DEV_ONLY values no_value')

    const dev = { _id: { $oid: none }, ...of(other), subscriberId: 'dev', firstName: 'Dev' }
    write(folder, { 'novu/subscribers.json': lines([...(fixtures.novu.subscribers ?? []), dev]) })
    const refused = await run('novu', '--from', 'novu', '--apply')
    expect(refused).toMatchObject({ code: 2, json: { error: { code: 'several_environments' } } })
    expect(refused.json.error.message).toMatch(new RegExp(`${one} and ${other}.*--source-environment`))
    const report = await applied('novu', '--from', 'novu', '--source-environment', one)
    expect(report.kinds.subscribers).toEqual({ found: 1, imported: 1, unchanged: 0, failed: 0 })
    expect((await api.get('/v2/subscribers/dev')).status).toBe(404)
    expect(report.changed).toContainEqual(
      expect.objectContaining({ kind: 'file', id: 'subscribers.json', from: '1 of other environments' }),
    )
    expect(await run('novu', '--from', 'novu', '--source-environment', none)).toMatchObject({
      ...{ code: 2, json: { error: { code: 'no_environment' } } },
    })
    // Variables alone do not say which environment is meant.
    write(folder, {
      'alone/environmentvariables.json': readFileSync(path.join(folder, 'novu/environmentvariables.json'), 'utf8'),
    })
    const alone = await run('novu', '--from', 'alone')
    expect(listed(alone.json)).toEqual(['variable SITE values no_value', 'variable DEV_ONLY values no_value'])
    write(folder, { 'alone/environmentvariables.json': lines([variable('SITE', [{ ...of(other), value: 'x' }])]) })
    expect((await run('novu', '--from', 'alone')).json).toMatchObject({
      ...{ kinds: { variables: { found: 1 } }, unmapped: [] },
    })
  })

  test('what cannot come is listed, and the rest comes', async () => {
    const pigeon = { ...fixtures.novu.integrations?.[0], _id: { $oid: 'e'.repeat(24) }, identifier: 'pigeon' }
    write(folder, {
      'novu/integrations.json': lines([
        ...(fixtures.novu.integrations ?? []),
        { ...pigeon, providerId: 'carrier-pigeon' },
      ]),
      'belfry/belfry.yaml': 'format: 1\nkinds: [workflows, layouts, translations]\n',
    })
    const files = await run('novu', '--from', 'novu', '--dir', 'belfry')
    expect(listed(files.json)).toEqual(
      expect.arrayContaining(['integration pigeon providerId no_provider', 'file belfry.yaml kinds kinds']),
    )
    // A message that is too old here, and a key that may not change integrations.
    const [message] = (fixtures.novu.messages ?? []) as Report[]
    const old = { ...message, _id: { $oid: `62000000${'1'.repeat(16)}` }, createdAt: { $date: '2022-02-07T00:00:00Z' } }
    write(folder, { 'novu/messages.json': lines([message, old]) })
    await api.patch(`/v2/environments/${api.environmentId}/retention`, { inboxDays: 1_000 })
    const others = ['workflows', 'layouts', 'translations', 'topics', 'subscribers', 'messages', 'contexts']
    const { key } = await server.keyFor(api, ['read', ...others.map((name) => `write:${name}`)])
    const all = ['import', 'novu', '--from', 'novu', '--apply', '--json']
    const { code, json, stderr } = await command.run(folder, { url: api.url, key }, ...all)
    expect(code, stderr).toBe(0)
    expect(json.kinds).toMatchObject({
      integrations: { imported: 0, failed: 2 },
      workflows: { failed: 0 },
      subscribers: { imported: 1 },
      messages: { failed: 1 },
    })
    expect(listed(json)).toEqual(
      expect.arrayContaining([
        ...['integration mails refused', 'integration phones refused'],
        'messages ada past_retention',
      ]),
    )
    expect((await api.get('/v2/workflows/comments')).status).toBe(200)
  })

  test('of two with the same id the first is taken, and the other is listed', async () => {
    const [first, ...others] = fixtures.novu.layouts ?? []
    const again = { ...first, _id: { $oid: 'f'.repeat(24) } }
    write(folder, { 'novu/layouts.json': lines([{ ...first }, { ...again, name: 'Other letter' }, ...others]) })
    const report = await applied('novu', '--from', 'novu')
    expect(await definition('letter', 'layout')).toMatchObject({ name: 'Letter' })
    expect(report.kinds.layouts).toEqual({ found: 2, imported: 1, unchanged: 0, failed: 0 })
    expect(report.unmapped).toContainEqual(
      expect.objectContaining({
        ...{ kind: 'layout', id: 'letter', code: 'same_id', why: expect.stringContaining('Other letter') },
      }),
    )
  })
})

describe('Knock', () => {
  beforeEach(() => write(folder, fixtures.knock))

  test('steps, texts, conditions, partials and layouts are mapped; what is not is listed', async () => {
    await addIntegration(server, api, { identifier: 'phones', provider: 'apns', channel: 'push', active: true })
    const report = await applied('knock', 'knock', '--users', 'users.jsonl', '--preferences', 'preferences.jsonl')
    expect(await definition('new-comment')).toEqual({
      ...{ workflowId: 'new-comment', name: 'New comment', tags: ['comments'], active: true, validatePayload: true },
      ...{ payloadSchema: { type: 'object', properties: { page: { type: 'string' } } }, messageClass: 'commercial' },
      steps: [
        {
          stepId: 'batch_1',
          name: 'Batch',
          type: 'digest',
          controlValues: { amount: 5, unit: 'minutes', digestKey: 'payload.page', order: 'newest' },
        },
        {
          ...{ stepId: 'in_app_1', name: 'In-app', type: 'in_app' },
          controlValues: {
            ...{
              body: '{% if steps.batch_1.eventCount > 1 %}{{steps.batch_1.eventCount}} comments{% endif %} on {{ payload.page }} by {{ actor.data.name }}',
            },
            ...{ redirect: { url: '{{ env.app_url }}/p' } },
          },
        },
        {
          stepId: 'delay_1',
          name: 'delay_1',
          type: 'delay',
          controlValues: { amount: 1, unit: 'hours' },
        },
        {
          ...{ stepId: 'email_1', name: 'Email', type: 'email' },
          controlValues: {
            ...{
              skip: {
                and: [
                  { '==': [{ var: 'steps.in_app_1.read' }, false] },
                  { '==': [{ var: 'subscriber.data.plan' }, 'pro'] },
                ],
              },
            },
            ...{ subject: 'Hi {{ subscriber.email }}', editorType: 'html', layoutId: 'default' },
            body: '<p>Hello</p>{% assign label = "Go" %}<b>{{ label }}</b>\n<p><a href="{{ env.app_url }}">Open</a></p>',
          },
        },
        {
          stepId: 'throttle_1',
          name: 'throttle_1',
          type: 'throttle',
          controlValues: { amount: 1, unit: 'minutes', threshold: 2 },
        },
        {
          stepId: 'http_fetch_1',
          name: 'http_fetch_1',
          type: 'http_request',
          controlValues: {
            method: 'GET',
            url: 'https://example.com/{{ payload.page }}?a=1',
            headers: [{ key: 'X-A', value: 'b' }],
          },
        },
        {
          ...{ stepId: 'branch_1', name: 'branch_1', type: 'branch' },
          controlValues: {
            arms: [
              {
                name: 'Pro',
                condition: { '>': [{ var: 'payload.count' }, 3] },
                steps: [
                  {
                    stepId: 'sms_1',
                    name: 'sms_1',
                    type: 'sms',
                    controlValues: { body: 'Hi {{ subscriber.subscriberId }}' },
                  },
                ],
                end: true,
              },
            ],
            default: {
              name: 'Default',
              steps: [
                {
                  stepId: 'trigger_workflow_1',
                  name: 'trigger_workflow_1',
                  type: 'start_workflow',
                  controlValues: {
                    workflowId: 'welcome',
                    to: '{{subscriber.subscriberId}}',
                    payload: { a: '{{ payload.page }}' },
                  },
                },
              ],
            },
          },
        },
      ],
    })
    expect(await definition('default', 'layout')).toMatchObject({
      controlValues: { email: { body: expect.stringContaining('<main>{{content}}</main>'), editorType: 'html' } },
    })
    expect(listed(report)).toEqual(
      expect.arrayContaining([
        'workflow new-comment trigger_frequency no_equivalent',
        'workflow new-comment steps.ai_1 step',
        'workflow odd steps.in_app_1.conditions condition',
        'file translations no_equivalent',
        'preferences ada commercial_subscribed no_equivalent',
      ]),
    )
    // A condition that cannot be said must not make messages go to more people.
    expect(await definition('odd')).toMatchObject({ active: false })
    expect(await get('/v2/subscribers/ada')).toMatchObject({
      ...{
        firstName: 'Ada',
        lastName: 'Lovelace',
        phone: '+15551234567',
        timezone: 'Europe/London',
        data: { name: 'Ada Lovelace', plan: 'pro' },
      },
      channels: [{ providerId: 'apns', credentials: { deviceTokens: ['tok'] } }],
    })
    expect(await get('/v2/subscribers/ada/preferences')).toMatchObject({ global: { channels: { sms: false } } })
  })

  test('channels that are not known are asked for once, and kept; where nobody answers, it says so', async () => {
    writeFileSync(path.join(folder, 'knock/channels.yaml'), 'in-app: in_app\n')
    expect(await run('knock', 'knock')).toMatchObject({ code: 2, json: { error: { code: 'channels_unknown' } } })
    const asked: string[] = []
    const answer = async (question: string) => {
      asked.push(question)
      return question.includes('postmark') ? 'email' : 'sms'
    }
    const dir = path.join(folder, 'knock')
    const { channels, answers } = await channelsIn(dir, ['in-app', 'postmark', 'twilio'], answer)
    expect(channels.get('postmark')).toEqual({ type: 'email' })
    expect(asked).toHaveLength(2)
    keepAnswers(dir, answers)
    expect(readFileSync(path.join(dir, 'channels.yaml'), 'utf8')).toBe('in-app: in_app\npostmark: email\ntwilio: sms\n')
    await channelsIn(dir, ['in-app', 'postmark', 'twilio'], answer)
    expect(asked).toHaveLength(2)
  })

  test('channels.yaml is written only when something was answered, and remarks in it stay', async () => {
    const file = path.join(folder, 'knock/channels.yaml')
    const own = '# ours\napns:   push apns\nin-app: "in_app" # the feed\npostmark: email\ntwilio: sms\n'
    writeFileSync(file, own)
    const { mtimeMs } = statSync(file)
    expect((await run('knock', 'knock')).code).toBe(0)
    await applied('knock', 'knock')
    expect(readFileSync(file, 'utf8')).toBe(own)
    expect(statSync(file).mtimeMs).toBe(mtimeMs)
    const { answers } = await channelsIn(path.dirname(file), ['in-app', 'slack'], async () => 'chat')
    expect(readFileSync(file, 'utf8')).toBe(own)
    keepAnswers(path.dirname(file), answers)
    const kept = readFileSync(file, 'utf8')
    expect(kept).toMatch(/^# ours\n/)
    expect(kept).toContain('# the feed')
    expect(kept).toMatch(/\nslack: chat\n$/)
    // A wrong answer is not kept, and a file that is no map is wrong usage.
    await expect(channelsIn(path.dirname(file), ['fax'], async () => 'paper')).rejects.toThrow('must be email')
    expect(readFileSync(file, 'utf8')).toBe(kept)
    for (const wrong of ['- email\n', 'a: [\n']) {
      writeFileSync(file, wrong)
      expect(await run('knock', 'knock')).toMatchObject({ code: 2, json: { error: { code: 'channels_unknown' } } })
    }
  })
})

describe('identifiers', () => {
  test('stay where the service allows them; others become the nearest', () => {
    for (const kept of ['Order_mail', 'order.mail', 'a-b_c.d', '9X']) expect(identifierOf(kept)).toBe(kept)
    const others = {
      'Order mail!': 'Order-mail',
      a__b: 'a_b',
      'a_-b': 'a-b',
      '_a.': 'a',
      é: '',
      [`${'a'.repeat(254)}_b`]: 'a'.repeat(254),
    }
    for (const [said, id] of Object.entries(others)) expect(identifierOf(said)).toBe(id)
  })

  test('of steps in templates of Novu and of what Courier has stay too, and texts find the digest', async () => {
    const [template, ...rest] = (fixtures.novu.notificationtemplates ?? []) as Report[]
    const [digest, mail] = template.steps
    const steps = [
      { ...digest, stepId: 'collect.all' },
      { ...mail, stepId: 'order_mail' },
    ]
    const documents = { ...fixtures.novu, notificationtemplates: [{ ...template, steps }, ...rest] }
    for (const [name, each] of Object.entries(documents)) write(folder, { [`novu/${name}.json`]: lines(each) })
    await applied('novu', '--from', 'novu')
    expect(await definition('order-shipped')).toMatchObject({
      steps: [
        { stepId: 'collect.all' },
        { stepId: 'order_mail', controlValues: { body: expect.stringContaining('in steps["collect.all"].events %}') } },
      ],
    })
    const renamed = Object.entries(fixtures.courier).map(([name, text]) => [
      ...[name, text.replaceAll('"WELCOME"', '"WEL_COME.1"').replaceAll('"acme"', '"ac_me"')],
    ])
    write(folder, Object.fromEntries(renamed))
    await applied('courier', 'courier')
    expect(await definition('WEL_COME.1')).toMatchObject({
      steps: [{ type: 'email', controlValues: { layoutId: 'ac_me' } }, { type: 'sms' }],
    })
    expect(await definition('ac_me', 'layout')).toMatchObject({ name: 'Acme' })
  })
})

describe('Pinpoint', () => {
  test('endpoints of one user are one subscriber; templates become workflows with their defaults', async () => {
    for (const provider of ['fcm', 'apns'])
      await addIntegration(server, api, { identifier: provider, provider, channel: 'push', active: true })
    writeFileSync(path.join(folder, 'a.json.gz'), gzipSync(lines(fixtures.pinpoint.endpoints)))
    write(folder, {
      'mail.json': JSON.stringify(fixtures.pinpoint.email, null, 2),
      'push.json': JSON.stringify(fixtures.pinpoint.push),
    })
    const report = await applied('pinpoint', 'a.json.gz', 'mail.json', 'push.json')
    expect(await get('/v2/subscribers/u-1')).toMatchObject({
      ...{ email: 'ada@example.com', phone: '+15551234567', locale: 'en_US', timezone: 'Europe/London' },
      ...{
        data: { plan: 'pro', interests: ['a', 'b'], FirstName: 'Ada', visits: 3 },
        updatedAt: '2026-02-01T00:00:00.000Z',
      },
    })
    expect(
      (await get('/v2/subscribers/u-1')).channels.map(({ credentials, providerId }: Report) => [
        providerId,
        credentials.deviceTokens,
      ]),
    ).toEqual([
      ['fcm', ['g1', 'g2']],
      ['apns', ['ap1']],
    ])
    expect((await get('/v2/subscribers/u-1/preferences')).global.channels).toMatchObject({ email: false })
    expect((await api.get('/v2/subscribers/alone')).status).toBe(200)
    expect(await definition('Order_mail')).toMatchObject({
      ...{ name: 'Order_mail', description: 'About orders' },
      steps: [
        {
          type: 'email',
          controlValues: {
            subject: 'Hi {{subscriber.data.FirstName | default: "friend"}}',
            body: '<p>{{payload.order}} {{subscriber.email}}</p>',
            layoutId: null,
          },
        },
      ],
    })
    expect(await definition('News')).toMatchObject({
      steps: [{ type: 'push', controlValues: { subject: 'T', body: 'B' } }],
    })
    expect(listed(report)).toEqual(
      expect.arrayContaining([
        'subscribers u-1 Address (GCM) inactive',
        'subscribers u-1 Demographic.Make no_equivalent',
        'workflow Order_mail TextPart no_equivalent',
      ]),
    )
  })
})

describe('Courier', () => {
  test('templates and brands become workflows and layouts; profiles and preferences come along', async () => {
    await addIntegration(server, api, { identifier: 'fcm', provider: 'fcm', channel: 'push', active: true })
    write(folder, fixtures.courier)
    const report = await applied('courier', 'courier')
    expect(await definition('WELCOME')).toMatchObject({
      ...{ name: 'Welcome', tags: ['onboarding'] },
      steps: [
        {
          stepId: 'email',
          type: 'email',
          controlValues: {
            subject: 'Hi {{payload.name}}',
            body: '<p>Hello {{subscriber.firstName}}</p>\n<p><a href="{{payload.url}}">Go</a></p>',
            layoutId: 'acme',
          },
        },
        { stepId: 'sms', type: 'sms', controlValues: { body: 'Hello {{subscriber.firstName}}\nGo: {{payload.url}}' } },
      ],
    })
    expect(await definition('RECEIPT')).toMatchObject({
      steps: [{ type: 'email', controlValues: { subject: 'Receipt', body: '<p>Total {{payload.total}}</p>' } }],
    })
    expect(await definition('acme', 'layout')).toMatchObject({
      controlValues: {
        email: {
          body: expect.stringContaining(
            '<p><a href="https://acme.example"><img src="https://acme.example/l.png" alt=""></a></p>\n{{content}}\n<p>Acme</p>',
          ),
        },
      },
    })
    expect(await get('/v2/subscribers/ada')).toMatchObject({
      firstName: 'Ada',
      lastName: 'L',
      phone: '+15551234567',
      data: { plan: 'pro' },
      channels: [{ credentials: { deviceTokens: ['f1'] } }],
    })
    expect((await get('/v2/subscribers/ada/preferences')).workflows).toEqual(
      expect.arrayContaining([expect.objectContaining({ channels: { email: false, sms: false } })]),
    )
    expect(listed(report)).toEqual(
      expect.arrayContaining([
        'automation drip automation',
        'workflow WELCOME routing no_equivalent',
        'preferences ada t-none topic',
      ]),
    )
  })
})

describe('OneSignal', () => {
  test('subscriptions of an external id are one subscriber; unsubscribed ones have the channel off', async () => {
    for (const provider of ['fcm', 'apns'])
      await addIntegration(server, api, { identifier: provider, provider, channel: 'push', active: true })
    write(folder, { 'players.csv': fixtures.oneSignal })
    const report = await applied('onesignal', 'players.csv')
    expect(await get('/v2/subscribers/u-1')).toMatchObject({
      ...{ email: 'ada@example.com', locale: 'en', timezone: 'Europe/London', data: { plan: 'pro', level: '3' } },
      channels: [{ providerId: 'apns', credentials: { deviceTokens: ['token-1'] } }],
    })
    expect((await get('/v2/subscribers/u-2/preferences')).global).toBeDefined()
    const exported = await get('/v2/subscribers/u-2/export')
    expect(JSON.stringify(exported)).toContain('"push":false')
    expect(listed(report)).toEqual(
      expect.arrayContaining([
        'subscribers p-3 external_user_id no_external_id',
        'subscribers u-1 device_model no_equivalent',
      ]),
    )
  })

  test('invalid addresses are not taken; a second one of the same kind replaces the first, and is listed', async () => {
    write(folder, {
      'players.csv': [
        'id,identifier,device_type,invalid_identifier,external_user_id,notification_types',
        'p-1,dead@example.com,11,t,u-1,1',
        'p-2,+15550000000,14,t,u-1,1',
        'p-3,first@example.com,11,f,u-2,1',
        'p-4,second@example.com,11,f,u-2,1',
        'p-5,dead@example.com,11,t,u-2,1',
        'p-6,+15551234567,14,f,u-2,1',
        'p-7,+15551234567,14,f,u-2,1',
        'p-8,+15557654321,14,f,u-2,1',
      ].join('\n'),
    })
    const report = await applied('onesignal', 'players.csv')
    expect(await get('/v2/subscribers/u-1')).toMatchObject({ email: null, phone: null })
    expect(await get('/v2/subscribers/u-2')).toMatchObject({ email: 'second@example.com', phone: '+15557654321' })
    expect(report.unmapped).toMatchObject([
      { kind: 'subscribers', id: 'u-1', path: 'identifier', code: 'invalid', count: 3 },
      { kind: 'subscribers', id: 'u-2', path: 'identifier (email)', code: 'second_address' },
      { kind: 'subscribers', id: 'u-2', path: 'identifier (phone)', code: 'second_address' },
    ])
  })
})

describe('the documentation', () => {
  test('shows commands that work', async () => {
    write(folder, { ...fixtures.knock, ...fixtures.courier, 'subscriptions.csv': fixtures.oneSignal })
    write(folder, { 'people.csv': 'user_id,mail,plan\nada,ada@example.com,pro\n' })
    for (const [name, documents] of Object.entries(fixtures.novu))
      write(folder, { [`novu/${name}.json`]: lines(documents) })
    writeFileSync(path.join(folder, 'endpoints.json.gz'), gzipSync(lines(fixtures.pinpoint.endpoints)))
    write(folder, { 'templates.json': JSON.stringify([fixtures.pinpoint.email, fixtures.pinpoint.push]) })
    const page = readFileSync(new URL('../../../docs/moving-in.md', import.meta.url), 'utf8')
    const commands = [...page.matchAll(/^(?:NOVU_SECRET_KEY=… )?npx @belfry\/cli (import .*)$/gm)].map(
      ([, command = '']) => command,
    )
    expect(commands.length).toBeGreaterThan(7)
    // The address of a service is tried in novu.test.ts.
    for (const words of commands.filter((each) => !each.includes('https:'))) {
      const { code, stderr } = await command.run(folder, { url: api.url, key: api.key }, ...words.split(' '))
      expect([words, code, stderr]).toEqual([words, 0, expect.anything()])
      expect(readFileSync(path.join(folder, 'moving-in.md'), 'utf8')).toMatch(/^# Import from /)
    }
  })
})

describe('CSV', () => {
  const map = 'subscriberId=user_id,email=mail,data.plan=plan'
  const people = (count: number) =>
    [
      'user_id,mail,plan,shoe',
      ...Array.from({ length: count }, (_, n) => `u-${n},u${n}@example.com,"pro, ""x""",42`),
    ].join('\n')

  test('columns are mapped as said; others, and rows without an id, are listed; --strict ends with 1', async () => {
    write(folder, { 'people.csv': `${people(2)}\n,nobody@example.com,,\n` })
    const report = await applied('csv', 'people.csv', '--map', map)
    expect(report.kinds).toEqual({ subscribers: { found: 2, imported: 2, unchanged: 0, failed: 0 } })
    expect(await get('/v2/subscribers/u-1')).toMatchObject({ email: 'u1@example.com', data: { plan: 'pro, "x"' } })
    expect(report.unmapped).toMatchObject([
      { path: 'shoe', code: 'no_map', count: 2 },
      { id: 'row 4', code: 'no_id' },
    ])
    expect((await run('csv', 'people.csv', '--map', map, '--strict')).code).toBe(1)
    write(folder, { 'whole.csv': 'user_id\nx\n' })
    expect((await run('csv', 'whole.csv', '--map', 'subscriberId=user_id', '--strict')).code).toBe(0)
  })

  test('a wrong map or file is wrong usage', async () => {
    write(folder, { 'people.csv': people(1) })
    for (const wrong of ['email=mail', 'subscriberId', 'subscriberId=user_id,shoe=shoe', 'subscriberId=nothing'])
      expect([wrong, (await run('csv', 'people.csv', '--map', wrong)).code]).toEqual([wrong, 2])
    expect((await run('csv', 'nothing.csv', '--map', map)).code).toBe(2)
    expect((await command.run(folder, {}, 'import', 'csv', 'people.csv')).code).toBe(2)
  })

  test('a dry run says that it wrote nothing, and with --dir that it wrote files only', async () => {
    write(folder, { 'people.csv': people(1) })
    const said = async (...args: string[]) => {
      const { code, stdout } = await command.run(
        ...[folder, {}, 'import', 'csv', 'people.csv', '--map', map, '--report', 'out.md', ...args],
      )
      expect(code).toBe(0)
      return [stdout, readFileSync(path.join(folder, 'out.md'), 'utf8')]
    }
    for (const text of await said()) expect(text).toContain('A dry run: nothing was written')
    for (const text of await said('--dir', 'files')) {
      expect(text).toContain('Only files were written')
      expect(text).not.toContain('nothing was written')
    }
  })

  test('the report comes into a folder that is made; where it cannot be written, what was done is told all the same', async () => {
    write(folder, { 'people.csv': 'user_id,mail\nada,no address\nbob,bob@example.com\n' })
    const args = ['csv', 'people.csv', '--map', 'subscriberId=user_id,email=mail', '--apply', '--report']
    expect((await run(...args, 'new/place/out.md')).code).toBe(0)
    expect(readFileSync(path.join(folder, 'new/place/out.md'), 'utf8')).toContain('| subscribers | ada |')
    expect(await run(...args, 'new')).toMatchObject({ code: 2, json: { error: { code: 'bad_report' } } })
    const { code, json, stderr } = await run(...args, 'people.csv/out.md')
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/The report could not be written: people\.csv.*: (it is|a part)/),
    ])
    expect(json).toMatchObject({ kinds: { subscribers: { found: 2, failed: 1 } }, unmapped: [{ id: 'ada' }] })
  })

  test('a dry run needs no service', async () => {
    write(folder, { 'people.csv': people(3) })
    expect(await command.run(folder, {}, 'import', 'csv', 'people.csv', '--map', map, '--json')).toMatchObject({
      code: 0,
      json: { kinds: { subscribers: { found: 3 } } },
    })
  })

  test('Ctrl-C ends after the request under way; the same command goes on, --restart begins anew', async () => {
    write(folder, { 'people.csv': people(1_200) })
    const running = run('csv', 'people.csv', '--map', map, '--apply')
    await expect.poll(() => interrupt(), { interval: 1, timeout: 20_000 }).toBe(true)
    const stopped = await running
    expect(stopped).toMatchObject({ code: 130, json: { error: { code: 'interrupted' } } })
    const here = (await get('/v2/subscribers?limit=1')).totalCount
    expect(here).toBeLessThan(1_200)
    expect(here % 500).toBe(0)
    expect(existsSync(path.join(folder, '.belfry'))).toBe(true)
    const rest = await applied('csv', 'people.csv', '--map', map)
    expect(rest.kinds.subscribers).toEqual({ found: 1_200, imported: 1_200, unchanged: 0, failed: 0 })
    const again = await applied('csv', 'people.csv', '--map', map, '--restart')
    expect(again.kinds.subscribers).toMatchObject({ imported: 0, unchanged: 1_200 })
  })

  test('two imports of one file do not run at once; a lock of a process that is gone is taken over', async () => {
    write(folder, { 'people.csv': people(1_200) })
    const running = run('csv', 'people.csv', '--map', map, '--apply')
    await expect.poll(() => interrupt(), { interval: 1, timeout: 20_000 }).toBe(true)
    expect((await running).code).toBe(130)
    const place = path.join(folder, '.belfry/imports')
    const [spool = '', ...others] = readdirSync(place)
    expect(others).toEqual([])
    const lockOf = (pid?: number) => path.join(place, `${spool}.lock.${pid}-other`)
    writeFileSync(lockOf(process.ppid), '')
    const refused = await run('csv', 'people.csv', '--map', map, '--apply')
    expect(refused).toMatchObject({ code: 3, json: { error: { code: 'import_running' } } })
    expect(refused.stderr).toContain(`process ${process.ppid}`)
    rmSync(lockOf(process.ppid))
    const gone = spawn('true')
    await once(gone, 'exit')
    writeFileSync(lockOf(gone.pid), '')
    expect((await applied('csv', 'people.csv', '--map', map)).kinds.subscribers).toMatchObject({ found: 1_200 })
    expect(readdirSync(place)).toEqual([])
  })

  test('an import of a file that was changed meanwhile begins anew', async () => {
    write(folder, { 'people.csv': people(1_200) })
    const running = run('csv', 'people.csv', '--map', map, '--apply')
    await expect.poll(() => interrupt(), { interval: 1, timeout: 20_000 }).toBe(true)
    expect((await running).code).toBe(130)
    write(folder, { 'people.csv': `${people(1_200)}\nlast,last@example.com,free,` })
    const { code, json, stderr } = await run('csv', 'people.csv', '--map', map, '--apply')
    expect([code, stderr]).toEqual([0, expect.stringContaining('The source changed')])
    expect(json.kinds.subscribers).toMatchObject({ found: 1_201, failed: 0 })
    expect(await get('/v2/subscribers/last')).toMatchObject({ email: 'last@example.com' })
  })

  test('a real Ctrl-C ends the program gently; run again, it goes on where it was, and nothing is doubled', async () => {
    const [total, page] = [6_000, 500]
    write(folder, { 'people.csv': people(total) })
    const program = path.join(folder, 'belfry-cli')
    execFileSync(process.execPath, [path.join(root, 'cli', 'build.mjs'), program])
    const args = ['import', 'csv', 'people.csv', '--map', map, '--apply', '--json']
    const start = () => {
      const child = spawn(process.execPath, [path.join(program, 'belfry.mjs'), ...args], {
        ...{ cwd: folder, env: { PATH: process.env.PATH, HOME: folder, BELFRY_URL: api.url, BELFRY_API_KEY: api.key } },
      })
      let stdout = ''
      child.stdout.on('data', (text) => {
        stdout += String(text)
      })
      const ended = once(child, 'exit').then(([code]) => ({ code, json: JSON.parse(stdout) }))
      return { child, ended }
    }
    const stored = async () => {
      const { rows } = await server.database.pool.query<{ count: number; people: number }>(
        'SELECT count(*)::int, count(DISTINCT subscriber_id)::int AS people FROM subscribers WHERE environment_id = $1',
        [api.environmentId],
      )
      return rows[0] ?? { count: 0, people: 0 }
    }
    const first = start()
    await expect.poll(async () => (await stored()).count, { interval: 1, timeout: 60_000 }).toBeGreaterThan(0)
    first.child.kill('SIGINT')
    expect(await first.ended).toMatchObject({ code: 130, json: { error: { code: 'interrupted' } } })
    const { count: half } = await stored()
    expect(half).toBeLessThan(total)
    expect(half % page).toBe(0)
    const { body } = await api.get('/v2/import')
    expect(body.imports).toMatchObject([{ kinds: [{ kind: 'subscribers', found: total, done: half }] }])

    expect(await start().ended).toMatchObject({
      ...{ code: 0, json: { kinds: { subscribers: { found: total, imported: total, unchanged: 0, failed: 0 } } } },
    })
    expect(await stored()).toEqual({ count: total, people: total })
    const { body: after } = await api.get('/v2/import')
    expect(after.imports).toMatchObject([
      { status: 'done', kinds: [{ kind: 'subscribers', found: total, done: total, imported: total, unchanged: 0 }] },
    ])
  }, 120_000)

  test('a row with the id of an earlier one is not taken, so that the same again is unchanged', async () => {
    write(folder, { 'people.csv': 'user_id,mail\nd1,first@example.com\nd1,second@example.com\n' })
    const once = () => applied('csv', 'people.csv', '--map', 'subscriberId=user_id,email=mail', '--restart')
    expect((await once()).kinds.subscribers).toEqual({ found: 1, imported: 1, unchanged: 0, failed: 0 })
    expect((await once()).kinds.subscribers).toEqual({ found: 1, imported: 0, unchanged: 1, failed: 0 })
    const { imports } = await get('/v2/import')
    expect(imports.map(({ status }: Report) => status)).toEqual(['done', 'done'])
    expect(await get('/v2/subscribers/d1')).toMatchObject({ email: 'first@example.com' })
  })

  test('of a file that cannot be read to its end nothing is kept', async () => {
    const text = Buffer.from(`${people(1_200)}\ncaf\xe9,caf@example.com,free,`, 'latin1')
    writeFileSync(path.join(folder, 'people.csv'), text)
    const { code, json } = await run('csv', 'people.csv', '--map', map, '--apply')
    expect([code, json.error.code]).toEqual([2, 'not_utf8'])
    expect(readdirSync(path.join(folder, '.belfry/imports'))).toEqual([])
  })

  test('items that the service refuses are listed with their reason', async () => {
    write(folder, { 'people.csv': 'user_id,mail\nada,no address\nbob,bob@example.com\n' })
    const report = await applied('csv', 'people.csv', '--map', 'subscriberId=user_id,email=mail')
    expect(report.kinds.subscribers).toEqual({ found: 2, imported: 1, unchanged: 0, failed: 1 })
    expect(report.unmapped).toMatchObject([{ kind: 'subscribers', id: 'ada', code: 'validation' }])
    write(folder, { 'more.csv': 'user_id,mail\na1,x@example.com\na2,no address\na3,none either\n' })
    const more = ['csv', 'more.csv', '--map', 'subscriberId=user_id,email=mail', '--report', 'out.md']
    expect((await run(...more)).json.unmapped).toEqual([])
    expect(readFileSync(path.join(folder, 'out.md'), 'utf8')).toContain('would refuse, such as a bad email address')
    const sent = await applied(...more)
    expect(sent.unmapped).toMatchObject([{ kind: 'subscribers', code: 'validation', count: 2, ids: ['a2', 'a3'] }])
    expect(readFileSync(path.join(folder, 'out.md'), 'utf8')).toMatch(/: a2, a3\n/)
  })
})
