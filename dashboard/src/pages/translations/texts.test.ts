import { expect, test } from 'vitest'
import { flat, withText } from './texts.ts'

test('nested texts become rows; other values stay out', () => {
  expect(flat({ greeting: 'Hello', order: { title: 'On its way', count: 3 } })).toEqual([
    { path: ['greeting'], text: 'Hello' },
    { path: ['order', 'title'], text: 'On its way' },
  ])
})

test('a text is set at its path; an empty one removes its key and groups left empty', () => {
  expect(withText({ greeting: 'Hello' }, ['order', 'title'], 'On its way')).toEqual({
    greeting: 'Hello',
    order: { title: 'On its way' },
  })
  expect(withText({ greeting: 'Hello', order: { title: 'x' } }, ['order', 'title'], '')).toEqual({ greeting: 'Hello' })
  expect(withText({ order: 'x' }, ['order', 'title'], 'y')).toEqual({ order: { title: 'y' } })
})
