// The final account: compares every accepted trigger with the database, the inboxes and the provider's records.
import type { StoredDetail } from '../../server/src/db/core/tables.ts'
import {
  type Books,
  type Finding,
  inboxOf,
  type Job,
  leftIn,
  leftTimers,
  type Message,
  perPage,
  type Run,
  readRuns,
} from './books.ts'
import { ask } from './client.ts'
import { endedBy, endingFindings } from './endings.ts'
import { digesting, eventIdOf, mostTries, type Plan, type Trigger, type WorkflowName, workflowNames } from './plan.ts'
import type { Asked } from './provider.ts'
import { checkRefusals } from './refusals.ts'
import { reported } from './reports.ts'
import { Windows } from './windows.ts'
import { armOf, deputy, isOdd, markOf, pagedIn, stepsOf } from './workflows.ts'

/** Results for one kind of step. */
export interface Tally {
  /** Expected. */
  due: number
  done: number
  /** Correctly not sent: throttled, merged into a digest, or cancelled. */
  held: number
  /** Given up and reported as unknown, because the provider may have accepted it. */
  unknown: number
  lost: number
  duplicated: number
  /** Messages the provider accepted. */
  taken: number
  /** Of them, repeats; each must follow an attempt with an unknown outcome. */
  again: number
}

export interface Account {
  findings: Finding[]
  triggers: Record<WorkflowName, { sent: number; accepted: number; runs: number }>
  steps: Record<string, Tally>
  canceled: number
  reports: { sent: number; understood: number }
  /** People who refused, and were answered. */
  refusals: number
  inboxes: number
}

/** Failures after which the provider may still have accepted the message. */
const uncertain = new Set(['timeout', 'connection_lost', 'cut_off', 'unreadable_answer'])
/** Message types that leave the service. */
const outgoing = new Set(['email', 'sms', 'chat', 'push', 'http_request'])

/** Of steps that are rightly not sent. */
const heldReasons = new Set([
  ...['merged_into_digest', 'throttled', 'canceled_by_user', 'exited', 'capped', 'goal_met'],
  ...['suppressed', 'preference'],
])

export async function account(books: Books): Promise<Account> {
  const auditor = new Auditor(books, await readRuns(books))
  auditor.check()
  await auditor.checkLeft()
  await auditor.checkEvents()
  await auditor.checkDeliveries()
  await auditor.checkSandbox()
  auditor.account.findings.push(...(await checkRefusals(books.refusals, books.provider, books)))
  await auditor.checkInboxes()
  return auditor.account
}

class Auditor {
  readonly account: Account
  readonly #books: Books
  readonly #runs: Map<string, Run[]>
  /** What each inbox should show. */
  readonly #notes = new Map<string, string[]>()
  readonly #windows = new Windows()
  readonly #sandboxed = new Set<string>()
  /** Marks of requests that the provider may have got. */
  readonly #expected = new Set<string>()
  /** Jobs with an unknown outcome. */
  readonly #unknown = new Set<string>()

  constructor(books: Books, runs: Map<string, Run[]>) {
    this.#books = books
    this.#runs = runs
    const triggers = Object.fromEntries(workflowNames.map((name) => [name, { sent: 0, accepted: 0, runs: 0 }]))
    this.account = {
      findings: [],
      triggers: triggers as Account['triggers'],
      steps: {},
      canceled: 0,
      reports: { sent: books.reports.sent, understood: 0 },
      refusals: books.refusals.answered,
      inboxes: 0,
    }
  }

