// Whatever a definition says, a file says the same, and is written the same way again: files.md §2, §11.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { canonicalYaml } from '../../server/src/engine/definitions/canonical.ts'
import { decide } from '../src/commands/pull.ts'
import { checkFolder } from '../src/folder/check.ts'
import { readFolder } from '../src/folder/read.ts'
import { applyEdits, editsFor, type Remote } from '../src/folder/write.ts'
import { contentsOf, write } from './command.ts'

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
  fc.constantFrom(
    'yes',
    'NO',
    'null',
    '~',
    '0x1f',
    '1e3',
    '012',
    '.inf',
    '2026-01-01',
    '=',
    '<<',
    '&a',
    '*a',
    '!t',
    '%',
    '@',
    '`',
    'a: b',
    'a #b',
    '- a',
    '? a',
    '|',
    '>',
    '\\',
    '1:30',
    '---',
    '...',
  ),
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
const workflow = fc
  .record({
    ...{ workflowId: id('w'), name: text.filter((each) => each.length > 0), description: text, active: fc.boolean() },
    ...{
      validatePayload: fc.boolean(),
      tags: fc.uniqueArray(fc.constantFrom('on', 'b: c', '- d', 'e'), { maxLength: 3 }),
    },
    ...{ steps: fc.array(step, { maxLength: 3 }), schema },
  })
  .map(({ schema: properties, steps, ...rest }) => ({
    ...rest,
    ...(properties === undefined ? {} : { payloadSchema: { type: 'object', properties } }),
    steps: steps.map((each, index) => ({ stepId: `s${index}`, name: `Step ${index}`, ...each })),
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
