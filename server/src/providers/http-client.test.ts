import { File } from 'node:buffer'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type LookupFunction } from 'node:net'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { SMTPServer } from 'smtp-server'
import { FormData } from 'undici'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { useVendor } from '../../test/vendor.ts'
import { DeliveryError } from './delivery-error.ts'
import { HttpClient, type HttpClientOptions } from './http-client.ts'

const vendor = useVendor()
const clients: HttpClient[] = []
function client(options: Partial<HttpClientOptions> = {}): HttpClient {
  const clock = { now: () => new Date('2026-05-01T10:00:00.000Z') }
  const made = new HttpClient({ clock, allowPrivateAddresses: true, ...options })
  clients.push(made)
  return made
}
const http = client()
afterAll(() => Promise.all(clients.map((each) => each.close())))
beforeEach(() => vendor.plays(() => ({ body: { ok: true } })))

/** The error as the engine sees it. */
async function problem(work: Promise<unknown>) {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(DeliveryError)
  return error as DeliveryError
}

test('three hundred calls at once share no more than 128 connections', async () => {
  let opened = 0
  const busy = createHttpServer((_, response) => response.end('{}')).on('connection', () => {
    opened += 1
  })
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve))
  const { port } = busy.address() as AddressInfo
  const calling = client()
  await Promise.all(Array.from({ length: 300 }, () => calling.post(`http://127.0.0.1:${port}/`, { json: {} })))
  await calling.close()
  await new Promise((resolve) => busy.close(resolve))
  expect(opened).toBeGreaterThan(1)
  expect(opened).toBeLessThanOrEqual(128)
})

