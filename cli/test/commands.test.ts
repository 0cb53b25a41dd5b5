// Commands beside pull, push and validate, against a real service: files.md §4, §5.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { Readable } from 'node:stream'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { inApp, makeWorkflow, trigger } from '../../server/test/runs.ts'
import { type Api, useServer } from '../../server/test/server.ts'
import { compareNow, makeShadow, settle } from '../../server/test/shadow.ts'
import { addWorkflow } from '../../server/test/workflows.ts'
import { contentsOf, type Place, useFolder, write } from './command.ts'

const server = useServer({ allowPrivateAddresses: true })
const { command, here, belfry, at } = useFolder(server)
let api: Api
let folder: string

beforeEach(() => {
  ;({ api, folder } = here)
})

const create = async (more: object = {}) => {
  const steps = [{ stepId: 'text', name: 'Text', type: 'sms', controlValues: { body: 'Hi' } }]
  const answer = await api.post('/v2/workflows', { workflowId: 'comments', name: 'New comments', steps, ...more })
  expect(answer.status).toBe(201)
}
const change = (name: string) => api.patch('/v2/workflows/comments', { name })

test('what init makes is valid, passes its scenario, and can be pushed', async () => {
  expect((await belfry('init', '--ci')).code).toBe(0)
  expect(readFileSync(path.join(folder, '.gitignore'), 'utf8')).toBe('.belfry/\n')
  expect((await belfry('validate', '--json')).json).toEqual({ valid: true, files: 1, problems: [] })
  // Not pushed yet: the scenario plays the workflow of the folder.
  expect((await belfry('test', '--json', '--junit', 'report.xml')).json).toMatchObject({
    ...{ passed: 1, failed: 0 },
    results: [{ problem: null, expectations: [] }],
  })
  expect(readFileSync(path.join(folder, 'report.xml'), 'utf8')).toContain('tests="1" failures="0"')
  const scenario = at('scenarios/welcome.scenario.yaml')
  writeFileSync(scenario, readFileSync(scenario, 'utf8').replace('Acme, Ada.', 'Acme, Bo.'))
  expect(await belfry('test', '--json')).toMatchObject({ code: 1, json: { passed: 0, failed: 1 } })
  expect((await belfry('push', '--strict', '--json')).json.summary.created).toBe(1)
  // Nothing works by itself here: the same transactionId later shows the same runs.
  const given = { name: 'welcome', to: 'ada', payload: { product: 'Acme' }, transactionId: 'one' }
  expect((await api.post('/v1/events/trigger', given)).status).toBe(201)
  await server.drain()
  const payload = ['--payload', JSON.stringify(given.payload)]
  const triggered = await belfry('trigger', 'welcome', '--to', 'ada', ...payload, '--transaction-id', 'one', '--json')
  expect(triggered.json.runs).toMatchObject([
    { subscriberId: 'ada', status: 'completed', steps: [{ stepId: 'inbox', status: 'completed' }] },
  ])
  expect((await belfry('tail', '--once', '--json')).stdout).toContain('"workflowId":"welcome"')
  expect((await belfry('explain', 'welcome', 'ada', '--payload', '{"product": "Acme"}', '--json')).json.wouldGet).toBe(
    true,
  )
  const refused = await belfry('explain', 'welcome', 'ada')
  expect(refused.stdout).toContain(
    'would not get welcome\n    Payload validation failed: root.product: must have required',
  )
})

