// Mistakes in files and places end with 2 and say where they are, whatever the command: files.md §4.
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { type Api, useServer } from '../../server/test/server.ts'
import { withSecrets } from '../src/commands/push.ts'
import { typesOf } from '../src/commands/types.ts'
import { State } from '../src/folder/state.ts'
import { interrupt } from '../src/interrupts.ts'
import { useFolder, write } from './command.ts'

const server = useServer()
const { command, here, belfry, at } = useFolder(server)
let api: Api
let folder: string

beforeEach(() => {
  ;({ api, folder } = here)
})

const head = 'workflowId: a\nname: A\n'
const yaml = 'belfry/workflows/a/workflow.yaml'
const mail = 'steps:\n  - stepId: m\n    name: M\n    type: email\n    controlValues:\n      subject: S\n'
const scenario =
  'workflow: { workflowId: a }\nstartAt: 2026-05-01T10:00:00Z\ninputs: [{ at: +0s, type: trigger, to: ada }]\n'

describe('scenarios are not played without the workflow of the folder', () => {
  test.each([
    ['YAML that cannot be read', `${head}steps: []\nx: [\n`, /workflow\.yaml:\d+:\d+ error/],
    [
      'no workflowId',
      'workflowID: a\nname: A\nsteps: []\n',
      /workflow\.yaml:1:1 error must have the member workflowId/,
    ],
    [
      'a body that is missing',
      `${head}${mail}      editorType: html\n      body: { $file: m.html }\n`,
      /workflow\.yaml:10:7 error there is no file "m\.html"/,
    ],
  ])('%s', async (_, text, expected) => {
    await api.post('/v2/workflows', { workflowId: 'a', name: 'Stored', active: true, steps: [] })
    write(folder, { [yaml]: text, 'belfry/scenarios/a.scenario.yaml': scenario })
    const told = await belfry('test', '--json')
    expect(told).toMatchObject({
      ...{ code: 2, stderr: expect.stringMatching(expected) },
      json: { error: { code: 'files_invalid', ctx: { problems: [{ severity: 'error' }] } } },
    })
  })
})

describe('files that are not UTF-8', () => {
  const latin = (text: string) => Buffer.from(text, 'latin1')

  test('a body is a problem with its line, and is not sent', async () => {
    write(folder, { [yaml]: `${head}${mail}      editorType: html\n      body: { $file: m.html }\n` })
    writeFileSync(at('workflows/a/m.html'), latin('<p>Hi</p>\n<p>caf\xe9</p>'))
    const message = '"m.html" is not UTF-8: line 2, column 7'
    expect(await belfry('validate', '--json')).toMatchObject({
      ...{ code: 2, json: { problems: [{ file: yaml, line: 10, column: 7, severity: 'error', message }] } },
    })
    expect((await belfry('push')).code).toBe(2)
    expect((await api.get('/v2/workflows/a')).status).toBe(404)
  })

  test('YAML is a problem at its line, for every command', async () => {
    write(folder, { [yaml]: '' })
    writeFileSync(at('workflows/a/workflow.yaml'), latin('workflowId: a\nname: Caf\xe9\nsteps: []\n'))
    expect((await belfry('validate', '--json')).json.problems).toEqual([
      { file: yaml, line: 2, column: 10, severity: 'error', code: 'yaml', message: 'the file is not UTF-8' },
    ])
    for (const name of ['push', 'pull', 'plan']) expect([name, (await belfry(name)).code]).toEqual([name, 2])
  })

  test('a scenario is not played', async () => {
    write(folder, { [yaml]: `${head}steps: []\n`, 'belfry/scenarios/a.scenario.yaml': '' })
    writeFileSync(at('scenarios/a.scenario.yaml'), latin(`${scenario}name: caf\xe9\n`))
    expect(await belfry('test')).toMatchObject({
      ...{ code: 2, stderr: 'belfry/scenarios/a.scenario.yaml:4:10 the file is not UTF-8\n' },
    })
  })

  test('a mark in front of a body stays', async () => {
    write(folder, {
      [yaml]: `${head}${mail}      editorType: html\n      body: { $file: m.html }\n`,
      'belfry/workflows/a/m.html': '\ufeff<p>é</p>',
    })
    expect((await belfry('push')).code).toBe(0)
    expect((await api.get('/v2/workflows/a')).body.steps[0].controlValues.body).toBe('\ufeff<p>é</p>')
  })
})

