// Files of mongoexport and older templates of Novu, rule by rule, and that the report accounts for every member. files.md §6.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, test } from 'vitest'
import { novu } from '../../src/import/novu/source.ts'
import { useCommand, write } from '../command.ts'
import * as fixtures from './fixtures.ts'
import { plant, read, unaccounted } from './reading.ts'

const command = useCommand()
let folder: string
beforeEach(() => {
  folder = command.newFolder()
})
const lines = (values: object[]) => values.map((value) => JSON.stringify(value)).join('\n')
const readFiles = (collections: Record<string, object[]>) => {
  write(
    folder,
    Object.fromEntries(
      Object.entries(collections).flatMap(([name, all]) => (Array.isArray(all) ? [[`${name}.json`, lines(all)]] : [])),
    ),
  )
  return read(novu({ from: folder }, {}))
}

const group = (field: string) => ({
  _id: 'g',
  type: 'GROUP',
  value: 'AND',
  children: [{ _id: 'c', on: 'payload', field, value: '1', operator: 'EQUAL' }],
})
/** A template of version 1 with everything that it can have. */
const old = {
  ...{ _id: 't1', name: 'Old', active: true, triggers: [{ identifier: 'old', variables: [] }], data: { a: 1 } },
  ...{ critical: true, preferenceSettings: { email: false, sms: true }, notificationGroup: { name: 'General' } },
  steps: [
    {
      ...{
        _id: 's1',
        stepId: 'wait',
        _templateId: 'm1',
        metadata: { type: 'regular', amount: 2, unit: 'hours', rhythm: 'odd' },
      },
      template: { _id: 'm1', type: 'digest' },
    },
    {
      ...{
        _id: 's2',
        stepId: 'mail',
        name: 'Mail',
        shouldStopOnFail: true,
        metadata: { left: 1 },
        filters: [group('a')],
      },
      template: {
        ...{ type: 'email', subject: '{{titlecase name}} {{#if vip}}!{{/if}}', preheader: 'P', senderName: '{{shop}}' },
        content: [
          { type: 'text', content: '{{lowercase a}} {{step.total_count}}', styles: { textAlign: 'left' } },
          { type: 'button', content: 'Go', url: '{{odd b}}' },
          { type: 'video', content: 'V' },
        ],
      },
      variants: [
        {
          ...{
            _id: 'v1',
            name: 'Short',
            active: false,
            filters: [group('b')],
            metadata: { m: 1 },
            stepId: 'mail',
            note: 'kept?',
          },
          template: { type: 'email', subject: '{{uppercase x}}', content: '<p>{{x}}</p>', preheader: 'Q' },
        },
      ],
    },
    {
      ...{ _id: 's3', stepId: 'inbox' },
      template: {
        ...{
          type: 'in_app',
          content: 'Hi {{dateFormat d}}',
          avatar: 'https://a.example/{{pic}}',
          _feedId: 'f',
          actor: { type: 'user' },
        },
        cta: {
          ...{ type: 'redirect', data: { url: '/{{odd u}}', more: 1 } },
          action: {
            ...{ status: 'pending', result: {} },
            buttons: [
              { type: 'primary', content: '{{odd p}}', resultContent: 'Done', url: '/p' },
              { type: 'secondary', content: 'No' },
              { type: 'primary', content: 'Third' },
            ],
          },
        },
      },
    },
  ],
}

