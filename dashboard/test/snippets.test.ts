import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ApiRequest, type Language, languages, snippet } from '../src/ui/code/snippets.ts'

const run = promisify(execFile)
const apiKey = "a'key"
const received: Array<{ method?: string; url?: string; authorization?: string; type?: string; body: unknown }> = []
const server = createServer((request: IncomingMessage, response) => {
  void text(request).then((body) => {
    const { authorization, 'content-type': type } = request.headers
    const { method, url } = request
    received.push({
      ...(method ? { method } : {}),
      ...(url ? { url } : {}),
      ...(authorization ? { authorization } : {}),
      ...(type ? { type } : {}),
      body: body === '' ? undefined : JSON.parse(body),
    })
    response.setHeader('content-type', 'application/json').end('{"it":"works"}')
  })
})
let origin = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

const body = {
  name: 'Ada\'s "welcome"',
  to: [{ subscriberId: 'ada', data: { vip: true, manager: null, 'two words': 1.5 } }],
  payload: {
    text: 'line one\r\n  line two \\ ünïcode 🎉',
    marks: '#{1} $name {$name} `x` """ %s \\n\n',
    none: {},
    nothing: [],
    flag: false,
  },
}
const requests: ApiRequest[] = [
  { method: 'POST', path: '/v1/events/trigger', body },
  { method: 'GET', path: '/v2/subscribers?limit=10' },
  { method: 'PATCH', path: '/v2/subscribers/ada', body: { firstName: 'Ada', data: {} } },
  { method: 'DELETE', path: '/v2/topics/all' },
]

const here = (command: string, ...args: string[]) => spawnSync(command, args).status === 0
type Run = (file: string, code: string) => Promise<{ stdout: string }>

/** The languages this machine can run; curl and Node.js always. */
const running: Partial<Record<Language, Run>> = {
  curl: (_, code) => run('sh', ['-c', code]),
  node: (_, code) => run(process.execPath, ['--input-type=module', '-e', code]),
  ...(here('python3', '-c', 'import requests') && { python: (file) => run('python3', [file]) }),
  ...(here('php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);') && { php: (file) => run('php', [file]) }),
  ...(here('ruby', '--version') && { ruby: (file) => run('ruby', [file]) }),
}
/** Languages that take long to build are only checked by their compiler. */
const reading: Partial<Record<Language, Run>> = {
  ...(here('gofmt', '-h') && { go: (file) => run('gofmt', ['-e', file]) }),
  ...(here('javac', '--version') && { java: (file) => run('javac', ['-proc:none', file]) }),
}
const files: Record<Language, string> = {
  ...{ curl: 'call.sh', node: 'call.mjs', python: 'call.py', php: 'call.php', go: 'call.go', ruby: 'call.rb' },
  ...{ java: 'Main.java', csharp: 'Program.cs' },
}
const known = (which: object) => languages.filter(({ value }) => value in which)
const named = (which: readonly { label: string }[]) => which.map(({ label }) => label).join(', ') || 'none'
const rest = languages.filter(({ value }) => !(value in running || value in reading))

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'samples-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function runSnippet(language: Language, how: Run | undefined, code: string): Promise<string> {
  if (!how) throw new Error(`${language} is not installed`)
  const file = path.join(folder, files[language])
  await writeFile(file, code)
  return (await how(file, code)).stdout
}

describe(`run: ${named(known(running))}; only compiled or parsed: ${named(known(reading))}; neither: ${named(rest)}`, () => {
  const cases = known(running).flatMap((language) => requests.map((request) => ({ ...language, ...request, request })))
  test.each(cases)('$label sends $method $path as intended', async ({ value, request }) => {
    const code = snippet(value, request, { origin, apiKey })
    expect(await runSnippet(value, running[value], code)).toContain('works')
    expect(received.pop()).toEqual({
      method: request.method,
      url: request.path,
      authorization: `ApiKey ${apiKey}`,
      ...(request.body === undefined ? {} : { type: 'application/json' }),
      body: request.body,
    })
  })

  // Not `test.each`, which refuses an empty table.
  for (const { value, label } of known(reading))
    test(`${label} code is valid`, async () => {
      await runSnippet(value, reading[value], snippet(value, { method: 'POST', path: '/v1', body }, { origin, apiKey }))
    }, 300_000)
})

test.each(languages)('$label contains the key, the URL and every value of the body', ({ value }) => {
  const place = { origin: 'https://belfry.example.com', apiKey: 'k' }
  const body = { name: 'welcome', to: 'ada', payload: { count: 3, isNew: true, text: 'two\nlines', none: {} } }
  const code = snippet(value, { method: 'POST', path: '/v1/events/trigger', body }, place)
  for (const part of [`${place.origin}/v1/events/trigger`, 'ApiKey k', 'welcome', 'ada', 'count', '3'])
    expect(code).toContain(part)
  expect(code).toMatchSnapshot()
})
