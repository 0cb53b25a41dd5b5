// The consent settings of an environment: what is stored is what was changed; the rest is as shown here.
import type { Tx } from '../core/database.ts'
import type { ConsentChoices } from '../core/tables.ts'

export interface ConsentSettings {
  brand: {
    name: string | null
    logoUrl: string | null
    primaryColor: string | null
    postalAddress: string | null
    /** Where links in messages lead; null: the public address of the service. */
    linkBaseUrl: string | null
  }
  /** Whether commercial mail without a link to unsubscribe gets a footer with one. */
  footer: boolean
  /** So many on different messages within so many days hold the address back for a while. */
  softBounces: { count: number; days: number; suppressDays: number }
  sms: {
    /** Whether words such as STOP are obeyed; otherwise the provider does that. */
    keywords: boolean
    /** What a STOP refuses. */
    scope: 'all' | 'commercial'
    /** Null: the built-in sentence. */
    stopReply: string | null
    startReply: string | null
    helpReply: string | null
    extraStopWords: string[]
  }
  brakes: { enabled: boolean; bouncePercent: number; complaintPercent: number; minimum: number; hours: number }
}

export const usualConsent: ConsentSettings = {
  brand: { name: null, logoUrl: null, primaryColor: null, postalAddress: null, linkBaseUrl: null },
  footer: true,
  softBounces: { count: 5, days: 14, suppressDays: 30 },
  sms: { keywords: true, scope: 'all', stopReply: null, startReply: null, helpReply: null, extraStopWords: [] },
  brakes: { enabled: true, bouncePercent: 5, complaintPercent: 0.3, minimum: 200, hours: 24 },
}

/** As they are now, for what must not act on older ones. */
export async function readConsent(tx: Tx, environmentId: string): Promise<ConsentSettings> {
  const row = await tx.selectFrom('environments').select('consent').where('id', '=', environmentId).executeTakeFirst()
  return consentOf(row?.consent)
}

export const consentOf = (chosen: ConsentChoices | null | undefined): ConsentSettings => ({
  brand: { ...usualConsent.brand, ...chosen?.brand },
  footer: chosen?.footer ?? usualConsent.footer,
  softBounces: { ...usualConsent.softBounces, ...chosen?.softBounces },
  sms: { ...usualConsent.sms, ...chosen?.sms },
  brakes: { ...usualConsent.brakes, ...chosen?.brakes },
})
