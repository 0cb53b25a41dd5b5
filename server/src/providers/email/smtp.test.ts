import { createServer } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterEach, describe, expect, test } from 'vitest'
import { useHttp } from '../../../test/vendor.ts'
import { findProvider } from '../catalog.ts'
import type { CheckResult } from '../check.ts'
import { checkEmail } from './check.ts'
import { checkSmtp, smtpOptions } from './smtp.ts'

const account = { user: 'ada', password: 'correct horse' }
const http = useHttp()
const servers: SMTPServer[] = []

async function smtpServer(options: SMTPServerOptions = {}) {
  const logins: string[] = []
  const server = new SMTPServer({
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      logins.push(username ?? '')
      const isRight = username === account.user && password === account.password
      done(isRight ? null : new Error(`Wrong password ${password ?? ''} for ${username ?? ''}`), { user: username })
    },
    ...options,
  })
  // A client that refuses our self-signed certificate hangs up; that is what some tests are about.
  server.on('error', () => undefined)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as { port: number }
  return { address: { host: '127.0.0.1', port: String(port) }, port, logins }
}

afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise<void>((resolve) => server.close(() => resolve()))
})

const reasonOf = (result: CheckResult) => (result.ok ? 'none' : result.reason)

describe('checking an SMTP server', () => {
  test('the right login passes, over an encrypted connection when the server offers one', async () => {
    const { address, logins } = await smtpServer()
    const tlsOptions = { rejectUnauthorized: false }
    expect(await checkSmtp({ ...address, ...account, tlsOptions })).toEqual({ ok: true })
    expect(await checkSmtp({ ...address, ...account, ignoreTls: true })).toEqual({ ok: true })
    expect(logins).toEqual(['ada', 'ada'])
  })

  test('implicit TLS is used when asked for', async () => {
    const { address } = await smtpServer({ secure: true })
    const tlsOptions = { rejectUnauthorized: false }
    expect(await checkSmtp({ ...address, ...account, secure: true, tlsOptions })).toEqual({ ok: true })
  })

  test('a certificate nobody vouches for is refused unless the caller says otherwise', async () => {
    const { address, logins } = await smtpServer()
    expect(reasonOf(await checkSmtp({ ...address, ...account }))).toMatch(/certificate/)
    expect(logins).toEqual([])
  })

  test('without user and password nobody signs in', async () => {
    const { address, logins } = await smtpServer({ hideSTARTTLS: true, authOptional: true })
    expect(await checkSmtp({ ...address, user: 'ada' })).toEqual({ ok: true })
    expect(logins).toEqual([])
  })

  test("a wrong password fails with the server's words, but never with the password", async () => {
    const { address } = await smtpServer({ hideSTARTTLS: true })
    const reason = reasonOf(await checkSmtp({ ...address, user: 'ada', password: 'not it' }))
    expect(reason).toMatch(/^Invalid login: 535 Wrong password \*\*\* for ada/)
    expect(reason).not.toContain('not it')
  })

  test('a server without encryption is refused where encryption is required', async () => {
    const { address, logins } = await smtpServer({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] })
    expect(reasonOf(await checkSmtp({ ...address, ...account, requireTls: true }))).toMatch(/STARTTLS/)
    expect(logins).toEqual([])
  })

  test('a closed port fails with the reason of the network', async () => {
    const closed = createServer()
    const port = await new Promise<number>((resolve) =>
      closed.listen(0, '127.0.0.1', () => resolve((closed.address() as { port: number }).port)),
    )
    await new Promise((resolve) => closed.close(resolve))
    expect(reasonOf(await checkSmtp({ host: '127.0.0.1', port: String(port) }))).toMatch(/ECONNREFUSED/)
  })

  test('an unknown host is named', async () => {
    expect(await checkSmtp({ host: 'no-such-host.invalid', port: '25' })).toEqual({
      ok: false,
      reason: "Provider gateway can't resolve the host with the given hostname no-such-host.invalid",
    })
  })

  test.each(['submission', '0', '65536'])('the port %s is no port', async (port) => {
    expect(await checkSmtp({ host: '127.0.0.1', port })).toEqual({
      ok: false,
      reason: `The port "${port}" is not a number from 1 to 65535`,
    })
  })
})

describe('the connection that credentials describe', () => {
  test('TLS options keep to encryption', () => {
    const tlsOptions = { rejectUnauthorized: false, servername: 'mail.example.com', path: '/run/other.sock', host: 'x' }
    expect(smtpOptions({ host: 'mail.example.com', port: '465', secure: true, tlsOptions })).toMatchObject({
      host: 'mail.example.com',
      port: 465,
      secure: true,
      tls: { rejectUnauthorized: false, servername: 'mail.example.com' },
    })
    expect(smtpOptions({ host: 'mail.example.com', tlsOptions }).tls).not.toHaveProperty('path')
  })

  test('Outlook 365 is one server, entered as the sender and only encrypted', async () => {
    const outlook365 = findProvider('outlook365')
    if (!outlook365) throw new Error('not in the catalogue')
    const { port, logins } = await smtpServer({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] })
    const smtp = { outlook365: { host: '127.0.0.1', port, requireTls: true } }
    const credentials = { from: account.user, password: account.password }
    expect(reasonOf(await checkEmail(http, outlook365, credentials, { smtp }))).toMatch(/STARTTLS/)
    smtp.outlook365.requireTls = false
    expect(await checkEmail(http, outlook365, credentials, { smtp })).toEqual({ ok: true })
    expect(logins).toEqual(['ada'])
    expect(await checkEmail(http, outlook365, {}, { smtp })).toEqual({
      ok: false,
      reason: 'Microsoft Outlook 365 cannot be checked without these credentials: from, password',
    })
  })

  test('a custom server cannot be checked before its address is known', async () => {
    const nodemailer = findProvider('nodemailer')
    if (!nodemailer) throw new Error('not in the catalogue')
    expect(await checkEmail(http, nodemailer, { host: '' })).toEqual({
      ok: false,
      reason: 'Custom SMTP cannot be checked without these credentials: host, port',
    })
  })
})