  check(): void {
    const { plan, ledger } = this.#books
    const unexpected = new Map(this.#runs)
    for (const trigger of plan.sendings.flatMap(({ triggers }) => triggers)) {
      const row = this.account.triggers[trigger.workflow]
      row.sent += 1
      if (!ledger.accepted.has(trigger.transactionId)) {
        this.#find('wrong', `${trigger.transactionId} was never accepted`)
        continue
      }
      row.accepted += 1
      for (const who of recipientsOf(trigger, plan)) {
        const key = `${trigger.transactionId} ${who}`
        const runs = this.#runs.get(key) ?? []
        unexpected.delete(key)
        row.runs += runs.length
        if (runs.length === 0)
          this.#find('lost', `${trigger.transactionId} (${trigger.workflow}) has no run for ${who}`)
        if (runs.length > 1)
          this.#find(
            'duplicated',
            `${trigger.transactionId} has ${runs.length} runs for ${who}: ${runs.map(({ id }) => id).join(', ')}`,
          )
        for (const run of runs) {
          this.#checkRun(trigger, run)
          if (trigger.workflow !== 'starting') continue
          unexpected.delete(`${run.id}:start ${who}`)
          this.#checkStarted(trigger, run)
        }
      }
    }
    for (const key of unexpected.keys()) this.#find('duplicated', `unexpected run: ${key}`)
    for (const refusal of ledger.refusals) this.#find('wrong', `the API refused ${refusal}`)
    for (const what of ledger.missed) this.#find('stuck', `the client waited in vain for ${what}`)
    this.#checkCancels()
    for (const { kind, what, step } of [
      ...this.#windows.findings(),
      ...endingFindings(this.#books.plan, ledger, this.#runs),
    ])
      this.#find(kind, what, step)
    for (const mark of this.#books.provider.asked.keys())
      if (!this.#expected.has(mark))
        this.#find('duplicated', `the provider got ${mark || 'a request'}, which no step accounts for`)
  }

  #find(kind: Finding['kind'], what: string, step?: string): void {
    this.account.findings.push({ kind, what })
    if (step !== undefined && (kind === 'lost' || kind === 'duplicated')) this.#tally(step)[kind] += 1
  }

  #tally(type: string): Tally {
    const none = { due: 0, done: 0, held: 0, unknown: 0, lost: 0, duplicated: 0, taken: 0, again: 0 }
    this.account.steps[type] ??= none
    return this.account.steps[type]
  }

  #checkRun(trigger: Trigger, run: Run): void {
    const where = `${run.id} of ${trigger.transactionId}`
    if (run.status === 'processing') this.#find('stuck', `run ${where} is still processing`)
    for (const job of run.jobs) {
      if (['pending', 'queued', 'running', 'delayed'].includes(job.status))
        this.#find('stuck', `step ${job.step_id} of run ${where} is still ${job.status}`)
    }
    const copies = run.jobs.filter(({ asked }) => asked !== null)
    for (const job of run.jobs) if (!copies.includes(job)) this.#checkStep(trigger, run, job)
    this.#checkCopies(trigger, run, copies, where)
    const known = new Set(run.jobs.map(({ step_id }) => step_id))
    const due = stepIds[trigger.workflow].concat(enteredArm(trigger, run))
    for (const step of due) if (!known.has(step)) this.#find('lost', `run ${where} has no step ${step}`)
    for (const { type, step_id } of run.jobs)
      if (type !== 'trigger' && !due.includes(step_id))
        this.#find('wrong', `run ${where} has the step ${step_id} of another arm`)
    if (known.size < run.jobs.length - copies.length) this.#find('duplicated', `run ${where} has a step twice`)
    for (const { step_id } of run.messages)
      if (!known.has(step_id)) this.#find('wrong', `a message of run ${where} belongs to an unknown step: ${step_id}`)
  }

