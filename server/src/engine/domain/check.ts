// What the DNS and the mail server say about a sender: whether its mail can arrive, check by check.

import { dkimCheck } from './dkim.ts'
import { dmarcCheck } from './dmarc.ts'
import { Questions, Unanswered } from './dns.ts'
import { bimiCheck, mxCheck, oneClickCheck, ptrCheck, tlsCheck } from './mail-server.ts'
import type { Sender } from './sender.ts'
import { spfCheck } from './spf-check.ts'
import { type Check, type CheckId, type CheckStatus, checkIds, checkStatuses, type Verdict } from './verdict.ts'

export interface DomainReport {
  domain: string
  checkedAt: Date
  status: CheckStatus
  checks: Check[]
}

const work: Record<CheckId, (sender: Sender, questions: Questions) => Promise<Verdict> | Verdict> = {
  spf: spfCheck,
  dkim: dkimCheck,
  dmarc: dmarcCheck,
  mx: mxCheck,
  ptr: ptrCheck,
  tls: tlsCheck,
  bimi: bimiCheck,
  one_click: oneClickCheck,
}

/** @param servers those of the setting */
export async function checkDomain(sender: Sender, servers: readonly string[], now: Date): Promise<DomainReport> {
  const questions = await Questions.open(servers).catch(() => undefined)
  try {
    const checks = await Promise.all(checkIds.map((id) => one(id, sender, questions)))
    return { domain: sender.domain, checkedAt: now, status: worstOf(checks), checks }
  } finally {
    questions?.close()
  }
}

async function one(id: CheckId, sender: Sender, questions: Questions | undefined): Promise<Check> {
  const made = (verdict: Verdict): Check => ({ id, records: [], details: {}, ...verdict })
  try {
    if (!questions) throw new Unanswered('the server of BELFRY_DNS_SERVER is not known')
    return made(await work[id](sender, questions))
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
    return made({ status: 'skip', summary: error.message })
  }
}

/** A logo is nice to have. */
const worstOf = (checks: Check[]): CheckStatus =>
  checkStatuses[
    Math.max(...checks.filter(({ id }) => id !== 'bimi').map(({ status }) => checkStatuses.indexOf(status)))
  ] ?? 'skip'

// ---- Memory

const keptMs = 60_000
const mostKept = 500

/** Remembers reports for a minute; who asks for one that is being made waits for it. */
export class DomainReports {
  readonly #known = new Map<string, { report: Promise<DomainReport>; endsAt: number }>()
  readonly #clock: { now(): Date }

  constructor(clock: { now(): Date }) {
    this.#clock = clock
  }

  get(key: string, isFresh: boolean, make: () => Promise<DomainReport>): Promise<DomainReport> {
    const now = this.#clock.now().getTime()
    const known = this.#known.get(key)
    if (known && !isFresh && known.endsAt > now) return known.report
    const report = make()
    this.#known.delete(key)
    this.#known.set(key, { report, endsAt: now + keptMs })
    report.catch(() => this.#known.get(key)?.report === report && this.#known.delete(key))
    if (this.#known.size > mostKept)
      for (const [oldest] of this.#known) {
        this.#known.delete(oldest)
        break
      }
    return report
  }
}
