// Whom an e-mail is from. Somebody has to say so: mail from an address that is nobody's reaches nobody.
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'

/** In the sandbox it does not matter; and the domain says that it is none. */
const sandboxSender = 'no-reply@sandbox.invalid'

/** The sender that was chosen. Without one, a real provider is not asked: another integration may have one. */
export function senderOf(
  { provider_id, name }: Pick<IntegrationRow, 'provider_id' | 'name'>,
  chosen: string | undefined,
) {
  if (chosen !== undefined) return chosen
  if (provider_id === 'svc-email') return sandboxSender
  throw new DeliveryError('incomplete_credentials', {
    says: `there is no sender; set the From address of the integration "${name}", or a sender in the step`,
  })
}
