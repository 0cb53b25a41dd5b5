// The command line tool against a real service: files.md §2 to §5.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { inApp, makeWorkflow, trigger } from '../../server/test/runs.ts'
import { type Api, useServer } from '../../server/test/server.ts'
import { compareNow, makeShadow, settle } from '../../server/test/shadow.ts'
import { contentsOf, type Place, useCommand, write } from './command.ts'

const server = useServer({ allowPrivateAddresses: true })
const command = useCommand()
let api: Api
let other: Api
let place: Place
let folder: string
const belfry = (...args: string[]) => command.run(folder, place, ...args)
const at = (...parts: string[]) => path.join(folder, 'belfry', ...parts)

beforeEach(async () => {
  ;({ development: api, production: other } = await server.freshOrganization())
  place = { url: api.url, key: api.key }
  folder = command.newFolder()
})

const html = '<p>Hi {{payload.author}}</p>\r\n\t<b>no newline at the end</b>'
const workflow = (more: object = {}) => ({
  ...{ workflowId: 'comments', name: 'New comments', active: true, validatePayload: true },
  payloadSchema: {
    type: 'object',
    required: ['author'],
    properties: { zeta: { type: 'string' }, author: { type: 'string' } },
  },
  steps: [
    {
      ...{ stepId: 'mail', name: 'Mail', type: 'email' },
      controlValues: { body: html, subject: '{{payload.author}} wrote', editorType: 'html' },
    },
  ],
  ...more,
})
const create = async (body: object = workflow()) => {
  const answer = await api.post('/v2/workflows', body)
  expect(answer.status).toBe(201)
}
const change = (name: string) => api.patch('/v2/workflows/comments', { name })

