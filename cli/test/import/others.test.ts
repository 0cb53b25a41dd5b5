// What Pinpoint, Courier and OneSignal have, rule by rule, and that the report accounts for every member. files.md §6.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { courier } from '../../src/import/courier/source.ts'
import { oneSignal } from '../../src/import/onesignal.ts'
import { pinpoint } from '../../src/import/pinpoint.ts'
import { useCommand, write } from '../command.ts'
import * as fixtures from './fixtures.ts'
import { plant, read, unaccounted } from './reading.ts'

const command = useCommand()
let folder: string
beforeEach(() => {
  folder = command.newFolder()
})
const lines = (values: unknown[]) => values.map((value) => JSON.stringify(value)).join('\n')

const button = (Text: string, more: object = {}) => ({
  DefaultConfig: { Text, ButtonAction: 'LINK', Link: 'https://a.example/{{id}}', BorderRadius: 4, ...more },
  Android: { ButtonAction: 'CLOSE' },
})
const inApp = {
  InAppTemplateResponse: {
    ...{ TemplateName: 'Sale', TemplateType: 'INAPP', Layout: 'MODALS', CustomConfig: { campaign: '{{code}}' } },
    Content: [
      {
        ...{ BackgroundColor: '#fff', ImageUrl: 'https://a.example/i.png' },
        HeaderConfig: { Header: 'Hi {{User.UserAttributes.Name}}', Alignment: 'LEFT', TextColor: '#000' },
        BodyConfig: { Body: 'Now', Alignment: 'LEFT' },
        ...{ PrimaryBtn: button('Buy'), SecondaryBtn: button('No', { ButtonAction: 'CLOSE', Link: '' }) },
      },
      { BodyConfig: { Body: 'Second' } },
    ],
  },
}

