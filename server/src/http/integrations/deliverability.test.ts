import { generateKeyPairSync } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { certificate, certificateKey } from '../../../test/certificate.ts'
import { useDns, type Zone } from '../../../test/dns-server.ts'
import { Api, useServer } from '../../../test/server.ts'

const dns = useDns()
// The port is known when the server has started.
const dnsServers: string[] = []
beforeAll(() => {
  dnsServers.push(dns.address)
})
const server = useServer({ dnsServers, publicUrl: 'https://notify.acme.example', allowPrivateAddresses: true })
const mails: SMTPServer[] = []
afterAll(() => Promise.all(mails.map((each) => new Promise<void>((resolve) => each.close(() => resolve())))))

async function mailServer(options: SMTPServerOptions = {}): Promise<string> {
  const own = new SMTPServer({ authOptional: true, key: certificateKey, cert: certificate, ...options })
  mails.push(own)
  await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
  return String((own.server.address() as AddressInfo).port)
}

const pair = (modulusLength: number) =>
  generateKeyPairSync('rsa', {
    modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
const keys = pair(2048)
const recordOf = ({ publicKey }: { publicKey: Buffer }) => `v=DKIM1; k=rsa; p=${publicKey.toString('base64')}`

let api: Api
beforeAll(async () => {
  api = await server.freshApi()
})

let made = 0
async function integration(credentials: object, more: object = {}): Promise<string> {
  made += 1
  const answer = await api.post('/v1/integrations', {
    ...{ providerId: 'nodemailer', channel: 'email', name: 'mail', identifier: `mail-${made}`, active: true },
    credentials: { host: '127.0.0.1', port: '1', from: 'Acme <news@acme.example>', senderName: 'Acme', ...credentials },
    ...more,
  })
  expect(answer, answer.text).toMatchObject({ status: 201 })
  return answer.body._id
}
const overHttp = () =>
  integration({ webhookUrl: 'https://mail.acme.example', secretKey: 'x' }, { providerId: 'email-webhook' })

interface Check {
  id: string
  status: string
  summary: string
  records: string[]
  details: Record<string, unknown>
  publish?: { type: string; name: string; value: string }
}
const report = async (id: string, query = '') =>
  (await api.get(`/v1/integrations/${id}/deliverability?fresh=true&${query}`)).body
async function check(name: string, id: string, query = ''): Promise<Check> {
  const { checks } = await report(id, query)
  return checks.find((each: Check) => each.id === name)
}
/** A domain with these records, beside those of the others. */
const zone = (records: Zone) => dns.knows(records)
const txt = (...TXT: string[]) => ({ TXT })

let http = ''
let smtp = ''
beforeAll(async () => {
  http = await overHttp()
  smtp = await integration({ domain: 'acme.example', accountSid: 's1', secretKey: keys.privateKey })
})

const includes = (count: number): Zone =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`i${at}.example`, txt('v=spf1 ip4:192.0.2.1 -all')]))
const including = (count: number) => Array.from({ length: count }, (_, at) => `include:i${at}.example`).join(' ')

