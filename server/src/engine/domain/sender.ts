// Whose mail it is, and how it leaves: what the checks of a domain go by.
import { domainToASCII } from 'node:url'
import { getDomain } from 'tldts'
import type { SmtpServer } from '../../providers/email/smtp-server.ts'
import type { HttpClient } from '../../providers/http-client.ts'

export interface Sender {
  /** In ASCII. */
  domain: string
  /** That somebody asks for; else the one we sign with. */
  selector: string | undefined
  providerId: string
  /** Undefined for providers over HTTP. */
  smtp: SmtpServer | undefined
  /** Where mail servers report to, if not to the From address. */
  envelopeDomain: string | undefined
  takesHeaders: boolean
  /** What links in its mail begin with. */
  linkBase: string
  /** Makes connections that the address guard allows. */
  http: Pick<HttpClient, 'connect' | 'authorities' | 'mayCall'>
}

/** Undefined if it cannot be one. */
export function readDomain(text: string): string | undefined {
  const ascii = domainToASCII(text.trim().replace(/\.$/, ''))
  const isDomain = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)+$/.test(ascii)
  return isDomain && ascii.length <= 253 && !/\.\d+$/.test(ascii) ? ascii : undefined
}

/** Of an address such as `Acme <news@acme.example>`. */
export function domainOfAddress(address: string): string | undefined {
  const at = address.lastIndexOf('@')
  return at === -1 ? undefined : readDomain(address.slice(at + 1).replace('>', ''))
}

/** `acme.co.uk` of `news.acme.co.uk`, by the list of public suffixes. */
export const organizationalDomain = (domain: string): string =>
  getDomain(domain, { allowPrivateDomains: true }) ?? domain
