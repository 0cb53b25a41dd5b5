// One version for the whole repository, wherever it is written.
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { nodeVersions } from './node-versions.mjs'

const root = path.join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const { version, workspaces, engines } = JSON.parse(read('package.json'))

test('every package, the lockfile and the image to deploy have the same version', () => {
  const { packages } = JSON.parse(read('package-lock.json'))
  for (const folder of workspaces as string[]) {
    expect(JSON.parse(read(`${folder}/package.json`)).version, folder).toBe(version)
    expect(packages[folder].version, `${folder} in package-lock.json`).toBe(version)
  }
  expect(packages[''].version, 'package-lock.json').toBe(version)
  expect(read('deploy/kubernetes/base/kustomization.yaml')).toContain(`newTag: ${version}\n`)
})

test('the newest entry of the change log is of this version', () => {
  const file = 'CHANGELOG.md'
  if (existsSync(path.join(root, file))) expect(/^## \[?([\d.]+)/m.exec(read(file))?.[1]).toBe(version)
})

test('CI runs on the oldest Node.js that is supported and on those of node-versions.mjs; the image has the newest', () => {
  const [, inCi = ''] = /node: \[(.+)\]/.exec(read('.github/workflows/ci.yml')) ?? []
  const majors = inCi.split(', ').map(Number)
  expect(engines.node).toBe('>=20.19')
  expect(majors).toEqual([20, ...Object.keys(nodeVersions).map(Number)])
  expect(/NODE_IMAGE=node:(\d+)\./.exec(read('Dockerfile'))?.[1]).toBe(String(majors.at(-1)))
})
