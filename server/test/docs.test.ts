// Sends every request of the documentation, so that no page promises what the service does not do. Each page gets its own
// organization, and its requests are sent in order: later ones may use what earlier ones created. The answer must be a
// success, or match the ```json block right after the request, which may omit members and asks for an error by `statusCode`.
// Before each request all queued work is done, and `sleep` moves the clock.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { Api, useServer } from './server.ts'

/** Requests answered before their work is done. */
const setsOff = /\/v1\/(?:events|deliveries)\/|\/v2\/events"/

const server = useServer()
const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = ['README.md', ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
)
const examples = pages.map((page) => ({ page, requests: requestsIn(readFileSync(root + page, 'utf8')) }))

// The examples of docs/sql.md need its statements between them: engine/outbox/outbox.test.ts.
const shown = examples.filter(({ page, requests }) => requests.length > 0 && page !== 'docs/sql.md')
test.each(shown)('$page tells the truth', async ({ requests }) => {
  const { development, production } = await server.freshOrganization()
  const variables: Record<string, string> = {
    BELFRY_URL: server.url,
    BELFRY_API_KEY: development.key,
    PRODUCTION_KEY: production.key,
    BELFRY_ORGANIZATION_KEY: (await server.organizationOf(development)).key,
    DEVELOPMENT_ID: development.environmentId,
    PRODUCTION_ID: production.environmentId,
    INTEGRATION_ID: await emailIntegration(development),
  }
  for (const { command, expected } of requests) {
    if (isPause(command)) {
      server.clock.advance({ seconds: Number(command.slice('sleep '.length)) })
      await server.drain()
      continue
    }
    const answer = await send(wordsOf(command, variables))
    if (setsOff.test(command)) await server.drain()
    if (command.includes('/v2/questions?')) variables.QUESTION_ID = answer.body.data[0].id
    if (answer.body?.shadow) variables.SHADOW_KEY = answer.body.apiKeys[0].key
    const status = expected?.statusCode ?? expect.toSatisfy((code: number) => code >= 200 && code < 300)
    expect({ command, status: answer.status, body: answer.body }).toMatchObject({
      command,
      status,
      ...(expected === undefined ? {} : { body: expected }),
    })
  }
})

async function emailIntegration(api: Api): Promise<string> {
  const { body } = await api.get('/v1/integrations')
  return body.find(({ channel }: { channel: string }) => channel === 'email')._id
}

