// What a step gets to make its calls with. It reaches the database only through the narrow ports below, so that a simulation can
// bring others.

import type { Logger } from 'pino'
import type { Secrets } from '../../db/core/secrets.ts'
import type { ConnectionRow } from '../../db/queries/channel-connections.ts'
import type { EndpointRow } from '../../db/queries/channel-endpoints.ts'
import type { StepLayout } from '../../db/queries/layouts.ts'
import type { Inbox, MessageFilter } from '../../db/queries/message-filter.ts'
import type { PushSubscriptionRow } from '../../db/queries/push-subscriptions.ts'
import type { NewSandboxMessage, SandboxFault } from '../../db/queries/sandbox.ts'
import type { Delivery } from '../../providers/delivery.ts'
import type { HttpClient } from '../../providers/http-client.ts'
import type { Translator } from '../../render/translations.ts'
import type { RunFacts } from './step-run.ts'
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
  refused(key: IntegrationKey, error: { code: string; message: string }): void
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
  enter(key: CircuitKey, isBegun: boolean): Promise<Pass | Refusal>
  /** Whether a call would be admitted now, without taking a slot. */
  admits(key: CircuitKey): boolean
}

/** A subscriber in one set of contexts. */
export interface ChatOwner {
  environmentId: string
  subscriberId: string
  contextKeys: string[]
}

export interface FileRow {
  position: number
  name: string
  mime: string
  content: Buffer
}

/** Where the sandbox keeps messages, and finds out whether to fail. */
export interface SandboxStore {
  /** Takes the channel's next simulated failure, if there is one. */
  takeFault(
    environmentId: string,
    channel: string,
  ): Promise<{ fault: SandboxFault; retry_after_seconds: number | null } | undefined>
  /** A repeated message is ignored. */
  add(message: NewSandboxMessage, now: Date): Promise<void>
}

/** What steps read and write beside their run. */
export interface StepPorts {
  /** The subscriber's endpoints, oldest first, and the connections they use. */
  findChats(owner: ChatOwner): Promise<{ endpoints: EndpointRow[]; connections: ConnectionRow[] }>
  /** @returns whether the subscriber had this device */
  forgetDevice(
    of: Record<'environmentId' | 'subscriberRowId' | 'integrationId', string>,
    token: string,
    now: Date,
  ): Promise<boolean>
  /** The browsers that a subscriber has registered. */
  findBrowsers(of: { environmentId: string; subscriberRowId: string }): Promise<PushSubscriptionRow[]>
  /** @returns whether the subscriber had this browser */
  forgetBrowser(of: { environmentId: string; subscriberRowId: string }, id: string): Promise<boolean>
  countInbox(inbox: Inbox, filter: MessageFilter, most: number): Promise<number>
  /** The files that came with a trigger, in their order. */
  readFiles(event: { environmentId: string; id: string }, most: number): Promise<FileRow[]>
  sandbox: SandboxStore
}

/** Which wait a random number is for. */
export interface ChanceOf {
  run: Pick<RunFacts, 'transactionId' | 'subscriber'> & { event?: Pick<RunFacts['event'], 'startedBy'> }
  stepId: string
  /** The place of the device or chat among the step's. */
  destination: number
  /** The number of the call before the wait; `w1` for the first wait before an open circuit. */
  call: number | `w${number}`
}

export interface CallTools extends StepPorts {
  secrets: Pick<Secrets, 'decrypt' | 'signBriefly'>
  http: Pick<HttpClient, 'exchange' | 'post'>
  delivery: Pick<Delivery, 'send'>
  circuits: Circuits
  gate: SuppressionGate
  health: Witness
  clock: { now(): Date }
  /** A random number for a wait: at least 0, less than 1. */
  chance(of: ChanceOf): number
  log: Logger
  meter?: CallMeter | undefined
  /** The brand's word on the wire. */
  brand: string
  /** With the brand's word, such as `svc-signature`. */
  signatureHeader: string
  /** The public address of the service, for links in messages. */
  publicUrl: string
  /** Whether the service receives mail. */
  receivesMail: boolean
  /** Whether messages keep their content. */
  storesContent: boolean
  /** The layout a step names: null is none, undefined the environment's default. */
  layout(
    layoutId: string | null | undefined,
    workflow: { id: string; version: number },
  ): Promise<StepLayout | 'none' | 'missing'>
  layoutTranslator(layout: StepLayout, locale: string | null): Promise<Translator>
  /** Whether emails carry the service's branding. */
  hasBranding: boolean
}
