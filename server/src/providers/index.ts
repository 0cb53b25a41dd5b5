// Everybody who delivers, one line each.
import { emailjs } from './email/emailjs.ts'
import { nodemailer } from './email/nodemailer.ts'
import { outlook365 } from './email/outlook365.ts'
import { postmark } from './email/postmark.ts'
import type { Provider } from './provider.ts'
import { infobipSms } from './sms/infobip-sms.ts'
import { messagebird } from './sms/messagebird.ts'
import { nexmo } from './sms/nexmo.ts'
import { plivo } from './sms/plivo.ts'
import { telnyx } from './sms/telnyx.ts'
import { twilio } from './sms/twilio.ts'

export const deliveryProviders: readonly Provider[] = [
  // email
  emailjs,
  nodemailer,
  outlook365,
  postmark,
  // sms
  infobipSms,
  messagebird,
  nexmo,
  plivo,
  telnyx,
  twilio,
]

const byId = new Map(deliveryProviders.map((provider) => [provider.id, provider]))

/** By its stored id. */
export const deliveryProvider = (id: string): Provider | undefined => byId.get(id)
