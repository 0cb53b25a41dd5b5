// The settings of an environment in front of another service, as requests and answers have them.
import { Type } from 'typebox'
import type { ShadowSettings } from '../../db/core/tables.ts'
import { generalError } from './validation.ts'

const longestUrl = 2_048
const longestKey = 1_024
/** A day. */
const mostMinutes = 1_440
export const usualMinutes = 10

export const UpstreamUrl = Type.String({
  ...{ minLength: 1, maxLength: longestUrl },
  description: 'The address of the service behind it, such as `https://api.novu.co`; requests keep their path',
})
export const UpstreamKey = Type.String({
  ...{ minLength: 1, maxLength: longestKey },
  description: 'Its API key there. It is kept encrypted and never shown',
})
export const SettleMinutes = Type.Integer({
  ...{ minimum: 0, maximum: mostMinutes },
  description: `How long after a trigger both sides are compared at the latest. Default: ${usualMinutes}`,
})

export const Shadow = Type.Object(
  {
    upstreamUrl: Type.String(),
    settleMinutes: Type.Integer(),
    live: Type.Array(Type.String(), { description: 'The workflows that are delivered here, and not passed on' }),
  },
  { description: 'Only where it stands in front of another service' },
)

/** Without anything that is not part of an address. */
export function readUpstreamUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw generalError(['upstreamUrl must be a URL with http or https'])
  if (url.username !== '' || url.password !== '') throw generalError(['upstreamUrl must not contain a password'])
  if (url.search !== '' || url.hash !== '') throw generalError(['upstreamUrl must have no query'])
  return url.href.replace(/\/+$/, '')
}

export const shownShadow = ({ upstreamUrl, settleMinutes, live }: ShadowSettings) => ({
  upstreamUrl,
  settleMinutes,
  live,
})
