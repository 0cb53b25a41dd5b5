import { createHash, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import { existsSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { certificate, certificateKey } from '../../../test/certificate.ts'
import { fullMail, plainMail } from '../../../test/provider-suite.ts'
import { Delivery } from '../delivery.ts'
import { DeliveryError } from '../delivery-error.ts'
import { HttpClient, type HttpClientOptions } from '../http-client.ts'
import type { Credentials, EmailMessage } from '../provider.ts'
import { emailjs } from './emailjs.ts'
import { nodemailer } from './nodemailer.ts'
import { outlook365 } from './outlook365.ts'

const account = { user: 'ada', password: 'correct horse' }
const trusting = { tlsOptions: { rejectUnauthorized: false } }
const servers: SMTPServer[] = []
const clients: Array<{ close(): Promise<void> }> = []

function deliveryWith(options: Partial<HttpClientOptions> = {}, timeoutMs = 60_000, mailName?: string): Delivery {
  const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
  const http = new HttpClient({ clock, allowPrivateAddresses: true, ...options })
  const made = new Delivery({ http, clock, brand: 'acme', timeoutMs, mailName })
  clients.push(made, http)
  return made
}
let delivery: Delivery
beforeEach(() => {
  delivery = deliveryWith()
})

interface Received {
  from: string
  to: string[]
  raw: string
  secure: boolean
  user: string | undefined
}

async function smtpServer(options: SMTPServerOptions = {}) {
  const logins: string[] = []
  const received: Received[] = []
  let connections = 0
  const server = new SMTPServer({
    allowInsecureAuth: true,
    closeTimeout: 10,
    authOptional: true,
    onConnect(_session, done) {
      connections += 1
      done()
    },
    onAuth({ username, password }, _session, done) {
      logins.push(username ?? '')
      const isRight = username === account.user && password === account.password
      done(isRight ? null : new Error(`Wrong password ${password ?? ''} for ${username ?? ''}`), { user: username })
    },
    onData(stream, { envelope, secure, user }, done) {
      // Cut off when the test refuses a mail midway.
      const whole = buffer(stream).catch(() => undefined)
      void whole.then((raw) => {
        if (!raw) return
        received.push({
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          raw: raw.toString('latin1'),
          secure,
          user: user as string | undefined,
        })
        done()
      })
    },
    ...options,
  })
  // A client that refuses our self-signed certificate hangs up; some tests expect that.
  server.on('error', () => undefined)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as { port: number }
  return {
    address: { host: '127.0.0.1', port: String(port) },
    port,
    logins,
    received,
    connections: () => connections,
  }
}

afterEach(async () => {
  // A server's close() waits for open connections.
  await Promise.all(clients.splice(0).map((each) => each.close()))
  for (const server of servers.splice(0)) await new Promise<void>((resolve) => server.close(() => resolve()))
})

let integrations = 0
function send(credentials: Credentials, message: Partial<EmailMessage> = {}, through = delivery) {
  integrations += 1
  const integration = { id: `integration-${integrations}`, credentials }
  return through.send(nodemailer, integration, { ...plainMail, ...message })
}

async function problem(work: Promise<unknown>): Promise<DeliveryError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(DeliveryError)
  expect(`${JSON.stringify(error)} ${String((error as Error).stack)}`).not.toContain(account.password)
  return error as DeliveryError
}

const headersOf = (raw: string) => raw.slice(0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ')

/** Verifies the signature as a receiving server would (RFC 6376, relaxed/relaxed). */
function isSigned(raw: string, publicKey: string): boolean {
  const end = raw.indexOf('\r\n\r\n')
  const fields = raw
    .slice(0, end)
    .split(/\r\n(?![ \t])/)
    .map((field) => {
      const [name = '', ...rest] = field.split(':')
      return { name: name.trim().toLowerCase(), value: rest.join(':').replace(/\s+/g, ' ').trim() }
    })
  const signature = fields.find(({ name }) => name === 'dkim-signature')?.value ?? ''
  const tag = (name: string) => new RegExp(`(?:^|;) ?${name}=([^;]*)`).exec(signature)?.[1]?.replaceAll(' ', '') ?? ''
  expect(tag('c')).toBe('relaxed/relaxed')
  const body = `${raw
    .slice(end + 4)
    .replace(/[ \t]+/g, ' ')
    .replace(/ \r\n/g, '\r\n')
    .replace(/(\r\n)*$/, '')}\r\n`
  if (createHash('sha256').update(body, 'latin1').digest('base64') !== tag('bh')) return false
  const left = [...fields]
  const signed = tag('h')
    .split(':')
    .flatMap((name) => {
      const at = left.findLastIndex((field) => field.name === name.toLowerCase())
      return at < 0 ? [] : left.splice(at, 1).map(({ value }) => `${name.toLowerCase()}:${value}\r\n`)
    })
  const own = `dkim-signature:${signature.replace(/(; ?b=)[^;]*/, '$1')}`
  return verify('sha256', Buffer.from(signed.join('') + own, 'latin1'), publicKey, Buffer.from(tag('b'), 'base64'))
}

describe('a mail over SMTP', () => {
  test('signs in, uses STARTTLS when the server offers it, and has the same Message-ID in every attempt', async () => {
    const { address, received } = await smtpServer()
    const credentials = { ...address, ...account, ...trusting }
    const id = `<${plainMail.id}@acme.example>`
    expect(await send(credentials)).toEqual({ providerMessageId: id })
    expect(await send(credentials, { attempt: 2 })).toEqual({ providerMessageId: id })
    expect(received).toHaveLength(2)
    expect(received[1]).toMatchObject({ from: 'news@acme.example', to: ['ada@example.com'], secure: true, user: 'ada' })
    expect(received[1]?.raw).toContain(`Message-ID: ${id}\r\n`)
  })

  test('can be encrypted from the start', async () => {
    const { address, received } = await smtpServer({ secure: true })
    await send({ ...address, ...account, ...trusting, secure: true })
    expect(received).toMatchObject([{ secure: true, user: 'ada' }])
  })

  test('goes unencrypted if the server does not offer TLS, or TLS is turned off', async () => {
    const { address, received } = await smtpServer({ hideSTARTTLS: true })
    await send(address)
    await send({ ...address, user: 'ada' })
    expect(received).toMatchObject([
      { secure: false, user: undefined },
      { secure: false, user: undefined },
    ])
  })

  test('carries every field of a message, and hides blind copies', async () => {
    const { address, received } = await smtpServer({ hideSTARTTLS: true })
    await send(address, fullMail)
    const [{ to, raw } = { to: [], raw: '' }] = received
    expect(to).toEqual(['ada@example.com', 'bob@example.com', 'cc@example.com', 'bcc@example.com'])
    const headers = headersOf(raw)
    expect(headers).toContain('From: Acme <news@acme.example>')
    expect(headers).toContain('To: ada@example.com, bob@example.com')
    expect(headers).toContain('Cc: cc@example.com')
    expect(headers).toContain('Reply-To: help@acme.example')
    expect(headers).toContain('X-Campaign: spring')
    expect(raw).not.toContain('bcc@example.com')
    expect(raw).toMatch(
      /Content-Type: text\/plain; charset=utf-8[\s\S]*Hi[\s\S]*Content-Type: text\/html[\s\S]*<p>Hi<\/p>/,
    )
    expect(raw).toMatch(/filename=bill\.pdf[\s\S]*UERG/)
    expect(raw).toMatch(/Content-ID: <logo>[\s\S]*\/wA=/)
  })

  test('has no injected headers, whatever is in a name, a subject or a file name', async () => {
    const { address, received } = await smtpServer({ hideSTARTTLS: true })
    const evil = 'x\r\nBcc: eve@example.com\r\nX-Evil: 1\r\n\r\n<script>'
    await send(address, {
      subject: evil,
      senderName: evil,
      headers: { 'X-Campaign': evil },
      attachments: [{ file: Buffer.from('PDF'), mime: 'application/pdf', name: evil }],
    })
    for (const fields of [{ replyTo: evil }, { from: evil }, { to: [evil] }, { headers: { [evil]: 'x' } }])
      await send(address, fields).catch((error: unknown) => expect(error).toBeInstanceOf(DeliveryError))
    expect(received.length).toBeGreaterThan(0)
    for (const { to, raw } of received) {
      expect(to).not.toContain('eve@example.com')
      const names = [...raw.matchAll(/^([\w-]+):/gm)].map(([, name = '']) => name.toLowerCase())
      expect(names).not.toContain('bcc')
      expect(names).not.toContain('x-evil')
    }
  })

  test('can have blind copies only', async () => {
    const { address, received } = await smtpServer({ hideSTARTTLS: true })
    await send(address, { to: [], bcc: ['bcc@example.com'] })
    expect(received).toMatchObject([{ to: ['bcc@example.com'] }])
    expect(headersOf(received[0]?.raw ?? '')).toContain('To: "undisclosed-recipients":;')
  })

  test('is signed with DKIM when domain, selector and key are set', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 1024,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const { address, received } = await smtpServer({ hideSTARTTLS: true })
    const dkim = { domain: 'acme.example', accountSid: 'mail', secretKey: privateKey }
    await send({ ...address, ...dkim })
    await send({ ...address, ...dkim, secretKey: '' })
    expect(headersOf(received[0]?.raw ?? '')).toMatch(/DKIM-Signature: v=1; a=rsa-sha256; .*d=acme\.example;.* s=mail;/)
    expect(received[1]?.raw).not.toContain('DKIM-Signature')
    expect(isSigned(received[0]?.raw ?? '', publicKey)).toBe(true)
    const headers = {
      'List-Unsubscribe': '<https://acme.example/u>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    }
    await send({ ...address, ...dkim }, { headers })
    const commercial = received[2]?.raw ?? ''
    expect(isSigned(commercial, publicKey)).toBe(true)
    for (const name of Object.keys(headers)) {
      expect(commercial.match(new RegExp(`^${name}: `, 'gm'))).toHaveLength(1)
      expect(headersOf(commercial)).toMatch(new RegExp(`h=[^;]*\\b${name.toLowerCase()}(:|;)`, 'i'))
    }
    expect(isSigned(received[0]?.raw.replace('Hello', 'Hullo') ?? '', publicKey)).toBe(false)
    expect(isSigned(received[0]?.raw.replace('Hi', 'Ho') ?? '', publicKey)).toBe(false)
  })

  test("takes nodemailer's own options, but reads no local files and no URLs", async () => {
    const { address, received } = await smtpServer({ hideSTARTTLS: true })
    await send(address, { providerData: { priority: 'high', _passthrough: { body: { inReplyTo: '<a@b>' } } } })
    expect(headersOf(received[0]?.raw ?? '')).toMatch(/In-Reply-To: <a@b>[\s\S]*X-Priority: 1 \(Highest\)/)
    for (const attachment of [{ path: '/etc/passwd' }, { href: 'http://127.0.0.1/' }])
      expect(await problem(send(address, { providerData: { attachments: [attachment] } }))).toMatchObject({
        code: 'message_refused',
        kind: 'never',
      })
    const cacheDir = join(tmpdir(), `belfry-${randomUUID()}`)
    const key = { domainName: 'acme.example', keySelector: 'x', privateKey: 'x' }
    const refused = [
      { dsn: { notify: 'FAILURE' } },
      { requireTLSExtensionEnabled: true },
      // Hole 11: it would write files where the caller says.
      { dkim: { ...key, cacheDir, cacheTreshold: 0 } },
      { raw: { path: '/etc/passwd' } },
      { attachDataUrls: true },
      { disableFileAccess: false },
    ]
    for (const body of refused)
      for (const providerData of [body, { _passthrough: { body } }])
        expect(await problem(send(address, { providerData }))).toMatchObject({ code: 'message_refused', kind: 'never' })
    expect(existsSync(cacheDir)).toBe(false)
    expect(received).toHaveLength(1)
  })
})

describe('the connections of an integration', () => {
  test('are reused by later messages, and never more than twenty at a time', async () => {
    const { address, received, connections } = await smtpServer({ hideSTARTTLS: true })
    const integration = { id: 'pooled', credentials: { ...address, ...account } }
    for (let sent = 0; sent < 3; sent += 1) await delivery.send(nodemailer, integration, plainMail)
    expect(connections()).toBe(1)
    await Promise.all(Array.from({ length: 100 }, () => delivery.send(nodemailer, integration, plainMail)))
    expect(received).toHaveLength(103)
    expect(connections()).toBeLessThanOrEqual(20)
  })

  test('are replaced when its credentials change', async () => {
    const { address, logins } = await smtpServer({ hideSTARTTLS: true })
    const stored = { id: 'changing', credentials: { ...address, user: 'ada', password: 'old' } }
    expect(await problem(delivery.send(nodemailer, stored, plainMail))).toMatchObject({ code: 'unauthorized' })
    await delivery.send(nodemailer, { ...stored, credentials: { ...address, ...account } }, plainMail)
    expect(logins).toEqual(['ada', 'ada'])
  })

  test('are reopened after the server closes them', async () => {
    const { address, received, connections } = await smtpServer({ hideSTARTTLS: true })
    const integration = { id: 'closed', credentials: address }
    const attempt = () =>
      delivery.send(nodemailer, integration, plainMail).then(
        () => 'sent',
        (error: unknown) => (error as DeliveryError).kind,
      )
    expect(await attempt()).toBe('sent')
    for (const connection of servers[0]?.connections ?? []) connection.close()
    // The pool may notice the closed connection before or while using it; either way the mail takes another.
    expect(await attempt()).toBe('sent')
    expect(await attempt()).toBe('sent')
    expect(connections()).toBe(2)
    expect(received).toHaveLength(3)
  })
})

test('a copy that the server refuses is reported, with its words; the others get the mail', async () => {
  const { address, received } = await smtpServer({
    hideSTARTTLS: true,
    onRcptTo({ address: to }, _session, done) {
      done(to.startsWith('gone') ? Object.assign(new Error('5.1.1 no such user'), { responseCode: 550 }) : null)
    },
  })
  const sent = await send(address, { cc: ['gone-1@example.com', 'bob@example.com'], bcc: ['gone-2@example.com'] })
  expect(sent.refusedRecipients).toEqual([
    { address: 'gone-1@example.com', says: expect.stringContaining('5.1.1 no such user'), isDead: true },
    { address: 'gone-2@example.com', says: expect.stringContaining('5.1.1 no such user'), isDead: true },
  ])
  expect(received[0]?.to).toEqual([...plainMail.to, 'bob@example.com'])
  expect(await send(address)).not.toHaveProperty('refusedRecipients')
})

test.each([
  ['the name that was set', 'mail.acme.example', 'mail.acme.example'],
  ["the machine's name", undefined, hostname()],
])('the server is greeted with %s', async (_which, mailName, expected) => {
  const names: string[] = []
  const { address } = await smtpServer({
    hideSTARTTLS: true,
    onMailFrom(_from, { hostNameAppearsAs }, done) {
      names.push(String(hostNameAppearsAs))
      done()
    },
  })
  await send(address, {}, deliveryWith({}, 5_000, mailName))
  expect(names).toEqual([expected])
})

describe('a server that refuses a mail', () => {
  const failing = (responseCode: number, text: string) => Object.assign(new Error(text), { responseCode })
  const onRcpt = (code: number, text: string): SMTPServerOptions => ({
    hideSTARTTLS: true,
    onRcptTo: (_address, _session, done) => done(failing(code, text)),
  })

  test.each<[string, SMTPServerOptions, object]>([
    ['no such mailbox', onRcpt(550, '5.1.1 no such user'), { code: 'recipient_refused', kind: 'address' }],
    ['no such mailbox, in old words', onRcpt(550, 'no such user'), { code: 'recipient_refused' }],
    ['a mailbox that is full for now', onRcpt(452, '4.2.2 full'), { code: 'unavailable', kind: 'later' }],
    ['a policy against the sender', onRcpt(554, '5.7.1 relay denied'), { code: 'rejected', kind: 'failover' }],
    [
      'a sender it does not know',
      { hideSTARTTLS: true, onMailFrom: (_a, _s, done) => done(failing(550, '5.1.8 no')) },
      { code: 'rejected' },
    ],
    [
      'contents it dislikes',
      { hideSTARTTLS: true, onData: (stream, _s, done) => void buffer(stream).then(() => done(failing(554, 'spam'))) },
      { code: 'rejected', kind: 'failover' },
    ],
    [
      'too busy',
      { hideSTARTTLS: true, onConnect: (_s, done) => done(failing(421, 'later')) },
      { code: 'unavailable', kind: 'later' },
    ],
  ])('%s', async (_, options, expected) => {
    const { address } = await smtpServer(options)
    expect(await problem(send(address))).toMatchObject(expected)
  })

  test('wrong password: the error quotes the server, but never the password', async () => {
    const { address } = await smtpServer({ hideSTARTTLS: true })
    const error = await problem(send({ ...address, user: 'ada', password: 'not it' }))
    expect(error).toMatchObject({ code: 'unauthorized', kind: 'credentials' })
    expect(error.says).toBe('Invalid login: 535 Wrong password *** for ada')
  })

  test('the port is closed, or the server never greets', async () => {
    const mute = createServer()
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve))
    const { port } = mute.address() as { port: number }
    const address = { host: '127.0.0.1', port: String(port) }
    const impatient = deliveryWith({}, 30)
    expect(await problem(send(address, {}, impatient))).toMatchObject({
      ...{ code: 'timeout', kind: 'later', mayHaveArrived: false },
    })
    await new Promise<void>((resolve) => mute.close(() => resolve()))
    expect(await problem(send(address))).toMatchObject({ code: 'connection_failed', kind: 'later' })
  })

  test('a server that hangs times out, also for mails in the queue', async () => {
    const { address } = await smtpServer({ hideSTARTTLS: true, onMailFrom: () => undefined })
    const integration = { id: 'hanging', credentials: address }
    const impatient = deliveryWith({}, 100)
    const sends = Array.from({ length: 12 }, () => problem(impatient.send(nodemailer, integration, plainMail)))
    for (const error of await Promise.all(sends)) expect(error).toMatchObject({ code: 'timeout', kind: 'later' })
  })

  test('the connection is cut midway', async () => {
    const { address } = await smtpServer({
      hideSTARTTLS: true,
      onData: (stream) =>
        void buffer(stream).then(() => {
          for (const connection of servers[0]?.connections ?? []) connection.close()
        }),
    })
    expect(await problem(send(address))).toMatchObject({ code: 'connection_lost', mayHaveArrived: true })
  })

  test('no TLS where it is required, or an untrusted certificate', async () => {
    const { address, received } = await smtpServer({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] })
    expect((await problem(send({ ...address, ...account, requireTls: true }))).says).toMatch(/STARTTLS/)
    const encrypted = await smtpServer()
    expect(await problem(send({ ...encrypted.address, ...account }))).toMatchObject({ code: 'certificate_refused' })
    expect([...received, ...encrypted.logins]).toEqual([])
  })

  test('a private address, where those are blocked', async () => {
    const { address, connections } = await smtpServer()
    const careful = deliveryWith({ allowPrivateAddresses: false })
    expect(await problem(send(address, {}, careful))).toMatchObject({ code: 'address_refused' })
    expect(await problem(send({ ...address, host: 'localhost' }, {}, careful))).toMatchObject({
      code: 'address_refused',
    })
    expect(connections()).toBe(0)
  })

  test.each(['submission', '0', '65536'])('the port %s is invalid', async (port) => {
    expect(await problem(send({ host: '127.0.0.1', port }))).toMatchObject({
      code: 'incomplete_credentials',
      says: `The port "${port}" is not a number from 1 to 65535`,
    })
  })
})

