import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { rooms } from '../../.dependency-cruiser.mjs'

const inRepository = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))

/** The table's rows for rooms, without single files and floors that are one room. */
const documented = Object.fromEntries(
  [
    ...readFileSync(inRepository('docs/architecture.md'), 'utf8').matchAll(/^\| `(\w+\/[\w-]+)\/` \|.*\| (.*) \|$/gm),
  ].map(([, name = '', uses = '']) => [name, [...uses.matchAll(/`([^`]+)`/g)].map(([, room]) => room)]),
)

test('docs/architecture.md shows the rooms and arrows that the check enforces', () => {
  expect(documented).toEqual(rooms)
})

test('every folder of a floor with rooms is a room', () => {
  const folders = ['http', 'engine', 'steps', 'db'].flatMap((floor) =>
    readdirSync(inRepository(`server/src/${floor}`), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'migrations')
      .map((entry) => `${floor}/${entry.name}`),
  )
  expect(folders.sort()).toEqual(Object.keys(rooms).sort())
})

test('every path that CONTRIBUTING.md and the decisions name exists', () => {
  const pages = [
    'CONTRIBUTING.md',
    ...readdirSync(inRepository('docs/decisions')).map((name) => `docs/decisions/${name}`),
  ]
  const named = pages.flatMap((page) =>
    [
      ...readFileSync(inRepository(page), 'utf8').matchAll(/`([\w.-]+\/[\w./<>-]+|[\w-]*\.[\w-]+\.?(?:md|mjs|ts))`/g),
    ].map(([, path = '']) => ({ page, path })),
  )
  expect(named.length).toBeGreaterThan(60)
  // Where a name stands for many, the folder that holds them has to exist.
  const exists = (path: string) => existsSync(inRepository(path.replace(/<.*/, '').replace(/[^/]*$/, '')))
  expect(named.filter(({ path }) => !(path.includes('<') ? exists(path) : existsSync(inRepository(path))))).toEqual([])
})
