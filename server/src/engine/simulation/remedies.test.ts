import { expect, test } from 'vitest'
import type { GateName } from './gates.ts'
import { type Change, smaller } from './remedies.ts'

const change = (name: string): Change => ({
  ...{ gate: (name === 'waiting' ? 'schedule' : name) as GateName, text: name, wait: null, request: null },
  by: name === 'waiting' ? 'time' : 'you',
  apply: (situation) => situation,
})

test('of equally many changes, waiting is smallest, then the address, the preference, the workflow, the integration', () => {
  const order = ['waiting', 'address', 'preference', 'suppression', 'workflow', 'integration']
  for (const [place, name] of order.entries())
    for (const [other, against] of order.entries())
      expect(smaller([change(name)], [change(against)]), `${name} before ${against}`).toBe(place < other)
})

test('fewer changes are smaller, whatever they are; of more, the largest decides', () => {
  expect(smaller([change('integration')], [change('waiting'), change('address')])).toBe(true)
  expect(smaller([change('waiting'), change('address')], [change('integration')])).toBe(false)
  expect(smaller([change('preference'), change('address')], [change('waiting'), change('workflow')])).toBe(true)
  expect(smaller([change('preference'), change('waiting')], [change('address'), change('preference')])).toBe(true)
})
