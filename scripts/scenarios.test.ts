import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { filesAt, junitOf, linesOf, scenariosIn } from './scenario-files.mjs'

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
  expect(() => scenariosIn(write('broken.yaml', 'a: [1'))).toThrow('broken.yaml')
  expect(() => scenariosIn(write('list.yaml', '- 1'))).toThrow('scenario 1 is not an object')
  expect(() => scenariosIn(write('gone.yaml', 'workflow: { file: gone.json }'))).toThrow('gone.json cannot be read')
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
  expect(report).toContain('<testsuite name="scenarios" tests="3" failures="1">')
  expect(report).toContain('<skipped message="it names integrations"/>')
  expect(report).toContain('name="a &#60;b&#62;"/>')
  expect(report).toContain('<failure message="none was found">')
})
