import { emailProvider, flag, mailSender, optional, secret, secretObject, text } from '../provider.ts'
import { checkServer, sendMail } from './smtp.ts'

export const nodemailer = emailProvider({
  id: 'nodemailer',
  name: 'Custom SMTP',
  docs: 'https://nodemailer.com/smtp',
  credentials: {
    host: text('Host'),
    port: text('Port', '465 for a connection encrypted from the start, 587 for STARTTLS'),
    user: optional(text('User')),
    password: optional(secret('Password')),
    ...mailSender,
    secure: flag('Encrypted from the start', 'Otherwise it is encrypted as soon as the server offers it (STARTTLS)'),
    requireTls: flag('Require encryption'),
    ignoreTls: flag('Never encrypt'),
    tlsOptions: optional(secretObject('TLS options', 'Such as {"rejectUnauthorized": false}')),
    domain: optional(text('DKIM domain')),
    accountSid: optional(text('DKIM key selector')),
    secretKey: optional(secret('DKIM private key')),
  },

  send: (message, credentials, tools) => sendMail(message, serverOf(credentials), tools),

  check: (credentials, tools) => checkServer(serverOf(credentials), tools),

  smtp: (credentials) => serverOf(credentials),
})

interface Given {
  host: string
  port: string
  user: string | undefined
  password: string | undefined
  secure: boolean
  requireTls: boolean
  ignoreTls: boolean
  tlsOptions: Record<string, unknown> | undefined
  domain: string | undefined
  accountSid: string | undefined
  secretKey: string | undefined
}

function serverOf({ user, password, domain, accountSid, secretKey, ...server }: Given) {
  return {
    ...server,
    ...(user && password ? { auth: { user, pass: password } } : {}),
    ...(domain && accountSid && secretKey
      ? { dkim: { domainName: domain, keySelector: accountSid, privateKey: secretKey } }
      : {}),
  }
}
