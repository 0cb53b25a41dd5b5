// No regular expression may take minutes on hostile input. Tries every one in the service, the inbox, the dashboard and the
// request schemas with long texts built from its own parts.
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createContext, Script } from 'node:vm'
import { parseSync } from '@swc/core'
import { expect, test } from 'vitest'
import { idPattern } from '../server/src/db/core/ids.ts'
import { contextNamePattern } from '../server/src/db/queries/contexts.ts'
import { absoluteUrlPattern, urlPattern } from '../server/src/steps/contract/kind.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folders = ['server/src', 'inbox/src', 'dashboard/src']

interface Pattern {
  source: string
  flags: string
  place: string
}

/** Safe for the reason given: their input is short, or not from a caller. */
const bounded: Record<string, string> = {
  '/\\/+$/': 'the address of the service, from the page that embeds the inbox',
  '/<script>([\\s\\S]*?)<\\/script>/': 'the page of the dashboard, as we built it',
  '/\\[[^\\]]*\\]/g': 'a path that has been parsed: its brackets are closed',
}

interface Node {
  type?: string
  key?: { value?: string }
  id?: { value?: string }
  value?: Node | string
  init?: Node
}

/** A pattern in a string: `pattern` of a schema, or a constant whose name ends in Pattern. */
function textOfPattern({ type, key, id, value, init }: Node): string | undefined {
  const text = type === 'KeyValueProperty' && key?.value === 'pattern' ? (value as Node) : undefined
  const named = type === 'VariableDeclarator' && /pattern$/i.test(id?.value ?? '') ? init : undefined
  const found = text ?? named
  return found?.type === 'StringLiteral' ? (found.value as string) : undefined
}

function patternsIn(file: string): Pattern[] {
  const program = parseSync(readFileSync(path.join(root, file), 'utf8'), {
    syntax: 'typescript',
    tsx: file.endsWith('x'),
    target: 'es2022',
  })
  const found: Pattern[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) visit(each)
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return
    const { type, pattern, flags } = node as { type?: string; pattern?: string; flags?: string }
    if (type === 'RegExpLiteral' && pattern !== undefined)
      found.push({ source: pattern, flags: flags ?? '', place: file })
    const written = textOfPattern(node as Node)
    if (written !== undefined) found.push({ source: written, flags: 'u', place: file })
    for (const each of Object.values(node)) visit(each)
  }
  visit(program.body)
  return found
}

function allPatterns(): Pattern[] {
  const files = folders.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
      .map((file) => path.join(folder, file)),
  )
  // Composed at run time.
  const composed = [absoluteUrlPattern, urlPattern].map((source) => ({
    source,
    flags: 'u',
    place: 'server/src/steps/contract/kind.ts',
  }))
  const all = [...files.flatMap(patternsIn), ...composed]
  return [...new Map(all.map((pattern) => [`/${pattern.source}/${pattern.flags}`, pattern])).values()]
}

/** The literals of the pattern, one or two at a time, and samples of its classes. */
function pumps(source: string): string[] {
  const named = [...new Set(source.replaceAll(/\\[a-zA-Z]/g, '').replaceAll(/[\\^$*+?|()[\]{}]/g, ''))].slice(0, 8)
  const usual = ['a', '0', ' ', '\n', '.', '-', '<', '{', '(', '[', '"', '\\', '/', '*', '=', '&', ',', '_', '@', '%']
  const words = source.match(/[\w<>/!-]{2,}/g)?.slice(0, 4) ?? []
  const pairs = named.slice(0, 4).flatMap((one) => ['a', ' ', ...named.slice(0, 4)].map((other) => one + other))
  return [...new Set([...named, ...usual, ...words, ...pairs])]
}

const context = createContext({})
const trial = new Script(`(() => {
  const pattern = new RegExp(source, flags.replace(/[gy]/g, ''))
  let worst = [0, '', '']
  for (const [head, pump] of texts)
    for (const tail of ['', '\\0', '!']) {
      const text = head + pump.repeat(Math.ceil(length / pump.length)) + tail
      const began = now()
      pattern.test(text)
      const took = now() - began
      if (took > worst[0]) worst = [took, head, pump]
    }
  return worst
})()`)

function worstOf({ source, flags }: Pattern, texts: Array<[string, string]>, length: number, timeout: number) {
  Object.assign(context, { source, flags, texts, length, now: () => performance.now() })
  return trial.runInContext(context, { timeout }) as [took: number, head: string, pump: string]
}

test('every pattern takes time linear in the length of the text', () => {
  const patterns = allPatterns()
  expect(patterns.length).toBeGreaterThan(200)
  expect(patterns.map(({ source }) => source)).toEqual(expect.arrayContaining([idPattern, contextNamePattern]))
  const slow: string[] = []
  for (const pattern of patterns) {
    const head = /^\^?((?:[\w<"{:/ -]|\\[/.{])+)/.exec(pattern.source)?.[1]?.replaceAll('\\', '') ?? ''
    const texts = pumps(pattern.source).flatMap(
      (pump): Array<[string, string]> =>
        head === ''
          ? [['', pump]]
          : [
              ['', pump],
              [head, pump],
            ],
    )
    const name = `/${pattern.source}/${pattern.flags}`
    if (bounded[name] !== undefined) continue
    try {
      // Short texts find the hardest one; a long one shows whether it matters: quadratic time would take minutes.
      const [, hardest, pump] = worstOf(pattern, texts, 400, 20_000)
      worstOf(pattern, [[hardest, pump || 'a']], 200_000, 20_000)
    } catch (error) {
      if ((error as { code?: string }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      slow.push(`${pattern.place}: ${name}`)
    }
  }
  expect(slow).toEqual([])
  const names = new Set(patterns.map(({ source, flags }) => `/${source}/${flags}`))
  expect(Object.keys(bounded).filter((name) => !names.has(name))).toEqual([])
}, 300_000)

test('a quadratic pattern would be caught', () => {
  const text: Array<[string, string]> = [['', 'a']]
  for (const source of ['^(a+)+$', 'a*a*b']) {
    const pattern = { source, flags: '', place: '' }
    expect(() => worstOf(pattern, text, 200_000, 1_000)).toThrow(/timed out/)
  }
})