  #checkStep(trigger: Trigger, run: Run, job: Job): void {
    if (job.type === 'trigger') return
    const tally = this.#tally(trigger.workflow === 'sandboxed' ? 'email to the sandbox' : labelOf(trigger, job))
    const type = trigger.workflow === 'sandboxed' ? 'email to the sandbox' : labelOf(trigger, job)
    const where = `${job.step_id} of ${run.id} (${trigger.transactionId}, ${run.subscriber_id})`
    tally.due += 1
    const isHeld = heldReasons.has(job.reason ?? '')
    if (trigger.workflow === 'capped') this.#windows.noteCapped(run, job)
    if (trigger.workflow === 'reached' && job.step_id === 'note') this.#checkGoal(trigger, job, where)
    if (trigger.workflow === 'branched' && job.step_id === 'note') this.#checkExit(trigger, job, where)
    const messages = run.messages.filter(({ step_id }) => step_id === job.step_id)
    if (job.type === 'digest') this.#windows.noteEvent(trigger, run, job)
    if (job.type === 'throttle') this.#windows.noteThrottled(trigger, run, job)
    if (trigger.workflow === 'coded') this.#expected.add(`${this.#markOf(trigger, run, job)} of code`)
    if (isHeld) {
      tally.held += 1
      if (
        (job.reason === 'suppressed' || job.reason === 'preference') &&
        !this.#books.refusals.all.has(run.subscriber_id)
      )
        this.#find('lost', `${where} is ${job.reason}, but ${run.subscriber_id} has refused nothing`, type)
      if (outgoing.has(job.type)) this.#checkHeld(job, this.#asked(trigger, run, job), { where, type })
      if (messages.length > 0 && job.type === 'in_app')
        this.#find('duplicated', `${where} was ${job.reason} and sent: ${logsOf(run)}`, type)
      return
    }
    if (job.type === 'in_app') this.#checkNote(trigger, run, job, { where, type, messages })
    else if (['email', 'sms', 'chat', 'push'].includes(job.type))
      this.#checkSent(trigger, run, job, { where, type, messages })
    else if (job.type === 'http_request') this.#checkAsked(trigger, run, job, { where, type })
    // Its event has gone on by itself, and opened the window.
    else if (job.status === 'completed' || job.reason === 'first_of_digest') tally.done += 1
    else this.#find('lost', `${where} is ${job.status}: ${job.reason} ${job.error}`, type)
  }

  /** A question is put to everybody once, whatever happens; to be reminded of it makes no second message. */
  #checkCopies({ n, workflow }: Trigger, run: Run, copies: Job[], where: string): void {
    const { jobs, messages, subscriber_id: who } = run
    const isAsking = workflow === 'questioned' || workflow === 'answered' || workflow === 'paged'
    if (!isAsking || jobs.every(({ type, status }) => type !== 'ask' || status === 'pending')) return
    const sent = messages.filter(({ step_id }) => step_id === 'question')
    for (const { content, subscriber_id } of sent) {
      if (!content?.startsWith(markOf(n, who, 'question'))) this.#find('wrong', `run ${where} asks ${content}`, 'ask')
      this.#expectNote(subscriber_id, content)
    }
    const asked = new Set(copies.map((copy) => copy.asked?.subscriberId))
    // The deputy may have been asked, or not yet; so may the topic behind a rota.
    const most =
      workflow === 'paged' ? pagedIn(this.#books.plan).size : workflow === 'answered' && who !== deputy ? 2 : 1
    if (copies.length > most || copies.length < 1 || sent.length !== copies.length || asked.size !== copies.length)
      this.#find(
        sent.length > copies.length || copies.length > most || asked.size < copies.length ? 'duplicated' : 'lost',
        `run ${where} has ${copies.length} copies of its question and ${sent.length} messages`,
        'ask',
      )
  }

  /** What a step starts happens once. */
  #checkStarted({ n, transactionId }: Trigger, { id, subscriber_id: who }: Run): void {
    const where = `what ${id} of ${transactionId} has started for ${who}`
    const runs = this.#runs.get(`${id}:start ${who}`) ?? []
    if (runs.length === 0) this.#find('lost', `${where} is not there`, 'start_workflow')
    if (runs.length > 1) this.#find('duplicated', `${where} is there ${runs.length} times`, 'start_workflow')
    for (const { status, messages } of runs) {
      const [note] = messages
      if (status !== 'completed' || messages.length !== 1 || note?.content !== markOf(n, who, 'told'))
        this.#find('wrong', `${where} is ${status} with ${messages.map(({ content }) => content).join(', ')}`)
      for (const { content } of messages) this.#expectNote(who, content)
    }
  }

  /** In the inbox of this person. */
  #expectNote(who: string, content: string | null): void {
    const notes = this.#notes.get(who) ?? []
    this.#notes.set(who, notes)
    notes.push(content ?? '')
  }

  /** An odd trigger meets its goal, an even one goes on. */
  #checkGoal({ n }: Trigger, { reason }: Job, where: string): void {
    if (reason !== 'canceled_by_user' && (reason === 'goal_met') !== isOdd(n))
      this.#find(isOdd(n) ? 'duplicated' : 'lost', `${where} is ${reason ?? 'done'}`, 'goal')
  }

  /** An odd trigger leaves in its arm, an even one goes on behind it. */
  #checkExit({ n }: Trigger, { reason }: Job, where: string): void {
    if (reason !== 'canceled_by_user' && (reason === 'exited') !== isOdd(n))
      this.#find(isOdd(n) ? 'duplicated' : 'lost', `${where} is ${reason ?? 'done'}`, 'exit')
  }

  /** A held-back step must not have been sent; a cancelled one no more often than its log shows. */
  #checkHeld(job: Job, asked: Asked[], { where, type }: Pick<Checked, 'where' | 'type'>): void {
    const { sent, failed, cutOff } = attemptsOf(job)
    const mayHaveTried = job.reason === 'canceled_by_user' || job.reason === 'suppressed'
    const shown = mayHaveTried ? sent + failed.length + cutOff : 0
    if (asked.length > shown)
      this.#find('duplicated', `${where} was ${job.reason}, but reached the provider ${asked.length} times`, type)
  }

  #checkNote(trigger: Trigger, run: Run, job: Job, { where, type, messages }: Checked): void {
    const mark = markOf(trigger.n, run.subscriber_id, job.step_id)
    if (job.status !== 'completed' || messages.length === 0) {
      this.#find('lost', `${where} is ${job.status} (${job.reason}) with ${messages.length} messages`, type)
      return
    }
    if (messages.length > 1) this.#find('duplicated', `${where} has ${messages.length} messages`, type)
    this.#tally(type).done += 1
    for (const { content } of messages) {
      const rest = content?.startsWith(mark) ? content.slice(mark.length) : undefined
      if (rest === undefined) this.#find('wrong', `${where} says ${content}`)
      if (digesting.has(trigger.workflow)) this.#windows.noteDigest(trigger, run, rest ?? '')
      else if (!restsOf(trigger).includes(rest ?? '')) this.#find('wrong', `${where} says ${content}`)
      this.#expectNote(run.subscriber_id, content)
    }
  }

  /** A sent message was accepted by the provider, and every further request or acceptance appears as an attempt. */
  #checkSent(trigger: Trigger, run: Run, job: Job, { where, type, messages }: Checked): void {
    const tally = this.#tally(type)
    if (messages.length > 1) this.#find('duplicated', `${where} has ${messages.length} messages`, type)
    const { sent, failed, cutOff, maybeTwice } = attemptsOf(job)
    const doubtful = cutOff + failed.filter((name) => uncertain.has(name)).length
    const refusal = trigger.workflow === 'offered' ? this.#books.refusals.all.get(run.subscriber_id) : undefined
    // Mail that came back was sent, too.
    const isWell = messages[0]?.status !== 'error' || refusal?.kind === 'bounce' || refusal?.kind === 'complaint'
    const isSent = job.status === 'completed' && isWell && messages.length > 0
    if (isSent) tally.done += 1
    else if (job.status === 'failed' && job.reason === 'outcome_unknown') {
      tally.unknown += 1
      this.#unknown.add(job.id)
      if (doubtful === 0) this.#find('lost', `${where} is outcome_unknown, but no call was in doubt`, type)
    } else
      this.#find(
        'lost',
        `${where} is ${job.status} (${job.reason}: ${job.error}) with ${messages.length} messages`,
        type,
      )
    const isSandboxed = messages[0]?.provider_id?.startsWith('svc-') ?? false
    if (isSent && isSandboxed) this.#sandboxed.add(`${trigger.transactionId} ${run.subscriber_id} ${job.step_id}`)
    if (trigger.workflow === 'sandboxed') return
    const asked = this.#asked(trigger, run, job)
    const taken = asked.filter(({ isTaken }) => isTaken).length
    tally.taken += taken
    tally.again += Math.max(0, taken - 1)
    if (asked.length > sent + failed.length + cutOff)
      this.#find(
        'duplicated',
        `${where} reached the provider ${asked.length} times (${arrivalsOf(asked)}); its log shows ${sent + failed.length + cutOff} attempts: ${logOf(job)}`,
        type,
      )
    else if (taken > sent + doubtful)
      this.#find('duplicated', `${where} was accepted ${taken} times; attempts with unknown outcome: ${doubtful}`, type)
    if (isSandboxed) this.#find('wrong', `${where} went to the sandbox instead of its provider`, type)
    // Sent or given up: it must have arrived there, at least once.
    else if (taken === 0)
      this.#find('lost', `${where} is ${job.status} (${job.reason}), but the provider never accepted it`, type)
    if (isSent && taken > 1 && maybeTwice === 0)
      this.#find('wrong', `${where} was accepted ${taken} times, but its log does not say so: ${logOf(job)}`, type)
    if (type === 'push') this.#checkReports(job, messages[0], where)
    if (isSent && trigger.workflow === 'digested') this.#checkMail(run, asked, where)
  }

  /** The mail after a digest must match the note before it. */
  #checkMail(run: Run, asked: Asked[], where: string): void {
    const note = run.messages.find(({ step_id }) => step_id === 'note')?.content ?? ''
    for (const { content } of asked)
      if (!note.endsWith(content)) this.#find('wrong', `${where} says ${content}, but its note ${note}`)
  }

  #checkReports(job: Job, message: Message | undefined, where: string): void {
    const understood = this.#books.reports.understood.get(message?.identifier ?? '')
    if (!message || !understood) return
    this.account.reports.understood += 1
    const lines = job.details.flatMap(({ webhook }) => (webhook ? [webhook.status] : []))
    for (const status of reported) {
      const count = lines.filter((each) => each === status).length
      if (count > 1 || (count === 0 && understood.has(status)))
        this.#find('wrong', `${where}: its log has the report ${status} ${count} times`)
    }
    const isRight =
      (!understood.has('delivered') || message.delivered === 1) &&
      (!understood.has('opened') || message.seen) &&
      (!understood.has('clicked') || message.read)
    if (!isRight) this.#find('wrong', `${where}: accepted reports did not change the message`)
  }

  /** An HTTP request is sent at most once, or as often as it may be retried, whatever happens. */
  #checkAsked(trigger: Trigger, run: Run, job: Job, { where, type }: Pick<Checked, 'where' | 'type'>): void {
    const asked = this.#asked(trigger, run, job)
    const tally = this.#tally(type)
    tally.taken += asked.filter(({ isTaken }) => isTaken).length
    const most = trigger.workflow === 'retried' ? mostTries : 1
    if (asked.length > most) this.#find('duplicated', `${where} asked ${asked.length} times`, type)
    if (job.status === 'completed') {
      tally.done += 1
      if (!asked.some(({ isAnswered }) => isAnswered))
        this.#find('lost', `${where} is completed, but no request was sent`, type)
    } else if (job.status === 'failed' && job.reason === 'failure_allowed') tally.unknown += 1
    else this.#find('lost', `${where} is ${job.status} (${job.reason})`, type)
  }

  #markOf({ n }: Trigger, { subscriber_id }: Run, { step_id }: Job): string {
    return markOf(n, subscriber_id, step_id)
  }

  #asked(trigger: Trigger, run: Run, job: Job): Asked[] {
    const mark = this.#markOf(trigger, run, job)
    this.#expected.add(mark)
    return this.#books.provider.asked.get(mark) ?? []
  }

  /** A confirmed cancel was carried out, and nothing else was cancelled. */
  #checkCancels(): void {
    const { ledger, plan } = this.#books
    const { canceled } = ledger
    const byTransaction = new Set<string>()
    const byKey = new Set(
      plan.followUps.flatMap(({ kind, transactionId }) => (kind === 'cancel by key' ? transactionId : [])),
    )
    for (const run of [...this.#runs.values()].flat())
      if (run.jobs.some(({ reason }) => reason === 'canceled_by_user')) byTransaction.add(run.transaction_id)
    this.account.canceled = byTransaction.size
    for (const id of byTransaction)
      if (!byKey.has(id) && (canceled.get(id) ?? 'no') === 'no')
        this.#find('lost', `${id} was cancelled without a confirmation`)
    for (const [id, told] of canceled)
      if (told === 'yes' && !byTransaction.has(id)) this.#find('wrong', `${id} was confirmed as cancelled, but was not`)
  }

  /** An event has ended exactly the waits that say so. */
  async checkEvents(): Promise<void> {
    const { database, environmentId, ledger } = this.#books
    const rows = await database.query<{ given_id: string; matched: number }>(
      'SELECT given_id, matched FROM posted_events WHERE environment_id = $1',
      [environmentId],
    )
    const matched = new Map(rows.map((row) => [row.given_id, row.matched]))
    if (matched.size < rows.length) this.#find('duplicated', 'an event was accepted twice', 'wait_for_event')
    const ended = endedBy(this.#runs)
    for (const id of ledger.posted)
      if (!matched.has(id)) this.#find('lost', `the event ${id} is not there`, 'wait_for_event')
    for (const [id, count] of matched)
      if (count !== (ended.get(id) ?? 0))
        this.#find('wrong', `the event ${id} says that it ended ${count} waits, and ${ended.get(id) ?? 0} say so`)
  }

  /** At the end no work may be left. */
  async checkLeft(): Promise<void> {
    for (const [what, count] of Object.entries(await leftIn(this.#books)))
      if (count > 0) this.#find('stuck', `${count} ${what} are left`)
    for (const timer of await leftTimers(this.#books)) this.#find('stuck', `a timer is left: ${timer}`)
  }

  /** The list of unknown deliveries has all of them and no others. */
  async checkDeliveries(): Promise<void> {
    const listed = new Set<string>()
    for (let after = ''; ; ) {
      const path = `/v1/deliveries?reason=outcome_unknown&limit=${perPage}${after && `&after=${after}`}`
      const answer = await ask(this.#books.url, 'GET', path)
      const { data = [], next } = (answer?.body ?? {}) as { data?: Array<{ id: string }>; next?: string | null }
      for (const { id } of data) listed.add(id)
      if (!next) break
      after = next
    }
    for (const id of this.#unknown)
      if (!listed.has(id)) this.#find('wrong', `${id} has an unknown outcome, but is not listed at /v1/deliveries`)
    for (const id of listed)
      if (!this.#unknown.has(id)) this.#find('wrong', `${id} is listed at /v1/deliveries as unknown, but is not`)
  }

  async checkSandbox(): Promise<void> {
    const { database, environmentId } = this.#books
    const rows = await database.query<{ key: string; count: number }>(
      `SELECT concat_ws(' ', transaction_id, subscriber_id, step_id) AS key, count(*)::int AS count FROM sandbox_messages
       WHERE environment_id = $1 GROUP BY 1`,
      [environmentId],
    )
    const found = new Map(rows.map(({ key, count }) => [key, count]))
    for (const key of this.#sandboxed)
      if (!found.has(key)) this.#find('lost', `the sandbox has no message for ${key}`, 'email to the sandbox')
    for (const [key, count] of found)
      if (count > 1) this.#find('duplicated', `the sandbox has ${count} messages for ${key}`, 'email to the sandbox')
  }

  /** Each inbox shows exactly the notes made for that person. */
  async checkInboxes(): Promise<void> {
    const { plan, database, environmentId, url } = this.#books
    const [row] = await database.query<{ identifier: string }>('SELECT identifier FROM environments WHERE id = $1', [
      environmentId,
    ])
    for (const who of plan.people) {
      const shown = await inboxOf(url, row?.identifier ?? '', who)
      this.account.inboxes += 1
      const expected = (this.#notes.get(who) ?? []).toSorted()
      const found = shown.toSorted()
      if (JSON.stringify(found) === JSON.stringify(expected)) continue
      const missing = expected.filter((each) => !found.includes(each))
      const kind = missing.length > 0 ? 'lost' : 'duplicated'
      const more = found.filter((each, at) => !expected.includes(each) || found.indexOf(each) !== at)
      this.#find(
        kind,
        `the inbox of ${who} shows ${found.length} instead of ${expected.length}; missing ${missing.slice(0, 5).join(' ')}, unexpected ${more.slice(0, 5).join(' ')}`,
      )
    }
  }
}

/** Steps that every run has, whatever their outcome. */
const stepIds: Record<WorkflowName, string[]> = {
  ...(Object.fromEntries(
    Object.entries(stepsOf('')).map(([name, steps]) => [name, steps.map(({ stepId }) => stepId)]),
  ) as Record<Exclude<WorkflowName, 'coded'>, string[]>),
  coded: ['sum', 'note'],
}

/** The steps of an arm are there once its branch has ended. */
const enteredArm = ({ workflow, n }: Trigger, { jobs }: Run): string[] =>
  workflow === 'branched' && jobs.some(({ type, status }) => type === 'branch' && status === 'completed')
    ? armOf(n)
    : []

interface Checked {
  where: string
  type: string
  messages: Message[]
}

const labelOf = ({ workflow }: Trigger, { type }: Job): string => (workflow === 'coded' ? `${type} of code` : type)

/** What may stand after the mark in a note. */
const restsOf = ({ workflow, n }: Trigger): string[] => {
  if (workflow === 'awaited' || workflow === 'questioned' || workflow === 'paged') return ['timeout']
  if (workflow === 'paid') return [`event ${eventIdOf(n)}`]
  if (workflow === 'answered') return ['answered yes', 'answered no']
  return [workflow === 'computed' || workflow === 'coded' ? String(n * 2) : '']
}

const linesOf = ({ details }: Job, text: string): StoredDetail[] =>
  details.filter(({ detail }) => detail.startsWith(text))

/** For a finding: what happened to the step, and when by the clock of the process. */
const logsOf = ({ jobs }: Run): string => jobs.map((job) => `${job.step_id}: ${logOf(job)}`).join(' | ')
/** By the real clock, from which those of the processes differ by whole hours. */
const arrivalsOf = (asked: Asked[]): string =>
  asked.map(({ at, manner }) => `${new Date(at).toISOString().slice(11, 23)} ${manner}`).join(', ')
const logOf = ({ details }: Job): string => details.map(({ at, detail }) => `${at.slice(11, 23)} ${detail}`).join('; ')

/** The calls of a step according to its log. */
const attemptsOf = (job: Job): { sent: number; failed: string[]; cutOff: number; maybeTwice: number } => ({
  sent: linesOf(job, 'Message sent').length,
  failed: [...linesOf(job, 'The provider did not accept'), ...linesOf(job, 'Unexpected provider error')].flatMap(
    failureIn,
  ),
  cutOff: linesOf(job, 'The service stopped during the call').length,
  maybeTwice: linesOf(job, 'An earlier attempt may have arrived too').length,
})

/** The name of a failed call's error; empty if no call was made. */
function failureIn({ raw }: StoredDetail): string[] {
  const { name } = JSON.parse(raw ?? '{}') as { name?: string }
  return name === undefined ? [] : [name]
}

export function recipientsOf({ to }: Trigger, { people, topics }: Plan): string[] {
  if (to === 'everyone') return people
  return 'topic' in to ? (topics[to.topic] ?? []) : to.people
}
