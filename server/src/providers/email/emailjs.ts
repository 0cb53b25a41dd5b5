import { emailProvider, flag, mailSender, optional, secret, text } from '../provider.ts'
import { checkServer, sendMail } from './smtp.ts'
import type { SmtpServer } from './smtp-server.ts'

export const emailjs = emailProvider({
  id: 'emailjs',
  name: 'EmailJS',
  docs: 'https://github.com/eleith/emailjs',
  // The SMTP library, not the service of the same name. The two keys exist only for integrations that already have them.
  credentials: {
    host: text('Host'),
    port: text('Port'),
    user: optional(text('User')),
    password: optional(secret('Password')),
    secure: flag('Encrypted from the start'),
    ...mailSender,
    apiKey: optional(secret('API key')),
    secretKey: optional(secret('Secret key')),
  },

  send: (message, credentials, tools) => sendMail(message, serverOf(credentials), tools),

  check: (credentials, tools) => checkServer(serverOf(credentials), tools),

  smtp: (credentials) => serverOf(credentials),
})

interface Given extends Pick<SmtpServer, 'host' | 'port'> {
  secure: boolean
  user: string | undefined
  password: string | undefined
}

const serverOf = ({ host, port, secure, user, password }: Given): SmtpServer => ({
  ...{ host, port, secure },
  ...(user && password ? { auth: { user, pass: password } } : {}),
})
