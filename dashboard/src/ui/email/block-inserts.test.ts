import { expect, test } from 'vitest'
import { fieldsOfItem, insertsFor } from './block-inserts.ts'

const variables = [
  { path: 'payload.author', type: 'string' },
  { path: 'payload.items', type: 'list' },
  { path: 'payload.items.name', type: 'string' },
  { path: 'steps.collect.events', type: 'list' },
  { path: 'steps.collect.events.id', type: 'string' },
  { path: 'steps.collect.events.payload', type: 'object' },
]
const repeatOf = (list?: string) => insertsFor(list, variables).find(({ label }) => label === 'Repeat')?.block

test('a Repeat comes filled in with the digest before it, and shows a field of its events', () => {
  expect(repeatOf('steps.collect.events')).toMatchObject({
    attrs: { more: { each: 'steps.collect.events' } },
    content: [{ content: [{ attrs: { more: { id: 'steps.collect.events.payload.author' } } }] }],
  })
})

test('without a digest it goes through the first list, and without any it is empty', () => {
  expect(repeatOf()).toMatchObject({
    attrs: { more: { each: 'payload.items' } },
    content: [{ content: [{ attrs: { more: { id: 'payload.items.name' } } }] }],
  })
  const repeat = insertsFor(undefined, []).find(({ label }) => label === 'Repeat')?.block
  expect(repeat).toEqual({ type: 'repeat', attrs: { more: { each: '' } }, content: [{ type: 'paragraph' }] })
})

test('the fields of an item: those of the list, and of events those of the payload', () => {
  expect(fieldsOfItem('{{payload.items}}', variables)).toEqual([{ path: 'payload.items.name', label: 'name' }])
  expect(fieldsOfItem('steps.collect.events', variables).map(({ label }) => label)).toEqual([
    'payload.author',
    'payload.items',
    'payload.items.name',
    'id',
  ])
})