describe('SPF', () => {
  test.each<[string, string[], Zone, string, string]>([
    ['none', [], {}, 'fail', 'There is no SPF record at acme.example'],
    ['two', ['v=spf1 -all', 'v=spf1 ~all'], {}, 'fail', 'There are 2 SPF records; one is allowed'],
    ['not valid', ['v=spf1 foo -all'], {}, 'fail', 'The SPF record is not valid: "foo" cannot be read'],
    [
      'eleven look-ups',
      [`v=spf1 ${including(11)} -all`],
      includes(11),
      'fail',
      'SPF needs 11 look-ups; ten are allowed',
    ],
    [
      'eleven, nested',
      [`v=spf1 include:more.example -all`],
      { ...includes(10), 'more.example': txt(`v=spf1 ${including(10)} -all`) },
      'fail',
      'SPF needs 11 look-ups; ten are allowed',
    ],
    [
      'ten look-ups',
      [`v=spf1 ${including(10)} -all`],
      includes(10),
      'pass',
      'The SPF record is valid and needs 10 look-ups',
    ],
    [
      'three void ones',
      ['v=spf1 a:x.example a:y.example a:z.example -all'],
      {},
      'fail',
      '3 names in the SPF record lead nowhere; two are allowed',
    ],
    [
      'two void ones',
      ['v=spf1 a:x.example a:y.example -all'],
      {},
      'pass',
      'The SPF record is valid and needs 2 look-ups',
    ],
    [
      'an include without a record',
      ['v=spf1 include:x.example -all'],
      {},
      'fail',
      'The SPF record is not valid: x.example has no SPF record',
    ],
    ['+all', ['v=spf1 +all'], {}, 'fail', 'The SPF record lets everybody send (+all)'],
    ['all', ['v=spf1 all'], {}, 'fail', 'The SPF record lets everybody send (+all)'],
    ['?all', ['v=spf1 ?all'], {}, 'warn', 'The SPF record is neutral about other servers (?all)'],
    [
      'no all',
      ['v=spf1 ip4:192.0.2.1'],
      {},
      'warn',
      'The SPF record says nothing about other servers: end it with -all',
    ],
    ['ptr', ['v=spf1 ptr -all'], {}, 'warn', 'The SPF record uses ptr, which receivers may ignore'],
    ['-all', ['v=spf1 -all'], {}, 'pass', 'The SPF record is valid and needs 0 look-ups'],
    [
      '~all behind a redirect',
      ['v=spf1 redirect=x.example'],
      { 'x.example': txt('v=spf1 ~all') },
      'pass',
      'The SPF record is valid and needs 1 look-up',
    ],
  ])('%s', async (_, records, more, status, summary) => {
    zone({ 'acme.example': txt('other=1', ...records), ...more })
    expect(await check('spf', http)).toMatchObject({ status, summary, records })
  })

  test('has to let the SMTP host send; what DNS says is in the details', async () => {
    zone({ 'acme.example': txt('v=spf1 ip4:192.0.2.1 -all') })
    expect(await check('spf', smtp)).toMatchObject({
      ...{ status: 'fail', summary: 'The SPF record does not let 127.0.0.1 (127.0.0.1) send' },
      details: { lookups: 0, voidLookups: 0, all: '-all' },
      publish: { type: 'TXT', name: 'acme.example', value: 'v=spf1 ip4:127.0.0.1 ip4:192.0.2.1 -all' },
    })
    zone({ 'acme.example': txt('v=spf1 a -all') })
    expect(await check('spf', smtp)).toMatchObject({ status: 'fail' })
    zone({ 'acme.example': { TXT: ['v=spf1 a -all'], A: ['127.0.0.1'] } })
    expect(await check('spf', smtp)).toMatchObject({ status: 'pass' })
  })
})

describe('DKIM', () => {
  const small = pair(1024)
  const tiny = pair(512)
  const name = 's1._domainkey.acme.example'
  test.each<[string, string[], string, string]>([
    ['no record', [], 'fail', `There is no DKIM record at ${name}`],
    ['an empty key', ['v=DKIM1; p='], 'fail', 'The key was withdrawn: p= is empty'],
    ['another key', [recordOf(small)], 'fail', 'The record has another key than the one Belfry signs with'],
    ['no key at all', ['v=DKIM1; p=abc'], 'fail', 'The key in the record cannot be read'],
    ['two records', [recordOf(keys), recordOf(small)], 'fail', `There are 2 DKIM records at ${name}; one is allowed`],
    ['a test', [`${recordOf(keys)}; t=s:y`], 'warn', 'The record says that DKIM is only tested (t=y)'],
    ['the key we sign with', [recordOf(keys)], 'pass', 'The record has the key that Belfry signs with'],
  ])('of an SMTP integration: %s', async (_, records, status, summary) => {
    zone({ [name]: txt(...records) })
    expect(await check('dkim', smtp)).toMatchObject({ status, summary, details: { selector: 's1' } })
  })

  test('of a provider goes by the selector that is named', async () => {
    zone({
      'k1._domainkey.acme.example': txt(recordOf(small)),
      'k2._domainkey.acme.example': txt(recordOf(tiny)),
      'k3._domainkey.acme.example': txt(recordOf(keys)),
    })
    expect(await check('dkim', http)).toMatchObject({ status: 'skip' })
    expect(await check('dkim', http, 'selector=k1')).toMatchObject({ status: 'warn', details: { bits: 1024 } })
    expect(await check('dkim', http, 'selector=k2')).toMatchObject({
      ...{ status: 'fail', summary: 'The key has 512 bits; receivers want at least 1024, better 2048' },
    })
    expect(await check('dkim', http, 'selector=K3')).toMatchObject({ status: 'pass', details: { bits: 2048 } })
  })

  test('with Ed25519 (RFC 8463), and the record to publish', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')
    zone({ 's2._domainkey.acme.example': txt(`v=DKIM1; k=ed25519; p=${raw}`) })
    expect(await check('dkim', http, 'selector=s2')).toMatchObject({ status: 'pass', details: { keyType: 'ed25519' } })
    const secretKey = privateKey.export({ type: 'pkcs8', format: 'pem' })
    const own = await integration({ domain: 'mail.acme.example', accountSid: 's2', secretKey })
    expect(await check('dkim', own)).toMatchObject({
      status: 'fail',
      publish: { type: 'TXT', name: 's2._domainkey.mail.acme.example', value: `v=DKIM1; k=ed25519; p=${raw}` },
    })
  })
})

