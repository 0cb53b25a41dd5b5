// Generated definitions through a real service, and random edits in several places at once: files.md §11. `GENERATED=5000` for more.
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { stepKinds } from '../../server/src/steps/kinds/index.ts'
import { chanceOf } from '../../server/test/generated-scenarios.ts'
import { type Api, useServer } from '../../server/test/server.ts'
import { checkFolder } from '../src/folder/check.ts'
import { readFolder } from '../src/folder/read.ts'
import { applyEdits, editsFor } from '../src/folder/write.ts'
import { contentsOf, type Place, useCommand, write } from './command.ts'
import { generatedDefinitions } from './generated-definitions.ts'

vi.setConfig({ testTimeout: 300_000 })

const generated = Number(process.env.GENERATED ?? 1000)
const server = useServer()
const command = useCommand()

test('generated definitions of every kind go into files, a service, files and another environment, byte for byte', async () => {
  const { development, production } = await server.freshOrganization()
  const { resources, secrets } = generatedDefinitions(26, generated)
  const used = new Set(JSON.stringify(resources).match(/"type":"[a-z_]+"/g))
  for (const kind of Object.keys(stepKinds)) expect([...used], kind).toContain(`"type":"${kind}"`)
  const placeOf = async (api: Api): Promise<Place> => ({
    ...{ url: api.url, key: (await server.organizationOf(api)).key },
    env: { ...secrets, BELFRY_ENVIRONMENT: api.environmentId },
  })
  const belfryYaml = {
    'belfry/belfry.yaml': 'format: 1\nkinds: [workflows, layouts, translations, topics, integrations, variables]\n',
  }
  const newFolder = () => {
    const folder = command.newFolder()
    write(folder, belfryYaml)
    return folder
  }
  const here = await placeOf(development)

  // What the environment brings along, and everything that was made up, as it is read back.
  const first = newFolder()
  expect((await command.run(first, here, 'pull')).code).toBe(0)
  const inFirst = path.join(first, 'belfry')
  const { settings, resources: there } = readFolder(inFirst)
  const [{ source, node } = { source: undefined, node: null }] = there
  if (!source) throw new Error('Every environment has something.')
  // Where they are written only matters for problems, of which there are none.
  const made = resources.map((each) => ({ ...each, path: '', source, node, bodies: new Map<string, string>() }))
  const { normal, problems } = checkFolder({ dir: inFirst, settings, resources: [...there, ...made], problems: [] })
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([])
  const wanted = resources.map(({ kind, id }) => ({
    ...{ kind, id, definition: normal.get(`${kind} ${id}`)?.definition ?? {} },
  }))
  applyEdits(inFirst, editsFor(inFirst, there, wanted, []))
  const written = contentsOf(inFirst)

  const pushed = await command.run(first, here, 'push', '--json')
  expect(pushed.code, pushed.stderr.slice(-2_000)).toBe(0)
  expect(pushed.json.summary.created).toBe(resources.length)
  expect((await command.run(first, here, 'push', '--json')).json.summary).toMatchObject({ created: 0, updated: 0 })
  const second = newFolder()
  expect((await command.run(second, here, 'pull')).code).toBe(0)
  expect(contentsOf(path.join(second, 'belfry'))).toEqual(written)

  // Its keys were made with the environment: they go along as every other secret.
  const [, webPush = ''] = /\$secret: (WEB_PUSH_\w+)/.exec(written['integrations.yaml'] ?? '') ?? []
  secrets[webPush] = 'k'.repeat(43)
  const beyond = await placeOf(production)
  const moved = await command.run(second, beyond, 'push', '--json', '--force')
  expect(moved.code, moved.stderr.slice(-2_000)).toBe(0)
  const third = newFolder()
  expect((await command.run(third, beyond, 'pull')).code).toBe(0)
  expect(contentsOf(path.join(third, 'belfry'))).toEqual(written)
})

/** One definition, as the service, two laptops and CI see it. */
interface Model {
  service: string | undefined
  /** What files last pushed. */
  files: string | undefined
  laptops: Array<{ here: string | undefined; base: string | undefined }>
}

test('random edits in the dashboard and on two laptops never lose one', async () => {
  const chance = chanceOf(11)
  const below = (most: number) => Math.floor(chance() * most)
  const rounds = Math.max(4, Math.round(generated / 250))
  for (let round = 0; round < rounds; round += 1) {
    const { development: api } = await server.freshOrganization()
    const place = { url: api.url, key: api.key }
    const folders = [command.newFolder(), command.newFolder()]
    const model: Model = {
      ...{ service: undefined, files: undefined },
      laptops: folders.map(() => ({ here: undefined, base: undefined })),
    }
    for (const folder of folders) expect((await command.run(folder, place, 'pull')).code).toBe(0)
    const file = 'belfry/workflows/a/workflow.yaml'
    const yaml = (name: string) => `workflowId: a\nname: ${name}\nactive: false\nvalidatePayload: true\nsteps: []\n`
    const nameIn = (folder: string) => /^name: (.*)$/m.exec(contentsOf(folder)[file] ?? '')?.[1]
    const stored = async () => (await api.get('/v2/workflows/a')).body?.name as string | undefined
    for (let act = 0; act < 14; act += 1) {
      const which = below(2)
      const [folder, laptop] = [folders[which] ?? '', model.laptops[which]]
      if (!laptop) throw new Error('There are two laptops.')
      const name = `n${round}-${act}`
      switch (below(6)) {
        case 0:
        case 1:
          write(folder, { [file]: yaml(name) })
          laptop.here = name
          break
        case 2: {
          const answer =
            model.service === undefined
              ? await api.post('/v2/workflows', { workflowId: 'a', name, steps: [], validatePayload: true })
              : await api.patch('/v2/workflows/a', { name })
          expect(answer.status).toBeLessThan(300)
          model.service = name
          break
        }
        case 3: {
          // A checkout of what this laptop has, without what it remembers.
          if (laptop.here === undefined) break
          const fresh = command.newFolder()
          write(fresh, { [file]: yaml(laptop.here) })
          const { code } = await command.run(fresh, place, 'push', 'a')
          const isFine = model.service === laptop.here || model.service === model.files
          expect([code, act]).toEqual([isFine ? 0 : 3, act])
          if (isFine) model.service = model.files = laptop.here
          break
        }
        case 4: {
          if (laptop.here === undefined) break
          const { code } = await command.run(folder, place, 'push', 'a')
          const base = laptop.base ?? model.files
          const isFine = model.service === laptop.here || model.service === base
          expect([code, act]).toEqual([isFine ? 0 : 3, act])
          if (isFine) model.service = model.files = laptop.base = laptop.here
          break
        }
        default: {
          const { code } = await command.run(folder, place, 'pull', 'a')
          const base = laptop.base ?? (laptop.here === undefined ? undefined : model.files)
          const isSame = laptop.here === model.service
          const isFine = isSame || model.service === base || laptop.here === base
          // What neither side has is a slip of the caller.
          const isKnown = laptop.here !== undefined || model.service !== undefined
          expect([code, act]).toEqual([!isKnown ? 2 : isFine ? 0 : 3, act])
          if (isFine && (isSame || model.service !== base)) laptop.here = laptop.base = model.service
        }
      }
      expect([nameIn(folder), await stored()]).toEqual([laptop.here, model.service])
    }
  }
})