test('init writes the folder, schemas, files for Git, an example and a workflow for CI, and leaves alone what is there', async () => {
  write(folder, { '.gitignore': 'node_modules' })
  const first = await belfry('init', '--ci', '--json')
  const made = [
    ...['belfry/belfry.yaml', 'belfry/.gitattributes', 'belfry/workflows/welcome/workflow.yaml'],
    ...['belfry/scenarios/welcome.scenario.yaml', '.gitignore', '.github/workflows/notifications.yaml'],
  ]
  expect(first.json.written).toEqual(made)
  const schemas = ['belfry', 'integrations', 'layout', 'topics', 'translation', 'variables', 'workflow']
  expect(readdirSync(at('.schemas')).sort()).toEqual(schemas.map((name) => `${name}.json`))
  expect(Object.keys(contentsOf(folder)).sort()).toEqual(made.sort())
  expect(readFileSync(path.join(folder, '.gitignore'), 'utf8')).toBe('node_modules\n.belfry/\n')
  expect(parse(readFileSync(at('belfry.yaml'), 'utf8'))).toEqual({
    ...{ format: 1, kinds: ['workflows', 'layouts', 'translations'] },
    environments: [{ name: 'Development', url: api.url }],
  })
  // Git leaves bodies as they are, and bases out.
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' })
  git('init', '-q')
  for (const file of ['mail.html', 'mail.block.json', 'text.liquid'])
    expect(git('check-attr', 'text', `belfry/workflows/welcome/${file}`)).toMatch(/: text: unset\n$/)
  expect(git('check-ignore', '.belfry/bases.json')).toBe('.belfry/bases.json\n')
  // What CI would do.
  const { jobs } = parse(readFileSync(path.join(folder, '.github/workflows/notifications.yaml'), 'utf8'))
  const lines: string[] = jobs.notifications.steps.flatMap(({ run = '' }) => run || [])
  const commands = lines.map((line) => line.replace(/^npx @belfry\/cli /, '').split(' '))
  expect(commands.map(([name]) => name)).toEqual(['validate', 'test', 'plan', 'push'])
  for (const args of commands) expect((await belfry(...args)).code, args.join(' ')).toBe(0)
  // Again: nothing is overwritten, and an example does not come back to those who have their own.
  write(folder, { 'belfry/belfry.yaml': 'format: 1\n', 'belfry/workflows/welcome/workflow.yaml': 'mine' })
  rmSync(at('scenarios'), { recursive: true })
  expect((await belfry('init', '--ci', '--json')).json).toEqual({ written: [] })
  expect(contentsOf(at())).toMatchObject({ 'belfry.yaml': 'format: 1\n', 'workflows/welcome/workflow.yaml': 'mine' })
})

test('the address is that of --url, else of BELFRY_URL, else of belfry.yaml', async () => {
  write(folder, { 'belfry/belfry.yaml': 'environments: [{ name: Development, url: "http://c.example.com/" }]\n' })
  const urlOf = async (from: Place, ...args: string[]) =>
    (await command.run(folder, from, 'logout', '--json', ...args)).json.url
  expect(await urlOf({ url: 'http://b.example.com' }, '--url', 'http://a.example.com')).toBe('http://a.example.com')
  expect(await urlOf({ url: 'http://b.example.com' })).toBe('http://b.example.com')
  expect(await urlOf({})).toBe('http://c.example.com')
  // That is where requests go, and whose key is used.
  const elsewhere = { url: 'http://b.example.com', ...(here.place.key ? { key: here.place.key } : {}) }
  expect((await command.run(folder, elsewhere, 'whoami', '--url', api.url, '--json')).json).toMatchObject({
    ...{ url: api.url, environment: { name: 'Development' } },
  })
  write(folder, { 'belfry/belfry.yaml': '' })
  expect((await command.run(folder, {}, 'logout', '--json')).json).toMatchObject({ error: { code: 'no_url' } })
  expect((await command.run(folder, {}, 'logout', '--url', 'nonsense')).code).toBe(2)
})