describe('DMARC', () => {
  test.each<[string, Zone, string, string]>([
    ['none', {}, 'fail', 'There is no DMARC record at _dmarc.acme.example'],
    [
      'two',
      { '_dmarc.acme.example': txt('v=DMARC1; p=none', 'v=DMARC1; p=reject') },
      'fail',
      'There are 2 DMARC records; one is allowed',
    ],
    [
      'no policy',
      { '_dmarc.acme.example': txt('v=DMARC1') },
      'fail',
      'The DMARC record says no policy (p=none, quarantine, reject)',
    ],
    [
      'p=none',
      { '_dmarc.acme.example': txt('v=DMARC1; p=none') },
      'warn',
      'The policy is none: receivers let forged mail pass',
    ],
    [
      'p=quarantine',
      { '_dmarc.acme.example': txt('v=DMARC1; p=quarantine') },
      'pass',
      'Mail that is not yours is to be quarantined',
    ],
    [
      'p=reject',
      { '_dmarc.acme.example': txt('v=DMARC1;p=reject') },
      'pass',
      'Mail that is not yours is to be rejected',
    ],
  ])('%s', async (_, records, status, summary) => {
    zone(records)
    expect(await check('dmarc', http)).toMatchObject({ status, summary })
  })

  test('is that of the organizational domain, with its policy for others', async () => {
    zone({ '_dmarc.acme.co.uk': txt('v=DMARC1; p=reject; sp=none') })
    expect(await check('dmarc', http, 'domain=news.acme.co.uk')).toMatchObject({
      ...{ status: 'warn', details: { domain: 'acme.co.uk', policy: 'none' } },
    })
    zone({ '_dmarc.co.uk': txt('v=DMARC1; p=reject') })
    expect(await check('dmarc', http, 'domain=news.acme.co.uk')).toMatchObject({
      ...{ status: 'fail', summary: 'There is no DMARC record at _dmarc.news.acme.co.uk, nor at _dmarc.acme.co.uk' },
    })
  })

  test('cannot hold where neither SPF nor DKIM is in the name of the sender', async () => {
    const bounces = await server.startAnother({
      dnsServers,
      inboundMail: { host: '127.0.0.1', port: 0, certificate: undefined, key: undefined },
    })
    await server.database.db
      .updateTable('environments')
      .set({ dns: JSON.stringify({ inboundParseDomain: 'in.other.example' }) })
      .where('id', '=', api.environmentId)
      .execute()
    const id = await integration(
      { domain: 'third.example', accountSid: 's1', secretKey: keys.privateKey },
      { configurations: { bounceAddress: true } },
    )
    zone({ '_dmarc.acme.example': txt('v=DMARC1; p=reject') })
    const path = `/v1/integrations/${id}/deliverability`
    const elsewhere = new Api(bounces.url, api.key, api.environmentId, api.organizationId)
    const { checks } = (await elsewhere.get(path)).body
    expect(checks.find((each: Check) => each.id === 'dmarc')).toMatchObject({
      ...{ status: 'fail', summary: 'Neither SPF nor DKIM can be in the name of the From address' },
      details: { spf: false, dkim: false },
    })
    // Without bounce addresses of ours, the envelope has the domain of the sender.
    expect(await check('dmarc', id)).toMatchObject({ status: 'pass', details: { spf: true, dkim: false } })
  })
})

