// What other services export, after their documentation.

const id = (n: number) => ({ $oid: n.toString(16).padStart(24, '0') })
const at = (time: string) => ({ $date: time })
const environment = { _environmentId: id(1), _organizationId: id(2), __v: 0 }

/** Collections of Novu's database, as mongoexport writes them. */
export const novu: Record<string, object[]> = {
  notificationtemplates: [
    {
      ...{
        _id: id(10),
        ...environment,
        name: 'Order shipped',
        active: true,
        draft: false,
        critical: false,
        tags: ['orders'],
        type: 'REGULAR',
      },
      triggers: [{ type: 'event', identifier: 'order-shipped', variables: [] }],
      preferenceSettings: { email: true, sms: false, in_app: true, chat: true, push: true },
      steps: [
        {
          _id: id(11),
          _templateId: id(21),
          active: true,
          stepId: 'collect',
          name: 'collect',
          filters: [],
          metadata: { type: 'regular', amount: 5, unit: 'minutes' },
        },
        {
          ...{
            _id: id(12),
            _templateId: id(22),
            active: true,
            stepId: 'mail',
            name: 'Mail',
            shouldStopOnFail: false,
            variants: [],
          },
          filters: [
            {
              _id: id(90),
              isNegated: false,
              type: 'GROUP',
              value: 'AND',
              children: [{ _id: id(91), on: 'payload', field: 'vip', value: 'true', operator: 'EQUAL' }],
            },
          ],
        },
      ],
    },
    {
      ...{
        _id: id(30),
        ...environment,
        name: 'Comments',
        active: true,
        tags: [],
        type: 'BRIDGE',
        origin: 'novu-cloud',
        validatePayload: true,
        isTranslationEnabled: true,
        severity: 'none',
      },
      triggers: [{ type: 'event', identifier: 'comments', variables: [] }],
      steps: [{ _id: id(31), _templateId: id(32), stepId: 'inbox', name: 'Inbox', active: true }],
    },
    { _id: id(40), ...environment, name: 'Gone', deleted: true, triggers: [{ identifier: 'gone' }], steps: [] },
  ],
  messagetemplates: [
    { _id: id(21), ...environment, type: 'digest', active: true },
    {
      ...{
        _id: id(22),
        ...environment,
        type: 'email',
        active: true,
        subject: 'Order {{order.id}}',
        contentType: 'customHtml',
        senderName: 'Shop',
      },
      ...{ preheader: 'Soon', _layoutId: id(50), variables: [] },
      content:
        '<p>Hi {{subscriber.firstName}}, {{#if gift}}a gift{{else}}yours{{/if}}: {{#each step.events}}{{name}} {{/each}}</p>',
    },
    { _id: id(32), ...environment, type: 'in_app', active: true },
  ],
  controls: [
    {
      _id: id(33),
      ...environment,
      _workflowId: id(30),
      _stepId: id(31),
      level: 'step_controls',
      controls: { body: 'Hello {{payload.who}}' },
    },
    {
      _id: id(34),
      ...environment,
      _layoutId: id(50),
      level: 'layout_controls',
      controls: { email: { body: '<main>{{content}}</main>', editorType: 'html' } },
    },
  ],
  layouts: [
    {
      ...{ _id: id(50), ...environment, identifier: 'letter', name: 'Letter', isDefault: false },
      isTranslationEnabled: true,
    },
  ],
  integrations: [
    {
      ...{
        _id: id(60),
        ...environment,
        identifier: 'mails',
        name: 'Mails',
        providerId: 'sendgrid',
        channel: 'email',
        active: true,
        primary: true,
        priority: 1,
      },
      ...{ credentials: { apiKey: 'nvsk.6162', from: 'a@example.com' }, conditions: [] },
    },
    {
      _id: id(61),
      ...environment,
      identifier: 'phones',
      name: 'Phones',
      providerId: 'fcm',
      channel: 'push',
      active: true,
      credentials: { serviceAccount: 'nvsk.77' },
    },
  ],
  localizationgroups: [
    {
      ...{ _id: id(65), ...environment, resourceType: 'workflow', resourceId: 'comments', resourceName: 'Comments' },
      _resourceInternalId: id(30),
    },
    {
      ...{ _id: id(66), ...environment, resourceType: 'layout', resourceId: 'letter', resourceName: 'Letter' },
      _resourceInternalId: id(50),
    },
  ],
  localizations: [
    { _id: id(67), ...environment, _localizationGroupId: id(65), locale: 'en_US', content: '{"hello":"Hello"}' },
    { _id: id(68), ...environment, _localizationGroupId: id(66), locale: 'en_US', content: '{"bye":"Bye"}' },
  ],
  contexts: [{ _id: id(75), ...environment, type: 'region', id: 'eu', key: 'region:eu', data: { zone: 'x' } }],
  tenants: [{ _id: id(70), ...environment, identifier: 'acme', name: 'Acme', data: { tier: { $numberInt: '1' } } }],
  subscribers: [
    {
      ...{
        _id: id(80),
        ...environment,
        subscriberId: 'ada',
        firstName: 'Ada',
        email: 'ada@example.com',
        data: { plan: 'pro' },
        deleted: false,
      },
      channels: [{ providerId: 'fcm', _integrationId: id(61), credentials: { deviceTokens: ['t1'] } }],
      ...{ createdAt: at('2025-01-02T03:04:05Z'), updatedAt: at('2025-02-02T03:04:05Z') },
    },
    { _id: id(81), ...environment, subscriberId: 'gone', deleted: true },
  ],
  preferences: [
    {
      _id: id(100),
      ...environment,
      _templateId: id(30),
      type: 'WORKFLOW_RESOURCE',
      preferences: { all: { enabled: true, readOnly: true }, channels: {} },
    },
    {
      _id: id(101),
      ...environment,
      _subscriberId: id(80),
      type: 'SUBSCRIBER_GLOBAL',
      preferences: { all: { enabled: true }, channels: { email: { enabled: false } } },
      schedule: {
        isEnabled: true,
        weeklySchedule: { monday: { isEnabled: true, hours: [{ start: '09:00 AM', end: '05:00 PM' }] } },
      },
      updatedAt: at('2025-03-01T00:00:00Z'),
    },
    {
      _id: id(102),
      ...environment,
      _subscriberId: id(80),
      _templateId: id(10),
      type: 'SUBSCRIBER_WORKFLOW',
      preferences: { channels: { email: { enabled: true } } },
      updatedAt: at('2025-03-02T00:00:00Z'),
    },
    {
      _id: id(103),
      ...environment,
      _subscriberId: id(80),
      _templateId: id(30),
      _topicSubscriptionId: id(111),
      type: 'SUBSCRIPTION_SUBSCRIBER_WORKFLOW',
      preferences: { all: { enabled: false, condition: { '==': [{ var: 'payload.who' }, 'Bob'] } }, channels: {} },
    },
    {
      _id: id(104),
      ...environment,
      _subscriberId: id(80),
      _templateId: id(10),
      _topicSubscriptionId: id(119),
      type: 'SUBSCRIPTION_SUBSCRIBER_WORKFLOW',
      preferences: { all: { enabled: false }, channels: {} },
    },
  ],
  topics: [{ _id: id(110), ...environment, key: 'posts', name: 'Posts' }],
  topicsubscribers: [
    {
      _id: id(111),
      ...environment,
      _topicId: id(110),
      topicKey: 'posts',
      _subscriberId: id(80),
      externalSubscriberId: 'ada',
      identifier: 'own',
    },
  ],
  messages: [
    {
      ...{
        _id: { $oid: '65a1f0c2e4b0a1b2c3d4e5f6' },
        ...environment,
        _templateId: id(30),
        templateIdentifier: 'comments',
        _subscriberId: id(80),
      },
      ...{
        channel: 'in_app',
        content: 'Bob wrote',
        transactionId: 'c-1',
        seen: true,
        read: true,
        archived: false,
        payload: { who: 'Bob' },
      },
      cta: {
        type: 'redirect',
        data: { url: '/x' },
        action: { status: 'pending', buttons: [{ type: 'primary', content: 'Open' }], result: {} },
      },
      ...{
        createdAt: at('2024-01-13T02:09:38Z'),
        updatedAt: at('2024-01-14T00:00:00Z'),
        lastReadDate: at('2024-01-14T00:00:00Z'),
      },
    },
    { _id: id(120), ...environment, channel: 'email', _subscriberId: id(80), _templateId: id(30) },
  ],
  jobs: [{ _id: id(130) }],
}

