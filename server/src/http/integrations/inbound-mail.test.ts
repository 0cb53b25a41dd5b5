import { createHmac, hkdfSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createTransport, type SendMailOptions } from 'nodemailer'
import { beforeEach, describe, expect, test } from 'vitest'
import { certificate, certificateKey } from '../../../test/certificate.ts'
import { identifierOf } from '../../../test/inbox.ts'
import { makeWorkflow, messagesOf, pass, runOf, type Step, storyOf, trigger } from '../../../test/runs.ts'
import { type Api, requireHash, useServer } from '../../../test/server.ts'
import { type Asked, useVendor } from '../../../test/vendor.ts'
import { mostBytes, mostUnknown } from './inbound-mail.ts'

const inboundMail = { host: '127.0.0.1', port: 0, certificate: undefined, key: undefined }
const server = useServer({ allowPrivateAddresses: true, inboundMail })
const vendor = useVendor()
const ada = { subscriberId: 'ada', email: 'ada@example.com', firstName: 'Ada' }
const bob = { subscriberId: 'bob', email: 'bob@example.com' }
const domain = 'in.acme.example'

const mail = (replyCallback: object | null = { active: true, url: `${vendor.url}/answers` }): Step => ({
  type: 'email',
  controlValues: { subject: 'A question', body: '<p>Shall we?</p>', editorType: 'html', layoutId: null },
  ...(replyCallback ? { replyCallback } : {}),
})

/** An environment that sends emails through the vendor and accepts replies. */
async function prepared(steps: Step[] = [mail()]): Promise<Api> {
  const api = await server.freshApi()
  const made = await api.post('/v1/integrations', {
    ...{ providerId: 'email-webhook', channel: 'email', name: 'Webhook', identifier: `mail-${api.environmentId}` },
    ...{
      active: true,
      credentials: { webhookUrl: `${vendor.url}/mails`, secretKey: 'key', from: 'news@acme.example' },
    },
  })
  expect(made, made.text).toMatchObject({ status: 201 })
  const changed = await api.put(`/v1/environments/${api.environmentId}`, { dns: { inboundParseDomain: domain } })
  expect(changed, changed.text).toMatchObject({ status: 200 })
  await makeWorkflow(api, 'question', steps)
  return api
}

/** @returns the transaction, and the reply-to address of its emails */
async function ask(api: Api, to: unknown = ada, more: object = {}) {
  const transactionId = await trigger(api, 'question', to, { payload: { order: 7 }, ...more })
  await server.drain()
  const sent = vendor.asked.filter(({ path }) => path === '/mails').map(({ body }) => JSON.parse(body))
  vendor.asked.length = 0
  return { transactionId, replyTo: String(sent[0]?.replyTo), sent }
}

async function send(options: SendMailOptions, port = server.mailPort, more: object = {}) {
  const transport = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true, ...more })
  try {
    return await transport.sendMail({
      from: 'Ada <ada@example.com>',
      subject: 'Re: A question',
      text: 'Yes!',
      ...options,
    })
  } finally {
    transport.close()
  }
}

/** The code and text of the refusal. */
const refusal = (options: SendMailOptions) =>
  send(options).then(
    () => 'taken',
    (error: unknown) => (error as { response: string }).response,
  )

const unknown = expect.stringMatching(/^550 5\.1\.1 /)
const answers = () => vendor.asked.filter(({ path }) => path.startsWith('/answers'))
const bodyOf = (asked: Asked | undefined) => JSON.parse(asked?.body ?? 'null')
const stored = (api: Api) =>
  server.database.db.selectFrom('inbound_mails').selectAll().where('environment_id', '=', api.environmentId).execute()

let status = 200
beforeEach(() => {
  status = 200
  vendor.plays(({ path }) => (path === '/mails' ? { body: {} } : { status, body: {} }))
})