describe('MX, BIMI and one-click', () => {
  test.each<[string, Zone, string]>([
    ['none', {}, 'fail'],
    ['the null MX', { 'acme.example': { MX: ['0 .'] } }, 'fail'],
    ['a host without an address', { 'acme.example': { MX: ['10 mx.acme.example'] } }, 'warn'],
    [
      'a host with one',
      { 'acme.example': { MX: ['10 mx.acme.example'] }, 'mx.acme.example': { AAAA: ['2001:db8::1'] } },
      'pass',
    ],
  ])('%s', async (_, records, status) => {
    zone(records)
    expect(await check('mx', http)).toMatchObject({ status })
  })

  test('a logo is nice to have', async () => {
    zone({})
    expect(await check('bimi', http)).toMatchObject({ status: 'skip' })
    zone({ 'default._bimi.acme.example': txt('v=BIMI1; l=https://acme.example/logo.svg') })
    expect(await check('bimi', http)).toMatchObject({ status: 'pass' })
  })

  test('one-click needs https and a provider that takes headers', async () => {
    expect(await check('one_click', http)).toMatchObject({ status: 'pass' })
    const netcore = await integration({ apiKey: 'x' }, { providerId: 'netcore' })
    expect(await check('one_click', netcore)).toMatchObject({
      status: 'fail',
      summary: 'The provider takes no unsubscribe header',
    })
    const { development: plain } = await server.freshOrganization()
    await server.database.db
      .updateTable('environments')
      .set({ consent: JSON.stringify({ brand: { linkBaseUrl: 'http://links.acme.example' } }) })
      .where('id', '=', plain.environmentId)
      .execute()
    const [{ _id }] = (await plain.get('/v1/integrations')).body.filter(
      ({ channel }: { channel: string }) => channel === 'email',
    )
    const { checks } = (await plain.get(`/v1/integrations/${_id}/deliverability?domain=acme.example`)).body
    expect(checks.at(-1)).toMatchObject({ id: 'one_click', status: 'fail' })
  })
})

describe('the mail server', () => {
  test('has a name that leads back, or not', async () => {
    const reverse = '1.0.0.127.in-addr.arpa'
    zone({})
    expect(await check('ptr', smtp)).toMatchObject({ status: 'fail' })
    zone({ [reverse]: { PTR: ['mail.acme.example'] } })
    expect(await check('ptr', smtp)).toMatchObject({ status: 'fail' })
    zone({ [reverse]: { PTR: ['mail.acme.example'] }, 'mail.acme.example': { A: ['192.0.2.1'] } })
    expect(await check('ptr', smtp)).toMatchObject({ status: 'fail' })
    zone({ [reverse]: { PTR: ['mail.acme.example'] }, 'mail.acme.example': { A: ['127.0.0.1'] } })
    expect(await check('ptr', smtp)).toMatchObject({ status: 'pass', records: ['127.0.0.1 mail.acme.example'] })
    expect(await check('ptr', http)).toMatchObject({ status: 'skip' })
    const six = await integration({ host: '2001:db8::1' })
    zone({
      [`1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa`]: { PTR: ['six.acme.example'] },
      'six.acme.example': { AAAA: ['2001:db8::1'] },
    })
    expect(await check('ptr', six)).toMatchObject({ status: 'pass' })
  })

  test('encrypts, or not', async () => {
    const tlsOptions = { rejectUnauthorized: false }
    const [offers, without, secure] = [
      await mailServer(),
      await mailServer({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }),
      await mailServer({ secure: true }),
    ]
    const at = async (port: string, more = {}) => check('tls', await integration({ port, tlsOptions, ...more }))
    expect(await at(offers)).toMatchObject({ status: 'pass', summary: '127.0.0.1 offers STARTTLS' })
    expect(await at(without)).toMatchObject({ status: 'fail', summary: '127.0.0.1 does not offer STARTTLS' })
    expect(await at(secure, { secure: true })).toMatchObject({
      status: 'pass',
      summary: '127.0.0.1 encrypts from the start',
    })
    expect(await at(offers, { tlsOptions: undefined })).toMatchObject({
      status: 'fail',
      summary: expect.stringContaining('certificate'),
    })
    expect(await at(offers, { ignoreTls: true })).toMatchObject({ status: 'fail' })
    expect(await at('1')).toMatchObject({ status: 'skip' })
    expect(await check('tls', http)).toMatchObject({ status: 'skip' })
  })

  test('in a network that is not called is not looked at', async () => {
    const careful = await server.startAnother({ dnsServers, allowPrivateAddresses: false })
    zone({ '1.0.0.10.in-addr.arpa': { PTR: ['secret.internal'] }, 'secret.internal': { A: ['10.0.0.1'] } })
    const id = await integration({ host: '10.0.0.1', port: '25' })
    const elsewhere = new Api(careful.url, api.key, api.environmentId, api.organizationId)
    const answer = await elsewhere.get(`/v1/integrations/${id}/deliverability`)
    const found = (name: string) => answer.body.checks.find((each: Check) => each.id === name)
    expect([found('ptr').status, found('tls').status, answer.text.includes('secret')]).toEqual(['skip', 'skip', false])
  })
})

