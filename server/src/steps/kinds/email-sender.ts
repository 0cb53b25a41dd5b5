// The sender of an email. It has to be set: mail from an address that does not exist is not delivered.
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'

/** Any address does in the sandbox; the domain shows that it is not real. */
const sandboxSender = 'no-reply@sandbox.invalid'

/** The chosen sender. Without one, a real provider is not called: another integration may have one. */
export function senderOf(
  { provider_id, name }: Pick<IntegrationRow, 'provider_id' | 'name'>,
  chosen: string | undefined,
) {
  if (chosen !== undefined) return chosen
  if (provider_id === 'svc-email') return sandboxSender
  throw new DeliveryError('incomplete_credentials', {
    says: `it has no sender; set the From address of the integration "${name}", or a sender in the step`,
  })
}
