import { readdirSync, readFileSync } from 'node:fs'
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
