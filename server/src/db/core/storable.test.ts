import { expect, test } from 'vitest'
import { constantJson, storableJson } from './storable.ts'

test('a constant is written like any other value, and cannot be changed', () => {
  const given = { arm: 'Paid \ud800', index: 0, ended: false }
  const constant: { arm: string } = constantJson({ ...given })
  expect(storableJson(constant)).toBe(storableJson(given))
  expect(storableJson({ constant })).toBe(`{"constant":${JSON.stringify(given)}}`.replace('\\ud800', '\ufffd'))
  expect(() => {
    constant.arm = 'Due'
  }).toThrow(TypeError)
})
