// Whatever a definition says, a file says the same, and is written the same way again: files.md §2, §11.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { canonicalYaml } from '../../server/src/engine/definitions/canonical.ts'
import { decide } from '../src/commands/pull.ts'
import { checkFolder } from '../src/folder/check.ts'
import { readFolder } from '../src/folder/read.ts'
import type { Definition } from '../src/folder/source.ts'
import { applyEdits, editsFor, type Remote } from '../src/folder/write.ts'
import { contentsOf, write } from './command.ts'
import { words } from './generated-definitions.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'belfry-round-trip-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Texts that YAML could take for something else, or that editors change. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc
    .array(
      fc.constantFrom(
        ' ',
        '\t',
        '\n',
        '\r\n',
        '\u2028',
        '\u0085',
        '\ufeff',
        ':',
        '#',
        '- ',
        '{{x}}',
        '"',
        "'",
        '|',
        'a',
        '…',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('')),
  fc.constantFrom(...words),
)
const value = fc.oneof(
  text,
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
  fc.constant(null),
)
const name = fc.string({
  unit: fc.constantFrom('a', 'b', 'Z', '9', 'é', '𝒳', '￿', '-', ' ', '$'),
  minLength: 1,
  maxLength: 6,
})
const free = fc.dictionary(
  name,
  fc.oneof(value, fc.array(value, { maxLength: 3 }), fc.dictionary(name, value, { maxKeys: 3 })),
  { maxKeys: 4 },
)
const id = (prefix: string) =>
  fc.string({ unit: fc.constantFrom('a', 'b', 'C', '1'), minLength: 1, maxLength: 5 }).map((tail) => `${prefix}${tail}`)
const schema = fc.option(
  fc.dictionary(name, fc.constantFrom({ type: 'string' }, { type: 'integer' }), { maxKeys: 4 }),
  { nil: undefined },
)

