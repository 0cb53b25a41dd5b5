import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const dist = path.join(import.meta.dirname, '../dist')
const sizeOf = (file: string) => gzipSync(readFileSync(path.join(dist, file)), { level: 9 }).length
const most = 40 * 1024

test('a page loads at most 40 KB: the script and one language', () => {
  const languages = readdirSync(path.join(dist, 'inbox')).filter((file) => file.endsWith('.json'))
  expect(languages).toHaveLength(9)
  const largest = Math.max(...languages.map((file) => sizeOf(`inbox/${file}`)))
  expect(sizeOf('inbox.js') + largest).toBeLessThanOrEqual(most)
})

test('the modules, with the chunks they share, load no more', () => {
  const modules = readdirSync(path.join(dist, 'inbox')).filter((file) => file.endsWith('.js') && file !== 'demo.js')
  expect(modules).toEqual(expect.arrayContaining(['client.js', 'elements.js', 'react.js']))
  const total = modules.reduce((sum, file) => sum + sizeOf(`inbox/${file}`), 0)
  expect(total).toBeLessThanOrEqual(most)
})
