// What a step that asks somebody outside is given to do so.

import type { Db } from '../db/database.ts'
import type { LayoutRow } from '../db/layouts.ts'
import type { Secrets } from '../db/secrets.ts'
import type { Delivery } from '../providers/delivery.ts'
import type { HttpClient } from '../providers/http-client.ts'
import type { Translator } from '../render/translations.ts'

export interface CallTools {
  db: Db
  secrets: Secrets
  http: HttpClient
  delivery: Delivery
  /** The brand's, such as `svc-signature`. */
  signatureHeader: string
  /** The layout a step names: null is none, undefined the environment's own. */
  layout(layoutId: string | null | undefined): Promise<LayoutRow | 'none' | 'missing'>
  layoutTranslator(layout: LayoutRow, locale: string | null): Promise<Translator>
  /** Whether e-mails carry the mark of the service. */
  hasBranding: boolean
}