test('a request with a place starts at once; without one it waits until another has ended, and no longer than it may', async () => {
  const held: Array<() => void> = []
  const hanging = createHttpServer((request, response) => {
    if (request.url === '/hang') held.push(() => void response.end('{}'))
    else response.end('{}')
  })
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}`
  const calling = client()
  const first = await calling.place(`${url}/`, {})
  const calls = Array.from({ length: 127 }, () => calling.post(`${url}/hang`))
  await expect.poll(() => held.length).toBe(127)
  const late = calling.post(`${url}/`, { timeoutMs: 50 })
  expect(await problem(late)).toMatchObject({ code: 'timeout', mayHaveArrived: false })
  expect(await problem(calling.place(`${url}/`, { timeoutMs: 50 }))).toMatchObject({ code: 'timeout' })
  const waiting = calling.place(`${url}/`, {})
  expect(await calling.exchange(`${url}/`, { place: first })).toMatchObject({ status: 200 })
  first.leave()
  first.leave()
  ;(await waiting).leave()
  for (const answer of held) answer()
  await Promise.all(calls)
  await calling.close()
  await new Promise((resolve) => hanging.close(resolve))
})

test('no other code calls other services', () => {
  const source = path.join(import.meta.dirname, '..')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.test)\.ts$/.test(file),
  )
  expect(files.length).toBeGreaterThan(100)
  const calls =
    /\bfetch\(|from 'undici'|import\('undici'\)|'node:https'|\{[^}]*\b(request|get)\b[^}]*\} from 'node:http'/
  const calling = files.filter((file) => calls.test(readFileSync(path.join(source, file), 'utf8')))
  // The second only builds forms.
  expect(calling.sort()).toEqual(['providers/http-client.ts', 'providers/vendor-request.ts'])
})

describe('a request', () => {
  test('has JSON, a form, or bytes with their own content type', async () => {
    await http.post(`${vendor.url}/a?b=c`, { json: { n: 1 }, headers: { 'X-Token': 'secret' } })
    await http.post(vendor.url, { form: { a: 'b c', d: '&' } })
    await http.post(vendor.url, { body: '<x/>', headers: { 'Content-Type': 'text/xml' } })
    await http.get(vendor.url)
    expect(vendor.asked).toMatchObject([
      {
        method: 'POST',
        path: '/a',
        query: { b: 'c' },
        body: '{"n":1}',
        headers: { 'content-type': 'application/json', accept: 'application/json', 'x-token': 'secret' },
      },
      { form: { a: 'b c', d: '&' }, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { body: '<x/>', headers: { 'content-type': 'text/xml' } },
      { method: 'GET', body: '' },
    ])
  })

  test('can be multipart, with files', async () => {
    const multipart = new FormData()
    multipart.append('name', 'Ada')
    multipart.append('file', new File([Buffer.from([0xff, 0])], 'a.png', { type: 'image/png' }))
    await http.post(vendor.url, { multipart })
    const [{ bytes, headers } = { bytes: Buffer.of(), headers: {} }] = vendor.asked
    const type = { 'content-type': String(headers['content-type' as never]) }
    const sent = await new Response(new Uint8Array(bytes), { headers: type }).formData()
    expect(sent.get('name')).toBe('Ada')
    expect(Buffer.from(await (sent.get('file') as File).arrayBuffer())).toEqual(Buffer.from([0xff, 0]))
  })

  test('sends a name and password in the URL as credentials', async () => {
    const url = vendor.url.replace('http://', 'http://ada:p%40ss%zz@')
    await http.get(url)
    const expected = `Basic ${Buffer.from('ada:p%40ss%zz').toString('base64')}`
    expect(vendor.asked).toMatchObject([{ headers: { authorization: expected } }])
    await http.get(vendor.url.replace('http://', 'http://ada:p%40ss@'))
    expect(vendor.asked[1]?.headers.authorization).toBe(`Basic ${Buffer.from('ada:p@ss').toString('base64')}`)
  })
})

describe('a connection for another protocol', () => {
  const portOf = () => Number(new URL(vendor.url).port)

  test('can be opened', async () => {
    const socket = await http.connect('127.0.0.1', portOf())
    socket.end('GET / HTTP/1.0\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  })

  test('reaches no private address, by number or by name', async () => {
    const careful = client({ allowPrivateAddresses: false })
    for (const host of ['127.0.0.1', '::1', 'localhost'])
      expect(await problem(careful.connect(host, portOf()))).toMatchObject({ code: 'address_refused', host })
  })

  test("fails with the network's error code", async () => {
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(Object.assign(new Error(), { code: 'ENOTFOUND' }), '')
    expect(await problem(client({ lookup }).connect('nowhere.example', 25))).toMatchObject({ code: 'host_unknown' })
  })
})

describe('an answer', () => {
  test('has status, headers, text, and JSON', async () => {
    vendor.plays(() => ({ status: 201, body: { id: 7 }, headers: { 'X-Id': '7', 'set-cookie': 'a=b' } }))
    const answer = await http.post(vendor.url)
    expect(answer).toMatchObject({ status: 201, text: '{"id":7}', headers: { 'x-id': '7', 'set-cookie': 'a=b' } })
    expect(answer.json).toEqual({ id: 7 })
  })

  test('fails only when a body that is not JSON is read as JSON', async () => {
    vendor.plays(() => ({ body: '<html>' }))
    const answer = await http.get(vendor.url)
    expect(answer.text).toBe('<html>')
    expect(() => answer.json).toThrow(/the answer cannot be read \(not JSON\)$/)
  })

  test('can have any status with `exchange`', async () => {
    vendor.plays(() => ({ status: 418, body: 'tea' }))
    expect(await http.exchange(vendor.url)).toMatchObject({ status: 418, text: 'tea' })
  })

  test.each<[number, Record<string, string>, object]>([
    [400, {}, { code: 'rejected', retry: 'never', status: 400 }],
    [401, {}, { code: 'unauthorized', retry: 'never', status: 401 }],
    [403, {}, { code: 'unauthorized', retry: 'never' }],
    [404, {}, { code: 'rejected', retry: 'never' }],
    [302, { location: '/' }, { code: 'rejected', retry: 'never', status: 302 }],
    [408, {}, { code: 'unavailable', retry: 'later' }],
    [425, {}, { code: 'unavailable', retry: 'later' }],
    [429, { 'retry-after': '120' }, { code: 'rate_limited', retry: 'later', afterSeconds: 120 }],
    [429, { 'retry-after': 'Fri, 01 May 2026 10:00:30 GMT' }, { code: 'rate_limited', afterSeconds: 30 }],
    [429, { 'retry-after': 'Fri, 01 May 2026 09:00:00 GMT' }, { code: 'rate_limited', afterSeconds: 0 }],
    [429, { 'retry-after': 'soon' }, { code: 'rate_limited', afterSeconds: undefined }],
    [500, {}, { code: 'unavailable', retry: 'later', status: 500 }],
    [501, {}, { code: 'rejected', retry: 'never' }],
    [503, { 'retry-after': '7' }, { code: 'unavailable', retry: 'later', afterSeconds: 7 }],
    [505, {}, { code: 'rejected', retry: 'never' }],
  ])('status %i %j is a %j', async (status, headers, expected) => {
    vendor.plays(() => ({ status, headers, body: {} }))
    expect(await problem(http.post(vendor.url))).toMatchObject(expected)
  })
})

describe('no answer', () => {
  test('the server hangs up', async () => {
    vendor.plays(() => 'hang up')
    expect(await problem(http.get(vendor.url))).toMatchObject({ code: 'connection_lost', retry: 'later' })
  })

  test('the server is too slow', async () => {
    vendor.plays(() => undefined)
    expect(await problem(http.get(vendor.url, { timeoutMs: 20 }))).toMatchObject({ code: 'timeout', retry: 'later' })
  })

  test('the port is closed', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    expect(await problem(http.get(`http://127.0.0.1:${port}`))).toMatchObject({
      code: 'connection_failed',
      retry: 'later',
      reason: 'ECONNREFUSED',
    })
  })

  test('the host name does not exist', async () => {
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(Object.assign(new Error(), { code: 'ENOTFOUND' }), '')
    for (const allowPrivateAddresses of [true, false])
      expect(await problem(client({ lookup, allowPrivateAddresses }).get('http://nowhere.example'))).toMatchObject({
        code: 'host_unknown',
        retry: 'later',
      })
  })

  test('the answer is not HTTP', async () => {
    const server = createServer((socket) => socket.end('220 mail.example.com ESMTP\r\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    expect(await problem(http.get(`http://127.0.0.1:${port}`))).toMatchObject({ code: 'unreadable_answer' })
    expect(await problem(http.get(`https://127.0.0.1:${port}`))).toMatchObject({ code: 'certificate_refused' })
    server.close()
  })

  test('the certificate is not trusted', async () => {
    // A TLS server with a self-signed certificate and no HTTP.
    const mail = new SMTPServer({ secure: true })
    mail.on('error', () => undefined)
    await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(mail.server.address() as AddressInfo).port}`
    expect(await problem(http.get(url))).toMatchObject({ code: 'certificate_refused', retry: 'later' })
    expect(await problem(http.get(url, { acceptAnyCertificate: true }))).toMatchObject({ code: 'unreadable_answer' })
    expect(await problem(http.get(url))).toMatchObject({ code: 'certificate_refused' })
    await new Promise<void>((resolve) => mail.close(resolve))
  })

  test('the answer is larger than allowed', async () => {
    vendor.plays(() => ({ body: 'x'.repeat(2_000) }))
    expect((await http.get(vendor.url, { mostBytes: 2_000 })).text).toHaveLength(2_000)
    expect(await problem(http.get(vendor.url, { mostBytes: 1_999 }))).toMatchObject({
      code: 'answer_too_large',
      retry: 'never',
    })
  })

  test('the answer is larger than the default of a megabyte', async () => {
    vendor.plays(({ query }) => ({ body: 'x'.repeat(Number(query.length)) }))
    expect((await http.get(`${vendor.url}?length=1048576`)).text).toHaveLength(1_048_576)
    expect(await problem(http.get(`${vendor.url}?length=1048577`))).toMatchObject({ code: 'answer_too_large' })
  })

  test.each(['', 'example.com', 'ftp://example.com', 'file:///etc/passwd', 'http://', 'javascript:alert(1)'])(
    '"%s" is no address',
    async (url) => {
      expect(await problem(http.get(url))).toMatchObject({ code: 'invalid_url', retry: 'never' })
    },
  )

  test('a header that HTTP cannot carry', async () => {
    for (const headers of [{ 'X-A': 'a\nb: c' }, { 'bad name': 'x' }, { 'transfer-encoding': 'chunked' }])
      expect(await problem(http.get(vendor.url, { headers }))).toMatchObject({
        code: 'invalid_request',
        retry: 'never',
      })
    expect(vendor.asked).toEqual([])
  })

  test('the error names the host, and nothing that was sent', async () => {
    const url = `${vendor.url.replace('http://', 'http://u:hidden1@')}/hidden2?key=hidden3`
    const request = { headers: { authorization: 'hidden4' }, json: { password: 'hidden5' } }
    const problems: DeliveryError[] = []
    vendor.plays(() => ({ status: 401, body: 'hidden6' }))
    problems.push(await problem(http.post(url, request)))
    vendor.plays(() => 'hang up')
    problems.push(await problem(http.post(url, request)))
    vendor.plays(() => undefined)
    problems.push(await problem(http.post(url, { ...request, timeoutMs: 20 })))
    problems.push(await problem(http.get('nonsense://hidden7')))
    for (const error of problems) {
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain('hidden')
      expect(error.cause).toBeUndefined()
    }
    expect(problems[0]?.message).toBe(
      `${new URL(vendor.url).host}: it does not accept the credentials (HTTP status 401)`,
    )
  })
})

const to = (location: string, status = 302) => ({ status, headers: { location }, body: {} })

describe('redirects', () => {
  test('are returned, unless the caller allows some', async () => {
    vendor.plays(({ path }) => (path === '/' ? to('/there') : { body: { there: true } }))
    expect(await http.exchange(vendor.url)).toMatchObject({ status: 302 })
    expect((await http.exchange(vendor.url, { mostRedirects: 1 })).json).toEqual({ there: true })
  })

  test('stop at the limit', async () => {
    vendor.plays(() => to('/again'))
    expect(await problem(http.get(vendor.url, { mostRedirects: 3 }))).toMatchObject({
      code: 'too_many_redirects',
      retry: 'never',
    })
    expect(vendor.asked).toHaveLength(4)
  })

  test.each([
    [301, 'POST', 'GET', ''],
    [302, 'PUT', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [307, 'POST', 'POST', '{"n":1}'],
    [308, 'PATCH', 'PATCH', '{"n":1}'],
    [302, 'HEAD', 'HEAD', ''],
  ] as const)('%i turns a %s into a %s', async (status, method, next, body) => {
    vendor.plays(({ path }) => (path === '/' ? to('/there', status) : { body: {} }))
    await http.exchange(vendor.url, { method, mostRedirects: 1, ...(method === 'HEAD' ? {} : { json: { n: 1 } }) })
    expect(vendor.asked[1]).toMatchObject({ method: next, path: '/there', body })
  })

  test('to another origin carry no credentials', async () => {
    const other = vendor.url.replace('127.0.0.1', 'localhost')
    const headers = { authorization: 'secret', 'x-api-key': 'secret', Accept: 'text/plain', cookie: 'a=b' }
    vendor.plays(({ path }) => (path === '/same' ? to('/end') : path === '/' ? to(`${other}/end`) : { body: {} }))
    await http.exchange(`${vendor.url}/same`, { headers, mostRedirects: 1 })
    expect(vendor.asked[1]?.headers).toMatchObject({ authorization: 'secret', 'x-api-key': 'secret' })
    await http.exchange(vendor.url.replace('http://', 'http://u:p@'), { headers, mostRedirects: 1 })
    expect(vendor.asked[3]).toMatchObject({ path: '/end', headers: { accept: 'text/plain' } })
    for (const name of ['authorization', 'x-api-key', 'cookie'])
      expect(vendor.asked[3]?.headers).not.toHaveProperty(name)
  })

  test('to another port of the same host tell nobody who is asking', async () => {
    const told: unknown[] = []
    const neighbor = createHttpServer((request, response) => {
      told.push(request.headers.authorization)
      response.end('{}')
    })
    await new Promise<void>((resolve) => neighbor.listen(0, '127.0.0.1', resolve))
    const { port } = neighbor.address() as AddressInfo
    vendor.plays(() => to(`http://127.0.0.1:${port}/`))
    await http.exchange(vendor.url, { headers: { authorization: 'secret' }, mostRedirects: 1 })
    neighbor.closeAllConnections()
    await new Promise((resolve) => neighbor.close(resolve))
    expect(told).toEqual([undefined])
  })

  test('to anything but http(s) are refused', async () => {
    vendor.plays(() => to('file:///etc/passwd'))
    expect(await problem(http.get(vendor.url, { mostRedirects: 1 }))).toMatchObject({ code: 'invalid_url' })
  })
})