describe('aliases', () => {
  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x, x, x]',
    ...[...'bcdefgh'].map((name, index) => `${name}: &${name} [${`*${'abcdefg'[index]}, `.repeat(10)}]`),
  ]
  const wrong: Array<[string, string, string]> = [
    ['no anchor', 'workflowId: a\nname: *New*\nsteps: []\n', '2:7 there is no anchor "New*" before'],
    ['an anchor that contains itself', `${head}tags: &t [*t]\nsteps: []\n`, '3:11 the anchor "t" contains itself'],
    [
      'too many',
      `${head}steps: []\nx: [&x 1, ${'*x, '.repeat(5_001)}]\n`,
      'there are too many aliases: a file may have 5000',
    ],
    ['too much', `${head}${bomb.join('\n')}\nsteps: []\n`, 'stands for too much'],
  ]

  test.each(wrong)('%s is a problem with its place', async (_, text, expected) => {
    write(folder, { [yaml]: text })
    const { code, json } = await belfry('validate', '--json')
    const [{ line, column, message }] = json.problems
    expect([code, `${line}:${column} ${message}`]).toEqual([2, expect.stringContaining(expected)])
    for (const name of ['push', 'pull', 'plan', 'test'])
      expect((await belfry(name, '--json')).json.error, name).toMatchObject({ code: 'files_invalid' })
  })

  test.each(wrong)('%s in a scenario', async (_, text, expected) => {
    write(folder, { [yaml]: `${head}steps: []\n`, 'belfry/scenarios/a.scenario.yaml': text })
    expect((await belfry('test', '--json')).json.error).toMatchObject({
      ...{ code: 'scenario_unreadable', message: expect.stringContaining(expected) },
    })
  })

  test('an anchor may be used often, and what uses it is sent as if it were written out', async () => {
    const members = Array.from({ length: 1_199 }, (_, index) => `    m${index}: *text\n`).join('')
    const schema = `payloadSchema:\n  type: object\n  definitions: { text: &text { type: string, maxLength: 9 } }\n  properties:\n${members}`
    const steps =
      'steps:\n  - { stepId: m, name: M, type: sms, controlValues: &values { body: Hi } }\n  - { stepId: n, name: N, type: sms, controlValues: *values }\n'
    write(folder, { [yaml]: `${head}${schema}${steps}`, 'belfry/scenarios/a.scenario.yaml': scenario })
    const validated = await belfry('validate')
    expect(validated.code, validated.stdout).toBe(0)
    expect((await belfry('test')).code).toBe(0)
    expect((await belfry('push')).code).toBe(0)
    const { body } = await api.get('/v2/workflows/a')
    expect(body.payloadSchema.properties.m1198).toEqual({ type: 'string', maxLength: 9 })
    expect(body.steps.map(({ controlValues }: any) => controlValues.body)).toEqual(['Hi', 'Hi'])
  })
})

describe('what was last read from where', () => {
  const here = { url: 'http://a.example.com', environment: 'development' }

  test('two processes at once keep what each of them set, and what each forgot', () => {
    const first = new State(at(), here)
    for (const key of ['workflow a', 'workflow b', 'workflow c']) first.set(key, 'old')
    first.save()
    const [one, two] = [new State(at(), here), new State(at(), here)]
    const elsewhere = new State(at(), { ...here, environment: 'production' })
    one.set('workflow a', 'new')
    one.set('workflow c', undefined)
    // It was the same when this process began, so it tells nothing.
    two.set('workflow a', 'old')
    two.set('workflow b', 'new')
    elsewhere.set('workflow a', 'other')
    for (const state of [one, elsewhere, two]) state.save()
    const after = new State(at(), here)
    expect(['a', 'b', 'c'].map((id) => after.baseOf(`workflow ${id}`))).toEqual(['new', 'new', undefined])
    expect(new State(at(), { ...here, environment: 'production' }).baseOf('workflow a')).toBe('other')
    expect(readdirSync(path.join(folder, '.belfry'))).toEqual(['bases.json'])
  })
})

