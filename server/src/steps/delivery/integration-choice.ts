// The integrations that a step may deliver through, and what the trigger adds for each provider.

import { isSandbox, openSecrets } from '../../db/core/integration-facts.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import { findProvider, secretCredentials } from '../../providers/catalog.ts'
import type { Integration } from '../../providers/delivery.ts'
import { DeliveryError } from '../../providers/delivery-error.ts'
import { type Data, isPlain, mergeSources } from '../../providers/provider-data.ts'
import { type Detail, detail, type Fail, providerSelected } from '../contract/outcome.ts'
import type { StepRun } from '../contract/step-run.ts'
import { isMirrored, sandboxAmong } from './mirrored.ts'
import { passesFilters, type StepFilter } from './step-filter.ts'

/**
 * For email and SMS, the integrations that could deliver the message, best first. If the trigger names one, only that.
 * Otherwise those whose conditions the tenant meets, then the primary one, then all without conditions. Without any of the
 * first two, none: nobody has chosen an integration for the channel. The sandbox never takes over for another integration, nor
 * another for the sandbox.
 */
export function integrationsFor({ run }: StepRun, channel: 'email' | 'sms'): IntegrationRow[] {
  if (isMirrored({ run })) return sandboxAmong(run.environment.integrations, channel)
  const ofChannel = run.environment.integrations
    .filter((row) => row.channel === channel && row.kind === 'delivery')
    .sort((a, b) => b.priority - a.priority || b.created_at.getTime() - a.created_at.getTime())
  const identifier = askedIdentifier(run.event.overrides, channel)
  if (identifier !== undefined) return ofChannel.filter((row) => row.identifier === identifier)
  const { tenant } = run.event
  const fitting = tenant
    ? ofChannel.filter(
        ({ conditions }) => conditions.length > 0 && passesFilters(conditions as StepFilter[], { tenant }),
      )
    : []
  const forAll = ofChannel.filter(({ conditions }) => conditions.length === 0)
  const primary = ofChannel.filter(({ is_primary }) => is_primary)
  const [first, ...others] = new Set([...fitting, ...primary, ...forAll])
  if (!first || fitting.length + primary.length === 0) return []
  // The sandbox accepts everything: if it took over for a real integration, a wrong key would look like success.
  return [first, ...others.filter((other) => isSandbox(other) === isSandbox(first))]
}

export const askedIdentifier = (overrides: Data, channel: string): string | undefined =>
  textIn(memberOf(overrides[channel], 'integrationIdentifier'))

/** For other channels, where an address belongs to one integration: that one, if active. */
export const integrationById = ({ run }: StepRun, channel: string, id: string): IntegrationRow | undefined =>
  run.environment.integrations.find((row) => row.channel === channel && row.id === id)

export function noIntegration(of: StepRun, channel: string): Fail {
  const integrationIdentifier = askedIdentifier(of.run.event.overrides, channel)
  const raw = integrationIdentifier === undefined ? undefined : { integrationIdentifier }
  return {
    kind: 'fail',
    reason: 'no_integration',
    error: `There is no active ${channel} integration`,
    stops: false,
    details: [detail('no_integration', raw)],
  }
}

export function selected(row: IntegrationRow, { run }: StepRun, brand: string): Detail {
  const { provider_id: providerId, identifier, name, id } = row
  const raw = { providerId: branded(providerId, brand), identifier, name, _environmentId: run.environment.id, _id: id }
  return providerSelected(findProvider(providerId)?.name ?? name, raw, providerId)
}

const opened = new WeakMap<IntegrationRow, Integration>()

/** With decrypted credentials: once per version of the row, not per message. */
export function openIntegration(row: IntegrationRow, secrets: Pick<Secrets, 'decrypt'>): Integration {
  const known = opened.get(row)
  if (known) return known
  const made = {
    id: row.id,
    credentials: openSecrets(row.credentials, secretCredentials, secrets),
    configurations: row.configurations,
  }
  opened.set(row, made)
  return made
}

/** Any address does in the sandbox; the domain shows that it is not real. */
const sandboxSender = 'no-reply@sandbox.invalid'

/**
 * The sender of an email. Mail from an address that does not exist is not delivered, so without a chosen one a real provider is
 * not called: another integration may have one.
 */
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

/** What the step's code, the trigger, and the trigger for this step add to one provider's request; later ones win. */
export function providerDataFor({ run, step, providerData }: StepRun, providerId: string, brand: string): Data {
  const { overrides } = run.event
  return mergeSources(
    byProvider(providerData, providerId, brand),
    byProvider(overrides.providers, providerId, brand),
    byProvider(memberOf(stepOverrides(overrides, step), 'providers'), providerId, brand),
  )
}

/** `overrides.email`, overlaid with what is under the provider's own name: the older form. */
export function channelOverrides({ run }: StepRun, channel: string, providerId: string, brand: string): Data {
  const { overrides } = run.event
  return { ...objectIn(overrides[channel]), ...byProvider(overrides, providerId, brand) }
}

/** By the step's own id or its internal one. */
export const stepOverrides = (overrides: Data, { stepId, _id }: StepRun['step']): Data => ({
  ...objectIn(memberOf(overrides.steps, _id)),
  ...objectIn(memberOf(overrides.steps, stepId)),
})

/** Callers know the service's own providers by the brand's name. */
function byProvider(data: unknown, providerId: string, brand: string): Data {
  return objectIn(memberOf(data, branded(providerId, brand)) ?? memberOf(data, providerId))
}

export const branded = (providerId: string, brand: string) => providerId.replace(/^svc(?=-|$)/, brand)

export const memberOf = (value: unknown, name: string): unknown =>
  isPlain(value) && Object.hasOwn(value, name) ? value[name] : undefined
export const objectIn = (value: unknown): Data => (isPlain(value) ? value : {})
export const textIn = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
/** One string or several. */
export const textsIn = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as unknown[]) : [value]).flatMap((each) => textIn(each) ?? [])
