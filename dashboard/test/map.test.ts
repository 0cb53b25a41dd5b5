import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => /(?<!\.test)\.tsx?$/.test(file))

/** Imports between files below src, including dynamic ones. */
const imports = files.flatMap((from) =>
  [...readFileSync(path.join(src, from), 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(
    ([, to = '']) => ({
      from,
      to: path.join(path.dirname(from), to),
    }),
  ),
)
const room = (file: string) => file.split(path.sep)[0]
const page = (file: string) => file.split(path.sep).slice(0, 2).join('/')

test('the dashboard imports nothing of the server: it uses types generated from the API description', () => {
  expect(imports.length).toBeGreaterThan(100)
  expect(imports.filter(({ to }) => to.startsWith('..'))).toEqual([])
})

test('only the router imports pages', () => {
  const toPages = imports.filter(({ to }) => room(to) === 'pages')
  expect(toPages.filter(({ from, to }) => from !== 'router.tsx' && page(from) !== page(to))).toEqual([])
})

test('ui and api import neither shell nor pages; api does not import ui', () => {
  expect(imports.filter(({ from, to }) => room(from) === 'ui' && !['ui', 'api'].includes(room(to) ?? ''))).toEqual([])
  expect(imports.filter(({ from, to }) => room(from) === 'api' && room(to) !== 'api')).toEqual([])
})

test('every page is in the router', () => {
  const routed = new Set(imports.filter(({ from }) => from === 'router.tsx').map(({ to }) => page(to)))
  expect(files.filter((file) => room(file) === 'pages' && !routed.has(page(file)))).toEqual([])
})
