// The links and headers by which people refuse commercial messages.
import { type AddressChannel, comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import { makeLink } from '../../db/core/link-tokens.ts'
import type { Situation } from '../../render/liquid.ts'
import type { CallTools } from '../contract/call-tools.ts'
import { type RunFacts, type StepRun, situationOf } from '../contract/step-run.ts'

export const isCommercial = ({ workflow }: Pick<RunFacts, 'workflow'>): boolean =>
  workflow.message_class === 'commercial'

/** Where links in messages of this environment lead. */
export const linkBaseOf = ({ run }: StepRun, { publicUrl }: Pick<CallTools, 'publicUrl'>): string =>
  (run.environment.consent.brand.linkBaseUrl ?? publicUrl).replace(/\/+$/, '')

interface Addressed {
  channel: AddressChannel
  messageId: string
  /** Undefined while nobody can be reached. */
  address: string | undefined
}

/** The same in the text and in the header. */
export function unsubscribeUrl(
  of: StepRun,
  tools: Pick<CallTools, 'publicUrl' | 'secrets'>,
  { channel, messageId, address = '' }: Addressed,
): string {
  const { run } = of
  const token = makeLink(tools.secrets, {
    purpose: 'u',
    environmentId: run.environment.id,
    subscriberRowId: run.subscriber.id,
    messageId,
    workflowId: run.workflow.id,
    category: run.workflow.consent_category ?? null,
    channel,
    hasContexts: run.contextKeys.length > 0,
    addressHash: hashOfAddress(comparedAddress(channel, address)),
  })
  return `${linkBaseOf(of, tools)}/l/u/${token}`
}

/** What templates read, with `unsubscribe_url`; signed only where a template names it. */
export function linkedSituation(
  of: StepRun,
  tools: Pick<CallTools, 'publicUrl' | 'secrets'>,
  addressed: Addressed,
): Situation {
  const usual = situationOf(of)
  let url: string | undefined
  const data = Object.defineProperty({ ...usual.data }, 'unsubscribe_url', {
    enumerable: true,
    get() {
      url ??= unsubscribeUrl(of, tools, addressed)
      return url
    },
  })
  return { ...usual, data }
}

const headerName = 'List-Unsubscribe'

/** RFC 8058. A caller who names the header replaces both; Belfry adds neither. */
export function unsubscribeHeaders(url: string, given: Record<string, string>): Record<string, string> {
  if (Object.keys(given).some((name) => name.toLowerCase() === headerName.toLowerCase())) return {}
  return {
    [headerName]: `<${url}>`,
    ...(isOneClick(url) ? { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } : {}),
  }
}

/** Mail programs post to https addresses only. */
export const isOneClick = (url: string): boolean => url.startsWith('https:')
