import { execFile, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
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
type Run = (files: string[]) => Promise<{ stdout: string }>

/** One process runs all programs: an interpreter takes longer to start than to send a request. */
const inOne = (...command: string[]): Run => {
  const [program = '', ...args] = command
  return (files) => run(program, [...args, ...files])
}
const oneByOne =
  (...[program = '', ...args]: string[]): Run =>
  async (files) => {
    const outputs: string[] = []
    for (const file of files) outputs.push((await run(program, [...args, file])).stdout)
    return { stdout: outputs.join('') }
  }

/** The languages this machine can run; curl and Node.js always. */
const running: Partial<Record<Language, Run>> = {
  curl: oneByOne('sh'),
  node: inOne(
    process.execPath,
    '--input-type=module',
    '-e',
    'for (const one of process.argv.slice(1)) await import(one)',
  ),
  ...(here('python3', '-c', 'import requests') && {
    python: inOne(
      'python3',
      '-c',
      'import runpy, sys\nfor one in sys.argv[1:]: runpy.run_path(one, run_name="__main__")',
    ),
  }),
  ...(here('php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);') && { php: oneByOne('php') }),
  ...(here('ruby', '--version') && { ruby: oneByOne('ruby') }),
}
/** Languages that take long to build are only checked by their compiler. */
const reading: Partial<Record<Language, Run>> = {
  ...(here('gofmt', '-h') && { go: oneByOne('gofmt', '-e') }),
  ...(here('javac', '--version') && { java: oneByOne('javac', '-proc:none') }),
}
/** The place of a program, each in a folder of its own: Java decides the name of the file. */
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

async function runSnippets(language: Language, how: Run | undefined, codes: string[]): Promise<string> {
  if (!how) throw new Error(`${language} is not installed`)
  const places = codes.map((_, index) => path.join(folder, `${language}-${index}`, files[language]))
  for (const [index, place] of places.entries()) {
    await mkdir(path.dirname(place), { recursive: true })
    await writeFile(place, codes[index] ?? '')
  }
  return (await how(places)).stdout
}

describe(`run: ${named(known(running))}; only compiled or parsed: ${named(known(reading))}; neither: ${named(rest)}`, () => {
  describe.each(known(running))('$label', ({ value }) => {
    let sent: typeof received
    let output = ''
    beforeAll(async () => {
      received.length = 0
      const codes = requests.map((request) => snippet(value, request, { origin, apiKey }))
      output = await runSnippets(value, running[value], codes)
      sent = [...received]
    })

    test.each(requests.map((request, index) => ({ ...request, index })))(
      'sends $method $path as intended',
      ({ method, path: url, body, index }) => {
        expect(output.match(/works/g)).toHaveLength(requests.length)
        expect(sent).toHaveLength(requests.length)
        expect(sent[index]).toEqual({
          ...{ method, url, authorization: `ApiKey ${apiKey}`, body },
          ...(body === undefined ? {} : { type: 'application/json' }),
        })
      },
    )
  })

  // Not `test.each`, which refuses an empty table.
  for (const { value, label } of known(reading))
    test(`${label} code is valid`, async () => {
      const code = snippet(value, { method: 'POST', path: '/v1', body }, { origin, apiKey })
      await runSnippets(value, reading[value], [code])
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