describe('trigger', () => {
  test('waits until the runs have ended, and shows them', async () => {
    const called: string[] = []
    const hook = createServer(({ url = '' }, response) => {
      called.push(url)
      response.end('{}')
    })
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve))
    try {
      const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/{{payload.n}}`
      const step = { stepId: 'call', name: 'Call', type: 'http_request', controlValues: { method: 'GET', url } }
      await create({ workflowId: 'hook', active: true, steps: [step] })
      let hasEnded = false
      const args = ['--to', 'ada', '--to', 'bo', '--payload', '{"n":7}', '--transaction-id', 'one', '--json']
      const told = belfry('trigger', 'hook', ...args).finally(() => {
        hasEnded = true
      })
      const accepted = () => api.get('/v1/events/trigger/one')
      await vi.waitFor(async () => expect((await accepted()).status).toBe(200), { timeout: 10_000 })
      expect([hasEnded, called]).toEqual([false, []])
      await server.drain()
      const { json } = await told
      expect(called).toEqual(['/7', '/7'])
      expect(json).toMatchObject({ transactionId: 'one', status: 'processed' })
      expect(json.runs.map(({ subscriberId }: any) => subscriberId).sort()).toEqual(['ada', 'bo'])
      for (const run of json.runs)
        expect(run).toMatchObject({ status: 'completed', steps: [{ stepId: 'call', status: 'completed' }] })
    } finally {
      hook.close()
    }
  })

  test('does not wait for runs that wait themselves', async () => {
    const delay = { stepId: 'wait', name: 'Wait', type: 'delay', controlValues: { amount: 1, unit: 'days' } }
    await create({ workflowId: 'later', active: true, steps: [delay] })
    const id = ['--transaction-id', 'one']
    const given = { name: 'later', to: 'ada', payload: {}, transactionId: 'one' }
    expect((await api.post('/v1/events/trigger', given)).status).toBe(201)
    await server.drain()
    const { stdout, code } = await belfry('trigger', 'later', '--to', 'ada', ...id)
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^one processed\n.*later ada\n {4}wait \(delay\) delayed/),
    ])
    expect((await belfry('trigger', 'later')).code).toBe(2)
    expect((await belfry('trigger', 'later', '--to', 'ada', '--payload', '{')).code).toBe(2)
    expect((await belfry('trigger', 'gone', '--to', 'ada')).code).toBe(4)
  })
})

describe('what is written for people', () => {
  const asTerminal = async (names: Array<'stdout' | 'stderr'>, work: () => ReturnType<typeof belfry>) => {
    const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(process[name], 'isTTY')] as const)
    for (const name of names) Object.defineProperty(process[name], 'isTTY', { value: true, configurable: true })
    try {
      return await work()
    } finally {
      for (const [name, old] of before)
        if (old) Object.defineProperty(process[name], 'isTTY', old)
        else Reflect.deleteProperty(process[name], 'isTTY')
    }
  }
  const colored = '\u001b['
  beforeEach(() =>
    write(folder, {
      'belfry/workflows/a/workflow.yaml': 'workflowId: a\nname: A\nsteps: [{ stepId: m, name: M, type: sms }]\n',
    }),
  )

  test('has colors on a terminal only, and none where NO_COLOR or --no-color says so', async () => {
    const validate = (env: Record<string, string> = {}, ...args: string[]) =>
      asTerminal(['stdout', 'stderr'], () => command.run(folder, { ...here.place, env }, ...args, 'validate'))
    expect((await validate()).stdout).toContain(`${colored}33mwarning`)
    expect((await validate({ NO_COLOR: '' })).stdout).toContain(colored)
    expect((await validate({ NO_COLOR: '1' })).stdout).not.toContain(colored)
    expect((await validate({ TERM: 'dumb' })).stdout).not.toContain(colored)
    expect((await validate({}, '--no-color')).stdout).not.toContain(colored)
    const behind = await asTerminal(['stdout', 'stderr'], () => belfry('validate', '--no-color'))
    expect([behind.code, behind.stdout.includes(colored)]).toEqual([0, false])
    expect((await belfry('validate')).stdout).not.toContain(colored)
    // Each stream by itself.
    const toFile = await asTerminal(['stdout'], () => belfry('push', '--dry-run'))
    expect([toFile.stdout.includes(colored), toFile.stderr.includes(colored)]).toEqual([true, false])
    expect(toFile.stderr).toContain('warning')
    expect((await asTerminal(['stderr'], () => belfry('push', '--dry-run'))).stderr).toContain(colored)
  })

  test('has no remarks with --quiet; results and warnings stay', async () => {
    const types = ['types', '--out', 'types.ts']
    expect(await belfry(...types)).toMatchObject({ stdout: '', stderr: '1 workflow in types.ts\n' })
    expect(await belfry(...types, '--quiet')).toMatchObject({ code: 0, stdout: '', stderr: '' })
    const pushed = await belfry('--quiet', 'push')
    expect(pushed.stdout).toContain('1 created')
    expect(pushed.stderr).toContain('warning')
  })

  test('says numbers in words that fit one', async () => {
    expect((await belfry('validate')).stdout).toMatch(/\n1 file, 0 errors, 1 warning\n$/)
    expect((await belfry('push', '--strict')).stderr).toContain('1 issue, and --strict was said; nothing was pushed')
    await belfry('push')
    await api.patch('/v2/workflows/a', { name: 'Theirs' })
    write(folder, { 'belfry/workflows/a/workflow.yaml': 'workflowId: a\nname: Mine\nsteps: []\n' })
    expect((await belfry('plan')).stderr).toBe(
      '1 conflict: a push would be refused; pull first, or push with --force\n',
    )
  })
})

test('types are not written from files with errors, in which a workflow would be missing', async () => {
  write(folder, {
    'belfry/workflows/a/workflow.yaml': 'workflowId: a\nname: A\nsteps: []\n',
    'belfry/workflows/b/workflow.yaml': 'workflowId: b\nname: B\nsteps: []\ncolour: red\n',
  })
  expect(await belfry('types', '--out', 'types.ts')).toMatchObject({
    ...{ code: 2, stdout: '' },
    stderr: expect.stringMatching(
      /^belfry\/workflows\/b\/workflow\.yaml:4:1 error colour: .*\n1 error in the files; no types were written\n$/,
    ),
  })
  expect(existsSync(path.join(folder, 'types.ts'))).toBe(false)
})

test('types come from the service with --remote', async () => {
  const payloadSchema = { type: 'object', required: ['author'], properties: { author: { type: 'string' } } }
  await create({ payloadSchema })
  // There is no folder.
  const { stdout, code } = await belfry('types', '--remote')
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('export interface CommentsPayload {\n  author: string\n}'),
  ])
  expect(stdout).toContain('  "comments": CommentsPayload\n')
  expect((await belfry('types', '--remote', '--out', 'out/types.ts', '--json')).json).toEqual({
    ...{ workflows: 1, out: 'out/types.ts' },
  })
  expect(readFileSync(path.join(folder, 'out/types.ts'), 'utf8')).toBe(stdout)
  expect((await belfry('types')).code).toBe(2)
})

test('--layout shows and brings back versions of layouts', async () => {
  const body = (text: string) => ({
    email: { body: `<html><body>${text}{{content}}</body></html>`, editorType: 'html' },
  })
  // A workflow of the same identifier, which is not meant.
  await create({ workflowId: 'brand' })
  const saved = (text: string) => api.put('/v2/layouts/brand?upsert=true', { name: 'Brand', controlValues: body(text) })
  expect((await saved('One')).status).toBe(201)
  await belfry('pull')
  expect((await saved('Two')).status).toBe(200)
  expect((await belfry('history', 'brand', '--layout', '--json')).json.data).toMatchObject([
    ...[{ version: 2, isCurrent: true, paths: ['controlValues.email.body'] }, { version: 1 }],
  ])
  expect((await belfry('diff', 'brand', '--layout', '--from', '1')).stdout).toMatch(/-.*One.*\n\+.*Two/)
  await api.patch('/v2/workflows/brand', { name: 'Renamed' })
  const against = (await belfry('diff', 'brand', '--layout')).stdout
  expect(against).toMatch(/-.*Two.*\n\+.*One/)
  expect(against).not.toContain('Renamed')
  expect((await belfry('restore', 'brand', '1', '--layout', '--message', 'Back', '--json')).json).toEqual({
    ...{ id: 'brand', version: 3, restored: 1 },
  })
  expect((await api.get('/v2/layouts/brand')).body.controls.values.email.body).toContain('One')
  expect((await belfry('history', 'brand', '--layout')).stdout).toContain('Back')
  expect((await belfry('history', 'brand', '--json')).json.data.map(({ version }: any) => version)).toEqual([2, 1])
})

test('scenarios are lived through, and those that only a simulation can play are skipped', async () => {
  expect((await belfry('init')).code).toBe(0)
  const wide = await server.organizationOf(api)
  const live = (...more: string[]) => command.run(folder, { url: wide.url, key: wide.key }, 'test', '--live', ...more)
  expect((await live('--json')).json, 'of the folder, never pushed').toMatchObject({ passed: 1, failed: 0, skipped: 0 })
  const scenario = at('scenarios/welcome.scenario.yaml')
  const text = readFileSync(scenario, 'utf8')
  const answered = `${text}answers: { inbox: { status: 200, body: {} } }\n`
  writeFileSync(scenario, `${text}---\n${text.replace('Acme, Ada.', 'Acme, Bo.')}---\n${answered}`)
  const told = await live('--junit', 'report.xml')
  expect(told.code).toBe(1)
  expect(told.stdout).toContain('1 passed, 1 failed, 1 skipped')
  expect(told.stdout + told.stderr).toMatch(/skipped .*: the scenario says what others would answer/)
  expect(readFileSync(path.join(folder, 'report.xml'), 'utf8')).toContain('tests="3" failures="1" skipped="1"')
  const { body: environments } = await wide.get('/v1/environments')
  expect(environments.map(({ name }: { name: string }) => name).sort()).toEqual(['Development', 'Production'])
})

test('what docs/testing.md shows for CI runs, and writes the report where it is looked for', async () => {
  const page = readFileSync(new URL('../../docs/testing.md', import.meta.url), 'utf8')
  const [github, gitlab] = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)]
    .map(([, text = '']) => text)
    .filter((text) => text.includes('@belfry/cli'))
    .map((text) => parse(text))
  const { steps } = github.jobs.scenarios
  const line = steps.find(({ run = '' }: { run?: string }) => run.includes('@belfry/cli')).run
  expect(gitlab.scenarios.script).toEqual([line])
  expect((await belfry('init')).code).toBe(0)
  const [, args = ''] = /^npx @belfry\/cli (.+)$/.exec(line) ?? []
  expect((await belfry(...args.split(' '))).code).toBe(0)
  for (const file of [steps.at(-1).with.report_paths, gitlab.scenarios.artifacts.reports.junit])
    expect(readFileSync(path.join(folder, file), 'utf8')).toContain('tests="1" failures="0"')
})

test('a folder without scenarios has none to play; those that are asked for have to be there', async () => {
  await create()
  expect((await belfry('pull')).code).toBe(0)
  const { code, json, stderr } = await belfry('test', '--json', '--junit', 'report.xml')
  expect([code, json]).toEqual([0, { passed: 0, failed: 0, skipped: 0, results: [] }])
  expect(stderr).toContain('There are no scenarios yet')
  expect(readFileSync(path.join(folder, 'report.xml'), 'utf8')).toContain('tests="0"')
  for (const asked of [['nowhere'], ['--only', 'welcome'], ['--dir', 'nowhere']])
    expect([asked, (await belfry('test', ...asked)).code]).toEqual([asked, 2])
})

test('the commands and files that docs/files.md shows work', async () => {
  const page = readFileSync(new URL('../../docs/files.md', import.meta.url), 'utf8')
  const [workflow = '', integrations = ''] = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text)
  const commands = [...page.matchAll(/^npx @belfry\/cli (.+?)(?: +#.*)?$/gm)].map(([, words = '']) =>
    [...words.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word),
  )
  expect(commands.map(([name]) => name)).toEqual(['pull', 'validate', 'test', 'plan', 'push', 'plan'])
  await create()
  await api.post('/v2/subscribers', { subscriberId: 'ada' })
  here.place = { ...here.place, env: { MAILS_APIKEY: 'SG.secret' } }
  for (const args of commands) {
    const { code, stderr } = await belfry(...args)
    expect([args, code, stderr]).toEqual([args, 0, expect.anything()])
    if (args[0] !== 'pull') continue
    write(folder, {
      'belfry/belfry.yaml': 'format: 1\nkinds: [workflows, layouts, translations, integrations]\n',
      ...{ 'belfry/workflows/comments/workflow.yaml': workflow, 'belfry/workflows/comments/mail.html': '<p>Hi</p>' },
      'belfry/integrations.yaml': integrations,
    })
  }
  expect(readFileSync(path.join(folder, 'report.html'), 'utf8')).toContain('<html')
  expect((await api.get('/v2/workflows/comments')).body).toMatchObject({
    steps: [{ controlValues: { subject: '{{payload.author}} wrote', body: '<p>Hi</p>' } }],
  })
  const [{ message }] = (await api.get('/v2/workflows/comments/versions')).body.data
  expect(message).toBe('Shorter subject')
  const { resources } = (await api.get('/v2/definitions?kinds=integration&ids=mails')).body
  expect(resources[0].definition).toEqual(parse(integrations)[0])
})

test('types refuse wrong payloads under tsc --strict', async () => {
  write(folder, {
    'belfry/workflows/a/workflow.yaml':
      'workflowId: order-shipped\nname: A\npayloadSchema:\n  type: object\n  required: [id]\n  additionalProperties: false\n  properties:\n    id: { type: integer }\n    "odd name": { type: [string, "null"] }\n    lines: { type: array, items: { $ref: "#/definitions/line" } }\n    kind: { enum: [a, b] }\n  definitions:\n    line: { type: object, required: [sku], properties: { sku: { type: string }, more: { type: array, items: { $ref: "#/definitions/line" } } } }\nsteps: []\n',
    'right.ts':
      'import type { OrderShippedPayload, Payloads } from "./types.ts"\nexport const one: OrderShippedPayload = { id: 1, "odd name": null, lines: [{ sku: "x" }], kind: "a" }\nexport const two: Payloads["order-shipped"] = one\n',
    'wrong.ts':
      'import type { Payloads } from "./types.ts"\nexport const a: Payloads["order-shipped"] = { id: "1" }\nexport const b: Payloads["order-shipped"] = { id: 1, kind: "c" }\nexport const c: Payloads["order-shipped"] = {}\nexport const d: Payloads["order-shipped"] = { id: 1, other: 2 }\n',
  })
  expect((await command.run(folder, {}, 'types', '--out', 'types.ts')).code).toBe(0)
  const tsc = path.join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc')
  const compile = (file: string) => {
    try {
      execFileSync(process.execPath, [tsc, '--strict', '--noEmit', '--allowImportingTsExtensions', file], {
        cwd: folder,
        encoding: 'utf8',
      })
      return ''
    } catch (error) {
      return String((error as { stdout?: string }).stdout)
    }
  }
  expect(compile('right.ts')).toBe('')
  expect(compile('wrong.ts').match(/error TS/g)).toHaveLength(4)
})

test('diff, history and restore show and bring back versions', async () => {
  await create()
  await belfry('pull')
  await change('Second')
  expect((await belfry('diff', 'comments')).stdout).toContain('-name: Second\n+name: New comments')
  expect((await belfry('diff', 'comments', '--from', '1')).stdout).toContain('--- version 1\n+++ version 2\n')
  expect((await belfry('history', 'comments', '--json')).json.data).toMatchObject([
    { version: 2, isCurrent: true },
    { version: 1 },
  ])
  expect((await belfry('restore', 'comments', '1', '--json')).json).toMatchObject({ version: 3, restored: 1 })
  expect((await belfry('diff')).stdout).toBe('')
  expect((await belfry('restore', 'comments', 'x')).code).toBe(2)
})

test('an id that neither side has is a slip, and not a definition without changes', async () => {
  await create()
  await addWorkflow(server, api.environmentId, 'coded', { origin: 'external' })
  const message = 'Neither the files nor the service have x, of the kinds that are kept in files'
  const slip = { code: 2, json: { error: { code: 'unknown_id', message } } }
  expect(await belfry('pull', 'comments', 'x', '--json')).toMatchObject(slip)
  expect(existsSync(at('workflows'))).toBe(false)
  expect((await belfry('pull', 'comments', 'coded')).code).toBe(0)
  expect(await belfry('diff', 'x', '--json')).toMatchObject(slip)
  expect(await belfry('diff', 'coded')).toMatchObject({ code: 0, stdout: '' })
  expect((await belfry('push', 'x', '--json')).json.error).toMatchObject({ code: 'unknown_id' })
  // Of a definition that is only on one side there is something to tell.
  write(folder, { 'belfry/workflows/new/workflow.yaml': 'workflowId: new\nname: New\nsteps: []\n' })
  expect((await belfry('diff', 'new')).stdout).toContain('+workflowId: new')
  expect((await belfry('pull', 'new')).code).toBe(0)
})

test('history says which commit a push came from, and whether the folder had changed since', async () => {
  const steps = (name: string) => [{ kind: 'workflow', id: 'a', definition: { workflowId: 'a', name, steps: [] } }]
  const pushed = (name: string, source: object) =>
    api.post('/v2/definitions/push', { resources: steps(name), source, message: name })
  expect((await pushed('First', { commit: '8f3c0a1d', dirty: false })).status).toBe(200)
  expect((await pushed('Second', { commit: '9a4d0b2e', dirty: true })).status).toBe(200)
  expect((await pushed('Third', { dirty: true })).status).toBe(200)
  const { stdout } = await belfry('history', 'a')
  expect(stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/ {2}files {2}Third$/),
    expect.stringMatching(/ {2}9a4d0b2, changed {2}Second$/),
    expect.stringMatching(/ {2}8f3c0a1 {2}First$/),
  ])
})

test('the key is kept by login in a file that only its owner reads', async () => {
  expect((await belfry('login')).code).toBe(0)
  const file = path.join(folder, '.config', 'belfry', 'keys.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const { key: _, ...without } = here.place
  expect((await command.run(folder, without, 'whoami', '--json')).json).toMatchObject({
    environment: { name: 'Development' },
  })
  expect((await command.run(folder, without, 'logout')).code).toBe(0)
  expect((await command.run(folder, without, 'whoami')).code).toBe(2)
})

test('login takes a key that is piped, with or without an end of line, and asks only a person', async () => {
  const { key = '', ...without } = here.place
  const piped = async (...chunks: string[]) => {
    const spy = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from(chunks) as typeof process.stdin)
    try {
      return await command.run(folder, without, 'login')
    } finally {
      spy.mockRestore()
    }
  }
  for (const chunks of [[`${key}\n`], [key], [key.slice(0, 5), `${key.slice(5)}\r\nmore\n`]]) {
    expect(await piped(...chunks)).toMatchObject({ code: 0, stderr: '' })
    expect((await command.run(folder, without, 'logout')).code).toBe(0)
  }
  expect(await piped()).toMatchObject({ code: 2, stdout: '', stderr: 'No key was given\n' })
  expect(await piped('wrong\n')).toMatchObject({ code: 4, stdout: '' })
  expect((await command.run(folder, without, 'whoami')).code).toBe(2)
})

test('exit codes tell what kind of failure it was', async () => {
  expect((await belfry('fly')).code).toBe(2)
  expect((await belfry('restore', '--json')).json).toMatchObject({ error: { code: 'usage', ctx: null } })
  expect((await command.run(folder, {}, 'completion', 'bash', '--json')).json.text).toContain('complete')
  expect((await belfry('validate')).code).toBe(2)
  expect(
    (await command.run(folder, { url: here.place.url ?? '', key: 'wrong' }, 'whoami', '--json')).json,
  ).toMatchObject({
    error: { code: 'api_key_not_found' },
  })
  expect((await command.run(folder, { url: here.place.url ?? '', key: 'wrong' }, 'whoami')).code).toBe(4)
  expect((await command.run(folder, { url: 'http://127.0.0.1:1', key: 'k' }, 'whoami')).code).toBe(5)
  expect((await command.run(folder, {}, 'schema', 'workflow')).stdout).toContain('"workflowId"')
  for (const shell of ['bash', 'zsh', 'fish'])
    expect((await command.run(folder, {}, 'completion', shell)).stdout).toContain('validate')
})

describe('shadow', () => {
  test('report prints both sides and ends with 1 where something differs; live and back switch a workflow', async () => {
    const { upstream, front, here } = await makeShadow(server)
    const there = { url: front.url, key: front.key }
    const shadow = (...args: string[]) => command.run(folder, there, 'shadow', ...args)
    await makeWorkflow(upstream, 'same', [inApp('Same')])
    await makeWorkflow(here, 'same', [inApp('Same')])
    await trigger(front, 'same', 'ada')
    await settle(server)
    const clean = await shadow('report')
    expect([clean.code, clean.stdout]).toEqual([
      ...[0, expect.stringContaining('1 trigger passed on, 1 compared: 1 the same, 0 different, 0 to come')],
    ])
    expect(clean.stdout).toMatch(/same {2}1 compared, the same, clean since 20/)

    await makeWorkflow(upstream, 'other', [inApp('There')])
    await makeWorkflow(here, 'other', [inApp('Here')])
    const since = server.clock.now().toISOString()
    await trigger(front, 'other', 'ada', { transactionId: 'differs' })
    await settle(server)
    const report = await shadow('report', '--since', since, '--json')
    expect(report).toMatchObject({ code: 1, json: { triggers: 1, different: 1, kinds: { content: 1 } } })
    const page = readFileSync(new URL('../../docs/moving-in.md', import.meta.url), 'utf8')
    const shown = [...page.matchAll(/^npx @belfry\/cli shadow (.+?)(?: +#.*)?$/gm)].map(([, words = '']) => words)
    expect(shown).toEqual(['report', 'differences --workflow comments'])
    for (const words of shown)
      expect([words, (await shadow(...words.split(' '))).code]).toEqual([words, words === 'report' ? 1 : 0])
    const listed = await shadow('differences', '--workflow', 'other', '--kind', 'content', '--limit', '5')
    expect(listed).toMatchObject({ code: 0 })
    expect(listed.stdout).toMatch(
      /content content {2}other {2}in_app-0 {2}ada {2}differs\n {2}there: There\n {2}here: {2}Here/,
    )
    expect((await shadow('differences', '--workflow', 'same')).stdout).toBe('No differences.\n')

    expect((await shadow('live', 'same', 'other')).stdout).toBe('Delivered here: other, same\n')
    expect((await shadow('back', 'same', '--json')).json.live).toEqual(['other'])
    expect((await shadow('live', '--json')).json.live).toEqual(['other'])
    expect((await shadow('back', 'other')).stdout).toBe('Everything is passed on.\n')
    expect((await shadow('live', 'none')).code).toBe(4)
    expect((await shadow('nothing')).code).toBe(2)
    expect((await shadow('report', 'same')).code).toBe(2)
    expect(await command.run(folder, { url: api.url, key: api.key }, 'shadow', 'report')).toMatchObject({ code: 4 })
  })

  test('commands ask the environment itself, not the service behind it', async () => {
    const { upstream, front, here } = await makeShadow(server)
    await makeWorkflow(here, 'here-only', [inApp('Here')])
    await makeWorkflow(upstream, 'there-only', [inApp('There')])
    const there = { url: front.url, key: front.key }
    expect((await command.run(folder, there, 'pull', '--json')).code).toBe(0)
    expect(existsSync(at('workflows', 'here-only', 'workflow.yaml'))).toBe(true)
    expect(existsSync(at('workflows', 'there-only'))).toBe(false)
    await compareNow(server)
    const explained = await command.run(folder, there, 'explain', 'here-only', 'ada', '--json')
    expect(explained.code, explained.stderr).toBe(0)
  })
})
