import { expect, test } from 'vitest'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { StepRun } from '../contract/step-run.ts'
import { integrationsFor } from './integration-choice.ts'

const integration = (name: string, more: Partial<IntegrationRow> = {}) =>
  ({
    ...{ identifier: name, channel: 'sms', kind: 'delivery', provider_id: 'infobip-sms', conditions: [] },
    ...{ is_primary: false, priority: 0, created_at: new Date('2026-05-01T10:00:00Z'), ...more },
  }) as IntegrationRow

const chosen = (...integrations: IntegrationRow[]) => {
  const run = { environment: { integrations }, event: { overrides: {}, tenant: null } }
  return integrationsFor({ run } as unknown as StepRun, 'sms').map(({ identifier }) => identifier)
}

test('the primary one is asked first, then the others by rank, and among equals the newest', () => {
  expect(
    chosen(
      integration('low', { priority: 1 }),
      integration('older', { priority: 2 }),
      integration('newer', { priority: 2, created_at: new Date('2026-05-02T10:00:00Z') }),
      integration('high', { priority: 3 }),
      integration('primary', { is_primary: true }),
    ),
  ).toEqual(['primary', 'high', 'newer', 'older', 'low'])
})