describe('private addresses', () => {
  const guarded = client({ allowPrivateAddresses: false })
  const port = () => new URL(vendor.url).port
  const refused = { code: 'address_refused', retry: 'never' }

  test.each([
    ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1', '127.0.0.1.'],
    ...['localhost', 'LOCALHOST', '%6c%6f%63alhost', '１２７.0.0.1', '0', '0.0.0.0'],
    ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[0:0:0:0:0:ffff:7f00:1]', '[fe80::1]', '169.254.169.254', '10.0.0.1'],
  ])('are not called as http://%s', async (host) => {
    expect(await problem(guarded.get(`http://${host}:${port()}/`))).toMatchObject(refused)
    expect(vendor.asked).toEqual([])
  })

  test('are not reached through a name that changes its address (DNS rebinding)', async () => {
    // A client that checks a name first and then connects resolves it twice, and gets two answers.
    const answers = ['127.0.0.1', '93.184.216.34']
    const lookup: LookupFunction = (_host, _options, callback) =>
      callback(null, [{ address: answers.pop() ?? '127.0.0.1', family: 4 }])
    const rebound = client({ allowPrivateAddresses: false, lookup, isAllowed: (address) => address === '127.0.0.1' })
    expect(await problem(rebound.get(`http://rebind.example:${port()}/`))).toMatchObject(refused)
    expect(answers).toEqual(['127.0.0.1'])
    expect(vendor.asked).toEqual([])
  })

  test('are not reached through a redirect', async () => {
    const lookup: LookupFunction = (host, _options, callback) =>
      callback(null, [{ address: host === 'public.example' ? '127.0.0.1' : '127.0.0.2', family: 4 }])
    const isAllowed = (address: string) => address === '127.0.0.1'
    const outside = client({ allowPrivateAddresses: false, lookup, isAllowed })
    const start = `http://public.example:${port()}/`
    for (const host of ['private.example', '127.0.0.2', '[::ffff:127.0.0.1]']) {
      vendor.plays(({ path }) => (path === '/' ? to(`http://${host}:${port()}/secret`) : { body: 'secret' }))
      expect(await problem(outside.get(start, { mostRedirects: 5 }))).toMatchObject(refused)
    }
    expect(vendor.asked.map(({ path }) => path)).toEqual(['/', '/', '/'])
  })

  test('are called only by requests that may', async () => {
    expect((await guarded.get(vendor.url, { allowPrivateAddresses: true })).json).toEqual({ ok: true })
    // A request without the permission does not reuse the open connection.
    expect(await problem(guarded.get(vendor.url))).toMatchObject(refused)
    expect(await problem(http.get(vendor.url, { allowPrivateAddresses: false }))).toMatchObject(refused)
    expect(vendor.asked).toHaveLength(1)
  })
})

test('a host whose address may not be called is known by its name', () => {
  const clock = { now: () => new Date() }
  const strict = new HttpClient({ clock, allowPrivateAddresses: false, allowLoopbackInDevelopment: true })
  const here = ['127.0.0.1', '[::1]', 'localhost', 'app.localhost']
  expect([...here, '10.0.0.1', '[fd00::1]'].filter((host) => strict.mayCallHost(host))).toEqual([])
  expect(['push.example.net', '8.8.8.8', '[2606:4700::1]'].every((host) => strict.mayCallHost(host))).toBe(true)
  expect(here.every((host) => strict.development.mayCallHost(host))).toBe(true)
  expect(strict.development.mayCallHost('10.0.0.1')).toBe(false)
})