/** They take a key of the organization. */
export const novuVariables: object[] = [
  {
    ...{ _id: id(76), _organizationId: id(2), key: 'SITE', type: 'STRING', isSecret: false, __v: 0 },
    values: [{ _environmentId: id(1), value: 'https://example.com' }],
  },
  {
    ...{ _id: id(77), _organizationId: id(2), key: 'TOKEN', type: 'STRING', isSecret: true, __v: 0 },
    values: [{ _environmentId: id(1), value: 'nvsk.99' }],
  },
]

const json = (value: unknown) => JSON.stringify(value, null, 2)

/** The folder that Knock's command line tool pulls. */
export const knock: Record<string, string> = {
  'knock/channels.yaml': 'in-app: in_app\npostmark: email\ntwilio: sms\napns: push apns\n',
  'knock/knock.json': '{}',
  'knock/translations/en.json': '{}',
  'knock/layouts/default/layout.json': json({
    name: 'Default',
    'html_layout@': 'html_layout.html',
    'text_layout@': 'text_layout.txt',
    __readonly: { key: 'default' },
  }),
  'knock/layouts/default/html_layout.html': '<main>{{content}}</main>',
  'knock/layouts/default/text_layout.txt': '{{content}}',
  'knock/partials/button/partial.json': json({ name: 'Button', type: 'html', 'content@': 'content.html' }),
  'knock/partials/button/content.html': '<b>{{ label }}</b>',
  'knock/workflows/new-comment/workflow.json': json({
    $schema: 'https://schemas.knock.app/cli/workflow.json',
    ...{
      name: 'New comment',
      categories: ['comments'],
      trigger_frequency: 'once_per_recipient',
      settings: { is_commercial: true },
    },
    trigger_data_json_schema: { type: 'object', properties: { page: { type: 'string' } } },
    steps: [
      {
        ref: 'batch_1',
        name: 'Batch',
        type: 'batch',
        settings: { batch_key: 'data.page', batch_order: 'desc', batch_window: { unit: 'minutes', value: 5 } },
      },
      {
        ...{ ref: 'in_app_1', name: 'In-app', type: 'channel', channel_key: 'in-app' },
        template: { 'markdown_body@': 'in_app_1/markdown_body.md', action_url: '{{ vars.app_url }}/p' },
      },
      { ref: 'delay_1', type: 'delay', settings: { delay_for: { unit: 'hours', value: 1 } } },
      {
        ...{ ref: 'email_1', name: 'Email', type: 'channel', channel_key: 'postmark' },
        conditions: {
          all: [
            { variable: 'refs.in_app_1.engagement_status', operator: 'not_contains', argument: '$message.read' },
            { variable: 'recipient.plan', operator: 'equal_to', argument: 'pro' },
          ],
        },
        template: {
          settings: { layout_key: 'default' },
          subject: 'Hi {{ recipient.email }}',
          'visual_blocks@': 'email_1/visual_blocks.json',
        },
      },
      {
        ref: 'throttle_1',
        type: 'throttle',
        settings: { throttle_limit: 2, throttle_window: { unit: 'seconds', value: 30 } },
      },
      {
        ref: 'http_fetch_1',
        type: 'http_fetch',
        settings: {
          method: 'get',
          url: 'https://example.com/{{ data.page }}',
          headers: [{ key: 'X-A', value: 'b' }],
          query_params: [{ key: 'a', value: '1' }],
        },
      },
      {
        ...{ ref: 'branch_1', type: 'branch' },
        branches: [
          {
            ...{
              name: 'Pro',
              terminates: true,
              conditions: { all: [{ variable: 'data.count', operator: 'greater_than', argument: '3' }] },
            },
            steps: [
              {
                ref: 'sms_1',
                type: 'channel',
                channel_key: 'twilio',
                template: { text_body: 'Hi {{ recipient.id }}' },
              },
            ],
          },
          {
            name: 'Default',
            steps: [
              {
                ref: 'trigger_workflow_1',
                type: 'trigger_workflow',
                settings: {
                  workflow_key: 'welcome',
                  recipients: '{{ recipient.id }}',
                  data: '{"a": "{{ data.page }}"}',
                },
              },
            ],
          },
        ],
      },
      { ref: 'ai_1', type: 'ai_agent', settings: {} },
    ],
  }),
  'knock/workflows/new-comment/in_app_1/markdown_body.md':
    '{% if total_activities > 1 %}{{total_activities}} comments{% endif %} on {{ data.page }} by {{ actor.name }}',
  'knock/workflows/new-comment/email_1/visual_blocks.json': json([
    { type: 'html', content: '<p>Hello</p>{% render "button", label: "Go" %}' },
    { type: 'button_set', buttons: [{ label: 'Open', action: '{{ vars.app_url }}' }] },
  ]),
  'knock/workflows/odd/workflow.json': json({
    name: 'Odd',
    steps: [
      {
        ...{ ref: 'in_app_1', type: 'channel', channel_key: 'in-app', template: { markdown_body: 'Hi' } },
        conditions: { any: [{ variable: 'workflow.key', operator: 'equal_to', argument: 'x' }] },
      },
    ],
  }),
  'knock/workflows/welcome/workflow.json': json({
    name: 'Welcome',
    steps: [
      { ref: 'in_app_1', type: 'channel', channel_key: 'in-app', template: { markdown_body: 'Welcome' } },
      { ref: 'sms_1', type: 'channel', channel_key: 'twilio', template: { text_body: 'Welcome' } },
    ],
  }),
  'users.jsonl': JSON.stringify({
    ...{
      __typename: 'User',
      id: 'ada',
      name: 'Ada Lovelace',
      email: 'ada@example.com',
      phone_number: '+15551234567',
      timezone: 'Europe/London',
      plan: 'pro',
    },
    ...{
      created_at: '2025-01-01T00:00:00Z',
      updated_at: '2025-02-01T00:00:00Z',
      channel_data: { apns: { tokens: ['tok'] } },
    },
  }),
  'preferences.jsonl': JSON.stringify({
    ...{
      user_id: 'ada',
      id: 'default',
      channel_types: { sms: false },
      workflows: { welcome: { channel_types: { in_app_feed: false } } },
    },
    ...{ categories: { comments: false }, commercial_subscribed: false },
  }),
}

