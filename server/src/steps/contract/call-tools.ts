// What a step that asks somebody outside is given to do so.

import type { Logger } from 'pino'
import type { Db } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { LayoutRow } from '../../db/queries/layouts.ts'
import type { Delivery } from '../../providers/delivery.ts'
import type { HttpClient } from '../../providers/http-client.ts'
import type { Translator } from '../../render/translations.ts'

/** Told what became of calls to providers. */
export interface CallMeter {
  /** `sent`, or the code of what went wrong. */
  called(providerId: string, outcome: string, seconds: number): void
}

export interface CircuitKey {
  environmentId: string
  integrationId: string
  /** Where addresses are the subscribers' own, such as chat webhooks: one host that is down says nothing of the others. */
  host: string
}

/** A call that may be made. Whoever got one says how it went, once. */
export interface Pass {
  admitted: true
  succeed(): void
  fail(error: string): void
  /** It went neither well nor badly: the provider answered, or nothing was asked after all. */
  release(): void
}

export interface Refusal {
  admitted: false
  why: 'open' | 'busy'
  retryAt: Date
}

/** How each integration fares: whether it may be called now. */
export interface Circuits {
  enter(key: CircuitKey): Promise<Pass | Refusal>
  /** Whether a call would be let through now, without taking a place. */
  admits(key: CircuitKey): boolean
}

export interface CallTools {
  db: Db
  secrets: Secrets
  http: HttpClient
  delivery: Delivery
  circuits: Circuits
  clock: { now(): Date }
  /** At least 0, less than 1. */
  random: () => number
  log: Logger
  meter?: CallMeter | undefined
  /** The word that names this service on the wire. */
  brand: string
  /** The brand's, such as `svc-signature`. */
  signatureHeader: string
  /** Whether messages keep what they say, beside that they were sent. */
  storesContent: boolean
  /** The layout a step names: null is none, undefined the environment's own. */
  layout(layoutId: string | null | undefined): Promise<LayoutRow | 'none' | 'missing'>
  layoutTranslator(layout: LayoutRow, locale: string | null): Promise<Translator>
  /** Whether e-mails carry the mark of the service. */
  hasBranding: boolean
}