describe('a refusal says why', () => {
  test.each<[string, string[], RegExp]>([
    [
      'a payload that is no object',
      ['trigger', 'a', '--to', 'ada', '--payload', '[1]'],
      /^Validation Error: payload must be/,
    ],
    ['a commit that is too long', ['push', '--commit', 'c'.repeat(300)], /^Validation Error: source\.commit must/],
    ['a payload to explain', ['explain', 'a', 'ada', '--payload', '[]'], /^Validation Error: payload must be/],
    ['what is no id', ['outbox', 'retry', 'nope'], /^Validation Error: .*ids/],
    [
      'a workflow that is not there',
      ['trigger', 'nope', '--to', 'ada'],
      /^There is no such workflow in this environment$/,
    ],
  ])('%s', async (_, args, expected) => {
    write(folder, { [yaml]: `${head}steps: []\n` })
    const { code, stderr, json } = await belfry(...args, '--json')
    expect([code, json.error.message]).toEqual([4, expect.stringMatching(expected)])
    expect(stderr).toContain(json.error.message)
  })

  test('also of a scenario, in the report too', async () => {
    const steps = '{ draft: { steps: [{ stepId: m, name: M, type: emial }] } }'
    write(folder, { 'belfry/scenarios/a.scenario.yaml': scenario.replace('{ workflowId: a }', steps) })
    const { code, json } = await belfry('test', '--json', '--junit', 'report.xml')
    expect([code, json.results[0].problem]).toEqual([
      2,
      expect.stringMatching(/^Validation Error: .*type must be one of/),
    ])
    expect(readFileSync(path.join(folder, 'report.xml'), 'utf8')).toContain('type must be one of')
  })
})

test('Ctrl-C while a scenario is lived through deletes its environment', async () => {
  const wide = await server.organizationOf(api)
  here.place = { url: wide.url, key: wide.key }
  const inputs = Array.from({ length: 200 }, (_, n) => `  - { at: +${n}h, type: trigger, to: ada }\n`).join('')
  write(folder, {
    'belfry/scenarios/a.scenario.yaml': `workflow: { draft: { steps: [] } }\nstartAt: 2026-05-01T10:00:00Z\ninputs:\n${inputs}`,
  })
  const environments = async () => ((await wide.get('/v1/environments')).body as unknown[]).length
  const before = await environments()
  const living = belfry('test', '--live', '--json')
  await expect.poll(environments, { interval: 5 }).toBe(before + 1)
  expect(interrupt()).toBe(true)
  expect(await living).toMatchObject({ code: 130, json: { error: { code: 'interrupted' } } })
  expect(await environments()).toBe(before)
})

describe('a place of the wrong kind ends with 2 and a sentence', () => {
  const isFolder = 'it is a folder, and has to be a file'

  test('a file that is a folder', async () => {
    mkdirSync(at('workflows/a/workflow.yaml'), { recursive: true })
    const message = isFolder
    expect(await belfry('validate', '--json')).toMatchObject({
      ...{ code: 2, json: { problems: [{ file: yaml, line: 1, column: 1, severity: 'error', message }] } },
    })
    for (const name of ['plan', 'push', 'pull', 'test'])
      expect((await belfry(name, '--json')).json.error, name).toMatchObject({ code: 'files_invalid' })
    mkdirSync(path.join(folder, '.gitignore'))
    expect(await belfry('init')).toMatchObject({ code: 2, stderr: `A file cannot be read: ${isFolder}\n` })
    mkdirSync(path.join(folder, 'x/a.scenario.yaml'), { recursive: true })
    rmSync(at('workflows'), { recursive: true })
    expect(await belfry('test', 'x')).toMatchObject({ code: 2, stderr: `x/a.scenario.yaml: ${isFolder}\n` })
  })

  test('a folder that is a file', async () => {
    write(folder, { belfry: '' })
    for (const name of ['validate', 'pull', 'push', 'test'])
      expect([name, await belfry(name)]).toMatchObject([
        ...[name, { code: 2, stdout: '', stderr: 'belfry is a file, and has to be a folder\n' }],
      ])
    expect(await belfry('init')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^belfry: .*\n$/) })
  })

  test('where something is written', async () => {
    write(folder, { [yaml]: `${head}steps: []\n`, 'out/x.ts': '' })
    expect(await belfry('types', '--out', 'out')).toMatchObject({ code: 2, stderr: `out: ${isFolder}\n` })
    expect(readdirSync(folder).sort()).toEqual(['belfry', 'out'])
    write(folder, { 'belfry/scenarios/a.scenario.yaml': scenario })
    expect((await belfry('test', '--junit', 'reports/deep/x.xml')).code).toBe(0)
    expect(existsSync(path.join(folder, 'reports/deep/x.xml'))).toBe(true)
  })
})

