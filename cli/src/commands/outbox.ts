// `outbox`: calls of the SQL functions. In a database of the application it installs them and carries out what was called; what was
// refused is listed and tried again there, or where the service has its own tables, over the API.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { drainOther, installedVersion, openOther, tidyOther } from '../../../server/src/engine/outbox/other-database.ts'
import { type OutboxRow, type Refusal, refusedDays, retryRows } from '../../../server/src/engine/outbox/rows.ts'
import { OutboxWatch } from '../../../server/src/engine/outbox/watch.ts'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import type { Service } from '../service.ts'

/** Put in when it is bundled. */
declare const belfryOutboxSql: string | undefined
const version = 1

const schemaText = (): string =>
  typeof belfryOutboxSql === 'string'
    ? belfryOutboxSql
    : ['0076-outbox', '0086-outbox-commit', '0100-strict']
        .map((name) => readFileSync(new URL(`../../../server/src/db/migrations/${name}.sql`, import.meta.url), 'utf8'))
        .join('\n')

interface Options {
  database?: string
  once?: boolean
}

interface RefusedCall {
  id: string
  kind: string
  transactionId: string | null
  workflowId: string | null
  code: string
  message: string
  refusedAt: string | Date
}

const actions: Record<string, (context: Context, ids: string[], options: Options) => Promise<void>> = {
  install,
  drain,
  refused,
  retry,
}

export async function outbox(context: Context, action: string, ids: string[], options: Options): Promise<void> {
  const act = actions[action]
  if (!act) throw new Failure('usage', 'unknown_action', `Say one of ${Object.keys(actions).join(', ')}`)
  if (ids.length > 0 && action !== 'retry')
    throw new Failure('usage', 'too_many_arguments', `"outbox ${action}" takes no ids`)
  await act(context, ids, { ...options, ...urlOf(context, options) })
}

/** The option, else BELFRY_OUTBOX_URL: a password on the command line can be seen by others. */
function urlOf({ env }: Context, { database }: Options): { database?: string } {
  const url = database ?? (env.BELFRY_OUTBOX_URL || undefined)
  if (url === undefined) return {}
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new Failure('usage', 'no_database', 'The database is an address such as postgres://user@host/app')
  return { database: url }
}

function needed({ database }: Options): string {
  if (database === undefined)
    throw new Failure('usage', 'no_database', 'Which database? Say --database <url>, or set BELFRY_OUTBOX_URL')
  return database
}

const unreachable = (error: unknown) =>
  new Failure('unreachable', 'database_unreachable', `The database cannot be used: ${(error as Error).message}`)

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, application_name: 'belfry', connectionTimeoutMillis: 10_000 })
  client.on('error', () => undefined)
  await client.connect().catch((error: unknown) => {
    throw unreachable(error)
  })
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

/** Refuses where the functions are missing, or newer. */
async function checkVersion(db: Pick<pg.Pool, 'query'>): Promise<void> {
  const found = await installedVersion(db).catch((error: unknown) => {
    throw unreachable(error)
  })
  if (found === undefined)
    throw new Failure('refused', 'not_installed', 'The functions are not there yet; run "belfry outbox install" first')
  if (found > version)
    throw new Failure(
      'refused',
      'newer_functions',
      `The functions there have version ${found}; this tool knows ${version}`,
    )
}