describe('a reply to an email', () => {
  test('goes to the callback of the step, signed, and is logged', async () => {
    const api = await prepared()
    const { transactionId, replyTo } = await ask(api)
    expect(replyTo).toBe(`parse+${transactionId}-nv-e=${api.environmentId}@${domain}`)
    await send({
      ...{ to: replyTo, cc: 'Carl <carl@example.com>', messageId: '<one@mail.example>', priority: 'high' },
      ...{ html: '<p>Yes!</p>', date: new Date('2026-05-01T09:00:00Z'), headers: { 'X-Mood': 'glad' } },
    })
    await server.drain()

    const [asked] = answers()
    const replyKey = Buffer.from(hkdfSync('sha256', api.key, '', 'reply callback', 32))
    const [message] = await messagesOf(api, 'channel=email')
    const run = await runOf(api, transactionId)
    expect(answers()).toHaveLength(1)
    expect(asked).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } })
    expect(bodyOf(asked)).toEqual({
      hmac: createHmac('sha256', replyKey).update('ada').digest('hex'),
      transactionId,
      payload: { order: 7 },
      templateIdentifier: 'question',
      template: expect.objectContaining({ workflowId: 'question', name: 'question' }),
      notification: expect.objectContaining({ _id: run._id, subscriberId: 'ada', transactionId, channels: ['email'] }),
      message: expect.objectContaining({
        _id: message._id,
        subscriberId: 'ada',
        subject: 'A question',
        email: ada.email,
      }),
      mail: {
        ...{ html: '<p>Yes!</p>', text: 'Yes!', subject: 'Re: A question', messageId: '<one@mail.example>' },
        ...{ inReplyTo: [], references: [], priority: 'high', date: '2026-05-01T09:00:00.000Z' },
        headers: expect.objectContaining({ 'x-mood': 'glad', subject: 'Re: A question' }),
        from: [{ address: 'ada@example.com', name: 'Ada' }],
        to: [{ address: replyTo, name: '' }],
        cc: [{ address: 'carl@example.com', name: 'Carl' }],
        ...{ dkim: null, spf: null, spamScore: null, language: null, attachments: [] },
        connection: expect.objectContaining({ remoteAddress: '127.0.0.1', secure: false }),
        envelopeFrom: { address: 'ada@example.com' },
        envelopeTo: [{ address: replyTo }],
      },
    })
    const [, ms, signature] = /^t=(\d+),v1=(.+)$/.exec(String(asked?.headers['svc-signature'])) ?? []
    expect(Number(ms)).toBe(server.clock.now().getTime())
    expect(signature).toBe(createHmac('sha256', api.key).update(`${ms}.${asked?.body}`).digest('hex'))
    expect(storyOf(run)).toEqual([
      'email completed: Step queued, Email Webhook provider was selected, Message created, Message sent, ' +
        'Inbound mail - A reply was received, Inbound mail - The reply callback received a reply',
    ])
    expect(run.jobs[0].executionDetails.at(-1)).toMatchObject({ status: 'Success', source: 'Webhook' })
  })

  test('hole 7: what the callback gets does not open the inbox of the subscriber', async () => {
    const api = await prepared()
    await requireHash(server.database.db, api.environmentId, true)
    const { replyTo } = await ask(api)
    await send({ to: replyTo })
    await server.drain()
    const applicationIdentifier = await identifierOf(server, api)
    const begin = (subscriberHash: string) =>
      api.post('/v1/inbox/session', { applicationIdentifier, subscriber: 'ada', subscriberHash })
    expect(await begin(bodyOf(answers()[0]).hmac)).toMatchObject({ status: 400 })
    expect(await begin(createHmac('sha256', api.key).update('ada').digest('hex'))).toMatchObject({ status: 201 })
  })

  test('is deleted once the callback has it', async () => {
    const api = await prepared()
    const { replyTo } = await ask(api)
    await send({ to: replyTo })
    expect(await stored(api)).toMatchObject([{ mail: expect.objectContaining({ text: 'Yes!\n' }), attempts: 0 }])
    await server.drain()
    expect(await stored(api)).toMatchObject([{ mail: null, due_at: null, attempts: 1 }])
  })

  test('includes its attachments, and a text version of HTML-only mail', async () => {
    const api = await prepared()
    const { replyTo } = await ask(api)
    const bytes = Buffer.from([0, 255, 1, 254])
    await send({
      to: replyTo,
      text: undefined,
      html: '<p>See <b>this</b> <img src="cid:seal"></p>',
      attachments: [
        { filename: 'Rechnung für Ada.bin', content: bytes, contentType: 'application/x-thing' },
        { filename: 'seal.png', content: bytes, contentType: 'image/png', cid: 'seal' },
      ],
    })
    await server.drain()
    const { html, text, attachments } = bodyOf(answers()[0]).mail
    expect(html).toContain('<img src="cid:seal">')
    expect(text).toContain('See this')
    const content = bytes.toString('base64')
    expect(attachments).toEqual(
      expect.arrayContaining([
        {
          ...{ fileName: 'Rechnung für Ada.bin', contentType: 'application/x-thing', contentDisposition: 'attachment' },
          ...{ contentId: null, length: 4, content },
        },
        {
          ...{ fileName: 'seal.png', contentType: 'image/png', contentDisposition: 'inline' },
          ...{ contentId: 'seal', length: 4, content },
        },
      ]),
    )
  })

  test('that arrives twice is forwarded once, even concurrently', async () => {
    const api = await prepared()
    const { transactionId, replyTo } = await ask(api)
    const twice = { to: replyTo, messageId: '<same@mail.example>' }
    await Promise.all([send(twice), send(twice)])
    await server.drain()
    await send({ ...twice, text: 'Written anew by a relay' })
    await server.drain()
    expect(answers()).toHaveLength(1)
    await send({ to: replyTo, messageId: '<other@mail.example>' })
    await server.drain()
    expect(answers()).toHaveLength(2)
    const received = storyOf(await runOf(api, transactionId))[0]?.match(/A reply was received/g)
    expect(received).toHaveLength(2)
  })

  test('is retried while the callback is down, and not after success', async () => {
    const api = await prepared()
    const { transactionId, replyTo } = await ask(api)
    status = 503
    await send({ to: replyTo })
    await server.drain()
    await pass(server, { seconds: 4 })
    expect(answers()).toHaveLength(1)
    await pass(server, { seconds: 1 })
    expect(answers()).toHaveLength(2)
    status = 204
    await pass(server, { minutes: 1 })
    await pass(server, { days: 3 })
    expect(answers()).toHaveLength(3)
    expect(bodyOf(answers()[2])).toEqual(bodyOf(answers()[0]))
    const lines = (await runOf(api, transactionId)).jobs[0].executionDetails.slice(-3)
    expect(lines).toMatchObject([
      { status: 'Warning', isRetry: false, raw: expect.stringContaining('HTTP status 503') },
      { status: 'Warning', isRetry: true },
      { status: 'Success', isRetry: true },
    ])
  })

  test('is finally given up, logged and deleted', async () => {
    const api = await prepared()
    const { transactionId, replyTo } = await ask(api)
    vendor.plays(() => 'hang up')
    await send({ to: replyTo })
    await server.drain()
    for (let attempt = 1; attempt < 15; attempt += 1) await pass(server, { hours: 10 })
    expect(answers()).toHaveLength(11)
    expect((await runOf(api, transactionId)).jobs[0].executionDetails.at(-1)).toMatchObject({
      status: 'Failed',
      detail: 'Inbound mail - The reply callback never accepted a reply, which was given up',
    })
    expect(await stored(api)).toMatchObject([{ mail: null, due_at: null }])
  })

  test('is not forwarded if the step no longer has a callback', async () => {
    const api = await prepared()
    const { transactionId, replyTo } = await ask(api)
    await send({ to: replyTo })
    const { steps, ...workflow } = (await api.get('/v2/workflows/question')).body
    const changed = await api.put('/v2/workflows/question', {
      ...workflow,
      steps: [{ ...steps[0], replyCallback: null }],
    })
    expect(changed, changed.text).toMatchObject({ status: 200 })
    await server.drain()
    expect(answers()).toEqual([])
    expect((await runOf(api, transactionId)).jobs[0].executionDetails.at(-1)).toMatchObject({ status: 'Failed' })
    expect(await refusal({ to: replyTo })).toEqual(unknown)
  })

  test('goes to a URL with variables of the trigger filled in', async () => {
    const url = `${vendor.url}/answers/{{payload.order}}/{{order}}/{{subscriber.subscriberId}}`
    const api = await prepared([mail({ active: true, url })])
    const { replyTo } = await ask(api)
    await send({ to: replyTo })
    await server.drain()
    expect(answers().map(({ path }) => path)).toEqual(['/answers/7/7/ada'])
  })

  test('never goes to private addresses that are not allowed', async () => {
    const other = await server.startAnother({ allowPrivateAddresses: false })
    const api = await prepared()
    const { transactionId, replyTo } = await ask(api)
    await send({ to: replyTo }, other.mailPort)
    await other.engine.wake()
    await other.stop()
    expect(answers()).toEqual([])
    expect((await runOf(api, transactionId)).jobs[0].executionDetails.at(-1)).toMatchObject({ status: 'Warning' })
  })
})

