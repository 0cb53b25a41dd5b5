// A message as nodemailer wants it, for those who send whole mails: SMTP servers and SES.
import type Mail from 'nodemailer/lib/mailer/index.js'
import type { EmailMessage, Tools } from '../provider.ts'
import { domainOf, some } from './mail.ts'

export function mailOf(message: EmailMessage, date: Date): Mail.Options {
  const { id, from, senderName, to, cc, bcc, replyTo, subject, html, text, headers, attachments } = message
  const isHidden = to.length === 0 && cc.length + bcc.length > 0
  return {
    // The same in every attempt, so that whoever gets it twice can tell.
    messageId: `<${id}@${domainOf(from)}>`,
    date,
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

/** The mail as it travels, and to whom. Who gets a blind copy stands nowhere in it. */
export async function composed(
  mail: Mail.Options,
  { error }: Pick<Tools, 'error'>,
): Promise<{ bytes: Buffer; recipients: string[] }> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer/index.js')
  try {
    const node = new MailComposer({ ...mail, disableFileAccess: true, disableUrlAccess: true }).compile()
    return { bytes: await node.build(), recipients: node.getEnvelope().to }
  } catch (reason) {
    // Only what a caller added can be unfit, such as a file of this machine.
    throw error('message_refused', { says: (reason as Error).message })
  }
}