describe('Pinpoint', () => {
  const endpoints = async (...values: object[]) => {
    writeFileSync(path.join(folder, 'e.json'), lines(values))
    return read(pinpoint([path.join(folder, 'e.json')]))
  }
  const template = async (value: object) => {
    writeFileSync(path.join(folder, 't.json'), JSON.stringify(value, null, 2))
    return read(pinpoint([path.join(folder, 't.json')]))
  }
  const of = (type: string, more: object = {}) => ({ Id: 'e', ChannelType: type, Address: `a-${type}`, ...more })

  test.each([
    ['EMAIL', { email: 'a-EMAIL' }, undefined],
    ['SMS', { phone: 'a-SMS' }, undefined],
    ['VOICE', { phone: 'a-VOICE' }, undefined],
    ['GCM', {}, { providerId: 'fcm', deviceTokens: ['a-GCM'] }],
    ['APNS', {}, { providerId: 'apns', deviceTokens: ['a-APNS'] }],
  ])('an address of %s', async (type, fields, credential) => {
    const { items, listed } = await endpoints(of(type))
    expect(items.subscribers).toEqual([{ subscriberId: 'e', ...fields }])
    expect(items.credentials ?? []).toEqual(credential ? [{ subscriberId: 'e', ...credential }] : [])
    expect(listed).toEqual([])
  })

  test.each(['ADM', 'BAIDU', 'APNS_SANDBOX', 'APNS_VOIP', 'CUSTOM', 'IN_APP'])(
    'an address of %s is listed',
    async (type) => {
      const { items, listed } = await endpoints(of(type))
      expect([items.credentials, listed]).toEqual([undefined, [`subscribers e Address (${type}) no_equivalent`]])
    },
  )

  test.each([
    ['EMAIL', 'email'],
    ['SMS', 'sms'],
    ['VOICE', 'sms'],
    ['APNS', 'push'],
    ['GCM', 'push'],
  ])('OptOut of %s turns %s off', async (type, channel) => {
    expect((await endpoints(of(type, { OptOut: 'ALL' }))).items.preferences).toEqual([
      { subscriberId: 'e', channels: { [channel]: false } },
    ])
    expect((await endpoints(of(type, { OptOut: 'NONE' }))).items.preferences).toBeUndefined()
    expect((await endpoints(of(type, { OptOut: 'SOME' }))).listed).toEqual(['subscribers e OptOut no_equivalent'])
  })

  test('endpoints of one user are joined; what differs between them is listed, and so is an inactive one', async () => {
    const User = { UserId: 'u', UserAttributes: { plan: ['pro'] } }
    const { items, listed } = await endpoints(
      of('EMAIL', {
        User,
        Attributes: { a: ['1', '2'], device: ['x'] },
        Metrics: { n: 1 },
        Demographic: { Locale: 'en' },
      }),
      of('EMAIL', {
        Address: 'second',
        User,
        Attributes: { device: ['y'] },
        Metrics: { n: 2 },
        Demographic: { Locale: 'fr' },
      }),
      of('SMS', { EndpointStatus: 'INACTIVE', User, Location: { City: 'Rome' } }),
    )
    expect(items.subscribers).toEqual([
      {
        ...{ subscriberId: 'u', email: 'second', locale: 'fr' },
        data: { a: ['1', '2'], device: 'y', n: 2, plan: 'pro' },
      },
    ])
    expect(listed.sort()).toEqual(
      [
        'subscribers u Address (EMAIL) second_address',
        'subscribers u Demographic.Locale second_value',
        'subscribers u Attributes.device second_value',
        'subscribers u Metrics.n second_value',
        'subscribers u Address (SMS) inactive',
        'subscribers u Location no_equivalent',
      ].sort(),
    )
  })

  test('an in-app template: its first page with both buttons and its own values; the rest is listed', async () => {
    const { definitions, listed } = await template(inApp)
    expect(definitions['workflow Sale'].steps).toEqual([
      {
        ...{ stepId: 'in-app', name: 'In-app', type: 'in_app' },
        controlValues: {
          ...{ subject: 'Hi {{subscriber.data.Name}}', body: 'Now', data: { campaign: '{{payload.code}}' } },
          primaryAction: { label: 'Buy', redirect: { url: 'https://a.example/{{payload.id}}' } },
          secondaryAction: { label: 'No' },
        },
      },
    ])
    const at = (place: string) => `workflow Sale ${place} no_equivalent`
    expect(listed).toEqual(
      expect.arrayContaining([
        ...['Content.1', 'Layout', 'Content.0.BackgroundColor', 'Content.0.ImageUrl'].map(at),
        ...['HeaderConfig.Alignment', 'HeaderConfig.TextColor', 'BodyConfig.Alignment'].map((name) =>
          at(`Content.0.${name}`),
        ),
        ...['PrimaryBtn.DefaultConfig.BorderRadius', 'PrimaryBtn.Android'].map((name) => at(`Content.0.${name}`)),
        ...['SecondaryBtn.DefaultConfig.ButtonAction', 'SecondaryBtn.Android'].map((name) => at(`Content.0.${name}`)),
      ]),
    )
  })

  test('templates by email, SMS and push: texts, defaults and tags', async () => {
    const mail = await template({
      ...{ TemplateName: 'm', TemplateType: 'EMAIL', TextPart: 'Hi {{Attributes.a}}{{Address}}', Subject: '{{Id}}' },
      ...{ DefaultSubstitutions: '{"Attributes.a": "x \\"y\\"", "unused": "z"}', tags: { team: 'growth' } },
    })
    expect(mail.definitions['workflow m']).toMatchObject({
      tags: ['team:growth'],
      steps: [
        {
          controlValues: {
            subject: '{{subscriber.subscriberId}}',
            body: '<pre>Hi {{subscriber.data.a | default: "x \\"y\\""}}{{subscriber.email}}</pre>',
          },
        },
      ],
    })
    expect(mail.listed).toContain('workflow m DefaultSubstitutions.unused not_used')
    const sms = await template({
      TemplateName: 's',
      Body: '{{#if a}}{{Address}}{{/if}}{{odd helper}}',
      DefaultSubstitutions: '[',
    })
    expect(sms.definitions['workflow s'].steps[0].controlValues.body).toMatch(
      /^\{% if payload\.a %\}\{\{subscriber\.phone\}\}/,
    )
    expect(sms.listed).toEqual(
      expect.arrayContaining(['workflow s DefaultSubstitutions not_readable', 'workflow s Body helper']),
    )
    const push = await template({
      ...{ TemplateName: 'p', TemplateType: 'PUSH', APNS: { Title: 'T', Body: 'B', Sound: 's' }, GCM: { Body: 'G' } },
      ResponseMetadata: {},
    })
    expect(push.definitions['workflow p'].steps).toMatchObject([
      { type: 'push', controlValues: { subject: 'T', body: 'B' } },
    ])
    expect(push.listed).toEqual(['workflow p APNS.Sound no_equivalent', 'workflow p GCM no_equivalent'])
    const voice = await template({ TemplateName: 'v', TemplateType: 'VOICE', Body: 'x' })
    expect([voice.definitions, voice.listed]).toEqual([{}, ['workflow v no_equivalent']])
  })

  test.each([
    ['{{User.UserId}}', '{{subscriber.subscriberId}}'],
    ['{{User.UserAttributes.First}}', '{{subscriber.data.First}}'],
    ['{{Metrics.n}}', '{{subscriber.data.n}}'],
    ['{{Demographic.Locale}}{{Demographic.Timezone}}', '{{subscriber.locale}}{{subscriber.timezone}}'],
    [
      '{{#each items}}{{name}}{{this.price}}{{/each}}',
      '{% for item in payload.items %}{{item.name}}{{item.price}}{% endfor %}',
    ],
  ])('%s', async (Body, expected) => {
    const { definitions } = await template({ TemplateName: 's', TemplateType: 'SMS', Body })
    expect(definitions['workflow s'].steps[0].controlValues.body).toBe(expected)
  })

  test('the report accounts for every member', async () => {
    const { endpoints: people, email, push } = fixtures.pinpoint
    const { planted, places } = plant({ people, email, push, inApp })
    writeFileSync(path.join(folder, 'e.json'), lines(planted.people))
    writeFileSync(path.join(folder, 't.json'), lines([planted.email, planted.push, planted.inApp]))
    const result = await read(pinpoint([path.join(folder, 'e.json'), path.join(folder, 't.json')]))
    expect(places.length).toBeGreaterThan(30)
    // The root is ours; the second page and other devices are listed as a whole.
    const inFile = places.filter(({ path: at }) => at.length > 0 && !/Content,1/.test(String(at)))
    expect(unaccounted(inFile, result, ['Android'])).toEqual([])
  })
})