test('with very long HTML is accepted, without a text version', async () => {
  const api = await prepared()
  const { replyTo } = await ask(api)
  const html = `<p>${'Long. '.repeat(100_000)}</p>`
  await send({ to: replyTo, text: undefined, html })
  await server.drain()
  const told = bodyOf(answers()[0]).mail
  expect({ text: told.text, characters: told.html.trim().length }).toEqual({ text: null, characters: html.length })
})

test('a forwarded reply is forgotten after a month, a pending one is not', async () => {
  const api = await prepared()
  const { replyTo } = await ask(api)
  await send({ to: replyTo, messageId: '<told@x>' })
  await server.drain()
  await send({ to: replyTo, messageId: '<waiting@x>' })
  server.clock.advance({ days: 31 })
  await server.database.pool.query("SELECT graphile_worker.add_job('purge_expired')")
  status = 503
  await server.drain()
  expect(await stored(api)).toMatchObject([{ mail: { messageId: '<waiting@x>' } }])
})

describe('the sender of a reply', () => {
  test('is identified by the mail it answers, or by its address, if an email went to several', async () => {
    const api = await prepared()
    const { transactionId, replyTo } = await ask(api, [ada, bob])
    const messages = await messagesOf(api, `transactionId=${transactionId}`)
    const toBob = messages.find(({ email }) => email === bob.email)
    await send({ to: replyTo, from: 'Bob@Example.com', messageId: '<1@x>' })
    await server.drain()
    await send({
      to: replyTo,
      from: 'me@elsewhere.example',
      messageId: '<2@x>',
      inReplyTo: `<${toBob._id}@acme.example>`,
    })
    await server.drain()
    expect(answers().map((asked) => bodyOf(asked).notification.subscriberId)).toEqual(['bob', 'bob'])
  })

  test('must be unambiguous; otherwise the reply names nobody', async () => {
    const api = await prepared()
    const { replyTo } = await ask(api, [ada, bob])
    const refused = await refusal({ to: replyTo, from: 'me@elsewhere.example' })
    expect(refused).toMatch(/^550 5\.7\.1 Please answer from the address that the message was sent to/)
    expect(await stored(api)).toEqual([])
  })

  test('may use another address if there was only one recipient', async () => {
    const api = await prepared()
    const { replyTo } = await ask(api)
    await send({ to: replyTo, from: 'me@elsewhere.example' })
    await server.drain()
    expect(bodyOf(answers()[0])).toMatchObject({ notification: { subscriberId: 'ada' } })
  })

  test.each(['an order with spaces', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', 'a@b', 'dots..', '"'])(
    'is identified by the run if the transaction id does not fit into an address: %s',
    async (transactionId) => {
      const api = await prepared()
      const { replyTo } = await ask(api, ada, { transactionId })
      const run = await runOf(api, encodeURIComponent(transactionId))
      expect(replyTo).toBe(`parse+${run._id}-nv-e=${api.environmentId}@${domain}`)
      await send({ to: replyTo })
      await server.drain()
      expect(bodyOf(answers()[0])).toMatchObject({ transactionId, notification: { _id: run._id } })
    },
  )
})

describe('a recipient address', () => {
  test('that is unknown is refused before the mail is sent', async () => {
    const [api, other] = [await prepared(), await prepared()]
    const { transactionId } = await ask(api)
    const address = (transaction: string, environment: string, at = domain) =>
      `parse+${transaction}-nv-e=${environment}@${at}`
    expect(await refusal({ to: address(transactionId, api.environmentId, 'IN.Acme.example') })).toBe('taken')
    for (const to of [
      'ada@example.com',
      `postmaster@${domain}`,
      address('txn_unheard-of', api.environmentId),
      address(transactionId, other.environmentId),
      address(transactionId, '0'.repeat(24)),
      address(transactionId, api.environmentId, 'elsewhere.example'),
      address(transactionId.toUpperCase(), api.environmentId),
      address("x'--", api.environmentId),
    ])
      expect(await refusal({ to }), to).toEqual(unknown)
  })

  test('whose step has no callback is refused', async () => {
    const api = await prepared([mail(null)])
    const { transactionId } = await ask(api)
    expect(await refusal({ to: `parse+${transactionId}-nv-e=${api.environmentId}@${domain}` })).toEqual(unknown)
  })

  test('of another domain is refused even beside a valid one: nothing is relayed', async () => {
    const api = await prepared()
    const { replyTo } = await ask(api)
    const { accepted, rejected } = await send({ to: [replyTo, 'victim@example.com'] })
    expect({ accepted, rejected }).toEqual({ accepted: [replyTo], rejected: ['victim@example.com'] })
    await server.drain()
    expect(answers()).toHaveLength(1)
  })
})

describe('the listener', () => {
  /** A client that sends one line at a time. */
  class Client {
    readonly socket: Socket
    #heard = ''
    #isClosed = false
    #notice: () => void = () => undefined

    constructor(port: number) {
      this.socket = connect(port, '127.0.0.1')
      this.socket.on('data', (chunk) => {
        this.#heard += chunk.toString()
        this.#notice()
      })
      this.socket.on('error', () => undefined)
      this.socket.once('close', () => {
        this.#isClosed = true
        this.#notice()
      })
    }

    /** The next reply, or an empty string when the connection ends. */
    async hear(): Promise<string> {
      for (;;) {
        const [answer] = /^(\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(this.#heard) ?? []
        if (answer !== undefined) {
          this.#heard = this.#heard.slice(answer.length)
          return answer.trim()
        }
        if (this.#isClosed) return ''
        await new Promise<void>((resolve) => {
          this.#notice = resolve
        })
      }
    }

    async say(line: string): Promise<string> {
      this.socket.write(`${line}\r\n`)
      return this.hear()
    }
  }

  async function greeted(port = server.mailPort): Promise<Client> {
    const client = new Client(port)
    expect(await client.hear()).toMatch(/^220 /)
    expect(await client.say('EHLO mail.example')).toMatch(/^250/)
    return client
  }

  test('announces the maximum size, and refuses larger mails, announced or not', async () => {
    const api = await prepared()
    const { replyTo } = await ask(api)
    const client = await greeted()
    expect(await client.say('EHLO mail.example')).toContain(`SIZE ${mostBytes}`)
    expect(await client.say(`MAIL FROM:<ada@example.com> SIZE=${mostBytes + 1}`)).toMatch(/^552 /)
    await client.say('MAIL FROM:<ada@example.com>')
    await client.say(`RCPT TO:<${replyTo}>`)
    expect(await client.say('DATA')).toMatch(/^354 /)
    client.socket.write('Subject: Long\r\n\r\n')
    const line = `${'x'.repeat(998)}\r\n`
    client.socket.write(line.repeat(Math.ceil(mostBytes / line.length)))
    expect(await client.say('.')).toMatch(/^552 /)
    expect(await client.say('QUIT')).toMatch(/^221 /)
    expect(await stored(api)).toEqual([])
  })

  test('offers no authentication, and no encryption without its own certificate', async () => {
    const client = await greeted()
    expect(await client.say('EHLO mail.example')).not.toMatch(/AUTH|STARTTLS/)
    expect(await client.say('AUTH PLAIN AGFkYQBzZWNyZXQ=')).toMatch(/^5\d\d /)
    expect(await client.say('STARTTLS')).toMatch(/^5\d\d /)
    client.socket.destroy()
  })

  test('encrypts with its certificate', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'belfry-mail-'))
    const files = { certificate: path.join(folder, 'certificate.pem'), key: path.join(folder, 'key.pem') }
    await writeFile(files.certificate, certificate)
    await writeFile(files.key, certificateKey)
    const other = await server.startAnother({ inboundMail: { ...inboundMail, ...files } })
    const api = await prepared()
    const { replyTo } = await ask(api)
    const tls = { requireTLS: true, ignoreTLS: false, tls: { rejectUnauthorized: false } }
    await send({ to: replyTo }, other.mailPort, tls)
    await server.drain()
    expect(bodyOf(answers()[0])).toMatchObject({ mail: { connection: { secure: true } } })
    await other.stop()
    await rm(folder, { recursive: true })
    await expect(server.startAnother({ inboundMail: { ...inboundMail, ...files } })).rejects.toThrow(
      `${files.certificate}, which the settings for inbound mail name, cannot be read.`,
    )
  })

  test('reports at the start that its port is in use', async () => {
    const start = server.startAnother({ inboundMail: { ...inboundMail, port: server.mailPort } })
    await expect(start).rejects.toThrow(`Port ${server.mailPort} of 127.0.0.1 cannot be used for mail`)
  })

  test('disconnects clients that guess addresses', async () => {
    const client = await greeted()
    await client.say('MAIL FROM:<ada@example.com>')
    for (let guess = 0; guess < mostUnknown; guess += 1)
      expect(await client.say(`RCPT TO:<guess-${guess}@${domain}>`)).toEqual(unknown)
    expect(await client.say(`RCPT TO:<again@${domain}>`)).toMatch(/^421 /)
    expect(await client.hear()).toBe('')
  })

  test('limits connections per address, and frees them on disconnect', async () => {
    const clients = await Promise.all(Array.from({ length: 15 }, () => greeted()))
    const refused = new Client(server.mailPort)
    expect(await refused.hear()).toMatch(/^421 /)
    const gone = clients.map(async (client) => {
      await client.say('QUIT')
      client.socket.destroy()
    })
    await Promise.all(gone)
    await expect.poll(async () => (await refusal({ to: `nobody@${domain}` })).slice(0, 3)).toBe('550')
  })

  test('asks the sender to retry a mail that it could not commit', async () => {
    const api = await prepared()
    const { replyTo } = await ask(api)
    const client = await greeted()
    await client.say('MAIL FROM:<ada@example.com>')
    await client.say(`RCPT TO:<${replyTo}>`)
    await client.say('DATA')
    await server.database.pool.query('ALTER TABLE inbound_mails RENAME TO away')
    client.socket.write('Subject: Re\r\nMessage-ID: <again@x>\r\n\r\nYes\r\n')
    const answer = await client.say('.')
    await server.database.pool.query('ALTER TABLE away RENAME TO inbound_mails')
    expect(answer).toMatch(/^451 /)
    await send({ to: replyTo, messageId: '<again@x>' })
    await server.drain()
    expect(answers()).toHaveLength(1)
    client.socket.destroy()
  })

  test('accepts a mail in flight at shutdown, and no other', async () => {
    const api = await prepared()
    const { replyTo } = await ask(api)
    const other = await server.startAnother()
    const [idle, client] = [await greeted(other.mailPort), await greeted(other.mailPort)]
    await client.say('MAIL FROM:<ada@example.com>')
    await client.say(`RCPT TO:<${replyTo}>`)
    await client.say('DATA')
    client.socket.write('Subject: Re\r\nMessage-ID: <late@x>\r\n\r\nYes')
    const stopped = other.stop()
    expect(await idle.hear()).toMatch(/^421 /)
    client.socket.write(', after all\r\n')
    expect(await client.say('.')).toMatch(/^250 /)
    expect(await client.say('MAIL FROM:<ada@example.com>')).toMatch(/^421 /)
    await stopped
    await server.drain()
    expect(bodyOf(answers()[0])).toMatchObject({ mail: { text: 'Yes, after all\n' } })
  })

  test('is off unless a port is set', async () => {
    const other = await server.startAnother({ inboundMail: undefined })
    expect(other.mailPort).toBeUndefined()
    const worker = await server.startAnother({ role: 'worker' })
    expect(worker.mailPort).toBeUndefined()
    await Promise.all([other.stop(), worker.stop()])
  })
})
