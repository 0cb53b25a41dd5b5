// The statements of a request, and their query plans.
import pg from 'pg'
import { expect } from 'vitest'
import type { Database } from '../src/db/core/database.ts'

export interface Statement {
  text: string
  values: unknown[]
}

/** One node of a query plan. */
interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Plan Rows': number
  Plans?: PlanNode[]
}

/** The statements of a request that mention one of these tables. */
export async function statementsOf(
  request: () => Promise<{ status: number; text: string }>,
  tables: string[],
): Promise<Statement[]> {
  const seen: Statement[] = []
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [first, second] = args
    const given =
      typeof first === 'string' ? { text: first, values: second } : (first as { text?: string; values?: unknown })
    if (given.text !== undefined)
      seen.push({ text: given.text, values: Array.isArray(given.values) ? given.values : [] })
    return Reflect.apply(query, this, args)
  } as typeof query
  try {
    const answer = await request()
    expect(answer.status, answer.text).toBeLessThan(300)
  } finally {
    pg.Client.prototype.query = query
  }
  return seen.filter(({ text }) => new RegExp(`\\b(${tables.join('|')})\\b`).test(text))
}

/** All nodes of PostgreSQL's plan for a statement. */
export async function planOf({ pool }: Database, { text, values }: Statement): Promise<PlanNode[]> {
  const { rows } = await pool.query<{ 'QUERY PLAN': Array<{ Plan: PlanNode }> }>(
    `EXPLAIN (FORMAT JSON) ${text}`,
    values,
  )
  const nodes: PlanNode[] = []
  const visit = (node: PlanNode) => {
    nodes.push(node)
    for (const child of node.Plans ?? []) visit(child)
  }
  const plan = rows[0]?.['QUERY PLAN'][0]?.Plan
  if (plan) visit(plan)
  return nodes
}

/** Scans of a whole table or of a partition other than the empty default one, and sorts of more than `mostSorted` rows. */
export async function costlyNodes(
  database: Database,
  statement: Statement,
  tables: string[],
  mostSorted = 10,
): Promise<string[]> {
  const isTable = new RegExp(`^(${tables.join('|')})(_p\\d+)?$`)
  const isPage = /ORDER BY/.test(statement.text) && /LIMIT/.test(statement.text)
  return (await planOf(database, statement)).flatMap((node) => {
    const table = node['Relation Name'] ?? ''
    if (node['Node Type'] === 'Seq Scan' && isTable.test(table)) return [`Seq Scan on ${table}: ${statement.text}`]
    if (node['Node Type'] === 'Sort' && isPage && node['Plan Rows'] > mostSorted) return [`Sort: ${statement.text}`]
    return []
  })
}