describe('templates of version 1', () => {
  test('helpers in any text, parts of variants, buttons and styles are listed; the rest is kept', async () => {
    const { definitions, listed } = await readFiles({ notificationtemplates: [old] })
    const { steps, preferences } = definitions['workflow old']
    expect(preferences).toEqual({ workflow: { all: { readOnly: true }, channels: { email: { enabled: false } } } })
    expect(steps[0]).toMatchObject({ type: 'digest', controlValues: { amount: 2, unit: 'hours' } })
    expect(steps[1]).toMatchObject({
      ...{ shouldStopOnFail: true, filters: [{ children: [{ field: 'a' }] }] },
      controlValues: {
        subject: '{{titlecase name}} {% if payload.vip %}!{% endif %}',
        body: '<p>{{lowercase a}} {{steps.wait.eventCount}}</p>\n<p><a href="{{odd b}}">Go</a></p>\n<p>V</p>',
        from: { name: '{{payload.shop}}' },
      },
      variants: [
        {
          name: 'Short',
          active: false,
          filters: [{ children: [{ field: 'b' }] }],
          controlValues: { body: '<p>{{payload.x}}</p>' },
        },
      ],
    })
    expect(steps[2].controlValues).toMatchObject({
      ...{ avatar: 'https://a.example/{{payload.pic}}', redirect: { url: '/{{odd u}}' } },
      ...{ primaryAction: { label: '{{odd p}}', redirect: { url: '/p' } }, secondaryAction: { label: 'No' } },
    })
    const at = (place: string, code = 'no_equivalent') => `workflow old ${place} ${code}`
    expect(listed).toEqual(
      expect.arrayContaining([
        ...[
          'steps.mail.template.subject',
          'steps.mail.template.content.0.content',
          'steps.mail.template.content.1.url',
        ].map((place) => at(place, 'helper')),
        ...[
          'steps.mail.variants.0.template.subject',
          'steps.inbox.template.content',
          'steps.inbox.template.cta.data.url',
        ].map((place) => at(place, 'helper')),
        at('steps.inbox.template.cta.action.buttons.0.content', 'helper'),
        ...['data', 'steps.wait.metadata.rhythm', 'steps.mail.metadata', 'steps.mail.template.preheader'].map((place) =>
          at(place),
        ),
        ...['template.content.0.styles', 'template.content.2.type', 'variants.0.metadata', 'variants.0.note'].map(
          (place) => at(`steps.mail.${place}`),
        ),
        at('steps.mail.variants.0.template.preheader'),
        ...['_feedId', 'actor', 'cta.data.more'].map((place) => at(`steps.inbox.template.${place}`)),
        ...['0.resultContent', '2.type'].map((place) => at(`steps.inbox.template.cta.action.buttons.${place}`)),
      ]),
    )
  })

  test('read over the API, where version 2 shows none of their content', async () => {
    const asked: string[] = []
    const answers: Record<string, unknown> = {
      '/v1/environments/me': { data: { _id: 'env' } },
      '/v2/workflows': {
        data: {
          workflows: [
            { workflowId: 'old', _id: 't1' },
            { workflowId: 'new', _id: 't2' },
          ],
        },
      },
      '/v2/workflows/old': {
        data: { workflowId: 'old', origin: 'novu-cloud-v1', steps: [{ stepId: 'mail', type: 'email' }] },
      },
      '/v2/workflows/new': {
        data: {
          workflowId: 'new',
          name: 'New',
          origin: 'novu-cloud',
          steps: [{ stepId: 's', name: 'S', type: 'sms', controlValues: { body: 'b' } }],
        },
      },
      '/v1/workflows/t1': { data: old },
      '/v2/layouts': { data: { layouts: [] } },
    }
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://x')
      asked.push(pathname)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answers[pathname] ?? { data: [], hasMore: false, next: null }))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { definitions } = await read(novu({ from }, { NOVU_SECRET_KEY: 'k' })).finally(() => server.close())
    expect(definitions['workflow old'].steps).toMatchObject([
      { stepId: 'wait', type: 'digest' },
      { stepId: 'mail', controlValues: { body: expect.stringContaining('steps.wait.eventCount') } },
      { stepId: 'inbox' },
    ])
    expect(definitions['workflow new'].steps).toMatchObject([{ stepId: 's', controlValues: { body: 'b' } }])
    expect(asked.filter((each) => each.startsWith('/v1/workflows'))).toEqual(['/v1/workflows/t1'])
  })
})