describe('what cannot be read or written as usual', () => {
  test('a file that may not be looked at is no missing one: nothing counts as removed', async () => {
    write(folder, {
      [yaml]: `${head}steps: []\n`,
      'belfry/workflows/b/workflow.yaml': 'workflowId: b\nname: B\nsteps: []\n',
    })
    expect((await belfry('push')).code).toBe(0)
    rmSync(at('workflows/b'), { recursive: true })
    symlinkSync('b', at('workflows/b'))
    const stderr = 'belfry/workflows/b/workflow.yaml: its links lead in a circle\n'
    for (const args of [['validate'], ['push', '--prune'], ['pull']])
      expect(await belfry(...args), args.join(' ')).toMatchObject({ code: 2, stderr })
    expect((await api.get('/v2/workflows/b')).status).toBe(200)
  })

  test('what cannot be written goes by its own name, not by that of a draft', async () => {
    write(folder, { [yaml]: `${head}steps: []\n` })
    const long = 'x'.repeat(252)
    expect(await belfry('types', '--out', long)).toMatchObject({ code: 2, stderr: `${long}: the name is too long\n` })
  })

  test('a pipe or a link that is written to stays one', async () => {
    write(folder, { [yaml]: `${head}steps: []\n` })
    const pipe = path.join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    const reader = spawn('cat', [pipe])
    expect((await belfry('types', '--out', 'pipe')).code).toBe(0)
    expect(statSync(pipe).isFIFO()).toBe(true)
    reader.kill()
    write(folder, { 'shared.ts': '' })
    symlinkSync('shared.ts', path.join(folder, 'link.ts'))
    await belfry('types', '--out', 'link.ts')
    expect(readFileSync(path.join(folder, 'shared.ts'), 'utf8')).toContain('Payloads')
  })

  test('an empty name', async () => {
    write(folder, { [yaml]: `${head}steps: []\n` })
    expect(await belfry('types', '--out', '')).toMatchObject({ code: 2, stderr: expect.stringMatching(/^"": .*\n$/) })
  })

  test('a file among the folders of workflows is passed over', async () => {
    write(folder, { [yaml]: `${head}steps: []\n`, 'belfry/workflows/.DS_Store': '', 'belfry/layouts/notes.txt': '' })
    expect((await belfry('validate')).stdout).toBe('1 file, 0 errors, 0 warnings\n')
  })

  test('a file that ends with .yml is not passed over', async () => {
    write(folder, {
      'belfry/belfry.yml': '',
      'belfry/workflows/a/workflow.yml': `${head}steps: []\n`,
      'belfry/layouts/b/layout.yml': '',
    })
    const { code, json } = await belfry('validate', '--json')
    expect([code, json.problems.map(({ file, message }: any) => `${file}: ${message}`)]).toEqual([
      2,
      [
        'belfry/belfry.yml: it is not read; name it belfry.yaml',
        'belfry/layouts/b/layout.yml: it is not read; name it layout.yaml',
        'belfry/workflows/a/workflow.yml: it is not read; name it workflow.yaml',
      ],
    ])
    for (const name of ['push', 'pull']) expect([name, (await belfry(name)).code]).toEqual([name, 2])
  })

  test('a second document in a file', async () => {
    write(folder, { [yaml]: `${head}steps: []\n---\n${head}` })
    expect((await belfry('validate')).stdout).toContain(`${yaml}:4:1 error a second document begins; a file has one\n`)
  })

  test('where it is not remembered what was pushed or pulled, it is told all the same', async () => {
    write(folder, { [yaml]: `${head}steps: []\n`, '.belfry': 'a file' })
    const pushed = await belfry('push', '--json')
    expect(pushed).toMatchObject({ code: 2, json: { applied: true, summary: { created: 1 } } })
    expect(pushed.stderr).toMatch(
      /^It is done, but not remembered here: .*\.belfry: .* Pull before the next push from this folder$/m,
    )
    await api.patch('/v2/workflows/a', { name: 'B' })
    expect(await belfry('pull', '--json')).toMatchObject({ code: 2, json: { written: expect.arrayContaining([yaml]) } })
  })
})

