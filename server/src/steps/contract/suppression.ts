// The suppression list as a step sees it: a gate that every call to a provider passes.
import type { AddressChannel } from '../../db/core/addresses.ts'
import type { Turn } from '../../providers/provider.ts'
import type { Beginning } from './step-run.ts'

export type MessageClass = 'transactional' | 'commercial'

/** Which workflow sends, as far as the list asks. */
export interface Sender {
  environmentId: string
  /** The workflow's identifier. */
  workflowId: string
  category: string | null
  messageClass: MessageClass
  isCritical: boolean
}

/** Who a call is about to reach. */
export interface Recipients {
  channel: AddressChannel
  /** As the provider gets them. */
  addresses: readonly string[]
}

/** An address that nothing may be sent to, and the entry that says so. */
export interface HeldBack {
  address: string
  suppressionId: string
  reason: string
  scope: SuppressionScope
  since: Date
}

export type SuppressionScope =
  | { type: 'all' }
  | { type: 'commercial' }
  | { type: 'workflow'; workflowId: string }
  | { type: 'category'; category: string; except: string[] }

export type Passed<T> = { started: Promise<T> } | { heldBack: HeldBack[] }

export interface SuppressionGate {
  /**
   * Starts the call, unless one of its addresses is held back. There is one order of calls and entries per address: nothing
   * starts after the commit of an entry that holds it back. Rejects if the call must not start now.
   * @param start must hand its request over before it returns, or later before the turn is over; it is called once at most
   * @param beginning is written down before the call starts
   */
  pass<T>(
    sender: Sender,
    recipients: Recipients,
    start: (turn: Turn) => Promise<T>,
    beginning?: Beginning,
  ): Promise<Passed<T>>
}