describe('testing the credentials of a server', () => {
  const check = (credentials: Credentials) => delivery.check(nodemailer, credentials)

  test('signs in and sends nothing', async () => {
    const { address, logins, received } = await smtpServer()
    expect(await check({ ...address, ...account, ...trusting })).toEqual({ ok: true })
    expect(await check({ ...address, ...account, ignoreTls: true })).toEqual({ ok: true })
    expect(logins).toEqual(['ada', 'ada'])
    expect(received).toEqual([])
  })

  test('says what is wrong', async () => {
    const { address } = await smtpServer({ hideSTARTTLS: true })
    expect(await check({ ...address, user: 'ada', password: 'not it' })).toEqual({
      ok: false,
      reason: 'Invalid login: 535 Wrong password *** for ada',
    })
    expect(await check({ host: 'no-such-host.invalid', port: '25' })).toEqual({
      ok: false,
      reason: "Provider gateway can't resolve the host with the given hostname no-such-host.invalid",
    })
    expect(await check({ host: '127.0.0.1', port: '0' })).toEqual({
      ok: false,
      reason: 'The port "0" is not a number from 1 to 65535',
    })
    expect(await check({ host: '' })).toEqual({
      ok: false,
      reason: 'Custom SMTP cannot be checked without these credentials: host, port',
    })
  })
})

