// The links and headers by which people refuse commercial messages.
import { type AddressChannel, comparedAddress, hashOfAddress } from '../../db/core/addresses.ts'
import { type Link, type LinkPurpose, makeLink, makeMailToken, noAddress } from '../../db/core/link-tokens.ts'
import type { IntegrationRow } from '../../db/queries/integrations.ts'
import type { Situation } from '../../render/liquid.ts'
import type { CallTools } from '../contract/call-tools.ts'
import { type RunFacts, type StepRun, situationOf } from '../contract/step-run.ts'

export const isCommercial = ({ workflow }: Pick<RunFacts, 'workflow'>): boolean =>
  workflow.message_class === 'commercial'

/** A run keeps the word of its beginning; people may refuse it from the moment its workflow is commercial. */
export const isStillCritical = (run: Pick<RunFacts, 'workflow' | 'critical'>): boolean =>
  run.critical && !isCommercial(run)

/** Where links in messages of this environment lead. */
export const linkBaseOf = ({ run }: StepRun, { publicUrl }: Pick<CallTools, 'publicUrl'>): string =>
  (run.environment.consent.brand.linkBaseUrl ?? publicUrl).replace(/\/+$/, '')

export interface Addressed {
  channel: AddressChannel
  messageId: string
  /** Undefined while nobody can be reached, or where one text goes to several. */
  address: string | undefined
}

type LinkTools = Pick<CallTools, 'publicUrl' | 'secrets' | 'clock'>

/** How long the pages that show something personal stay open. */
export const pageDays = 180
const dayMs = 86_400_000

/** What templates can name. The same address in the text and in the header. */
export const linkNames = {
  unsubscribe_url: 'u',
  preferences_url: 'p',
  view_in_browser_url: 'v',
} as const satisfies Record<string, LinkPurpose>
export type LinkName = keyof typeof linkNames

function linkOf(
  of: StepRun,
  tools: LinkTools,
  { channel, messageId, address }: Addressed,
  purpose: LinkPurpose,
  leadsTo?: string,
) {
  const { run } = of
  const link: Link = {
    purpose,
    environmentId: run.environment.id,
    subscriberRowId: run.subscriber.id,
    messageId,
    workflowId: run.workflow.id,
    category: purpose === 'u' ? (run.workflow.consent_category ?? null) : null,
    channel,
    hasContexts: run.contextKeys.length > 0,
    addressHash: address === undefined ? noAddress : hashOfAddress(comparedAddress(channel, address)),
    expiresAt: purpose === 'p' || purpose === 'v' ? new Date(tools.clock.now().getTime() + pageDays * dayMs) : null,
    contextIds: [],
  }
  const token = makeLink(tools.secrets, link, leadsTo)
  return `${linkBaseOf(of, tools)}/l/${purpose}/${token}`
}

export const unsubscribeUrl = (of: StepRun, tools: LinkTools, addressed: Addressed): string =>
  linkOf(of, tools, addressed, 'u')
export const preferencesUrl = (of: StepRun, tools: LinkTools, addressed: Addressed): string =>
  linkOf(of, tools, addressed, 'p')

/** Counts a click, and leads on. */
export const clickUrl = (of: StepRun, tools: LinkTools, addressed: Addressed, url: string): string =>
  `${linkOf(of, tools, addressed, 'c', url)}?u=${encodeURIComponent(url)}`
/** The image that tells of an open. */
export const openUrl = (of: StepRun, tools: LinkTools, addressed: Addressed): string =>
  `${linkOf(of, tools, addressed, 'o')}.gif`

/** What templates read, with these links; each is signed only where a template names it. */
export function linkedSituation(
  of: StepRun,
  tools: LinkTools,
  addressed: Addressed,
  names: readonly LinkName[],
): Situation {
  const { data, now, budget } = situationOf(of)
  const made: Partial<Record<LinkName, string>> = {}
  const isLink = (name: string): name is LinkName => names.some((each) => each === name)
  return {
    data,
    now,
    budget,
    made(name) {
      if (!isLink(name)) return undefined
      made[name] ??= linkOf(of, tools, addressed, linkNames[name])
      return made[name]
    },
  }
}

/** By which a mail that comes back is recognized. */
export const idHeader = 'X-Belfry-Id'

export const idHeaders = (
  { run }: StepRun,
  { secrets }: Pick<CallTools, 'secrets'>,
  messageId: string,
): Record<string, string> => ({
  [idHeader]: makeMailToken(secrets, 'id', { environmentId: run.environment.id, messageId }),
})

/** The address that unsubscribes whoever writes to it, where mail is received. */
export function unsubscribeMailto(
  { run }: StepRun,
  { secrets, receivesMail }: Pick<CallTools, 'secrets' | 'receivesMail'>,
  messageId: string,
): string | undefined {
  const { inboundParseDomain } = run.environment.dns
  if (!receivesMail || !inboundParseDomain) return undefined
  const token = makeMailToken(secrets, 'unsubscribe', { environmentId: run.environment.id, messageId })
  return `mailto:unsubscribe+${token}@${inboundParseDomain}?subject=unsubscribe`
}

/** The envelope sender of a mail over SMTP, where its integration wants reports from mail servers to come to us. */
export function bounceAddressOf(
  { run }: StepRun,
  { secrets, receivesMail }: Pick<CallTools, 'secrets' | 'receivesMail'>,
  { configurations }: Pick<IntegrationRow, 'configurations'>,
  messageId: string,
): string | undefined {
  const { inboundParseDomain } = run.environment.dns
  if (configurations.bounceAddress !== true || !receivesMail || !inboundParseDomain) return undefined
  const token = makeMailToken(secrets, 'bounce', { environmentId: run.environment.id, messageId })
  return `bounce+${token}@${inboundParseDomain}`
}

const headerName = 'List-Unsubscribe'
const postName = `${headerName}-Post`
const isNamed = (header: string, name: string) => header.toLowerCase() === name.toLowerCase()

/** The given headers with those of RFC 8058. A caller who names the first replaces both; each stands once. */
export function withUnsubscribeHeaders(
  { url, mailto }: { url: string; mailto: string | undefined },
  given: Record<string, string>,
): Record<string, string> {
  if (Object.keys(given).some((name) => isNamed(name, headerName))) return given
  return {
    ...Object.fromEntries(Object.entries(given).filter(([name]) => !isNamed(name, postName))),
    [headerName]: mailto === undefined ? `<${url}>` : `<${url}>, <${mailto}>`,
    ...(isOneClick(url) ? { [postName]: 'List-Unsubscribe=One-Click' } : {}),
  }
}

/** Mail programs post to https addresses only. */
export const isOneClick = (url: string): boolean => url.startsWith('https:')