export const pinpoint = {
  endpoints: [
    {
      ...{
        ChannelType: 'EMAIL',
        Address: 'ada@example.com',
        EndpointStatus: 'ACTIVE',
        OptOut: 'ALL',
        Id: 'e-1',
        ApplicationId: 'app',
        CohortId: '12',
      },
      ...{ EffectiveDate: '2026-01-01T00:00:00Z', CreationDate: '2025-01-01T00:00:00Z', RequestId: 'r' },
      ...{
        Attributes: { plan: ['pro'], interests: ['a', 'b'] },
        Metrics: { visits: 3 },
        Demographic: { Locale: 'en_US', Timezone: 'Europe/London', Make: 'Apple' },
      },
      User: { UserId: 'u-1', UserAttributes: { FirstName: ['Ada'] } },
    },
    {
      ChannelType: 'SMS',
      Address: '+15551234567',
      EndpointStatus: 'ACTIVE',
      OptOut: 'NONE',
      Id: 'e-2',
      EffectiveDate: '2026-02-01T00:00:00Z',
      User: { UserId: 'u-1' },
    },
    { ChannelType: 'GCM', Address: 'g1', EndpointStatus: 'ACTIVE', Id: 'e-3', User: { UserId: 'u-1' } },
    { ChannelType: 'GCM', Address: 'g2', EndpointStatus: 'ACTIVE', Id: 'e-4', User: { UserId: 'u-1' } },
    { ChannelType: 'APNS', Address: 'ap1', EndpointStatus: 'ACTIVE', Id: 'e-5', User: { UserId: 'u-1' } },
    { ChannelType: 'GCM', Address: 'dead', EndpointStatus: 'INACTIVE', Id: 'e-6', User: { UserId: 'u-1' } },
    { ChannelType: 'EMAIL', Address: 'alone@example.com', EndpointStatus: 'ACTIVE', Id: 'alone' },
  ],
  email: {
    EmailTemplateResponse: {
      ...{
        TemplateName: 'Order_mail',
        TemplateType: 'EMAIL',
        TemplateDescription: 'About orders',
        Arn: 'arn:x',
        Version: '1',
      },
      ...{
        Subject: 'Hi {{User.UserAttributes.FirstName}}',
        HtmlPart: '<p>{{order}} {{Address}}</p>',
        TextPart: '{{order}}',
      },
      DefaultSubstitutions: '{"User.UserAttributes.FirstName":"friend"}',
    },
  },
  push: {
    PushNotificationTemplateResponse: {
      TemplateName: 'News',
      TemplateType: 'PUSH',
      Default: { Title: 'T', Body: 'B', Action: 'OPEN_APP' },
    },
  },
}