const elemental = {
  ...{ id: 'E', title: 'Elemental', brand: { id: 'gone' }, tags: ['a', 'b'] },
  content: {
    version: '2022-01-01',
    elements: [
      { type: 'meta', title: 'Common' },
      {
        type: 'text',
        content: 'Hi {{name}}',
        text_style: 'h2',
        align: 'center',
        color: '#123',
        locales: { fr: { content: 'Salut' } },
      },
      { type: 'text', content: 'Fine print', text_style: 'subtext', if: 'data.x' },
      { type: 'action', content: 'Go', href: '{{url}}', style: 'button', action_id: 'x', align: 'left' },
      { type: 'image', src: 'https://a.example/i.png', alt_text: 'Us', href: '{{url}}', width: '10px' },
      { type: 'quote', content: 'Q', border_color: '#000' },
      {
        type: 'group',
        elements: [
          { type: 'divider', color: '#ccc' },
          { type: 'html', content: '<i>{{a}}</i>' },
        ],
        loop: 'data.list',
      },
      { type: 'hologram', content: 'x' },
      { type: 'channel', channel: 'email', elements: [{ type: 'meta', title: 'Own' }], raw: { html: 'x' } },
      { type: 'channel', channel: 'push' },
      { type: 'channel', channel: 'pigeon' },
    ],
  },
}

