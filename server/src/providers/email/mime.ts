// A message as nodemailer wants it, for those who send whole mails: SMTP servers and SES.
import type Mail from 'nodemailer/lib/mailer/index.js'
import type { EmailMessage } from '../provider.ts'
import { domainOf, some } from './mail.ts'

export function mailOf(message: EmailMessage): Mail.Options {
  const { id, from, senderName, to, cc, bcc, replyTo, subject, html, text, headers, attachments } = message
  const isHidden = to.length === 0 && cc.length + bcc.length > 0
  return {
    // The same in every attempt, so that whoever gets it twice can tell.
    messageId: `<${id}@${domainOf(from)}>`,
    from: senderName ? { name: senderName, address: from } : from,
    to: isHidden ? 'undisclosed-recipients:;' : to,
    ...(some(cc) ? { cc } : {}),
    ...(some(bcc) ? { bcc } : {}),
    ...(replyTo === undefined ? {} : { replyTo }),
    subject,
    html,
    ...(text === undefined ? {} : { text }),
    headers,
    attachments: attachments.map(({ file, mime, name, cid, disposition }) => ({
      filename: name,
      content: Buffer.from(file),
      contentType: mime,
      ...(cid === undefined ? {} : { cid }),
      contentDisposition: disposition ?? (cid === undefined ? 'attachment' : 'inline'),
    })),
  }
}