describe('the report', () => {
  const good: Zone = {
    'acme.example': { TXT: ['v=spf1 -all'], MX: ['10 mx.acme.example'] },
    'mx.acme.example': { A: ['192.0.2.1'] },
    '_dmarc.acme.example': txt('v=DMARC1; p=reject'),
  }

  test('has one check of each id, and the worst status of those that were not skipped', async () => {
    zone(good)
    const all = await report(http)
    expect(all).toMatchObject({
      integrationId: http,
      domain: 'acme.example',
      status: 'pass',
      checkedAt: expect.any(String),
    })
    expect(all.checks.map(({ id }: Check) => id)).toEqual([
      'spf',
      'dkim',
      'dmarc',
      'mx',
      'ptr',
      'tls',
      'bimi',
      'one_click',
    ])
    zone({ ...good, '_dmarc.acme.example': txt('v=DMARC1; p=none') })
    expect(await report(http)).toMatchObject({ status: 'warn' })
    zone({ ...good, 'acme.example': txt('v=spf1 -all') })
    expect(await report(http)).toMatchObject({ status: 'fail' })
  })

  test('skips what the DNS does not answer, and says so', async () => {
    zone({ ...good, 'acme.example': 'silent' })
    const { checks, status } = await report(http)
    expect(checks[0]).toMatchObject({ status: 'skip', summary: 'The DNS did not answer: TXT acme.example' })
    expect(checks[3]).toMatchObject({ status: 'skip' })
    expect(status).toBe('pass')
  }, 20_000)

  test('is remembered for a minute, unless a fresh one is asked for', async () => {
    const path = `/v1/integrations/${http}/deliverability?domain=kept.example`
    const count = async (query = '') => {
      const before = dns.asked.length
      expect((await api.get(path + query)).status).toBe(200)
      return dns.asked.length - before
    }
    zone({})
    expect(await count()).toBeGreaterThan(3)
    expect(await count()).toBe(0)
    expect(await count('&fresh=true')).toBeGreaterThan(3)
    expect(await count('&fresh=false')).toBe(0)
    server.clock.advance({ seconds: 61 })
    expect(await count()).toBeGreaterThan(3)
    const together = dns.asked.length
    await Promise.all(Array.from({ length: 5 }, () => api.get(`${path}&selector=new`)))
    expect(dns.asked.filter((question, at) => at >= together && question === 'TXT kept.example')).toHaveLength(1)
  })

  test('is about the domain that is named, in any spelling', async () => {
    zone({ 'xn--bcher-kva.example': txt('v=spf1 -all') })
    expect(await report(http, `domain=${encodeURIComponent('Bücher.Example.')}`)).toMatchObject({
      ...{
        domain: 'xn--bcher-kva.example',
        checks: [expect.objectContaining({ id: 'spf', status: 'pass' }), ...Array(7).fill(expect.anything())],
      },
    })
  })

  test('is refused for other channels, without a sender, and for what is no domain', async () => {
    const { development } = await server.freshOrganization()
    const list = (await development.get('/v1/integrations')).body
    const idOf = (channel: string) => list.find((each: { channel: string }) => each.channel === channel)._id
    const at = (id: string, query = '') =>
      (id === http ? api : development).get(`/v1/integrations/${id}/deliverability${query}`)
    expect(await at(idOf('sms'))).toMatchObject({
      status: 400,
      body: { code: 'deliverability_not_offered', message: 'Only e-mail integrations have a domain to check' },
    })
    const sandbox = list.find((each: { providerId: string }) => each.providerId.endsWith('-email'))._id
    expect(await at(sandbox)).toMatchObject({
      status: 400,
      body: { code: 'deliverability_no_sender', message: 'The integration has no From address: name a domain' },
    })
    for (const wrong of ['no domain', 'a', '-a.example', 'a..example', '127.0.0.1', 'x'.repeat(254)])
      expect([wrong, (await at(http, `?domain=${encodeURIComponent(wrong)}`)).status]).toEqual([wrong, 422])
    for (const wrong of ['a b', '.a', 'a/b', 'x'.repeat(64)])
      expect([wrong, (await at(http, `?selector=${encodeURIComponent(wrong)}`)).status]).toEqual([wrong, 422])
    expect((await at('0'.repeat(24))).status).toBe(404)
  })
})