describe('Courier', () => {
  const template = async (value: object) => {
    write(folder, { 'courier/notifications/t.json': JSON.stringify(value) })
    return read(courier(path.join(folder, 'courier')))
  }

  test('Elemental: headings, alignment and links stay; styles, locales and conditions are listed', async () => {
    const { definitions, listed } = await template(elemental)
    const { steps, tags } = definitions['workflow E']
    expect(tags).toEqual(['a', 'b'])
    expect(
      steps.map(({ type, controlValues }: { type: string; controlValues: { subject: string } }) => [
        type,
        controlValues.subject,
      ]),
    ).toEqual([
      ['email', 'Own'],
      ['push', 'Common'],
    ])
    expect(steps[0].controlValues.body).toBe(
      [
        '<h2 style="text-align: center">Hi {{payload.name}}</h2>',
        '<small>Fine print</small>',
        '<p style="text-align: left"><a href="{{payload.url}}">Go</a></p>',
        '<p><a href="{{payload.url}}"><img src="https://a.example/i.png" alt="Us"></a></p>',
        ...['<blockquote>Q</blockquote>', '<hr>', '<i>{{payload.a}}</i>', ''],
      ].join('\n'),
    )
    const at = (place: string) => `workflow E content.elements.${place} no_equivalent`
    expect(listed).toEqual(
      expect.arrayContaining([
        ...['1.color', '1.locales', '2.if', '3.style', '4.width', '5.border_color', '6.loop', '6.elements.0.color'].map(
          at,
        ),
        ...['7.type', '8.raw', '10.pigeon'].map(at),
        'workflow E brand not_found',
      ]),
    )
  })

  test('the designer: each channel with the blocks it uses; locales and styles are listed', async () => {
    const { definitions, listed } = await template({
      ...{
        id: 'D',
        title: 'x'.repeat(130),
        tags: { data: Array.from({ length: 17 }, (_, n) => ({ name: `t${n}` })), paging: {} },
      },
      content: {
        blocks: [
          { id: '1', type: 'text', content: 'One {a}', locales: { fr: 'Un' }, alignment: 'left' },
          { id: '2', type: 'action', content: 'Go', href: '{url}' },
          { id: '3', type: 'text', content: { parts: [1] } },
        ],
        channels: [
          {
            id: 'c1',
            type: 'email',
            content: { subject: 'S', preheader: 'P' },
            block_ids: ['1', '2'],
            locales: { fr: {} },
          },
          { id: 'c2', type: 'sms', block_ids: ['1'], provider: 'twilio' },
          { id: 'c3', type: 'sms' },
        ],
      },
    })
    const { steps, name, tags } = definitions['workflow D']
    expect([name.length, tags.length]).toEqual([128, 16])
    expect(steps).toMatchObject([
      {
        type: 'email',
        controlValues: { subject: 'S', body: '<p>One {{payload.a}}</p>\n<p><a href="{{payload.url}}">Go</a></p>' },
      },
      { type: 'sms', controlValues: { body: 'One {{payload.a}}' } },
    ])
    const at = (place: string) => `workflow D content.${place} no_equivalent`
    expect(listed).toEqual(
      expect.arrayContaining([
        ...['blocks.0.locales', 'blocks.0.alignment', 'blocks.2.content', 'channels.0.content.preheader'].map(at),
        ...['channels.0.locales', 'channels.1.provider', 'channels.2.sms'].map(at),
        'workflow D tags too_many',
      ]),
    )
  })

  test('profiles keep their name, and tokens in every form; preferences for channels and unknown states', async () => {
    const person = (id: string, profile: object) => ({ id, profile })
    write(folder, {
      'courier/notifications/t.json': JSON.stringify({ id: 'T', title: 'T', topic: 'news', content: { elements: [] } }),
      'courier/notifications/broken.json': '{',
      'courier/notifications/notes.txt': 'x',
      'courier/profiles.jsonl': lines([
        person('ada', {
          name: 'Ada Lovelace',
          apn: { token: 'a', topic: 't' },
          expo: { tokens: ['e1', 'e2'] },
          slack: { x: 1 },
        }),
        person('bob', { name: 'Robert', given_name: 'Bob', firebaseToken: ['f1', 'f2'], locale: { odd: 1 } }),
      ]),
      'courier/preferences.jsonl': lines([
        {
          user_id: 'ada',
          items: [{ topic_id: 'news', status: 'OPTED_IN', has_custom_routing: true, custom_routing: ['email', 'fax'] }],
        },
        { user_id: 'bob', items: [{ topic_id: 'news', status: 'PERHAPS' }, 'odd'], extra: 1 },
      ]),
    })
    const { items, listed } = await read(courier(path.join(folder, 'courier')))
    expect(items.subscribers).toEqual([
      { subscriberId: 'ada', firstName: 'Ada', lastName: 'Lovelace', data: { name: 'Ada Lovelace' } },
      { subscriberId: 'bob', firstName: 'Bob', data: { name: 'Robert' } },
    ])
    expect(items.credentials?.map(({ providerId, deviceTokens }) => [providerId, deviceTokens])).toEqual([
      ['apns', ['a']],
      ['expo', ['e1', 'e2']],
      ['fcm', ['f1', 'f2']],
    ])
    expect(items.preferences).toEqual([
      {
        subscriberId: 'ada',
        workflowId: 'T',
        channels: { email: true, sms: false, push: false, chat: false, in_app: false },
      },
    ])
    expect(listed).toEqual(
      expect.arrayContaining([
        ...['file notifications/broken.json not_readable', 'file notifications/notes.txt not_readable'],
        ...['subscribers ada profile.apn.topic no_equivalent', 'subscribers ada profile.slack no_equivalent'],
        ...['subscribers bob profile.locale not_text', 'preferences ada news.custom_routing.fax no_equivalent'],
        ...[
          'preferences bob news.status no_equivalent',
          'preferences bob items.1 not_object',
          'preferences bob extra no_equivalent',
        ],
      ]),
    )
  })

  test('the report accounts for every member', async () => {
    const files = { ...fixtures.courier, 'courier/notifications/elemental.json': JSON.stringify(elemental) }
    const { planted, places } = plant(
      Object.fromEntries(Object.entries(files).map(([name, text]) => [name, JSON.parse(text)])),
    )
    write(folder, Object.fromEntries(Object.keys(files).map((name) => [name, JSON.stringify(planted[name])])))
    const result = await read(courier(path.join(folder, 'courier')))
    // An automation, and a channel that there is not, are listed as a whole.
    const found = places.filter(
      ({ path: [file, ...at] }) => file && !/automations/.test(file) && !/elements,10/.test(String(at)),
    )
    expect(found.length).toBeGreaterThan(40)
    expect(unaccounted(found, result, ['routing', 'colors', 'locales', 'raw'])).toEqual([])
  })
})

