// What a step gets to make its calls with.

import type { Logger } from 'pino'
import type { Db } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { LayoutRow } from '../../db/queries/layouts.ts'
import type { Delivery } from '../../providers/delivery.ts'
import type { HttpClient } from '../../providers/http-client.ts'
import type { Translator } from '../../render/translations.ts'
import type { SuppressionGate } from './suppression.ts'

/** Metrics of provider calls. */
export interface CallMeter {
  /** `sent`, or the error code. */
  called(providerId: string, outcome: string, seconds: number): void
  /** A message went on to another integration, because of this error of its provider. */
  failedOver(providerId: string, error: string): void
}

export interface IntegrationKey {
  environmentId: string
  integrationId: string
}

/** Keeps what is known about integrations from their calls. */
export interface Witness {
  sent(key: IntegrationKey): void
  refused(key: IntegrationKey, error: string): void
}

export interface CircuitKey extends IntegrationKey {
  /** For addresses that subscribers bring, such as chat webhooks: one host that is down says nothing about the others. */
  host: string
}

/** Permission for one call. Its holder reports the result, once. */
export interface Pass {
  admitted: true
  succeed(): void
  fail(error: string): void
  /** Neither success nor failure: the provider answered, or no call was made after all. */
  release(): void
}

export interface Refusal {
  admitted: false
  why: 'open' | 'busy'
  retryAt: Date
}

/** The circuit breaker: whether an integration may be called now. */
export interface Circuits {
  enter(key: CircuitKey): Promise<Pass | Refusal>
  /** Whether a call would be admitted now, without taking a slot. */
  admits(key: CircuitKey): boolean
}

export interface CallTools {
  db: Db
  secrets: Secrets
  http: HttpClient
  delivery: Delivery
  circuits: Circuits
  gate: SuppressionGate
  health: Witness
  clock: { now(): Date }
  /** At least 0, less than 1. */
  random: () => number
  log: Logger
  meter?: CallMeter | undefined
  /** The brand's word on the wire. */
  brand: string
  /** With the brand's word, such as `svc-signature`. */
  signatureHeader: string
  /** The public address of the service, for links in messages. */
  publicUrl: string
  /** Whether messages keep their content. */
  storesContent: boolean
  /** The layout a step names: null is none, undefined the environment's default. */
  layout(layoutId: string | null | undefined): Promise<LayoutRow | 'none' | 'missing'>
  layoutTranslator(layout: LayoutRow, locale: string | null): Promise<Translator>
  /** Whether emails carry the service's branding. */
  hasBranding: boolean
}
