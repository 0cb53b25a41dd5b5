import { emailProvider, mailSender, secret, text } from '../provider.ts'
import { checkServer, sendMail } from './smtp.ts'

export const outlook365 = emailProvider({
  id: 'outlook365',
  name: 'Microsoft Outlook 365',
  docs: 'https://learn.microsoft.com/exchange/mail-flow-best-practices/how-to-set-up-a-multifunction-device-or-application-to-send-email-using-microsoft-365-or-office-365',
  // The sender's address is the user name.
  credentials: { ...mailSender, from: text('From address'), password: secret('Password') },

  send: (message, credentials, tools) => sendMail(message, serverOf(credentials), tools),

  check: (credentials, tools) => checkServer(serverOf(credentials), tools),

  smtp: (credentials) => serverOf(credentials),
})

const serverOf = ({ from, password }: { from: string; password: string }) => ({
  host: 'smtp.office365.com',
  port: '587',
  requireTls: true,
  // The server's limit per user.
  mostConnections: 3,
  auth: { user: from, pass: password },
})
