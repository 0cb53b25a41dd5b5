import { expect, test } from 'vitest'
import { Brand } from './brand.ts'

test.each([
  ['svc', 'novu'],
  ['svc-email', 'novu-email'],
  ['svc-cloud-x', 'novu-cloud-x'],
])('stored as %s, sent to clients as %s', (stored, wire) => {
  const brand = new Brand('novu')
  expect(brand.toWire(stored)).toBe(wire)
  expect(brand.toStored(wire)).toBe(stored)
})

test.each(['sendgrid', 'svcs-email', 'novusvc', 'my-svc', 'SVC-email', ''])('%j has no brand', (identifier) => {
  expect(new Brand('novu').toWire(identifier)).toBe(identifier)
  expect(new Brand('novu').toStored(identifier)).toBe(identifier)
})

test('without a brand nothing changes', () => {
  const brand = new Brand('svc')
  expect(brand.toWire('svc-email')).toBe('svc-email')
  expect(brand.toStored('svc-email')).toBe('svc-email')
})
