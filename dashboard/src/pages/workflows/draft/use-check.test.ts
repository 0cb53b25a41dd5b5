import { expect, test } from 'vitest'
import { issuesOfCheck } from './use-check.ts'

const check = {
  stepId: 'mail',
  holds: true,
  rows: {},
  unknownVariables: ['payload.nme', 'payload.gone'],
  error: { title: 'not_a_list', message: 'The repeat block needs a list', hint: '' },
}

test('what fails with the example is an issue, unless a control says more about it', () => {
  expect(issuesOfCheck(check, []).map(({ message }) => message)).toEqual([
    'No payload so far has “payload.nme”',
    'No payload so far has “payload.gone”',
    'The repeat block needs a list',
  ])
  const known = [{ path: 'body', message: 'Not supported', variableName: 'payload.gone' }]
  expect(issuesOfCheck(check, known).map(({ variableName }) => variableName)).toEqual(['payload.nme'])
  const ofChannel = [{ path: undefined, message: 'Missing active integration provider' }]
  expect(issuesOfCheck(check, ofChannel)).toHaveLength(3)
  expect(issuesOfCheck(undefined, [])).toEqual([])
})