/** The schema `belfry`, whole or not at all; also over an earlier version of it. */
async function install({ terminal }: Context, _ids: string[], options: Options): Promise<void> {
  const done = await connected(needed(options), async (client) => {
    const { rows } = await client.query<{ own: string | null; server: number }>(
      `SELECT to_regclass('belfry_migrations')::text AS own, current_setting('server_version_num')::int AS server`,
    )
    if (rows[0]?.own)
      throw new Failure(
        'refused',
        'own_database',
        'This is the database of the service itself; it has the functions already',
      )
    if ((rows[0]?.server ?? 0) < 140_000)
      throw new Failure('refused', 'old_database', 'The functions need PostgreSQL 14 or newer')
    const before = await installedVersion(client)
    if (before !== undefined && before > version)
      throw new Failure(
        'refused',
        'newer_functions',
        `The functions there have version ${before}; this tool has ${version}`,
      )
    await client.query('BEGIN')
    // Two at once would get in each other's way.
    await client.query('SELECT pg_advisory_xact_lock(7313884027)')
    await client.query(schemaText())
    await client.query('COMMIT')
    return before
  })
  terminal.result({ version, before: done ?? null }, () =>
    [
      done === undefined ? `Installed, version ${version}.` : `Version ${version} is in place; it was ${done}.`,
      "Allow a role, as the owner of the database: SELECT belfry.allow('app', 'Development')",
      'Then carry out what it calls: belfry outbox drain --database <url>',
    ].join('\n'),
  )
}

/** Until it is interrupted; with `--once` until nothing is left. */
async function drain(context: Context, _ids: string[], options: Options): Promise<void> {
  const { terminal } = context
  const url = needed(options)
  const service = context.service({ asksHere: false })
  const { name, identifier, _id } = await service.get<{ name: string; identifier: string; _id: string }>(
    '/v1/environments/me',
  )
  const totals = { accepted: 0, refused: 0 }
  const pool = openOther(url, (error) => terminal.warn(error.message))
  try {
    await checkVersion(pool)
    const memory = new Memory(service)
    const work = async () =>
      drainOther({
        ...{ pool, environments: [name, identifier, _id], now: () => new Date(), dedupDays: await memory.days() },
        accept: (rows) => accept(service, rows),
        onTaken(kind, { accepted, refused }) {
          totals.accepted += accepted
          totals.refused += refused
          if (!options.once) terminal.say(`${accepted} ${kind} accepted${refused === 0 ? '' : `, ${refused} refused`}`)
        },
      })
    await tidyOther(pool, refusedDays)
    if (options.once) while ((await work()) > 0);
    else await forever({ url, work, onError: (error) => terminal.warn(`trying again: ${error.message}`) })
    terminal.result(totals, () => `${totals.accepted} accepted, ${totals.refused} refused`)
  } finally {
    await pool.end()
  }
}

const askAgainMs = 3_600_000

/** How long the service remembers transaction ids. Asked from time to time: its settings may change while a drain goes on. */
class Memory {
  readonly #service: Service
  #asked: { at: number; days: number | undefined } | undefined

  constructor(service: Service) {
    this.#service = service
  }