test('whoever reads no further ends the program quietly', async () => {
  const root = path.join(import.meta.dirname, '..', '..')
  execFileSync(process.execPath, [path.join(root, 'cli', 'build.mjs'), folder])
  const child = spawn(process.execPath, [path.join(folder, 'belfry.mjs'), 'schema', 'workflow'])
  child.stdout.destroy()
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += String(text)
  })
  const code = await new Promise((resolve) => child.once('close', resolve))
  expect([code, errors]).toEqual([0, ''])
})

test('a variable that is empty counts as not set', async () => {
  const { url = '', key = '' } = here.place
  write(folder, { 'belfry/belfry.yaml': `environments: [{ name: Development, url: "${url}" }]\n` })
  expect((await belfry('login')).code).toBe(0)
  const empty = { env: { BELFRY_URL: '', BELFRY_API_KEY: '', BELFRY_ENVIRONMENT: '', BELFRY_OUTBOX_URL: '' } }
  for (const args of [['whoami'], ['outbox', 'refused']])
    expect(await command.run(folder, empty, ...args), args.join(' ')).toMatchObject({ code: 0, stderr: '' })
  const spy = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([key]) as typeof process.stdin)
  expect((await command.run(folder, empty, 'login')).code).toBe(0)
  spy.mockRestore()
  const other = command.newFolder()
  await command.run(other, empty, 'init')
  expect(readFileSync(path.join(other, 'belfry', 'belfry.yaml'), 'utf8')).toContain('url: "http://127.0.0.1:3000"')
})

test('a secret whose variable is empty, as CI sets one that is missing, overwrites nothing', () => {
  const definition = { credentials: { apiKey: { $secret: 'MAILS_APIKEY' }, from: 'hello@example.com' } }
  const mails = { kind: 'integration' as const, definition }
  expect(withSecrets(mails, { MAILS_APIKEY: '' })).toEqual(definition)
  expect(withSecrets(mails, { MAILS_APIKEY: 'SG.1' })).toMatchObject({ credentials: { apiKey: 'SG.1' } })
})

test('pull does not begin while belfry.yaml has errors', async () => {
  write(folder, { 'belfry/belfry.yaml': 'kinds: [workflow]\n' })
  const message = expect.stringMatching(/^belfry\/belfry\.yaml:1:1 must be a list of workflows/)
  expect((await belfry('pull', '--json')).json.error).toMatchObject({ code: 'files_invalid', message })
  expect(existsSync(at('layouts'))).toBe(false)
})

test('an identifier without quotes says what it is', async () => {
  write(folder, {
    'belfry/belfry.yaml': 'kinds: [workflows, topics]\n',
    [yaml]: 'name: A\nworkflowId: 007\nsteps: []\n',
    'belfry/topics.yaml': '- name: T\n  key: true\n- name: U\n',
  })
  const { code, json } = await belfry('validate', '--json')
  const problems = json.problems.map(({ line, column, message }: any) => `${line}:${column} ${message}`)
  expect([code, problems]).toEqual([
    2,
    [
      '2:3 key must be a text, and is a boolean; put quotes around it',
      '3:3 must have the member key',
      '2:1 workflowId must be a text, and is a number; put quotes around it',
    ],
  ])
})

test('without a command, JSON says so', async () => {
  expect(await belfry('--json')).toMatchObject({
    ...{ code: 2, json: { error: { code: 'usage', message: 'Say a command; "belfry --help" lists them' } } },
  })
})

