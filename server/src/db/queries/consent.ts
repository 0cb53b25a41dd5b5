// The consent settings of an environment: what is stored is what was changed; the rest is as shown here.
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
}

export const usualConsent: ConsentSettings = {
  brand: { name: null, logoUrl: null, primaryColor: null, postalAddress: null, linkBaseUrl: null },
  footer: true,
}

export const consentOf = (chosen: ConsentChoices | null | undefined): ConsentSettings => ({
  brand: { ...usualConsent.brand, ...chosen?.brand },
  footer: chosen?.footer ?? usualConsent.footer,
})
