// The built program on every newer version of Node.js that it supports; all other tests run on the one that runs them.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { installNode, nodeVersions } from '../../scripts/node-versions.mjs'
import { freePort } from './free-port.ts'
import { usePrograms } from './program.ts'
import { createTestDatabase, dropTestDatabase, secretKey } from './server.ts'

const programs = usePrograms()

test.each(Object.entries(nodeVersions))('starts, is ready and stops on Node.js %s', async (major, version) => {
  const node = installNode(major)
  expect(execFileSync(node, ['--version'], { encoding: 'utf8' })).toBe(`v${version}\n`)
  const name = `t_${randomBytes(6).toString('hex')}`
  const env = {
    PORT: String(await freePort()),
    DATABASE_URL: await createTestDatabase(name),
    BELFRY_SECRET_KEY: secretKey,
    // No balancer has to find out first.
    BELFRY_DRAIN_SECONDS: '0',
  }
  const run = await programs.start(env, { node }).ready()
  const ready = await fetch(`${run.url}/health/ready`, { headers: { Connection: 'close' } })
  expect(ready.status).toBe(200)
  expect(await run.stop()).toMatchObject({ code: 0 })
  // Nothing that this version warns of.
  expect(run.output).not.toMatch(/Warning/)
  await dropTestDatabase(name)
})