describe('OneSignal', () => {
  const players = async (...rows: string[]) => {
    writeFileSync(path.join(folder, 'p.csv'), rows.join('\n'))
    return read(oneSignal(path.join(folder, 'p.csv')))
  }

  test('the report accounts for every column, and for values that differ between subscriptions of one person', async () => {
    const [head = '', ...rows] = fixtures.oneSignal.trim().split('\n')
    const { listed } = await players(`${head},odd`, ...rows.map((row) => `${row},x`))
    expect(listed).toEqual(
      expect.arrayContaining(['subscribers u-1 odd no_equivalent', 'subscribers u-1 device_model no_equivalent']),
    )
    const { items, listed: seconds } = await players(
      'id,identifier,device_type,external_user_id,tags,language,timezone_id,token',
      'p-1,t1,0,u,"{""plan"": ""a""}",en,Europe/Rome,',
      'p-2,t2,1,u,"{""plan"": ""b""}",it,Europe/Paris,other',
    )
    expect(items.subscribers).toMatchObject([{ locale: 'it', timezone: 'Europe/Paris', data: { plan: 'b' } }])
    expect(seconds.sort()).toEqual([
      ...['subscribers u language second_value', 'subscribers u tags.plan second_value'],
      ...['subscribers u timezone_id second_value', 'subscribers u token no_equivalent'],
    ])
  })

  test('unsubscribed ones have their channel off; browsers and tags that cannot be read are listed', async () => {
    const { items, listed } = await players(
      'id,identifier,device_type,external_user_id,notification_types,tags',
      'p-1,a@example.com,11,mail,-2,',
      'p-2,+1555,14,text,0,',
      'p-3,token,androidPush,push,-31,',
      'p-4,token,5,browser,1,not tags',
      'p-5,b@example.com,Email,on,1,',
    )
    expect(items.preferences).toEqual([
      { subscriberId: 'mail', channels: { email: false } },
      { subscriberId: 'text', channels: { sms: false } },
      { subscriberId: 'push', channels: { push: false } },
    ])
    expect(listed).toEqual([
      'subscribers browser identifier (device_type 5) no_equivalent',
      'subscribers browser tags not_readable',
    ])
  })
})
