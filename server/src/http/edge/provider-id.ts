// Provider ids in requests: a closed set. A service-native id may use the brand's word or the neutral one.
import type { Config } from '../../config.ts'
import { alwaysOffered, chatAndPushIds, providerIds } from '../../providers/catalog.ts'
import type { Brand } from './brand.ts'
import { Enum } from './schema.ts'

/** Which providers are offered, and under which brand. */
export interface Offer {
  brand: Brand
  config: Pick<Config, 'extraProviders'>
}

/** Any provider. Pass the value through `brand.toStored`. */
export const ProviderId = ({ brand, config }: Offer) =>
  wireEnum(brand, [...providerIds, ...alwaysOffered, ...config.extraProviders])

/** Providers for which subscribers have credentials. Pass the value through `brand.toStored`. */
export const ChatOrPushProviderId = ({ brand, config }: Offer) =>
  wireEnum(brand, [...chatAndPushIds, ...config.extraProviders])

function wireEnum(brand: Brand, ids: readonly string[]) {
  const wire = ids.map((id) => brand.toWire(id))
  const sentence = `must be one of the following values: ${wire.join(', ')}`
  return Enum<string>([...new Set([...wire, ...ids])], { texts: { enum: sentence } })
}