describe('providers that are SMTP servers', () => {
  test('Outlook 365 is a fixed server, signs in as the sender and requires TLS', async () => {
    const { port, logins } = await smtpServer({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] })
    const asked: string[] = []
    const redirected = deliveryWith({
      connect: (target, callback) => {
        asked.push(`${target.hostname}:${target.port}`)
        const socket = connect(port, '127.0.0.1', () => callback(null, socket))
      },
    })
    const integration = { id: 'outlook', credentials: { from: 'ada', password: account.password } }
    const error = await problem(redirected.send(outlook365, integration, plainMail))
    expect(error).toMatchObject({ says: expect.stringContaining('STARTTLS') })
    expect(await redirected.check(outlook365, {})).toEqual({
      ok: false,
      reason: 'Microsoft Outlook 365 cannot be checked without these credentials: from, password',
    })
    expect(new Set(asked)).toEqual(new Set(['smtp.office365.com:587']))
    expect(logins).toEqual([])
  })

  test('Outlook 365 sends from the signed-in address to all recipients', async () => {
    const { port, received, logins, connections } = await smtpServer({
      ...{ cert: certificate, key: certificateKey },
      onAuth: ({ username, password }, _session, done) => {
        logins.push(`${username ?? ''} ${password ?? ''}`)
        done(null, { user: username })
      },
    })
    const redirected = deliveryWith({
      authorities: certificate,
      connect: (_, callback) => {
        const socket = connect(port, '127.0.0.1', () => callback(null, socket))
      },
    })
    const credentials = { from: 'ada@acme.example', senderName: 'Ada', password: account.password }
    const message = { ...plainMail, ...fullMail, from: credentials.from }
    await redirected.send(outlook365, { id: 'outlook', credentials }, message)
    expect(logins).toEqual([`ada@acme.example ${account.password}`])
    const [mail] = received
    expect(mail).toMatchObject({ secure: true, user: 'ada@acme.example', from: 'ada@acme.example' })
    expect(mail?.to).toEqual(['ada@example.com', 'bob@example.com', 'cc@example.com', 'bcc@example.com'])
    expect(headersOf(mail?.raw ?? '')).not.toContain('bcc@example.com')
    const more = Array.from({ length: 30 }, () => redirected.send(outlook365, { id: 'outlook', credentials }, message))
    await Promise.all(more)
    expect(received).toHaveLength(31)
    expect(connections()).toBeLessThanOrEqual(3)
    expect(await redirected.check(outlook365, credentials)).toEqual({ ok: true })

    const doubting = deliveryWith({
      connect: (_, callback) => {
        const socket = connect(port, '127.0.0.1', () => callback(null, socket))
      },
    })
    expect(await problem(doubting.send(outlook365, { id: 'doubting', credentials }, message))).toMatchObject({
      code: 'certificate_refused',
    })
  })

  test('EmailJS is any server', async () => {
    const { address, received } = await smtpServer({ hideSTARTTLS: true })
    const credentials = { ...address, ...account }
    expect(await delivery.check(emailjs, credentials)).toEqual({ ok: true })
    await delivery.send(emailjs, { id: 'emailjs', credentials }, plainMail)
    expect(received).toMatchObject([{ user: 'ada', to: ['ada@example.com'] }])
  })
})
