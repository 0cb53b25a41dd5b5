// Where mail for the domain arrives, whether the mail server that sends has a name and encrypts, and what mail programs offer.
import type { Socket } from 'node:net'
import { tlsOf } from '../../providers/email/smtp.ts'
import { SmtpSession } from '../../providers/email/smtp-session.ts'
import type { Questions } from './dns.ts'
import type { Sender } from './sender.ts'
import type { Verdict } from './verdict.ts'

const mostHosts = 10

export async function mxCheck({ domain }: Sender, questions: Questions): Promise<Verdict> {
  const found = (await questions.mx(domain)).sort((one, other) => one.priority - other.priority)
  const records = found.map(({ exchange, priority }) => `${priority} ${exchange || '.'}`)
  if (found.length === 0)
    return { status: 'fail', summary: `No mail server takes mail for ${domain}: answers and bounces are lost`, records }
  if (found.some(({ exchange }) => exchange === '' || exchange === '.'))
    return { status: 'fail', summary: `${domain} says that it takes no mail (null MX)`, records }
  const hosts = found.map(({ exchange }) => exchange).slice(0, mostHosts)
  const addresses = await Promise.all(hosts.map((host) => questions.addresses(host)))
  const lost = hosts.filter((_, place) => addresses[place]?.length === 0)
  if (lost.length > 0) return { status: 'warn', summary: `${lost.join(', ')} has no address`, records }
  return { status: 'pass', summary: `${hosts.join(', ')} ${hosts.length === 1 ? 'takes' : 'take'} mail`, records }
}

const overHttp: Verdict = { status: 'skip', summary: 'The provider sends from its own servers' }

/** Each address of the mail server has a name that leads back to it. */
export async function ptrCheck({ smtp, http }: Sender, questions: Questions): Promise<Verdict> {
  if (!smtp) return overHttp
  const { host } = smtp
  const addresses = await questions.addresses(host)
  if (addresses.length === 0) return { status: 'skip', summary: `${host} has no address` }
  if (!addresses.every((address) => http.mayCall(address)))
    return { status: 'skip', summary: `${host} is in a network that Belfry does not call` }
  const named = await Promise.all(
    addresses.slice(0, mostHosts).map(async (address) => {
      const names = (await questions.names(address)).slice(0, mostHosts)
      const back = await Promise.all(names.map((name) => questions.addresses(name)))
      return { address, name: names.find((_, place) => back[place]?.includes(address)) }
    }),
  )
  const records = named.flatMap(({ address, name }) => (name === undefined ? [] : [`${address} ${name}`]))
  const nameless = named.filter(({ name }) => name === undefined).map(({ address }) => address)
  if (nameless.length > 0)
    return {
      ...{ status: 'fail', records },
      summary: `${nameless.join(', ')} (${host}) has no name that leads back: its owner sets the PTR record`,
    }
  return { status: 'pass', summary: `${host} has a name that leads back`, records }
}

/** Looks whether the mail server encrypts, without signing in. */
export async function tlsCheck({ smtp, http }: Sender, questions: Questions): Promise<Verdict> {
  if (!smtp) return overHttp
  const { host, secure = false, ignoreTls = false } = smtp
  const port = Number(smtp.port)
  if (ignoreTls) return { status: 'fail', summary: 'The integration is set to never encrypt' }
  const patienceMs = questions.patienceMs
  try {
    const session = await SmtpSession.open({
      ...{ host, port, secure, requireTLS: !secure, tls: tlsOf(smtp, http), name: undefined },
      ...{ greetingTimeout: patienceMs, socketTimeout: patienceMs },
      connect: () => within(http.connect(host, port), patienceMs),
    })
    session.quit()
    return { status: 'pass', summary: secure ? `${host} encrypts from the start` : `${host} offers STARTTLS` }
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    if (/certificate|self.signed|altnames/i.test(message))
      return { status: 'fail', summary: `The certificate of ${host} is not accepted: ${message}` }
    if (code === 'ETLS' || /STARTTLS/.test(message))
      return { status: 'fail', summary: `${host} does not offer STARTTLS` }
    return { status: 'skip', summary: `${host}:${port} could not be reached: ${message}` }
  }
}

/** One that comes too late is closed. */
async function within(opening: Promise<Socket>, ms: number): Promise<Socket> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error('it did not answer in time'))
      opening.then(
        (socket) => socket.destroy(),
        () => undefined,
      )
    }, ms)
  })
  try {
    return await Promise.race([opening, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A logo beside the mail, for who wants one. */
export async function bimiCheck({ domain }: Sender, questions: Questions): Promise<Verdict> {
  const texts = await questions.txt(`default._bimi.${domain}`)
  const records = texts.filter((text) => /^v\s*=\s*BIMI1\s*(?:;|$)/.test(text))
  return records.length === 0
    ? { status: 'skip', summary: 'There is no BIMI record; it is optional' }
    : { status: 'pass', summary: 'There is a BIMI record', records }
}

export function oneClickCheck({ linkBase, takesHeaders }: Sender): Verdict {
  const details = { linkBase }
  if (!takesHeaders) return { status: 'fail', summary: 'The provider takes no unsubscribe header', details }
  if (!linkBase.startsWith('https:'))
    return {
      ...{ status: 'fail', details },
      summary: `One-click unsubscribe needs an https address; links begin with ${linkBase}`,
    }
  return { status: 'pass', summary: 'Commercial mail can be unsubscribed from in one click', details }
}
