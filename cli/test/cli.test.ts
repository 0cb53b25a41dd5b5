// The command line tool against a real service: files.md §2 to §5.
import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Ajv } from 'ajv'
import { beforeEach, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type Api, useServer } from '../../server/test/server.ts'
import { addWorkflow } from '../../server/test/workflows.ts'
import { applyEdits, editsFor } from '../src/folder/write.ts'
import { contentsOf, useFolder, write } from './command.ts'
import { generatedDefinitions } from './generated-definitions.ts'

const server = useServer()
const { command, here, belfry, at } = useFolder(server)
let api: Api
let other: Api
let folder: string

beforeEach(() => {
  ;({ api, other, folder } = here)
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
    // Whoever reads it meanwhile sees the whole file of before.
    linkSync(file, path.join(folder, 'as-read'))
    expect((await belfry('pull', '--json')).json.written).toEqual(['belfry/workflows/comments/workflow.yaml'])
    expect(readFileSync(path.join(folder, 'as-read'), 'utf8')).toBe(mine)
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('# For authors.\nname: Newer comments\n')
    expect(text).toContain('    # Twice a day at most.\n    type: email\n')
    expect(text).not.toContain('severity')
    expect(text.match(/yaml-language-server/g)).toHaveLength(1)
  })

  test('leaves the YAML alone where only a text in a file of its own changed', async () => {
    const text = { stepId: 'text', name: 'Text', type: 'sms', controlValues: { body: 'Hi {{payload.author}}' } }
    await create(workflow({ steps: [...workflow().steps, text] }))
    await belfry('pull')
    // As nobody would print it: odd spaces and quotes, CRLF, comments everywhere, and a text in a file of its own.
    const mine = `# Mine.\r\nname:   'New comments'   # as the team says\r\nworkflowId: comments
active: true # at last
validatePayload: true
payloadSchema: {type: object, required: [author], properties: {zeta: {type: string}, author: {type: string}}}
steps:
- {stepId: mail, type: email, name: Mail, controlValues: {editorType: html, "subject": "{{payload.author}} wrote", body: {$file: mail.html}}}

- stepId: text
  type: sms
  name: Text
  controlValues: { body: { $file: text.liquid } } # short
# The end.
`
    write(folder, {
      'belfry/workflows/comments/workflow.yaml': mine,
      'belfry/workflows/comments/text.liquid': 'Hi {{payload.author}}',
    })
    expect((await belfry('pull', '--json')).json).toMatchObject({ written: [], removed: [] })
    const [mail] = workflow().steps
    const steps = [
      { ...mail, controlValues: { ...mail?.controlValues, body: '<p>New</p>\r\n' } },
      { ...text, controlValues: { body: 'New\r\n' } },
    ]
    expect((await api.post('/v2/workflows?onConflict=update', workflow({ steps }))).status).toBe(200)
    expect((await belfry('pull', 'comments', '--json')).json).toMatchObject({
      written: ['belfry/workflows/comments/mail.html', 'belfry/workflows/comments/text.liquid'],
      ...{ removed: [], unchanged: 0 },
    })
    expect(contentsOf(at('workflows/comments'))).toEqual({
      ...{ 'mail.html': '<p>New</p>\r\n', 'text.liquid': 'New\r\n', 'workflow.yaml': mine },
    })
    expect((await belfry('push', 'comments', '--json')).json.summary).toMatchObject({ updated: 0, unchanged: 1 })
    // A change of the YAML itself still leaves the text in its file.
    await change('Newer comments')
    expect((await belfry('pull', 'comments', '--json')).json.written).toEqual([
      'belfry/workflows/comments/workflow.yaml',
    ])
    const yaml = readFileSync(at('workflows/comments/workflow.yaml'), 'utf8')
    expect(parse(yaml).steps[1].controlValues).toEqual({ body: { $file: 'text.liquid' } })
    expect(yaml).toContain('\n# Mine.\nname: Newer comments # as the team says\nactive: true # at last\n')
  })

  test('a body of the other editor goes into another file, and back', async () => {
    await create()
    await belfry('pull')
    const saved = (controlValues: object) =>
      api.post('/v2/workflows?onConflict=update', workflow({ steps: [{ ...workflow().steps[0], controlValues }] }))
    const block = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: 'Hi' }] }] }
    await saved({ subject: 'Hi', body: JSON.stringify(block), editorType: 'block' })
    expect((await belfry('pull', '--json')).json).toMatchObject({
      written: ['belfry/workflows/comments/workflow.yaml', 'belfry/workflows/comments/mail.block.json'],
      removed: ['belfry/workflows/comments/mail.html'],
    })
    expect(readFileSync(at('workflows/comments/mail.block.json'), 'utf8')).toBe(JSON.stringify(block, null, 2))
    expect(readFileSync(at('workflows/comments/workflow.yaml'), 'utf8')).toContain(
      '      editorType: block\n      body:\n        $file: mail.block.json\n',
    )
    expect((await belfry('push', '--json')).json.summary).toMatchObject({ updated: 0 })
    await saved({ subject: 'Hi', body: html, editorType: 'html' })
    expect((await belfry('pull', '--json')).json).toMatchObject({
      written: ['belfry/workflows/comments/workflow.yaml', 'belfry/workflows/comments/mail.html'],
      removed: ['belfry/workflows/comments/mail.block.json'],
    })
    expect(readFileSync(at('workflows/comments/mail.html'), 'utf8')).toBe(html)
  })

  test('names workflows that code declares as passed over, and leaves them alone', async () => {
    await addWorkflow(server, api.environmentId, 'coded', { origin: 'external' })
    await create()
    const { json, stderr } = await belfry('pull', '--json')
    expect(json.passedOver).toEqual([{ kind: 'workflow', id: 'coded', why: 'code_first' }])
    expect(stderr).toBe('passed over workflow coded: code-first\n')
    expect(existsSync(at('workflows/coded'))).toBe(false)
    expect((await belfry('pull')).stderr).toContain('passed over workflow coded: code-first')
    expect((await belfry('pull', '--quiet')).stderr).toBe('')
    expect((await belfry('pull', 'comments', '--json')).json.passedOver).toEqual([])
  })

  test('counts in words that fit one', async () => {
    await create()
    expect((await belfry('pull', 'comments')).stdout).toMatch(
      /\n2 files written, 0 removed, 0 definitions unchanged\n$/,
    )
    await change('Newer comments')
    expect((await belfry('pull')).stdout).toMatch(/\n2 files written, 0 removed, 0 definitions unchanged\n$/)
    expect((await belfry('validate')).stdout).toBe('2 files, 0 errors, 0 warnings\n')
    await api.patch('/v2/workflows/comments', { description: 'x' })
    expect((await belfry('pull')).stdout).toMatch(/\n1 file written, 0 removed, 1 definition unchanged\n$/)
    rmSync(at('layouts'), { recursive: true })
    write(folder, {
      'belfry/workflows/comments/workflow.yaml': 'workflowId: comments\nname: C\nsteps: []\ncolour: red\n',
    })
    expect((await belfry('validate')).stdout).toMatch(/\n1 file, 1 error, 0 warnings\n$/)
    expect((await belfry('push', '--json')).json.error.message).toBe('1 error in the files; nothing was sent')
  })

  test('writes files that the schemas beside them take', async () => {
    const { key } = await server.organizationOf(api)
    here.place = { ...here.place, key, env: { BELFRY_ENVIRONMENT: api.environmentId } }
    await create(workflow({ isTranslationEnabled: true, journey: { cancellationKey: '{{payload.author}}' } }))
    const { resources, secrets } = generatedDefinitions(3, 40)
    here.place = { ...here.place, env: { ...here.place.env, ...secrets } }
    const kinds = ['workflows', 'layouts', 'translations', 'topics', 'integrations', 'variables']
    write(folder, {
      'belfry/belfry.yaml': `format: 1\nkinds: [${kinds.join(', ')}]\nsource: { repository: acme/app }\n`,
    })
    applyEdits(at(), editsFor(at(), [], resources, []))
    const pushed = await belfry('push', '--json')
    expect(pushed.code, pushed.stderr).toBe(0)
    const second = command.newFolder()
    write(second, { 'belfry/belfry.yaml': readFileSync(at('belfry.yaml'), 'utf8') })
    expect((await command.run(second, here.place, 'pull')).code).toBe(0)
    const inOther = (...parts: string[]) => path.join(second, 'belfry', ...parts)
    const schemaOf = (file: string) =>
      file.startsWith('translations/') ? 'translation' : path.basename(file, path.extname(file))
    const files = Object.entries(contentsOf(inOther())).filter(
      ([file]) => file.endsWith('.yaml') || file.startsWith('translations/'),
    )
    const checks = new Map<string, ReturnType<Ajv['compile']>>()
    for (const [file, text] of files) {
      const name = schemaOf(file)
      // What an editor reads is what stands in the first line.
      if (file.endsWith('.yaml') && file !== 'belfry.yaml')
        expect(text).toMatch(
          new RegExp(`^# yaml-language-server: \\$schema=(?:\\.\\./){0,2}\\.schemas/${name}\\.json\\n`),
        )
      const check =
        checks.get(name) ??
        new Ajv({ strict: true, strictTypes: false }).compile(
          JSON.parse(readFileSync(inOther('.schemas', `${name}.json`), 'utf8')),
        )
      checks.set(name, check)
      expect([file, check(parse(text)), check.errors]).toEqual([file, true, null])
    }
    expect([...checks.keys()].sort()).toEqual(
      ['belfry', 'integrations', 'layout', 'topics', 'translation', 'variables', 'workflow'].sort(),
    )
    // They refuse what the tool would refuse.
    for (const name of ['workflow', 'layout'])
      expect(checks.get(name)?.({ [`${name}Id`]: 'a', name: 'A', steps: [], colour: 1 })).toBe(false)
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

  test('names the commit and the repository that it is told', async () => {
    await create()
    await belfry('pull')
    await belfry('push', '--commit', '8f3c', '--repository', 'acme/app')
    expect((await api.get('/v2/workflows/comments')).body.files).toMatchObject({
      ...{ repository: 'acme/app', commit: '8f3c', path: 'workflows/comments/workflow.yaml', drifted: false },
    })
    write(folder, {
      'belfry/belfry.yaml': 'source: { repository: acme/other, url: "https://git.example.com/{commit}" }\n',
    })
    const file = at('workflows/comments/workflow.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('name: New comments', 'name: Mine'))
    await belfry('push', '--commit', '9a4d')
    expect((await api.get('/v2/definitions/pushes')).body.data[0]).toMatchObject({
      ...{ repository: 'acme/other', commit: '9a4d' },
    })
    const [{ source }] = (await api.get('/v2/workflows/comments/versions')).body.data
    expect(source).toEqual({
      ...{ kind: 'files', repository: 'acme/other', commit: '9a4d', url: 'https://git.example.com/9a4d', dirty: false },
    })
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

  test('with --prune deletes nothing of a kind that belfry.yaml no longer has', async () => {
    await create()
    write(folder, {
      'belfry/belfry.yaml': 'format: 1\nkinds: [workflows, topics]\n',
      'belfry/topics.yaml': '- key: news\n  name: News\n',
    })
    await belfry('pull')
    await belfry('push')
    write(folder, { 'belfry/belfry.yaml': 'format: 1\nkinds: [topics]\n', 'belfry/topics.yaml': '[]\n' })
    const { summary, changes } = (await belfry('push', '--prune', '--json')).json
    expect(changes).toMatchObject([{ kind: 'topic', id: 'news', action: 'deleted' }])
    expect(summary).toMatchObject({ deleted: 1 })
    expect((await api.get('/v2/workflows/comments')).status).toBe(200)
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
    expect((await belfry('push', '--prune', 'comments', '--json')).json.error.code).toBe('unknown_id')
    expect(await belfry('push', '--prune', 'default-layout', '--json')).toMatchObject({
      ...{ code: 2, json: { error: { code: 'prune_needs_all' } } },
    })
    expect((await belfry('push', '--prune', '--json')).json.summary.deleted).toBe(1)
    expect((await belfry('plan', '--prune', '--exit-code')).code).toBe(0)
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
    expect(stdout).toContain('1 of 1 message differs')
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
    here.place = { ...here.place, key, env: { BELFRY_ENVIRONMENT: api.environmentId } }
    write(folder, {
      'belfry/belfry.yaml': 'format: 1\nkinds: [integrations, variables, topics]\n',
      'belfry/integrations.yaml':
        '- identifier: mails\n  name: Mails\n  channel: email\n  providerId: sendgrid\n  active: true\n  credentials:\n    apiKey: { $secret: SENDGRID }\n',
      'belfry/variables.yaml': '- key: TOKEN\n  isSecret: true\n  value: { $secret: TOKEN_VALUE }\n',
    })
    const without = await belfry('push', '--json')
    expect(without.json.issues).toHaveLength(2)
    here.place = { ...here.place, env: { ...here.place.env, SENDGRID: 'SG.hush', TOKEN_VALUE: 'hush' } }
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
  here.place = { url: other.url, key: other.key }
  expect((await belfry('push', '--json', '--force')).json.summary).toMatchObject({ created: 3 })
  const first = contentsOf(at())
  const second = command.newFolder()
  await command.run(second, here.place, 'pull')
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
      'a kind of step that there is none of, with those that there are',
      { 'workflows/a/workflow.yaml': `${head}steps:\n  - { stepId: m, name: M, type: fax }\n` },
      /:4:\d+ error steps\.0\.type: must be one of in_app, email, sms, .*, ask$/,
    ],
    [
      'a value that is none of those allowed',
      { 'workflows/a/workflow.yaml': `${head}severity: loud\nsteps: []\n` },
      /:3:1 error severity: must be one of high, medium, low, none/,
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
      'what people could not refuse',
      {
        'workflows/a/workflow.yaml': `${head}messageClass: commercial\npreferences: { workflow: { all: { readOnly: true } } }\nsteps: []\n`,
      },
      /:3:1 error messageClass: a critical workflow cannot be commercial/,
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

  test('says of each problem where it is, how bad, and of what kind', async () => {
    write(folder, { 'belfry/workflows/a/workflow.yaml': `${head}steps: []\ncolour: red\n` })
    expect((await command.run(folder, {}, 'validate', '--json')).json).toEqual({
      ...{ valid: false, files: 1 },
      problems: [
        {
          ...{ file: 'belfry/workflows/a/workflow.yaml', line: 4, column: 1, severity: 'error', code: 'definition' },
          message: 'colour: there is no such member; is it misspelled?',
        },
      ],
    })
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
