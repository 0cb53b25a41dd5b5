// People for tests: members of any role with a session, sending requests like a browser.
import { randomBytes } from 'node:crypto'
import { newId } from '../src/db/core/ids.ts'
import { sha256 } from '../src/db/core/secrets.ts'
import type { Role } from '../src/db/core/tables.ts'
import { type Answer, Api, sendTo, type TestServer } from './server.ts'

type Place = Pick<Api, 'url' | 'environmentId' | 'organizationId'>

/** Sends requests like a dashboard page. */
export class PersonApi extends Api {
  readonly id: string
  readonly email: string
  readonly token: string

  constructor(of: Place, { id, email, token }: { id: string; email: string; token: string }) {
    super(of.url, '', of.environmentId, of.organizationId)
    this.id = id
    this.email = email
    this.token = token
  }

  /** The same session in another environment, or at another process. */
  at(place: Partial<Place>): PersonApi {
    const { url, environmentId, organizationId } = this
    return new PersonApi({ url, environmentId, organizationId, ...place }, this)
  }

  override async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const own = {
      // The second cookie counts over https, the first otherwise.
      cookie: `theme=dark; belfry_session=${this.token}; __Host-belfry_session=${this.token}`,
      'belfry-environment': this.environmentId,
      'sec-fetch-site': 'same-origin',
      ...(method === 'GET' ? {} : { origin: this.url }),
    }
    return sendAs(this.url, method, path, body, { ...own, ...headers })
  }
}

/** A request without a session or key. Empty headers are omitted. */
export async function sendAs(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const filled = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''))
  return sendTo(url + path, method, body, filled)
}

/** A new member of the API's organization, signed in to its environment. */
export async function signInAs(server: TestServer, api: Api, role: Role): Promise<PersonApi> {
  const now = server.clock.now()
  const id = newId(now)
  const email = `${role}-${randomBytes(4).toString('hex')}@example.com`
  await server.database.db
    .insertInto('users')
    .values({
      id,
      organization_id: api.organizationId,
      name: `An ${role}`,
      email,
      password_hash: null,
      role,
      created_at: now,
      updated_at: now,
    })
    .execute()
  return new PersonApi(api, { id, email, token: await newSession(server, id) })
}

/** Starts another session. @returns its token */
export async function newSession(server: TestServer, userId: string): Promise<string> {
  const now = server.clock.now()
  const token = randomBytes(32).toString('base64url')
  await server.database.db
    .insertInto('user_sessions')
    .values({
      id: newId(now),
      hash: sha256(token),
      user_id: userId,
      user_agent: 'A browser',
      address: '192.0.2.1',
      created_at: now,
      last_seen_at: now,
      expires_at: new Date(now.getTime() + 14 * 86_400_000),
    })
    .execute()
  return token
}

/** A cookie set by an answer, with its attributes. */
export function cookieIn({ headers }: Answer, name = 'belfry_session'): { value: string; attributes: string[] } {
  const cookie = headers.getSetCookie().find((each) => each.startsWith(`${name}=`)) ?? ''
  const [pair = '', ...attributes] = cookie.split('; ')
  return { value: pair.slice(name.length + 1), attributes }
}
