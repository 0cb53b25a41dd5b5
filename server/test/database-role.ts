// An application in the same database: a role of its own, and connections as that role.
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { afterAll } from 'vitest'

/** The address of the same database for another role. */
export const asRole = (url: string, role: string, password = role): string =>
  url.replace(/^(postgres(?:ql)?:\/\/)[^@]*@/, `$1${role}:${password}@`)

/** Makes roles that go away after the tests of a file. Roles belong to the server, so their names are new. */
export function useRoles(urlOf: () => string) {
  const made: string[] = []
  const open = new Set<pg.Client>()
  const connect = async (url: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => undefined)
    await client.connect()
    open.add(client)
    client.once('end', () => open.delete(client))
    return client
  }
  afterAll(async () => {
    await Promise.all([...open].map((client) => client.end().catch(() => undefined)))
    const owner = new pg.Client({ connectionString: urlOf() })
    await owner.connect().catch(() => undefined)
    for (const role of made)
      await owner.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`).catch(() => undefined)
    await owner.end().catch(() => undefined)
  })
  return {
    connect,
    /** A role that may log in. */
    async newRole(name = `app_${randomBytes(4).toString('hex')}`): Promise<string> {
      const owner = new pg.Client({ connectionString: urlOf() })
      await owner.connect()
      await owner.query(`CREATE ROLE ${name} LOGIN PASSWORD '${name}'`)
      await owner.end()
      made.push(name)
      return name
    },
    as: (role: string): Promise<pg.Client> => connect(asRole(urlOf(), role)),
    owner: (): Promise<pg.Client> => connect(urlOf()),
    note: (role: string) => void made.push(role),
  }
}

/** Calls `belfry.trigger`; all but the workflow as JSON. @returns the transaction id */
export async function call(client: pg.Client, ...args: unknown[]): Promise<string> {
  const values = args.map((arg, index) => (index === 0 ? arg : JSON.stringify(arg)))
  const places = args.map((_, index) => `$${index + 1}`).join(', ')
  const { rows } = await client.query<{ id: string }>(`SELECT belfry.trigger(${places}) AS id`, values)
  return rows[0]?.id ?? ''
}