describe('files of mongoexport', () => {
  const everything: Record<string, object[]> = { ...fixtures.novu, environmentvariables: fixtures.novuVariables }

  test('texts find what they belong to by their group, or say it themselves', async () => {
    const own = { _id: 'x', resourceId: 'comments', resourceType: 'workflow', locale: 'fr_FR', content: { a: 'b' } }
    const off = { ...own, _id: 'w', resourceId: 'order-shipped' }
    const lost = { _id: 'y', _localizationGroupId: 'gone', locale: 'fr_FR', content: '{}' }
    const broken = { _id: 'z', resourceId: 'comments', locale: 'fr_FR', content: '{' }
    const { definitions, listed } = await readFiles({
      ...fixtures.novu,
      localizations: [...(fixtures.novu.localizations ?? []), own, off, lost, broken],
    })
    expect(definitions['translation en_US']).toEqual({
      ...{ workflows: { comments: { hello: 'Hello' } }, layouts: { letter: { bye: 'Bye' } } },
    })
    expect(definitions['translation fr_FR']).toMatchObject({ workflows: { comments: { a: 'b' } } })
    // A workflow without translations does not keep the others from theirs.
    expect(listed).toContain('translation fr_FR workflows.order-shipped invalid')
    for (const id of ['y', 'z']) expect(listed).toContain(`translation ${id} no_equivalent`)
  })

  test('contexts, variables and schedules come along; secrets are listed by name', async () => {
    const { definitions, items, listed, report } = await readFiles(everything)
    expect(items.contexts).toEqual([{ type: 'region', id: 'eu', data: { zone: 'x' } }])
    expect(definitions['variable SITE']).toEqual({ key: 'SITE', value: 'https://example.com' })
    expect(definitions['variable TOKEN']).toMatchObject({ isSecret: true, value: { $secret: 'TOKEN_VALUE' } })
    expect(listed).toContain('variable TOKEN value secret')
    expect(JSON.stringify(report)).not.toContain('nvsk.99')
    expect(items.preferences?.[0]).toMatchObject({ subscriberId: 'ada', schedule: { isEnabled: true } })
  })

  test('the sandboxes of another Belfry are known, though nobody is offered them', async () => {
    const names = { email: 'email', sms: 'sms', push: 'push', chat: 'slack' }
    const sandboxes = Object.entries(names).map(([channel, name]) => ({
      ...{ identifier: `${channel}-sandbox`, name: `Belfry ${name}`, channel, active: true },
      // Of push and chat none is.
      ...(channel === 'email' || channel === 'sms' ? { primary: true } : {}),
    }))
    const { definitions, listed } = await readFiles({
      integrations: sandboxes.map((each) => ({
        ...{ ...each, _id: each.channel, primary: each.primary ?? false, credentials: {}, conditions: [] },
        providerId: `novu-${names[each.channel as keyof typeof names]}`,
      })),
    })
    expect(listed).toEqual([])
    for (const each of sandboxes)
      expect(definitions[`integration ${each.identifier}`]).toEqual({
        ...{ ...each, providerId: `svc-${names[each.channel as keyof typeof names]}` },
      })
  })

  test('what was deleted there, and messages of other channels, are counted', async () => {
    const { report } = await readFiles({
      ...fixtures.novu,
      controls: [...(fixtures.novu.controls ?? []), { _id: 'o', _stepId: 'gone' }],
    })
    const left = report.changed.filter(({ kind, to }) => kind === 'file' && to === null)
    expect(left.map(({ id, from }) => `${id}: ${String(from)}`)).toEqual(
      expect.arrayContaining([
        ...[
          'notificationtemplates.json: 1 deleted',
          'subscribers.json: 1 deleted',
          'messages.json: 1 of other channels',
        ],
        'controls.json: 1 that nothing refers to',
      ]),
    )
  })

  test('the report accounts for every member', async () => {
    const { jobs: _, ...collections } = everything
    // What nothing reads is counted, not looked into.
    const isRead = (document: { deleted?: boolean; channel?: string }) =>
      !document.deleted && document.channel !== 'email'
    const { planted, places } = plant(
      {
        ...Object.fromEntries(Object.entries(collections).map(([name, all]) => [name, all.filter(isRead)])),
        notificationtemplates: [...(collections.notificationtemplates ?? []).filter(isRead), old],
      } as Record<string, object[]>,
      ['weeklySchedule', 'schedule'],
    )
    const result = await readFiles(planted)
    // The root is ours, and the last message template is of version 2, which has its content in controls.
    const found = places.filter(({ path: at }) => at.length > 0 && at.join('.') !== 'messagetemplates.2')
    expect(found.length).toBeGreaterThan(60)
    expect(
      unaccounted(found, result, [
        'triggers',
        'payload',
        'notificationGroup',
        'metadata',
        'actor',
        'data',
        'styles',
        'result',
        'template',
      ]),
    ).toEqual([])
  })
})
