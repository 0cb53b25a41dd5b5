import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { sandboxFaults } from '../server/src/db/queries/sandbox.ts'
import { faultNames } from '../server/src/engine/simulation/scenario.ts'
import { ScenarioBody } from '../server/src/http/simulate/scenario-body.ts'
import { useServer } from '../server/test/server.ts'
import { refuseUnlivable } from './livable.mjs'
import { filesAt, junitOf, linesOf, scenariosIn } from './scenario-files.mjs'

const server = useServer()
const folder = mkdtempSync(path.join(tmpdir(), 'belfry-scenario-files-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const write = (name: string, text: string) => {
  mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
  writeFileSync(path.join(folder, name), text)
  return path.join(folder, name)
}

test('scenario files are found in a folder, several in one file, and a draft beside it', () => {
  write('draft.json', '{"steps":[]}')
  const file = write(
    'deep/two.scenario.yaml',
    'name: one\nworkflow: { file: ../draft.json }\n---\nworkflow: { workflowId: a }\n',
  )
  write('deep/other.yaml', 'name: no scenario')
  expect(filesAt(folder)).toEqual([file])
  expect(filesAt(file)).toEqual([file])
  expect(scenariosIn(file)).toMatchObject([
    { name: 'one', body: { workflow: { draft: { steps: [] } } } },
    { name: 'scenario 2', body: { workflow: { workflowId: 'a' } } },
  ])
})

test('what cannot be read says so', () => {
  expect(() => filesAt(path.join(folder, 'nowhere'))).toThrow('there is no such file or folder')
  expect(() => scenariosIn(write('broken.yaml', 'a: [1'))).toThrow(/broken\.yaml:1:6 [^\n]*$/)
  expect(() => scenariosIn(write('list.yaml', '- 1'))).toThrow('scenario 1 is not an object')
  expect(() => scenariosIn(write('gone.yaml', 'workflow: { file: gone.json }'))).toThrow('gone.json cannot be read')
  writeFileSync(path.join(folder, 'latin.json'), Buffer.from('{"name":"caf\xe9"}', 'latin1'))
  expect(() => scenariosIn(write('latin.yaml', 'workflow: { file: latin.json }'))).toThrow('it is not UTF-8')
})

test('a file may have the members of a scenario that the service takes, and a name', () => {
  const known = ['name', ...Object.keys(ScenarioBody.properties)]
  const told = () => scenariosIn(write('odd.yaml', 'odd: 1'))
  expect(told).toThrow(/a scenario has /)
  try {
    told()
  } catch (error) {
    expect(String(error).split('a scenario has ')[1]?.split(', ').sort()).toEqual(known.sort())
  }
})

test('what was expected and what was found stand line under line, also in the report', () => {
  const scenario = { file: 'a.scenario.yaml', name: 'a <b>', body: { expect: [{ message: { subject: 'x' } }] } }
  const passed = { ...scenario, failed: [] }
  const failed = {
    ...scenario,
    failed: [{ index: 0, holds: false, text: 'none was found', nearest: { subject: 'y' } }],
  }
  expect(linesOf(passed)).toEqual(['ok a.scenario.yaml › a <b>'])
  expect(linesOf(failed)).toEqual([
    'not ok a.scenario.yaml › a <b>',
    '  none was found',
    '    expected {"message":{"subject":"x"}}',
    '    found    {"subject":"y"}',
  ])
  const skipped = { ...scenario, failed: [], skipped: 'it names integrations' }
  expect(linesOf(skipped)).toEqual(['skipped a.scenario.yaml › a <b>: it names integrations'])
  const report = junitOf([passed, failed, skipped])
  expect(report).toContain('<testsuite name="scenarios" tests="3" failures="1" skipped="1">')
  expect(report).toContain('<skipped message="it names integrations"/>')
  expect(report).toContain('name="a &#60;b&#62;"/>')
  expect(report).toContain('<failure message="none was found">')
  // XML has no control characters, and no halves of pairs.
  expect(junitOf([{ ...passed, name: 'a\u0007\tb\ud83d 😀' }])).toContain('name="a\ufffd\tb\ufffd 😀"/>')
})

/** The program, against the service of the tests. */
const run = (...given: string[]) =>
  new Promise<{ code: unknown; lines: string[]; errors: string }>((resolve) => {
    const program = fileURLToPath(new URL('scenarios.mjs', import.meta.url))
    const env = { ...process.env, BELFRY_URL: server.url, BELFRY_API_KEY: server.api.key }
    execFile(process.execPath, [program, ...given], { env }, (error, output, errors) =>
      resolve({ code: error?.code ?? 0, lines: output.trimEnd().split('\n'), errors }),
    )
  })

test('the program ends with 0 if all are as expected, 1 if one is not, and 2 if one cannot be played', async () => {
  const scenario = (name: string, expected: string, workflow = '{ draft: { steps: [] } }') =>
    [
      ...[`name: ${name}`, `workflow: ${workflow}`, 'startAt: 2026-05-01T10:00:00Z'],
      ...['inputs: [{ at: +0s, type: trigger, to: ada }]', `expect: [{ totals: { triggers: ${expected} } }]`],
    ].join('\n')
  const file = write(
    'program/some.scenario.yaml',
    [
      scenario('good one', '1'),
      scenario('good two', '1'),
      scenario('wrong one', '2'),
      scenario('no workflow', '1', '{ workflowId: nowhere }'),
    ].join('\n---\n'),
  )
  const report = path.join(folder, 'report.xml')
  const [good, wrong, none, nothing] = await Promise.all([
    run(file, '--only', 'good', '--junit', report),
    run(file, '--only', 'one'),
    run(file),
    run(file, '--only', 'nobody'),
  ])
  expect(good, good.errors).toMatchObject({
    ...{ code: 0, lines: [`ok ${file} › good one`, `ok ${file} › good two`, '2 passed, 0 failed'] },
  })
  expect(readFileSync(report, 'utf8')).toContain('<testsuite name="scenarios" tests="2" failures="0" skipped="0">')
  expect([wrong.code, wrong.lines.at(-1)]).toEqual([1, '1 passed, 1 failed'])
  expect([none.code, none.lines.at(-1)]).toEqual([2, '2 passed, 2 failed'])
  expect(nothing).toMatchObject({ code: 2, errors: `No scenario was found in ${file}\n` })
})

test('exactly the faults of the sandbox can be lived through', () => {
  const isLivable = (fault: string) => {
    try {
      refuseUnlivable({ inputs: [{ type: 'fault', fault }] }, { isAnswered: false })
      return true
    } catch {
      return false
    }
  }
  expect(faultNames.filter(isLivable)).toEqual([...sandboxFaults])
})
