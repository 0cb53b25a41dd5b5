// How `npm run check` judges the registry's answer, with a fake npm.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const script = fileURLToPath(new URL('audit.mjs', import.meta.url))
let folder: string

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'belfry-audit-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Like npm, the fake exits with 1 if there is any finding. */
function auditWith(answer: string): { code: number | null; told: string } {
  writeFileSync(path.join(folder, 'answer'), answer)
  writeFileSync(path.join(folder, 'npm'), `#!/bin/sh\necho "$@" > '${folder}/asked'\ncat '${folder}/answer'\nexit 1\n`)
  chmodSync(path.join(folder, 'npm'), 0o755)
  const env = { ...process.env, PATH: `${folder}${path.delimiter}${process.env.PATH}` }
  const { status, stdout } = spawnSync(process.execPath, [script], { encoding: 'utf8', env })
  return { code: status, told: stdout }
}

const reportOf = (severity: string) =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: {
      leaky: { name: 'leaky', severity, range: '<2', via: [{ title: 'It leaks', url: 'https://example.com/1' }] },
    },
  })

test.each(['high', 'critical'])('a %s vulnerability fails the check and is named', (severity) => {
  expect(auditWith(reportOf(severity))).toEqual({
    code: 1,
    told: `${severity}: leaky <2: It leaks (https://example.com/1)\n`,
  })
})

test.each(['low', 'moderate'])('a %s one does not', (severity) => {
  expect(auditWith(reportOf(severity))).toEqual({ code: 0, told: '' })
})

test.each([
  ['a registry error', '{"message":"404 Not Found","error":{"code":"E404"}}'],
  ['a page', '<html>not here</html>'],
  ['nothing', ''],
])('%s: says that vulnerabilities were not checked', (_, answer) => {
  expect(auditWith(answer)).toEqual({
    code: 0,
    told: 'note: vulnerabilities were not checked: the registry in use has no audit\n',
  })
})
