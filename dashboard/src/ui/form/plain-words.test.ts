import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { inSentences, plainErrors, plainWords } from './plain-words.ts'

test.each([
  ['name should not be empty', 'Fill this in.'],
  ['name must be longer than or equal to 10 characters', 'Use at least 10 characters.'],
  ['name must be shorter than or equal to 128 characters', 'Use at most 128 characters.'],
  ['name must be one of the following values: low, high', 'Choose one of these: low, high.'],
  ['name.first must be a string', 'Write text here.'],
  ['name is taken', 'Your name is taken.'],
  ['A person with this address exists already.', 'A person with this address exists already.'],
])('“%s” becomes “%s”', (message, words) => expect(plainWords(message, 'name', 'Your name')).toBe(words))

test('an empty field says only that', () => {
  expect(plainErrors(['email should not be empty', 'email must be an email'], 'email', 'Email')).toEqual([
    ...['Fill this in.'],
  ])
})

test('no sentence of the validator reaches a person as it is', () => {
  const source = readFileSync(path.join(import.meta.dirname, '../../../../server/src/http/edge/validation.ts'), 'utf8')
  const sentences = [...source.matchAll(/['`]((?:must|should) [^'`]*[^'`\s(])['`]/g)].map(([, text = '']) =>
    text.replaceAll(/\$\{[^}]*\}/g, '3'),
  )
  expect(sentences.length).toBeGreaterThan(10)
  const raw = sentences.filter((text) => /must|should|conforming/.test(plainWords(`name ${text}`, 'name', 'Name')))
  expect(raw).toEqual([])
})

test('several errors of a field are sentences of their own', () => {
  expect(inSentences(['must be a number'])).toBe('must be a number')
  expect(inSentences(['Use at least 1.', 'unit is not known', 'Really?'])).toBe(
    'Use at least 1. unit is not known. Really?',
  )
})
