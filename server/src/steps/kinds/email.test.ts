import { describe, expect, test } from 'vitest'
import { makeWorkflow, messagesOf, pass, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, useServer } from '../../../test/server.ts'
import { useVendor } from '../../../test/vendor.ts'

const server = useServer({ allowPrivateAddresses: true })
const vendor = useVendor()
const ada = { subscriberId: 'ada', email: 'ada@example.com', firstName: 'Ada' }
const plain = {
  subject: 'Hi {{subscriber.firstName}}',
  body: '<p>Hello <b>{{payload.what}}</b></p>',
  editorType: 'html',
}
const mail = (more: object = {}, step: object = {}): Step => ({
  type: 'email',
  controlValues: { ...plain, layoutId: null, ...more },
  ...step,
})

async function prepared(steps = [mail()], credentials: object = {}): Promise<Api> {
  const api = await server.freshApi()
  const answer = await api.post('/v1/integrations', {
    providerId: 'email-webhook',
    channel: 'email',
    name: 'Webhook',
    identifier: `mail-${api.environmentId}`,
    active: true,
    credentials: {
      webhookUrl: vendor.url,
      secretKey: 'signing-key',
      from: 'news@acme.example',
      senderName: 'Acme',
      ...credentials,
    },
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  await makeWorkflow(api, 'news', steps)
  return api
}

const take = () => vendor.plays(() => ({ body: {} }))
const sent = () => vendor.asked.map(({ body }) => JSON.parse(body))
async function deliver(api: Api, more: object = {}, to: unknown = ada) {
  take()
  const transactionId = await trigger(api, 'news', to, { payload: { what: 'world' }, ...more })
  await server.drain()
  return { transactionId, run: await runOf(api, transactionId) }
}

describe('an email', () => {
  test("is stored with the provider's id, which delivery reports refer to", async () => {
    const api = await server.freshApi()
    const credentials = {
      apiKey: 'k',
      user: 'api',
      domain: 'acme.example',
      baseUrl: vendor.url,
      from: 'a@acme.example',
    }
    const mailgun = { providerId: 'mailgun', channel: 'email', active: true, check: false, credentials }
    expect(await api.post('/v1/integrations', mailgun)).toMatchObject({ status: 201 })
    await makeWorkflow(api, 'news', [mail()])
    vendor.plays(() => ({ body: { id: '<1.2@acme.example>', message: 'Queued' } }))
    await trigger(api, 'news', ada)
    await server.drain()
    const stored = await server.database.db
      .selectFrom('messages')
      .select(['identifier', 'status'])
      .where('environment_id', '=', api.environmentId)
      .execute()
    expect(stored).toEqual([{ identifier: '<1.2@acme.example>', status: 'sent' }])
  })

  test('is composed from the step, the subscriber and the integration, and its record says how', async () => {
    const api = await prepared()
    const { transactionId, run } = await deliver(api)
    const [{ _id, ...message }] = await messagesOf(api, 'channel=email')
    expect(sent()).toEqual([
      {
        to: ['ada@example.com'],
        cc: [],
        bcc: [],
        from: 'news@acme.example',
        senderName: 'Acme',
        subject: 'Hi Ada',
        html: expect.stringMatching(/^<p>Hello <b>world<\/b><\/p>/),
        text: expect.stringMatching(/^Hello world/),
        attachments: [],
        headers: { 'X-Belfry-Id': expect.stringMatching(/^[a-z2-7]{50}$/) },
        customData: {},
        id: _id,
        payloadDetails: { what: 'world', subscriber: expect.objectContaining({ subscriberId: 'ada' }) },
        notificationDetails: { transactionId, workflowIdentifier: 'news', subscriberId: 'ada' },
      },
    ])
    expect(message).toMatchObject({
      status: 'sent',
      subject: 'Hi Ada',
      email: 'ada@example.com',
      providerId: 'email-webhook',
      content: sent()[0].html,
    })
    expect(storyOf(run)).toEqual([
      'email completed: Step queued, Email Webhook provider was selected, Message created, Message sent',
    ])
    expect(run.jobs[0]).toMatchObject({ providerId: 'email-webhook' })
  })

  test.each(['ada@example.com, eve@example.com', 'ada@example.com;eve@example.com', 'a: ada@example.com;'])(
    'hole 11: %s is not one recipient',
    async (email) => {
      const api = await prepared()
      const to = { subscriberId: 'ada', email }
      expect(await api.post('/v1/events/trigger', { name: 'news', to })).toMatchObject({
        status: 422,
        body: { errors: { general: { messages: ['to.email must be one email address'] } } },
      })
      // However it got there.
      await api.post('/v2/subscribers', { subscriberId: 'ada' })
      await server.database.db.updateTable('subscribers').set({ email }).where('subscriber_id', '=', 'ada').execute()
      const { run } = await deliver(api, {}, 'ada')
      expect(run.jobs[0]).toMatchObject({ status: 'failed', reason: 'content_failed' })
      expect(sent()).toEqual([])
    },
  )

  test('to a subscriber without an address is a message with a warning, and the next step runs', async () => {
    const api = await prepared([mail(), { type: 'in_app', controlValues: { body: 'in the inbox' } }])
    const { run } = await deliver(api, {}, 'nobody')
    expect(storyOf(run)).toEqual([
      'email canceled: Step queued, Email Webhook provider was selected, Message created, Subscriber missing email address',
      'in_app completed: Step queued, Message created, Message sent',
    ])
    expect(run.jobs[0]).toMatchObject({
      reason: 'missing_email',
      messages: [
        {
          status: 'warning',
          errorId: 'mail_unexpected_error',
          errorText: 'Subscriber does not have an email address',
        },
      ],
    })
    expect(run).toMatchObject({ status: 'completed' })
    expect(vendor.asked).toEqual([])
  })

  test('that the provider refuses is a message with an error; the run goes on, unless the step stops it', async () => {
    const api = await prepared([mail(), { type: 'in_app', controlValues: { body: 'after' } }])
    await makeWorkflow(api, 'strict', [
      mail({}, { shouldStopOnFail: true }),
      { type: 'in_app', controlValues: { body: 'never' } },
    ])
    vendor.plays(() => ({ status: 400, body: { message: 'no such sender' } }))
    const [going, stopped] = [await trigger(api, 'news', ada), await trigger(api, 'strict', ada)]
    await server.drain()
    const run = await runOf(api, going)
    expect(storyOf(run)).toEqual([
      'email failed: Step queued, Email Webhook provider was selected, Message created, Unexpected provider error',
      'in_app completed: Step queued, Message created, Message sent',
    ])
    expect(run.jobs[0]).toMatchObject({
      reason: 'provider_refused',
      error: expect.stringMatching(/no such sender/),
      messages: [
        { status: 'error', errorId: 'mail_unexpected_error', errorText: expect.stringMatching(/no such sender/) },
      ],
    })
    expect((await runOf(api, stopped)).jobs.map(({ status }: { status: string }) => status)).toEqual([
      'failed',
      'canceled',
    ])
  })

  test('the trigger overrides the step, which overrides the integration', async () => {
    const api = await prepared([
      mail({ from: { email: 'step@acme.example', name: 'Step of {{subscriber.firstName}}' } }),
    ])
    await deliver(api)
    expect(sent()[0]).toMatchObject({ from: 'step@acme.example', senderName: 'Step of Ada' })
    vendor.asked.length = 0
    await deliver(api, {
      overrides: {
        email: {
          to: ['bob@example.com', 'ada@example.com'],
          from: 'trigger@acme.example',
          senderName: 'Trigger',
          subject: 'Other',
          text: 'just text',
          cc: ['cc@example.com'],
          bcc: ['bcc@example.com'],
          replyTo: 'answers@acme.example',
          headers: { 'X-One': 'a\r\nb', 'X-Two': 2 },
          customData: { template: 't' },
          ipPoolName: 'pool',
        },
        'email-webhook': { senderName: 'Provider' },
      },
    })
    expect(sent()[0]).toMatchObject({
      to: ['ada@example.com', 'bob@example.com'],
      from: 'trigger@acme.example',
      senderName: 'Provider',
      subject: 'Other',
      html: 'just text',
      text: 'just text',
      cc: ['cc@example.com'],
      bcc: ['bcc@example.com'],
      replyTo: 'answers@acme.example',
      headers: { 'X-One': 'a b', 'X-Two': '2' },
      customData: { template: 't' },
      ipPoolName: 'pool',
    })
    vendor.asked.length = 0
    await deliver(api, { overrides: { email: { toRecipient: 'instead@example.com', html: '<i>h</i>' } } })
    await deliver(api, { overrides: { email: { to: ['only@example.com'], replaceToRecipient: true } } })
    await deliver(api, { overrides: { email: { to: ['added@example.com'] } } }, 'nobody')
    expect(sent().map(({ to }) => to)).toEqual([['instead@example.com'], ['only@example.com'], ['added@example.com']])
    expect(sent()[0]).toMatchObject({ html: '<i>h</i>', text: 'h' })
  })

  test('is not sent without content of its own', async () => {
    const api = await prepared([mail({ body: '<p>{{payload.text}}</p>' })])
    const { transactionId } = await deliver(api)
    expect(vendor.asked).toEqual([])
    expect(await runOf(api, transactionId)).toMatchObject({
      status: 'error',
      jobs: [{ status: 'failed', reason: 'content_failed', error: expect.stringContaining('is empty') }],
    })
    const file = { file: Buffer.from('x').toString('base64'), name: 'a.txt', mime: 'text/plain' }
    for (const more of [
      { payload: { text: 'Something' } },
      { payload: { attachments: [file] } },
      { overrides: { email: { text: 'Something' } } },
    ]) {
      vendor.asked.length = 0
      await deliver(api, more)
      expect(vendor.asked).toHaveLength(1)
    }
  })

  test.each(['unsubscribe_url', 'preferences_url', 'view_in_browser_url'])(
    'with a link alone is sent: %s',
    async (link) => {
      const api = await prepared([mail({ body: `{{${link}}}` })])
      await deliver(api)
      expect(sent().map(({ text }) => text)).toEqual([expect.stringMatching(/^https?:/)])
    },
  )

  test('with an image and no text is sent', async () => {
    const api = await prepared([mail({ body: '<p><img src="https://acme.example/a.png"></p>' })])
    await deliver(api)
    expect(vendor.asked).toHaveLength(1)
  })

  test('is not sent without a sender, and says where to set one', async () => {
    const api = await prepared([mail()], { from: '', senderName: '' })
    const { transactionId } = await deliver(api)
    expect(vendor.asked).toEqual([])
    expect(await runOf(api, transactionId)).toMatchObject({
      status: 'error',
      jobs: [{ status: 'failed', reason: 'provider_refused', error: expect.stringContaining('set the From address') }],
    })
    await deliver(api, { overrides: { email: { from: 'named@acme.example' } } })
    expect(sent()[0].from).toBe('named@acme.example')
    expect(sent()[0]).not.toHaveProperty('senderName')
  })

  test('carries data for its provider, step over workflow', async () => {
    const api = await prepared()
    await deliver(api, {
      overrides: {
        providers: { 'email-webhook': { extra: 1, both: 'workflow' } },
        steps: { 'email-0': { providers: { 'email-webhook': { both: 'step' } } } },
      },
    })
    expect(sent()[0]).toMatchObject({ extra: 1, both: 'step' })
  })

  test('carries the files of the trigger, which messages and records do not keep', async () => {
    const api = await prepared()
    const attachments = [
      { file: Buffer.from('one').toString('base64'), name: 'a.txt', mime: 'text/plain' },
      {
        file: Buffer.from('two').toString('base64'),
        name: 'logo.png',
        mime: 'image/png',
        cid: 'logo',
        disposition: 'inline',
      },
    ]
    await deliver(api, { payload: { what: 'files', attachments } })
    const bytes = (text: string) => Buffer.from(text).toJSON()
    expect(sent()[0].attachments).toEqual([
      { name: 'a.txt', mime: 'text/plain', file: bytes('one') },
      { name: 'logo.png', mime: 'image/png', cid: 'logo', disposition: 'inline', file: bytes('two') },
    ])
  })

  test('whose files have been deleted is not sent without them', async () => {
    const api = await prepared()
    const attachments = [{ file: Buffer.from('one').toString('base64'), name: 'a.txt', mime: 'text/plain' }]
    take()
    const transactionId = await trigger(api, 'news', ada, { payload: { attachments } })
    await server.database.db.deleteFrom('attachments').where('environment_id', '=', api.environmentId).execute()
    await server.drain()
    const run = await runOf(api, transactionId)
    expect(run.jobs[0]).toMatchObject({
      status: 'failed',
      reason: 'content_failed',
      error: 'The files that came with the trigger are no longer kept',
    })
    expect(vendor.asked).toEqual([])
  })

  describe('after a digest', () => {
    const digest: Step = { type: 'digest', controlValues: { amount: 1, unit: 'hours' } }
    const withFile = (name: string) => ({
      payload: { what: name, attachments: [{ file: Buffer.from(name).toString('base64'), name, mime: 'text/plain' }] },
    })
    const fileNames = () => sent()[0].attachments.map(({ name }: { name: string }) => name)

    test('has the files of the event that opened it, and notes that others had some', async () => {
      const api = await prepared([digest, mail()])
      const first = await deliver(api, withFile('first.txt'))
      await deliver(api, withFile('second.txt'))
      await deliver(api, { payload: { what: 'no file' } })
      await pass(server, { hours: 1 })
      expect(vendor.asked).toHaveLength(1)
      expect(fileNames()).toEqual(['first.txt'])
      const [job] = (await runOf(api, first.transactionId)).jobs
      expect(storyOf({ jobs: [job] })).toEqual([
        'digest completed: Step queued, Step digested, Digest triggered events, ' +
          'Files of other events of the digest are not attached',
      ])
      expect(job.executionDetails[3]).toMatchObject({ status: 'Warning', raw: '{"events":1}' })
    })

    test('has those of the successor if the first event was canceled', async () => {
      const api = await prepared([digest, mail()])
      const first = await deliver(api, withFile('first.txt'))
      await deliver(api, withFile('second.txt'))
      await api.delete(`/v1/events/trigger/${first.transactionId}`)
      await pass(server, { hours: 1 })
      expect(vendor.asked).toHaveLength(1)
      expect(fileNames()).toEqual(['second.txt'])
    })

    test('has none if only other events had some', async () => {
      const api = await prepared([digest, mail()])
      await deliver(api, { payload: { what: 'no file' } })
      await deliver(api, withFile('second.txt'))
      await pass(server, { hours: 1 })
      expect(sent()[0].attachments ?? []).toEqual([])
    })
  })

  test("with a severity other than the workflow's notes that first", async () => {
    const api = await prepared()
    const { run } = await deliver(api, { overrides: { severity: 'high' } })
    expect(storyOf(run)[0]).toMatch(
      /^email completed: Step queued, Severity for the message was overridden, Email Webhook/,
    )
    expect(await messagesOf(api, 'channel=email')).toMatchObject([{ severity: 'high' }])
  })

  test('whose template cannot be rendered fails with the reason', async () => {
    const api = await prepared([mail({ body: '{% for x in payload.y %}' })])
    const { run } = await deliver(api)
    expect(storyOf(run)).toEqual([
      'email failed: Step queued, Email Webhook provider was selected, Message content could not be generated',
    ])
    expect(run.jobs[0]).toMatchObject({ reason: 'content_failed', messages: [{ status: 'error' }] })
  })

  test("is in the subscriber's language", async () => {
    const api = await prepared([mail()])
    await (await server.organizationOf(api)).patch('/v1/organizations/settings', {
      defaultLocale: 'en_US',
      targetLocales: ['de_DE'],
    })
    await makeWorkflow(api, 'spoken', [mail({ subject: '{{t.hello}}' })], { isTranslationEnabled: true })
    for (const [locale, hello] of [
      ['en_US', 'Hello'],
      ['de_DE', 'Hallo'],
    ])
      await api.post('/v2/translations', { resourceId: 'spoken', resourceType: 'workflow', locale, content: { hello } })
    take()
    await trigger(api, 'spoken', { ...ada, subscriberId: 'otto', locale: 'de_DE' })
    await server.drain()
    expect(sent()[0].subject).toBe('Hallo')
  })

  test("carries the service's branding unless the organization removes it", async () => {
    const { development: api } = await server.freshOrganization()
    await makeWorkflow(api, 'marked', [mail()])
    const htmlOf = async () => {
      const transactionId = await trigger(api, 'marked', ada)
      await server.drain()
      const [{ id }] = (await api.get(`/v1/sandbox/messages?transactionId=${transactionId}`)).body.data
      return (await api.get(`/v1/sandbox/messages/${id}`)).body.html
    }
    expect(await htmlOf()).toContain('Sent with Belfry')
    expect(
      await (await server.organizationOf(api)).patch('/v1/organizations/settings', { removeSvcBranding: true }),
    ).toMatchObject({ status: 200 })
    expect(await htmlOf()).not.toContain('Sent with Belfry')
  })
})

describe('the layout of an email', () => {
  const layout = async (api: Api, layoutId: string, text: string) => {
    const made = await api.post('/v2/layouts', { layoutId, name: `Layout ${layoutId}` })
    expect(made, made.text).toMatchObject({ status: 201 })
    const controlValues = { email: { body: `<html><body>${text}: {{content}}</body></html>`, editorType: 'html' } }
    const answer = await api.put(`/v2/layouts/${layoutId}`, { name: `Layout ${layoutId}`, controlValues })
    expect(answer, answer.text).toMatchObject({ status: 200 })
  }

  test("is the trigger's for the step, for the channel, under the older name, the step's own, the default; or none", async () => {
    const api = await prepared([])
    for (const [name, text] of Object.entries({ own: 'own', step: 'by step', channel: 'by channel', old: 'by name' }))
      await layout(api, name, text)
    await api.delete('/v2/workflows/news')
    await makeWorkflow(api, 'news', [mail({ layoutId: 'own' })])
    await makeWorkflow(api, 'default', [{ type: 'email', controlValues: plain }])
    const all = {
      steps: { 'email-0': { layoutId: 'step' } },
      channels: { email: { layoutId: 'channel' } },
      layoutIdentifier: 'old',
    }
    const { steps: _, ...withoutStep } = all
    const { channels: _channels, ...onlyName } = withoutStep
    const cases: Array<[object, RegExp, string | undefined]> = [
      [all, /by step: /, 'step'],
      [withoutStep, /by channel: /, 'channel'],
      [onlyName, /by name: /, 'old'],
      [{}, /own: /, 'own'],
      [{ steps: { 'email-0': { layoutId: null } } }, /^<p>Hello/, undefined],
    ]
    for (const [overrides, html, layoutId] of cases) {
      vendor.asked.length = 0
      const { run } = await deliver(api, { overrides })
      expect(sent()[0].html).toMatch(html)
      const line = run.jobs[0].executionDetails.find(({ detail }: { detail: string }) => detail === 'Layout selected')
      expect(line && JSON.parse(line.raw)).toEqual(layoutId && { name: `Layout ${layoutId}`, layoutId })
    }
    take()
    const transactionId = await trigger(api, 'default', ada)
    await server.drain()
    expect(storyOf(await runOf(api, transactionId))).toEqual([
      'email completed: Step queued, Email Webhook provider was selected, Layout selected, Message created, Message sent',
    ])
  })

  test('that does not exist fails the step', async () => {
    const api = await prepared()
    const { run } = await deliver(api, { overrides: { layoutIdentifier: 'nowhere' } })
    expect(storyOf(run)).toEqual([
      'email failed: Step queued, Email Webhook provider was selected, Layout not found, Bridge execution failed',
    ])
    const line = run.jobs[0].executionDetails[2]
    expect(line.detail).toBe('Layout not found ')
    expect(JSON.parse(line.raw)).toEqual({ layoutId: 'nowhere', error: 'Layout "nowhere" was not found' })
    expect(run.jobs[0]).toMatchObject({ reason: 'layout_not_found' })
  })
})

describe('replies to an email', () => {
  const answering = (replyCallback: object) => [mail({}, { replyCallback })]
  const setDns = (api: Api, dns: object) =>
    server.database.db
      .updateTable('environments')
      .set({ dns: JSON.stringify(dns) })
      .where('id', '=', api.environmentId)
      .execute()
  const url = 'https://acme.example/answers'

  test('go to an address that names the transaction', async () => {
    const api = await prepared(answering({ active: true, url }))
    await setDns(api, { mxRecordConfigured: true, inboundParseDomain: 'in.acme.example' })
    const { transactionId } = await deliver(api)
    expect(sent()[0].replyTo).toBe(`parse+${transactionId}-nv-e=${api.environmentId}@in.acme.example`)
    vendor.asked.length = 0
    await deliver(api, { overrides: { email: { replyTo: 'me@acme.example' } } })
    expect(sent()[0].replyTo).toBe('me@acme.example')
  })

  test.each([
    [
      { active: true },
      { mxRecordConfigured: true, inboundParseDomain: 'd' },
      'Inbound mail - Missing replay callback URL',
    ],
    [{ active: true, url }, {}, 'Inbound mail - Missing configuration'],
    [
      { active: true, url },
      { mxRecordConfigured: false, inboundParseDomain: 'd' },
      'Inbound mail - Missing MX Record configuration',
    ],
    [{ active: true, url }, { mxRecordConfigured: true }, 'Inbound mail - Missing MX route domain configuration'],
  ])(
    'without a complete setup the mail is still sent, and the log says what is missing: %j %j',
    async (callback, dns, text) => {
      const api = await prepared(answering(callback))
      await setDns(api, dns)
      const { run } = await deliver(api)
      expect(sent()[0]).not.toHaveProperty('replyTo')
      expect(storyOf(run)).toEqual([
        `email completed: Step queued, Email Webhook provider was selected, ${text}, Message created, Message sent`,
      ])
    },
  )

  test('change nothing unless the step asks for them', async () => {
    const api = await prepared(answering({ active: false, url }))
    await deliver(api)
    expect(sent()[0]).not.toHaveProperty('replyTo')
  })
})
