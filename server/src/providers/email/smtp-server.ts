// How a mail server is reached, and how mail is signed before it goes there.

export interface SmtpServer {
  host: string
  port: string
  auth?: { user: string; pass: string }
  /** TLS from the start; otherwise STARTTLS as soon as the server offers it. */
  secure?: boolean
  requireTls?: boolean
  ignoreTls?: boolean
  tlsOptions?: Record<string, unknown> | undefined
  dkim?: { domainName: string; keySelector: string; privateKey: string }
  /** For servers known to allow fewer than most. */
  mostConnections?: number
}