test.each([
  [['nope'], 'Unknown command \'nope\'\n(see "belfry --help")\n'],
  [['push', '--nope'], 'Unknown option \'--nope\'\n(see "belfry push --help")\n'],
  [['import', 'csv'], 'Required option \'--map <fields>\' not specified\n(see "belfry import csv --help")\n'],
])('wrong use, %s, is told as all other failures are, with the help of its command', async (args, stderr) => {
  expect(await belfry(...args)).toMatchObject({ code: 2, stderr })
  const [message] = stderr.split('\n')
  expect((await belfry(...args, '--json')).json).toEqual({ error: { code: 'usage', message, ctx: null } })
})

describe('a person at the terminal', () => {
  /** Types this once a question is there. */
  async function typing(keys: string, ...args: string[]) {
    const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => stdin })
    const spy = vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as unknown as typeof process.stdin)
    stdin.write(keys)
    try {
      return await command.run(folder, { url: here.place.url ?? '' }, ...args)
    } finally {
      spy.mockRestore()
    }
  }
  beforeEach(() =>
    write(folder, {
      'k/workflows/w/workflow.json': '{"name":"W","steps":[{"ref":"a","type":"channel","channel_key":"mailer"}]}',
    }),
  )

  test('logs in with the key that is typed', async () => {
    expect(await typing(`${here.place.key}\r`, 'login')).toMatchObject({ code: 0 })
  })

  test.each([['login'], ['import', 'knock', 'k']])('ends %s with Ctrl-C', async (...args) => {
    const { code, stderr } = await typing('\u0003', ...args)
    expect([code, stderr]).toEqual([130, expect.stringMatching(/\dG\r?\nInterrupted\n$/)])
  })

  test.each([
    ['No key was given', ['login']],
    ['has to say what these channels are', ['import', 'knock', 'k']],
  ])('gives no answer with Ctrl-D: %s', async (message, args) => {
    const { code, stderr } = await typing('\u0004', ...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
    expect(stderr).not.toContain('\n    at')
  })
})

test('what is no address of a service, and a key that opens nothing', async () => {
  write(folder, { 'belfry/scenarios/a.scenario.yaml': scenario })
  for (const url of ['ftp://x', 'localhost:3000'])
    expect(await belfry('whoami', '--url', url)).toMatchObject({ code: 2, stderr: expect.stringContaining('http://') })
  here.place = { ...here.place, key: 'wrong' }
  for (const args of [['test'], ['test', '--live']])
    expect((await belfry(...args, '--json')).json.error, args.join(' ')).toMatchObject({ code: 'api_key_not_found' })
  expect((await belfry('test')).code).toBe(4)
})

test('what is refused while a scenario is lived through is one sentence', async () => {
  write(folder, {
    'belfry/scenarios/a.scenario.yaml': scenario.replace('{ workflowId: a }', '{ draft: { steps: [] } }'),
  })
  const { results } = (await belfry('test', '--live', '--json')).json
  expect(results[0].problem).toMatch(/^POST \/v1\/environments: 403 This concerns the whole organization, .*[a-z]$/)
})

test('a member that a scenario does not have is refused with its place', async () => {
  write(folder, { 'belfry/scenarios/a.scenario.yaml': `${scenario}---\n${scenario}expectt: []\n` })
  expect((await belfry('test', '--json')).json.error).toMatchObject({
    ...{ code: 'scenario_unreadable' },
    message: expect.stringMatching(/a\.scenario\.yaml:8:1 there is no member "expectt"; a scenario has name, workflow/),
  })
})

test('types have members that are required and not described', () => {
  const typeOf = (payloadSchema: object) =>
    /Payload [\s\S]*?(?=\n\n)/.exec(typesOf([{ workflowId: 'a', payloadSchema: { ...payloadSchema } }]))?.[0]
  const id = { id: { type: 'string' } }
  expect(typeOf({ type: 'object', required: ['id', 'odd name'], properties: id })).toBe(
    'Payload {\n  id: string\n  "odd name": unknown\n}',
  )
  expect(typeOf({ required: ['id'] })).toBe('Payload {\n  id: unknown\n  [member: string]: unknown\n}')
  expect(typeOf({ type: 'object', required: ['id'], additionalProperties: { type: 'number' } })).toBe(
    'Payload {\n  id: number\n  [member: string]: number\n}',
  )
  expect(typeOf({ type: 'object', required: ['id'], additionalProperties: false })).toBe('Payload {\n  id: unknown\n}')
})
