// Everybody who delivers, one line each.
import { emailjs } from './email/emailjs.ts'
import { nodemailer } from './email/nodemailer.ts'
import { outlook365 } from './email/outlook365.ts'
import { postmark } from './email/postmark.ts'
import type { Provider } from './provider.ts'
import { bandwidth } from './sms/bandwidth.ts'
import { clickatell } from './sms/clickatell.ts'
import { clicksend } from './sms/clicksend.ts'
import { firetext } from './sms/firetext.ts'
import { gupshup } from './sms/gupshup.ts'
import { infobipSms } from './sms/infobip-sms.ts'
import { messagebird } from './sms/messagebird.ts'
import { nexmo } from './sms/nexmo.ts'
import { plivo } from './sms/plivo.ts'
import { simpletexting } from './sms/simpletexting.ts'
import { sms77 } from './sms/sms77.ts'
import { telnyx } from './sms/telnyx.ts'
import { termii } from './sms/termii.ts'
import { twilio } from './sms/twilio.ts'

export const deliveryProviders: readonly Provider[] = [
  // email
  emailjs,
  nodemailer,
  outlook365,
  postmark,
  // sms
  bandwidth,
  clickatell,
  clicksend,
  firetext,
  gupshup,
  infobipSms,
  messagebird,
  nexmo,
  plivo,
  simpletexting,
  sms77,
  telnyx,
  termii,
  twilio,
]

const byId = new Map(deliveryProviders.map((provider) => [provider.id, provider]))

/** By its stored id. */
export const deliveryProvider = (id: string): Provider | undefined => byId.get(id)