const step = fc.oneof(
  fc.record({
    type: fc.constant('email'),
    controlValues: fc.record({ subject: text, body: text, editorType: fc.constant('html') }),
  }),
  fc.record({
    type: fc.constant('email'),
    controlValues: fc.record({
      subject: text,
      body: free.map((content) => JSON.stringify({ type: 'doc', ...content })),
      editorType: fc.constant('block'),
    }),
  }),
  fc.record({ type: fc.constantFrom('sms', 'chat', 'push'), controlValues: fc.record({ body: text, subject: text }) }),
  fc.record({ type: fc.constant('in_app'), controlValues: fc.record({ body: text, data: free, skip: free }) }),
  fc.record({
    type: fc.constant('delay'),
    controlValues: fc.record({ amount: fc.integer({ min: 1, max: 9 }), unit: fc.constant('days') }),
  }),
)
const comparison = fc.record(
  {
    ...{ field: text, value: fc.oneof(value, fc.array(value, { maxLength: 2 })), operator: fc.constant('EQUAL') },
    on: fc.constantFrom('payload', 'subscriber'),
  },
  { requiredKeys: [] },
)
const filters = fc.array(
  fc.record({
    ...{ isNegated: fc.boolean(), type: fc.constant('GROUP'), value: fc.constantFrom('AND', 'OR') },
    children: fc.array(comparison, { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 2 },
)
/** What any step may say beside its values. */
const switches = fc.record(
  {
    ...{ active: fc.constant(false), shouldStopOnFail: fc.constant(true), onUnknown: fc.constantFrom('retry', 'hold') },
    replyCallback: fc.record({ active: fc.boolean(), url: text }, { requiredKeys: [] }),
    filters,
    variants: fc.array(
      fc.record(
        { name: text, active: fc.constant(false), filters, controlValues: fc.record({ subject: text, body: text }) },
        { requiredKeys: ['filters'] },
      ),
      { minLength: 1, maxLength: 2 },
    ),
  },
  { requiredKeys: [] },
)
/** What a workflow may say beside its name and steps. */
const members = fc.record(
  {
    ...{ severity: fc.constantFrom('high', 'low'), messageClass: fc.constant('commercial') },
    ...{
      consentCategory: fc.constantFrom('news', '0'),
      tracking: fc.record({ opens: fc.boolean(), clicks: fc.boolean() }),
    },
    preferences: fc.constantFrom({ user: {} }, { workflow: { channels: { sms: { enabled: false } } } }),
    journey: fc.record(
      {
        ...{ cancellationKey: text, quietHours: fc.constantFrom('skip', 'hold'), exemptFromCaps: fc.constant(true) },
        goals: fc.array(fc.record({ name: text, for: fc.array(free, { maxLength: 2 }), condition: free }), {
          ...{ minLength: 1, maxLength: 2 },
        }),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
)
const workflow = fc
  .record({
    ...{ workflowId: id('w'), name: text.filter((each) => each.length > 0), description: text, active: fc.boolean() },
    ...{
      validatePayload: fc.boolean(),
      tags: fc.uniqueArray(fc.constantFrom('on', 'b: c', '- d', 'e'), { maxLength: 3 }),
    },
    ...{ steps: fc.array(fc.tuple(step, switches), { maxLength: 3 }), schema, more: members },
  })
  .map(({ schema: properties, steps, more, ...rest }) => ({
    ...{ ...rest, ...more },
    ...(properties === undefined ? {} : { payloadSchema: { type: 'object', properties } }),
    // Some differ only in case.
    steps: steps.map(([each, own], index) => ({
      ...{ stepId: index === 2 ? 'S0' : `s${index}`, name: `Step ${index}`, ...each, ...own },
    })),
  }))
const layout = fc.record({ layoutId: id('l'), name: text.filter((each) => each.length > 0) })
const texts = fc.dictionary(fc.constantFrom('hi', 'b.c', 'zeta', 'ä'), text, { minKeys: 1, maxKeys: 3 })

test('a thousand definitions go into files and are read and written again, byte for byte', () => {
  const workflows = fc
    .sample(workflow, { numRuns: 800, seed: 7 })
    // Some differ only in case.
    .map((each, i) => (i % 4 === 0 ? each : { ...each, workflowId: `${each.workflowId}${i}` }))
  const layouts = fc
    .sample(layout, { numRuns: 250, seed: 8 })
    .map((each, i) => ({ ...each, layoutId: `${each.layoutId}${i}` }))
  const words = fc.sample(texts, { numRuns: 150, seed: 9 })
  const unique = <T>(list: T[], idOf: (each: T) => string) => [
    ...new Map(list.map((each) => [idOf(each), each])).values(),
  ]
  const named: Remote[] = [
    ...unique(workflows, ({ workflowId }) => workflowId).map((definition) => ({
      kind: 'workflow' as const,
      id: definition.workflowId,
      definition,
    })),
    ...unique(layouts, ({ layoutId }) => layoutId).map((definition) => ({
      kind: 'layout' as const,
      id: definition.layoutId,
      definition,
    })),
    {
      kind: 'translation',
      id: 'de_DE',
      definition: { workflows: Object.fromEntries(words.map((each, i) => [`w${i}`, each])), layouts: {} },
    },
  ]
  expect(named.length).toBeGreaterThan(900)
  applyEdits(folder, editsFor(folder, [], named, []))
  const first = contentsOf(folder)
  const read = readFolder(folder)
  expect(read.problems).toEqual([])
  const definitions = new Map(read.resources.map((each) => [`${each.kind} ${each.id}`, each.definition]))
  for (const { kind, id: of, definition } of named) expect(definitions.get(`${kind} ${of}`), of).toEqual(definition)
  // What was read means the same as what was written, and is left alone.
  const again = editsFor(folder, read.resources, read.resources, [])
  const done = applyEdits(folder, again)
  expect([done.written[0] && readFileSync(done.written[0], 'utf8'), ...done.removed]).toEqual([undefined])
  expect(contentsOf(folder)).toEqual(first)
})

test('the order of members does not depend on the order in which they came', () => {
  fc.assert(
    fc.property(workflow, (definition) => {
      const shuffled = (given: unknown): unknown => {
        if (Array.isArray(given)) return given.map(shuffled)
        if (typeof given !== 'object' || given === null) return given
        return Object.fromEntries(
          Object.entries(given)
            .reverse()
            .map(([key, member]) => [key, key === 'payloadSchema' ? member : shuffled(member)]),
        )
      }
      expect(canonicalYaml('workflow', shuffled(definition) as typeof definition)).toBe(
        canonicalYaml('workflow', definition),
      )
    }),
    { numRuns: 200 },
  )
})

describe('texts in files of their own', () => {
  const newFolder = () => mkdtempSync(path.join(folder, 'texts-'))
  /** Writes what a service has over what is there, and reads it again. */
  const written = (dir: string, remote: Definition[]) => {
    const local = readFolder(dir, { shouldExist: false })
    const named = remote.map((definition) => ({
      ...{ kind: 'workflow' as const, id: String(definition.workflowId), definition },
    }))
    const done = applyEdits(dir, editsFor(dir, local.resources, named, [], checkFolder(local).normal))
    const read = readFolder(dir)
    expect(read.problems).toEqual([])
    const found = new Map(read.resources.map(({ id: of, definition }) => [of, definition]))
    for (const { id: of, definition } of named) expect(found.get(of), of).toEqual(definition)
    // On many file systems these would be one file.
    const names = Object.keys(contentsOf(dir)).map((file) => file.toLowerCase())
    expect(new Set(names).size).toBe(names.length)
    return { done, files: contentsOf(dir), found }
  }
  const withSteps = (steps: object[], workflowId = 'w') => ({
    ...{ workflowId, name: 'W', active: true, validatePayload: false, steps },
  })
  const mail = (stepId: string, body: string) => ({
    ...{ stepId, name: stepId, type: 'email', controlValues: { subject: 'Hi', editorType: 'html', body } },
  })
  const sms = (stepId: string, body: unknown) => ({ stepId, name: stepId, type: 'sms', controlValues: { body } })
  /** As somebody writes it who keeps texts in files. */
  const writeOwn = (dir: string, steps: object[], texts: Record<string, string>, name = 'w') =>
    write(path.join(dir, 'workflows', name), { 'workflow.yaml': JSON.stringify(withSteps(steps)), ...texts })

  test('steps whose names differ only in case, and names that Windows refuses, get files of different names', () => {
    const { files } = written(newFolder(), [
      withSteps([mail('Mail', 'one'), mail('mail', 'two'), mail('con', 'three')]),
    ])
    expect(Object.keys(files).sort()).toEqual([
      expect.stringMatching(/^workflows\/w\/Mail~[0-9a-f]{6}\.html$/),
      expect.stringMatching(/^workflows\/w\/con~[0-9a-f]{6}\.html$/),
      expect.stringMatching(/^workflows\/w\/mail~[0-9a-f]{6}\.html$/),
      'workflows/w/workflow.yaml',
    ])
  })

  test('a new body does not take the file of another text', () => {
    const dir = newFolder()
    writeOwn(dir, [sms('text', { $file: 'mail.html' })], { 'mail.html': 'short' })
    const { files } = written(dir, [withSteps([mail('mail', '<p>long</p>'), sms('text', 'short')])])
    expect(files['workflows/w/mail.html']).toBe('short')
    expect(Object.values(files)).toContain('<p>long</p>')
  })

  test('a file that two steps share stays the file of the one that did not change', () => {
    const dir = newFolder()
    const shared = { $file: 'text.liquid' }
    writeOwn(dir, [sms('a', shared), sms('b', shared)], { 'text.liquid': 'Hello' })
    const both = written(dir, [withSteps([sms('a', 'Hello'), sms('b', 'Hello')])])
    expect(both.done).toEqual({ written: [], removed: [] })
    const { files, done } = written(dir, [withSteps([sms('a', 'Hi'), sms('b', 'Hello')])])
    expect(files['workflows/w/text.liquid']).toBe('Hello')
    expect(done.written.map((file) => path.basename(file))).toEqual([
      'workflow.yaml',
      expect.stringMatching(/^text~[0-9a-f]{6}\.liquid$/),
    ])
    // And so it stays.
    expect(written(dir, [withSteps([sms('a', 'Hey'), sms('b', 'Hello')])]).done.written).toHaveLength(1)
  })

  test('a member whose name has dots is not taken for a path', () => {
    const dir = newFolder()
    const step = (a: unknown) => ({
      ...{ stepId: 'inbox', name: 'Inbox', type: 'in_app' },
      controlValues: { body: 'x', data: { 'a.b': 'dotted', a } },
    })
    writeOwn(dir, [step({ b: { $file: 'b.liquid' } })], { 'b.liquid': 'old' })
    const { files } = written(dir, [withSteps([step({ b: 'new' })])])
    expect(files['workflows/w/b.liquid']).toBe('new')
  })

  test('a new workflow does not take the folder of another one', () => {
    const dir = newFolder()
    writeOwn(dir, [], {}, 'Other')
    const { files, found } = written(dir, [withSteps([mail('mail', 'x')], 'other')])
    expect([...found.keys()].sort()).toEqual(['other', 'w'])
    expect(Object.keys(files)).toContainEqual(expect.stringMatching(/^workflows\/other~[0-9a-f]{6}\/mail\.html$/))
  })

  test('a name that leads elsewhere, or to the definition itself, is neither written nor removed', () => {
    const dir = newFolder()
    write(dir, { 'workflows/mine.txt': 'mine' })
    writeOwn(dir, [sms('a', { $file: '../mine.txt' }), sms('b', { $file: 'workflow.yaml' })], {})
    expect(readFolder(dir).problems.map(({ message }) => message)).toEqual([
      '"../mine.txt" must be the name of a file in the same folder',
      '"workflow.yaml" is this file itself',
    ])
    const { files } = written(dir, [withSteps([sms('a', 'x')])])
    expect(files['workflows/mine.txt']).toBe('mine')
  })

  test('a block document that is written in another way is left alone', () => {
    const dir = newFolder()
    const block = (body: unknown, subject: string) => ({
      ...{ stepId: 'mail', name: 'Mail', type: 'email', controlValues: { subject, editorType: 'block', body } },
    })
    const text = '{"type":"doc",\n\n"content":[]}'
    writeOwn(dir, [block({ $file: 'mail.block.json' }, 'Hi')], { 'mail.block.json': text })
    const { files, done } = written(dir, [withSteps([block('{"type":"doc","content":[]}', 'Hey')])])
    expect(files['workflows/w/mail.block.json']).toBe(text)
    expect(done.written.map((file) => path.basename(file))).toEqual(['workflow.yaml'])
  })

  test('whatever is kept in whatever files, what a service has is what is read afterwards', () => {
    const body = fc.constantFrom('one', 'two', 'three')
    const file = fc.constantFrom('s0.html', 's1.html', 't.liquid')
    const kinds = fc.array(fc.boolean(), { minLength: 1, maxLength: 4 })
    const ids = ['s0', 'S0', 's1', 'x']
    fc.assert(
      fc.property(
        ...([kinds, fc.array(fc.option(file), { minLength: 4, maxLength: 4 })] as const),
        ...([fc.array(body, { minLength: 4, maxLength: 4 }), kinds] as const),
        (before, names, texts, after) => {
          const dir = newFolder()
          const step = (isMail: boolean, place: number, text: unknown) => {
            const made = (isMail ? mail : sms)(ids[place] ?? '', '')
            return { ...made, controlValues: { ...made.controlValues, body: text } }
          }
          const own = before.map((isMail, place) => {
            const name = names[place]
            return step(isMail, place, typeof name === 'string' ? { $file: name } : 'inline')
          })
          const used = names.slice(0, before.length).flatMap((name) => name ?? [])
          writeOwn(dir, own, Object.fromEntries(used.map((name) => [name, `in ${name}`])))
          written(dir, [withSteps(after.map((isMail, place) => step(isMail, place, texts[place] ?? '')))])
        },
      ),
      { numRuns: 150 },
    )
  })
})

test('a definition that leaves out defaults has the revision of one that says them', () => {
  const other = mkdtempSync(path.join(tmpdir(), 'belfry-spelling-'))
  try {
    const short = 'workflowId: a\nname: A\nsteps: []\n'
    const revisionOf = (file: string) => {
      write(other, { 'workflows/a/workflow.yaml': file })
      return checkFolder(readFolder(other)).normal.get('workflow a')?.revision
    }
    const plain = revisionOf(short)
    expect(plain).toMatch(/^[0-9a-f]{64}$/)
    expect(revisionOf(`${short}severity: none\ntags: []\ndescription: ""\nactive: false\n`)).toBe(plain)
    expect(revisionOf('{ "steps": [], "name": "A", "workflowId": "a" }')).toBe(plain)
    expect(revisionOf(short.replaceAll('\n', '\r\n'))).toBe(plain)
    expect(revisionOf(`${short}severity: high\n`)).not.toBe(plain)
  } finally {
    rmSync(other, { recursive: true, force: true })
  }
})

test('anchors and JSON mean what they say, also in lists, and what stands twice is not shared', () => {
  const other = mkdtempSync(path.join(tmpdir(), 'belfry-anchors-'))
  try {
    const meaning = (files: Record<string, string>) => {
      rmSync(other, { recursive: true, force: true })
      write(other, { 'belfry.yaml': 'kinds: [workflows, integrations]\n', ...files })
      const { problems, normal } = checkFolder(readFolder(other))
      expect(problems).toEqual([])
      return normal
    }
    const steps = (one: string, two: string) =>
      `workflowId: a\nname: A\nsteps:\n  - { stepId: x, name: X, type: sms, controlValues: ${one} }\n  - { stepId: y, name: Y, type: sms, controlValues: ${two} }\n`
    const mails = (one: string, two: string) =>
      `- { identifier: m, name: M, channel: email, providerId: sendgrid, credentials: ${one} }\n- { identifier: n, name: N, channel: email, providerId: sendgrid, credentials: ${two} }\n`
    const [values, credentials] = ['{ body: { $file: text.liquid } }', '{ from: a@example.com }']
    const plain = meaning({
      'workflows/a/text.liquid': 'Hi\r\n',
      'workflows/a/workflow.yaml': steps(values, values),
      'integrations.yaml': mails(credentials, credentials),
    })
    expect([...plain.keys()].sort()).toEqual(['integration m', 'integration n', 'workflow a'])
    const anchored = meaning({
      'workflows/a/text.liquid': 'Hi\r\n',
      'workflows/a/workflow.yaml': steps(`&same ${values}`, '*same'),
      'integrations.yaml': mails(`&same ${credentials}`, '*same'),
    })
    expect(anchored).toEqual(plain)
    const json = meaning({
      'workflows/a/text.liquid': 'Hi\r\n',
      'workflows/a/workflow.yaml': JSON.stringify(parse(steps(values, values))),
      'integrations.yaml': JSON.stringify(parse(mails(credentials, credentials)), null, '\t'),
    })
    expect(json).toEqual(plain)
  } finally {
    rmSync(other, { recursive: true, force: true })
  }
})

test('random edits on both sides never lose one', () => {
  // A model: each side has a content or nothing, and bases are what was last the same on both.
  const content = fc.option(fc.constantFrom('1', '2', '3'), { nil: undefined })
  const edit = fc.record({ side: fc.constantFrom('here', 'there'), content })
  fc.assert(
    fc.property(fc.array(fc.oneof(edit, fc.constant('pull' as const)), { maxLength: 20 }), (acts) => {
      let [base, here, there] = [undefined, undefined, undefined] as Array<string | undefined>
      for (const act of acts) {
        if (act !== 'pull') {
          if (act.side === 'here') here = act.content
          else there = act.content
          continue
        }
        const [mine, theirs] = [here, there]
        const decision = decide(base, here, there)
        if (decision === 'write') here = there
        if (decision === 'remove') here = undefined
        if (decision !== 'keep' && decision !== 'conflict') base = there
        // What somebody wrote here and nobody has elsewhere is still here.
        if (mine !== theirs && mine !== undefined && here !== mine) expect(['write', 'remove']).toContain(decision)
        if (decision === 'write' || decision === 'remove') expect(here).toBe(theirs)
        if (decision === 'conflict') expect([here, there]).toEqual([mine, theirs])
      }
    }),
    { numRuns: 1_000 },
  )
  // Only what is unchanged since the base is ever replaced.
  fc.assert(
    fc.property(content, content, content, (base, here, there) => {
      const decision = decide(base, here, there)
      if (decision === 'write' || decision === 'remove') expect(here).toBe(base)
    }),
  )
})