test('the test of docs/testing.md passes', async () => {
  const [, code = ''] = /^```js\n(.*?)^```$/ms.exec(readFileSync(`${root}docs/testing.md`, 'utf8')) ?? []
  expect(code).toContain('node:test')
  const folder = mkdtempSync(path.join(tmpdir(), 'belfry-docs-'))
  const file = path.join(folder, 'reminder.test.mjs')
  writeFileSync(file, code)
  const env = { ...process.env, BELFRY_URL: server.url, BELFRY_ORGANIZATION_KEY: server.wideApi.key }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', file], { env })
    expect(stdout).toContain('# pass 1')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('every test that SECURITY.md names exists', () => {
  const tests = ['server', 'inbox', 'dashboard', 'chaos', 'scripts'].flatMap((room) =>
    readdirSync(root + room, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
      .map((file) => `${room}/${file}`),
  )
  const named = [...readFileSync(`${root}SECURITY.md`, 'utf8').matchAll(/`([\w/.-]+\.(?:test\.ts|mjs))`/g)]
  expect(named.length).toBeGreaterThan(30)
  const isThere = (name: string) =>
    name.endsWith('.mjs') ? existsSync(root + name) : tests.some((file) => `/${file}`.endsWith(`/${name}`))
  expect(named.flatMap(([, name = '']) => (isThere(name) ? [] : [name]))).toEqual([])
})

test('every link leads to an existing page and heading', () => {
  const decisions = readdirSync(`${root}docs/decisions`).map((name) => `docs/decisions/${name}`)
  for (const page of [...pages, ...decisions, 'SECURITY.md', 'CONTRIBUTING.md', 'CHANGELOG.md']) {
    for (const [, link = ''] of readFileSync(root + page, 'utf8').matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', heading] = link.split('#')
      const target = path === '' ? root + page : fileURLToPath(new URL(path, `file://${root}${page}`))
      expect({ page, link, isThere: existsSync(target) }).toEqual({ page, link, isThere: true })
      if (heading !== undefined)
        expect({ page, link, headings: headingsIn(readFileSync(target, 'utf8')) }).toEqual({
          page,
          link,
          headings: expect.arrayContaining([heading]),
        })
    }
  }
})

/** As links spell them. */
function headingsIn(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}

interface Request {
  command: string
  expected?: Record<string, unknown>
}

function requestsIn(text: string): Request[] {
  const requests: Request[] = []
  let isAfterRequest = false
  for (const [, language, block = ''] of text.matchAll(/^```(\w*)\n(.*?)^```$/gms)) {
    const last = requests.at(-1)
    if (language === 'json' && isAfterRequest && last) last.expected = JSON.parse(block)
    const commands = language === 'sh' ? commandsIn(block).filter((each) => isRequest(each) || isPause(each)) : []
    requests.push(...commands.map((command) => ({ command })))
    isAfterRequest = commands.length > 0
  }
  return requests
}

function isRequest(command: string): boolean {
  return /^curl\s/.test(command) && /\$BELFRY_URL|http:\/\/127\.0\.0\.1:3000/.test(command)
}

function isPause(command: string): boolean {
  return /^sleep \d+$/.test(command)
}

/** One command per line, except where a quote or a backslash continues it. */
function commandsIn(block: string): string[] {
  const withoutComments = block.replaceAll(/(?:^|\s)#.*$/gm, '')
  return (withoutComments.match(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\\n|[^\n'"])+/g) ?? []).map((line) => line.trim())
}

/** Splits a command into words as a shell would. */
function wordsOf(command: string, variables: Record<string, string>): string[] {
  const filled = (text: string) =>
    text
      .replaceAll(/\$\{?(\w+)\}?/g, (_, name: string) => {
        const value = variables[name]
        if (value === undefined) throw new Error(`the documentation uses $${name}, which this test does not define`)
        return value
      })
      .replaceAll('http://127.0.0.1:3000', server.url)
  const words = command.replaceAll('\\\n', ' ').match(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|[^\s'"])+/g) ?? []
  return words.map((word) =>
    (word.match(/'[^']*'|"(?:[^"\\]|\\.)*"|[^'"]+/g) ?? [])
      .map((part) => {
        if (part.startsWith("'")) return part.slice(1, -1).replace('<key>', variables.BELFRY_API_KEY ?? '')
        return filled(part.startsWith('"') ? part.slice(1, -1).replaceAll(/\\(.)/g, '$1') : part)
      })
      .join(''),
  )
}

/** Sends the request like curl; an unknown option is a mistake on the page, or needs support here. */
async function send([, ...words]: string[]) {
  const headers: Record<string, string> = {}
  let [method, url, body]: Array<string | undefined> = []
  for (let next = words.shift(); next !== undefined; next = words.shift()) {
    if (next === '-X') method = words.shift()
    else if (next === '-d') body = words.shift()
    else if (next === '-H') {
      const [name = '', value = ''] = words.shift()?.split(/:\s*/, 2) ?? []
      headers[name.toLowerCase()] = value
    } else if (next.startsWith('-')) throw new Error(`curl ${next} is not supported by this test`)
    else url = next
  }
  const { origin, pathname, search } = new URL(url ?? '')
  return new Api(origin, '', '', '').send(
    method ?? (body === undefined ? 'GET' : 'POST'),
    pathname + search,
    body,
    headers,
  )
}