describe('pull', () => {
  test('writes canonical YAML with bodies beside it, byte for byte; the same again writes nothing', async () => {
    await create()
    const first = await belfry('pull', '--json')
    expect(first).toMatchObject({ code: 0, json: { removed: [], passedOver: [] } })
    expect(first.json.written).toEqual([
      'belfry/layouts/default-layout/layout.yaml',
      'belfry/workflows/comments/workflow.yaml',
      'belfry/workflows/comments/mail.html',
    ])
    expect(readFileSync(at('workflows/comments/mail.html'), 'utf8')).toBe(html)
    expect(
      readFileSync(at('workflows/comments/workflow.yaml'), 'utf8'),
    ).toBe(`# yaml-language-server: $schema=../../.schemas/workflow.json
workflowId: comments
name: New comments
active: true
validatePayload: true
payloadSchema:
  type: object
  required:
    - author
  properties:
    zeta:
      type: string
    author:
      type: string
steps:
  - stepId: mail
    name: Mail
    type: email
    controlValues:
      subject: "{{payload.author}} wrote"
      editorType: html
      body:
        $file: mail.html
`)
    expect(existsSync(at('.schemas/workflow.json'))).toBe(true)
    const again = await belfry('pull', '--json')
    expect(again.json).toMatchObject({ written: [], removed: [], unchanged: 2 })
  })

  test('leaves alone what means the same, and keeps comments in front of members that stay', async () => {
    await create()
    await belfry('pull')
    const file = at('workflows/comments/workflow.yaml')
    const mine = readFileSync(file, 'utf8')
      .replace('name: New comments', '# For authors.\r\nname: "New comments"\r\nseverity: none')
      .replace('    type: email', '    # Twice a day at most.\n    type: email')
    writeFileSync(file, mine)
    expect((await belfry('pull', '--json')).json.written).toEqual([])
    expect(readFileSync(file, 'utf8')).toBe(mine)
    await change('Newer comments')
    expect((await belfry('pull', '--json')).json.written).toEqual(['belfry/workflows/comments/workflow.yaml'])
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('# For authors.\nname: Newer comments\n')
    expect(text).toContain('    # Twice a day at most.\n    type: email\n')
    expect(text).not.toContain('severity')
    expect(text.match(/yaml-language-server/g)).toHaveLength(1)
  })

  test('removes what was deleted there; what changed on both sides is a conflict, and nothing is written', async () => {
    await create()
    await create(workflow({ workflowId: 'other', name: 'Other' }))
    await belfry('pull')
    const file = at('workflows/comments/workflow.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('New comments', 'Mine'))
    await change('Theirs')
    await api.delete('/v2/workflows/other')
    const refused = await belfry('pull', '--json')
    expect(refused).toMatchObject({ code: 3, json: { error: { code: 'changed_on_both_sides' } } })
    expect(readFileSync(file, 'utf8')).toContain('name: Mine')
    expect(existsSync(at('workflows/other/workflow.yaml'))).toBe(true)
    const forced = await belfry('pull', '--force', '--json')
    expect(forced).toMatchObject({ code: 0, json: { written: ['belfry/workflows/comments/workflow.yaml'] } })
    expect(readFileSync(file, 'utf8')).toContain('name: Theirs')
    expect(existsSync(at('workflows/other'))).toBe(false)
  })

  test('a fresh checkout takes edits of the dashboard, and keeps its own', async () => {
    await create()
    await belfry('pull')
    await belfry('push')
    rmSync(path.join(folder, '.belfry'), { recursive: true })
    await change('Theirs')
    expect((await belfry('pull', '--json')).json.written).toEqual(['belfry/workflows/comments/workflow.yaml'])
  })
})

describe('push', () => {
  test('brings in what changed, names the commit, and knows its base', async () => {
    await create()
    await belfry('pull')
    for (const args of [
      ['init', '-q'],
      ['add', '.'],
      ['-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '-qm', 'x'],
    ])
      execFileSync('git', args, { cwd: folder })
    const file = at('workflows/comments/workflow.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('name: New comments', 'name: Mine'))
    expect((await belfry('push', '--dry-run', '--json')).json).toMatchObject({
      applied: false,
      summary: { updated: 1 },
    })
    const pushed = await belfry('push', '--json', '--message', 'A better name')
    expect(pushed).toMatchObject({
      code: 0,
      json: { applied: true, changes: [{ id: 'comments', action: 'updated', version: 2 }] },
    })
    const [version] = (await api.get('/v2/workflows/comments/versions')).body.data
    expect(version).toMatchObject({ message: 'A better name', source: { kind: 'files', dirty: true } })
    expect(version.source.commit).toMatch(/^[0-9a-f]{40}$/)
    writeFileSync(file, readFileSync(file, 'utf8').replace('name: Mine', 'name: Mine again'))
    expect((await belfry('push', '--json')).json.summary.updated).toBe(1)
  })

  test('says the commit and repository it is given, where there is no Git', async () => {
    await create()
    await belfry('pull')
    const args = ['--commit', '8f3c1234', '--repository', 'acme/app']
    const file = at('workflows/comments/workflow.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('name: New comments', 'name: Mine'))
    expect((await belfry('push', ...args, '--json')).json).toMatchObject({ applied: true, summary: { updated: 1 } })
    const source = { repository: 'acme/app', commit: '8f3c1234' }
    expect((await api.get('/v2/workflows/comments')).body.files).toMatchObject({
      ...{ ...source, path: 'workflows/comments/workflow.yaml', drifted: false },
    })
    const [version] = (await api.get('/v2/workflows/comments/versions')).body.data
    expect(version.source).toMatchObject({ ...source, kind: 'files', dirty: false })
    expect((await api.get('/v2/definitions/pushes')).body.data[0]).toMatchObject(source)
  })

  test('is refused where somebody changed it since, unless forced', async () => {
    await create()
    await belfry('pull')
    await change('Theirs')
    const file = at('workflows/comments/workflow.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('name: New comments', 'name: Mine'))
    const refused = await belfry('push', '--json')
    expect(refused).toMatchObject({
      ...{ code: 3, json: { error: { code: 'definitions_conflict' } } },
      stderr: expect.stringContaining('workflow comments: changed'),
    })
    expect((await belfry('push', '--force')).code).toBe(0)
    expect((await api.get('/v2/workflows/comments')).body.name).toBe('Mine')
  })

  test('with --prune deletes what is gone here; with --strict issues fail; a plan can fail a build', async () => {
    await create()
    await belfry('pull')
    await belfry('push')
    rmSync(at('workflows/comments'), { recursive: true })
    expect(await belfry('plan', '--prune', '--exit-code')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('- workflow comments'),
    })
    expect((await belfry('push', '--prune', '--json')).json.summary.deleted).toBe(1)
    expect((await api.get('/v2/workflows/comments')).status).toBe(404)
    write(folder, {
      'belfry/workflows/a/workflow.yaml': 'workflowId: a\nname: A\nsteps:\n  - { stepId: m, name: M, type: sms }\n',
    })
    expect((await belfry('push', '--strict')).code).toBe(2)
    expect((await belfry('push')).code).toBe(0)
  })

  test('a plan renders messages for subscribers and triggers, and writes a report with both sides', async () => {
    await api.post('/v2/subscribers', { subscriberId: 'ada', firstName: 'Ada', email: 'ada@example.com' })
    await create()
    await belfry('pull')
    await api.post('/v1/events/trigger', {
      name: 'comments',
      to: 'ada',
      payload: { author: '<Bo>' },
      transactionId: 'c-9',
    })
    await server.drain()
    const file = at('workflows/comments/workflow.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('{{payload.author}} wrote', 'News of {{payload.author}}'))
    const asked = ['--subscriber', 'ada', '--triggers', '5']
    const { json } = await belfry('plan', '--json', ...asked)
    expect(json).toMatchObject({
      renders: [
        {
          ...{ workflowId: 'comments', stepId: 'mail', subscriberId: 'ada', transactionId: 'c-9', same: false },
          ...{ before: { subject: '<Bo> wrote' }, after: { subject: 'News of <Bo>' } },
        },
      ],
      ...{ hasMore: false, waiting: [] },
    })
    const { stdout } = await belfry('plan', ...asked, '--html', 'out/report.html')
    expect(stdout).toContain('message comments mail for ada (c-9): differs')
    expect(stdout).toContain('1 of 1 messages differ')
    const report = readFileSync(path.join(folder, 'out', 'report.html'), 'utf8')
    // Both sides, with what differs marked, and nothing of a message as HTML of the page itself.
    expect(report).toContain('&#60;Bo&#62;<del> wrote</del>')
    expect(report).toMatch(/<figcaption>.*<ins>News of.*<\/figcaption>/)
    expect(report.match(/<iframe sandbox /g)).toHaveLength(2)
    expect(report).not.toContain('<Bo>')
    expect(report).not.toContain('<script')
    expect((await belfry('plan', '--subscriber', 'nobody')).code).toBe(4)
    expect((await belfry('plan', '--triggers', '101')).code).toBe(2)
  })

  test('sends secrets from the environment, and never finds them in a file', async () => {
    const { key } = await server.organizationOf(api)
    place = { ...place, key, env: { BELFRY_ENVIRONMENT: api.environmentId } }
    write(folder, {
      'belfry/belfry.yaml': 'format: 1\nkinds: [integrations, variables, topics]\n',
      'belfry/integrations.yaml':
        '- identifier: mails\n  name: Mails\n  channel: email\n  providerId: sendgrid\n  active: true\n  credentials:\n    apiKey: { $secret: SENDGRID }\n',
      'belfry/variables.yaml': '- key: TOKEN\n  isSecret: true\n  value: { $secret: TOKEN_VALUE }\n',
    })
    const without = await belfry('push', '--json')
    expect(without.json.issues).toHaveLength(2)
    place = { ...place, env: { ...place.env, SENDGRID: 'SG.hush', TOKEN_VALUE: 'hush' } }
    expect((await belfry('push', '--json')).json.summary).toMatchObject({ created: 1, updated: 1 })
    const stored = (await api.get('/v1/integrations')).body.find(({ identifier }: any) => identifier === 'mails')
    expect(stored).toMatchObject({ active: true, credentials: { apiKey: 'SG.hush' } })
    const before = contentsOf(at())
    expect((await belfry('pull')).code).toBe(0)
    expect(contentsOf(at())['integrations.yaml']).toContain('identifier: mails')
    expect(JSON.stringify(contentsOf(at()))).not.toContain('hush')
    expect(Object.keys(before)).not.toContain('topics.yaml')
  })
})

test('a definition goes through files into another environment, and back, byte for byte', async () => {
  await create(
    workflow({
      isTranslationEnabled: true,
      tags: ['b', 'a'],
      severity: 'high',
      preferences: { workflow: { all: { readOnly: true } } },
    }),
  )
  const block = JSON.stringify({
    type: 'doc',
    content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Hi' }] }],
  })
  await create({
    ...{ workflowId: 'Comments', name: 'off', steps: [] },
    description: 'several\nlines\n',
  })
  await create({
    ...{ workflowId: 'con', name: '0123' },
    steps: [
      { stepId: 'b', name: 'B', type: 'email', controlValues: { subject: ' x', body: block, editorType: 'block' } },
    ],
  })
  await belfry('pull')
  const names = Object.keys(contentsOf(at()))
  expect(names).toContainEqual(expect.stringMatching(/^workflows\/comments~[0-9a-f]{6}\/workflow\.yaml$/))
  expect(names).toContainEqual(expect.stringMatching(/^workflows\/con~[0-9a-f]{6}\/b\.block\.json$/))
  place = { url: other.url, key: other.key }
  expect((await belfry('push', '--json', '--force')).json.summary).toMatchObject({ created: 3 })
  const first = contentsOf(at())
  const second = command.newFolder()
  await command.run(second, place, 'pull')
  expect(contentsOf(path.join(second, 'belfry'))).toEqual(first)
})

describe('validate', () => {
  const problemsOf = async (files: Record<string, string>) => {
    write(folder, Object.fromEntries(Object.entries(files).map(([name, text]) => [`belfry/${name}`, text])))
    const { json, code } = await command.run(folder, {}, 'validate', '--json')
    return {
      code,
      problems: json.problems.map((p: any) => `${p.file}:${p.line}:${p.column} ${p.severity} ${p.message}`),
    }
  }
  const head = 'workflowId: a\nname: A\n'

  test.each<[string, Record<string, string>, RegExp]>([
    ['broken YAML', { 'workflows/a/workflow.yaml': 'workflowId: [a\n' }, /workflow\.yaml:\d+:\d+ error/],
    [
      'an unknown member',
      { 'workflows/a/workflow.yaml': `${head}steps: []\ncolour: red\n` },
      /:4:1 error colour: there is no such member/,
    ],
    [
      'a missing file',
      {
        'workflows/a/workflow.yaml': `${head}steps:\n  - stepId: m\n    name: M\n    type: email\n    controlValues:\n      body: { $file: m.html }\n`,
      },
      /:8:7 error there is no file "m\.html"/,
    ],
    [
      'a file elsewhere',
      {
        'workflows/a/workflow.yaml': `${head}steps:\n  - { stepId: m, name: M, type: sms, controlValues: { body: { $file: ../x } } }\n`,
      },
      /must be the name of a file/,
    ],
    [
      'two of one id',
      { 'workflows/a/workflow.yaml': `${head}steps: []\n`, 'workflows/b/workflow.yaml': `${head}steps: []\n` },
      /b\/workflow\.yaml:1:1 error .* has the same workflow "a"/,
    ],
    [
      'Liquid that cannot be read',
      {
        'workflows/a/workflow.yaml': `${head}steps:\n  - stepId: m\n    name: M\n    type: sms\n    controlValues:\n      body: "{% if x %}"\n`,
      },
      /:8:7 error/,
    ],
    [
      'Liquid that cannot be read, in the arm of a branch',
      {
        'workflows/a/workflow.yaml': [
          ...[head, 'steps:\n  - stepId: fork\n    name: Fork\n    type: branch\n    controlValues:\n'],
          ...['      arms:\n        - name: vip\n          condition: { "==": [{ var: payload.a }, 1] }\n'],
          ...['          steps:\n            - stepId: m\n              name: M\n              type: sms\n'],
          ...['              controlValues:\n                body: "{% if x %}"\n'],
        ].join(''),
      },
      /:16:17 error/,
    ],
    [
      'what is commercial and critical',
      {
        'workflows/a/workflow.yaml': `${head}messageClass: commercial\npreferences: { workflow: { all: { readOnly: true } } }\nsteps: []\n`,
      },
      /:3:1 error messageClass: a critical workflow cannot be commercial/,
    ],
    [
      'a step that does not exist',
      {
        'workflows/a/workflow.yaml': `${head}steps:\n  - stepId: m\n    name: M\n    type: sms\n    controlValues:\n      body: "{{steps.none.eventCount}}"\n`,
      },
      /:8:7 error .*steps\.none/,
    ],
    [
      'an unknown layout',
      {
        'workflows/a/workflow.yaml': `${head}steps:\n  - stepId: m\n    name: M\n    type: email\n    controlValues:\n      subject: S\n      layoutId: none\n`,
      },
      /:9:7 error .*there is no layout "none"/,
    ],
    [
      'a secret in plain sight',
      {
        'belfry.yaml': 'kinds: [integrations]\n',
        'integrations.yaml':
          '- identifier: m\n  name: M\n  channel: email\n  providerId: sendgrid\n  credentials:\n    apiKey: SG.x\n',
      },
      /integrations\.yaml:6:5 error credentials\.apiKey is a secret/,
    ],
  ])('tells of %s, with its place', async (_, files, expected) => {
    const { code, problems } = await problemsOf(files)
    expect(problems).toContainEqual(expect.stringMatching(expected))
    expect(code).toBe(2)
  })

  test('tells of a body that leads out of its folder', async () => {
    write(folder, {
      'elsewhere.html': 'secret',
      'belfry/workflows/a/workflow.yaml': `${head}steps:\n  - { stepId: m, name: M, type: sms, controlValues: { body: { $file: m.html } } }\n`,
    })
    symlinkSync(path.join(folder, 'elsewhere.html'), at('workflows', 'a', 'm.html'))
    const { problems } = await problemsOf({})
    expect(problems).toContainEqual(expect.stringMatching(/error "m\.html" leads out of its folder/))
  })

  test('what the service would list as an issue is a warning', async () => {
    const body = 'body: "{{payload.x}} {{env.SITE}}"'
    const files = {
      'workflows/a/workflow.yaml': `${head}payloadSchema: { type: object, additionalProperties: false, properties: {} }\nsteps:\n  - stepId: m\n    name: M\n    type: sms\n    controlValues:\n      ${body}\n`,
    }
    const { code, problems } = await problemsOf(files)
    expect([code, problems]).toEqual([0, [expect.stringMatching(/:9:7 warning .*payload\.x/)]])
    const managed = await problemsOf({ 'belfry.yaml': 'kinds: [workflows, variables]\n' })
    expect(managed.problems).toContainEqual(expect.stringMatching(/warning .*env\.SITE/))
  })
})

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

test('the key is kept by login in a file that only its owner reads', async () => {
  expect((await belfry('login')).code).toBe(0)
  const file = path.join(folder, '.config', 'belfry', 'keys.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const { key: _, ...without } = place
  expect((await command.run(folder, without, 'whoami', '--json')).json).toMatchObject({
    environment: { name: 'Development' },
  })
  expect((await command.run(folder, without, 'logout')).code).toBe(0)
  expect((await command.run(folder, without, 'whoami')).code).toBe(2)
})

test('exit codes tell what kind of failure it was', async () => {
  expect((await belfry('fly')).code).toBe(2)
  expect((await belfry('restore', '--json')).json).toMatchObject({ error: { code: 'usage', ctx: null } })
  expect((await command.run(folder, {}, 'completion', 'bash', '--json')).json.text).toContain('complete')
  expect((await belfry('validate')).code).toBe(2)
  expect((await command.run(folder, { url: place.url ?? '', key: 'wrong' }, 'whoami', '--json')).json).toMatchObject({
    error: { code: 'api_key_not_found' },
  })
  expect((await command.run(folder, { url: place.url ?? '', key: 'wrong' }, 'whoami')).code).toBe(4)
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
      ...[0, expect.stringContaining('1 triggers passed on, 1 compared: 1 the same, 0 different, 0 to come')],
    ])
    expect(clean.stdout).toMatch(/same {2}1 compared, the same, clean since 20/)

    await makeWorkflow(upstream, 'other', [inApp('There')])
    await makeWorkflow(here, 'other', [inApp('Here')])
    const since = server.clock.now().toISOString()
    await trigger(front, 'other', 'ada', { transactionId: 'differs' })
    await settle(server)
    const report = await shadow('report', '--since', since, '--json')
    expect(report).toMatchObject({ code: 1, json: { triggers: 1, different: 1, kinds: { content: 1 } } })
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