  /** Undefined for a service of an earlier version, which does not say. */
  async days(): Promise<number | undefined> {
    if (!this.#asked || Date.now() - this.#asked.at >= askAgainMs)
      this.#asked = { at: Date.now(), days: await this.#ask() }
    return this.#asked.days
  }

  async #ask(): Promise<number | undefined> {
    try {
      return (await this.#service.get<{ dedupDays: number }>('/v2/outbox/settings')).dedupDays
    } catch (error) {
      if (error instanceof Failure && error.status === 404) return undefined
      throw error
    }
  }
}

/** Ends with SIGTERM, when what is under way is done. An interrupt ends the process: nothing is lost by that. */
async function forever(options: ConstructorParameters<typeof OutboxWatch>[0]): Promise<void> {
  const watch = new OutboxWatch(options)
  watch.start()
  await new Promise<void>((resolve) => process.once('SIGTERM', resolve))
  await watch.stop()
}

interface TriggerAnswer {
  status: string
  error?: string[]
}

async function accept(service: Service, rows: OutboxRow[]): Promise<Map<string, Refusal>> {
  const refusals = new Map<string, Refusal>()
  const orRefused = async (row: OutboxRow, send: () => Promise<TriggerAnswer | undefined>) => {
    const refusal = await send().then(
      (answer) => statusRefusal(answer?.status ?? 'processed'),
      (error: unknown) => refusalIn(error),
    )
    if (refusal) refusals.set(row.id, refusal)
  }
  const eventOf = ({ body, transaction_id }: OutboxRow) => ({ ...body, transactionId: transaction_id })
  const [first] = rows
  if (first?.kind === 'cancel')
    for (const row of rows)
      await orRefused(row, () =>
        service
          .call(`/v1/events/trigger/${encodeURIComponent(row.transaction_id ?? '')}`, {
            ...{ method: 'DELETE', isRepeatable: true },
          })
          .then(() => undefined),
      )
  else if (first?.kind === 'upsert_subscriber')
    for (const row of rows) await orRefused(row, () => service.post('/v2/subscribers', row.body).then(() => undefined))
  else {
    const answers = await service
      .post<TriggerAnswer[]>('/v1/events/trigger/bulk', { events: rows.map(eventOf) })
      // One of them has the wrong shape, which refuses all.
      .catch((error: unknown) => (refusalIn(error) ? undefined : Promise.reject(error as Error)))
    for (const [index, row] of rows.entries())
      if (answers?.[index]?.status !== 'processed')
        await orRefused(row, () => service.post<TriggerAnswer>('/v1/events/trigger', eventOf(row)))
  }
  return refusals
}

const statusRefusal = (status: string): Refusal | undefined =>
  status === 'processed' ? undefined : { code: status, message: `The service answered ${status}` }

/** What cannot be reached, or may pass, is no refusal: then it is tried again. */
function refusalIn(error: unknown): Refusal {
  const isRefusal = error instanceof Failure && [400, 404, 409, 413, 422].includes(error.status ?? 0)
  if (!isRefusal) throw error
  const code = error.code === 'unknown_trigger' ? 'workflow_not_found' : error.code
  return { code, message: error.message.slice(0, 1_000) }
}

async function refused(context: Context, _ids: string[], { database }: Options): Promise<void> {
  const { terminal } = context
  const calls = database === undefined ? await refusedOver(context.service()) : await connected(database, refusedIn)
  terminal.result(calls, () =>
    calls.length === 0
      ? 'Nothing was refused in the last 30 days.'
      : calls
          .map(({ id, kind, workflowId, transactionId, code, message, refusedAt }) =>
            [
              `${id} ${terminal.paint('red', code)} ${kind} ${workflowId ?? ''} ${transactionId ?? ''}`,
              `  ${message}, ${new Date(refusedAt).toISOString()}`,
            ].join('\n'),
          )
          .join('\n'),
  )
}

const mostListed = 100

async function refusedOver(service: Service): Promise<RefusedCall[]> {
  const { data } = await service.get<{ data: Array<Omit<RefusedCall, 'id'> & { _id: string }> }>(
    `/v2/outbox/refused?limit=${mostListed}`,
  )
  return data.map(({ _id: id, kind, transactionId, workflowId, code, message, refusedAt }) => ({
    ...{ id, kind, transactionId, workflowId, code, message, refusedAt },
  }))
}

async function refusedIn(client: pg.Client): Promise<RefusedCall[]> {
  await checkVersion(client)
  const { rows } = await client.query<RefusedCall>(
    `SELECT id, kind, transaction_id AS "transactionId", body ->> 'name' AS "workflowId", code, message, refused_at AS "refusedAt"
     FROM belfry.refused ORDER BY id DESC LIMIT $1`,
    [mostListed],
  )
  return rows
}

async function retry(context: Context, ids: string[], { database }: Options): Promise<void> {
  const retried =
    database === undefined
      ? (await context.service().post<{ retried: number }>('/v2/outbox/refused/retry', ids.length === 0 ? {} : { ids }))
          .retried
      : await connected(database, async (client) => {
          await checkVersion(client)
          const { rows } = await client.query<{ places: string[] }>(
            'SELECT array_agg(DISTINCT environment_id) AS places FROM belfry.refused',
          )
          const values = [rows[0]?.places ?? [], ids.length === 0 ? null : ids, new Date()]
          return (await client.query(retryRows.text, values)).rowCount ?? 0
        })
  context.terminal.result({ retried }, () => `${retried} will be carried out again.`)
}