export const courier: Record<string, string> = {
  'courier/brands/acme.json': json({
    ...{ id: 'acme', name: 'Acme', created: 1, updated: 2, version: 'v1' },
    settings: {
      colors: { primary: '#000' },
      email: {
        header: { logo: { href: 'https://acme.example', image: 'https://acme.example/l.png' } },
        footer: { markdown: 'Acme' },
      },
    },
  }),
  'courier/notifications/welcome.json': json({
    ...{
      id: 'WELCOME',
      title: 'Welcome',
      brand: { id: 'acme' },
      tags: { data: [{ id: '1', name: 'onboarding' }] },
      routing: { method: 'single', channels: ['email'] },
      topic: 't-1',
    },
    content: {
      version: '2022-01-01',
      elements: [
        { type: 'meta', title: 'Hi {{name}}' },
        { type: 'text', content: 'Hello {{profile.given_name}}' },
        { type: 'action', content: 'Go', href: '{{url}}' },
        { type: 'channel', channel: 'email' },
        { type: 'channel', channel: 'sms' },
      ],
    },
  }),
  'courier/notifications/receipt.json': json({
    ...{ id: 'RECEIPT', title: 'Receipt' },
    content: {
      blocks: [{ id: 'b1', type: 'text', content: 'Total {total}' }],
      channels: [{ id: 'c1', type: 'email', content: { subject: 'Receipt' } }],
    },
  }),
  'courier/automations/drip.json': json({ id: 'drip', steps: [] }),
  'courier/profiles.jsonl': JSON.stringify({
    id: 'ada',
    profile: {
      given_name: 'Ada',
      family_name: 'L',
      email: 'ada@example.com',
      phone_number: '+15551234567',
      firebaseToken: 'f1',
      plan: 'pro',
    },
  }),
  'courier/preferences.jsonl': JSON.stringify({
    user_id: 'ada',
    items: [
      { topic_id: 't-1', topic_name: 'T', status: 'OPTED_OUT', default_status: 'OPTED_IN', has_custom_routing: false },
      { topic_id: 't-none', status: 'OPTED_IN' },
    ],
  }),
}

/** With the extra fields external_user_id, notification_types and timezone_id. */
export const oneSignal = `id,identifier,session_count,language,timezone,device_type,device_model,tags,last_active,created_at,invalid_identifier,external_user_id,notification_types,timezone_id
p-1,token-1,3,en,0,0,"iPhone14,2","{""plan""=>""pro"", ""level""=>""3""}",2026-01-01 00:00:00 UTC,2025-01-01 00:00:00 UTC,f,u-1,1,Europe/London
p-2,ada@example.com,1,en,0,11,,"{""plan"": ""pro""}",2026-01-01 00:00:00 UTC,2025-01-01 00:00:00 UTC,f,u-1,1,Europe/London
p-3,token-3,1,en,0,1,Pixel,,2026-01-01 00:00:00 UTC,2025-01-01 00:00:00 UTC,f,,1,
p-4,token-4,1,en,0,1,Pixel,,2026-01-01 00:00:00 UTC,2025-01-01 00:00:00 UTC,f,u-2,-2,Europe/London
`
