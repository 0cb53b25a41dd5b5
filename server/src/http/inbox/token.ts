// Session tokens of browsers: each opens one inbox, in one set of contexts, until it expires.
import type { FastifyRequest } from 'fastify'
import { idPattern } from '../../db/core/ids.ts'
import { findHolder, type Standing } from '../../db/queries/inbox-access.ts'
import { fail } from '../../errors.ts'
import type { InboxSession, Services } from '../edge/resource.ts'
import { InboxLimits } from './limit.ts'

const livesDays = 15
const audience = 'widget_user'
/** Of tokens that open preferences only; sockets refuse them. */
const preferencesAudience = 'preferences'
const preferencesHours = 24
const scheme = 'Bearer'
const id = new RegExp(idPattern)

type Holder = Omit<InboxSession, 'expiresAt' | 'isVouchedFor' | 'isHeld' | 'isForPreferences'>

interface Claims {
  _id: string
  environmentId: string
  contextKeys: string[]
  vouched?: true
  vouchedBy?: string
  contextVouched?: true
  /** Of the environment and of the subscriber. */
  generations?: [number, number]
  exp: number
}

/** Whether a session has ended before its time: all were ended, its key was replaced, or the inbox now requires a hash. */
export function hasEnded(session: InboxSession, { generation, keys, requiresHash }: Standing): boolean {
  const { isVouchedFor, vouchedBy, contextKeys, isContextVouchedFor } = session
  if (session.generation !== generation) return true
  if (vouchedBy !== undefined && !keys.includes(vouchedBy)) return true
  return requiresHash && !(isVouchedFor && (contextKeys.length === 0 || isContextVouchedFor))
}

export class InboxTokens {
  readonly #services: Pick<Services, 'db' | 'secrets' | 'clock' | 'brand'>
  readonly #limits: InboxLimits

  constructor(services: Pick<Services, 'db' | 'secrets' | 'clock' | 'brand'>) {
    this.#services = services
    this.#limits = new InboxLimits(services.clock)
  }

  /** Without names and addresses, since the token is in the URL of the socket. */
  issue(holder: Holder): string {
    return this.#make(holder, audience, livesDays * 86_400)
  }

  /** For the page of preferences: the link that opened it vouches for the subscriber. */
  issueForPreferences(holder: Holder): string {
    return this.#make(holder, preferencesAudience, preferencesHours * 3_600)
  }

  #make(
    { subscriber, organizationId, environmentId, contextKeys, ...holder }: Holder,
    aud: string,
    seconds: number,
  ): string {
    const { secrets, clock } = this.#services
    const iat = Math.floor(clock.now().getTime() / 1000)
    return secrets.makeToken({
      _id: subscriber.id,
      subscriberId: subscriber.subscriber_id,
      organizationId,
      environmentId,
      contextKeys,
      ...(holder.vouchedBy === undefined ? {} : { vouched: true, vouchedBy: holder.vouchedBy }),
      ...(holder.isContextVouchedFor ? { contextVouched: true } : {}),
      generations: [holder.generation, subscriber.inbox_generation],
      iss: this.#issuer,
      aud,
      iat,
      exp: iat + seconds,
    })
  }

  async authenticate({ headers, method, rules }: FastifyRequest): Promise<InboxSession> {
    const { authorization } = headers
    if (!authorization) throw fail('missing_authorization')
    const [word = ''] = authorization.split(' ', 1)
    if (word !== scheme)
      throw fail('invalid_scheme', { scheme: word, expected: `${scheme} <the token of the inbox session>` })
    const session = await this.#read(authorization.slice(scheme.length + 1), [audience, preferencesAudience], method)
    if (!session) throw fail('unauthorized')
    if (session.isForPreferences && !rules.preferences) throw fail('preferences_session')
    return session
  }

  /**
   * Undefined for a token that is not ours, has another purpose, has expired or was ended, or whose subscriber was deleted.
   */
  read(token: string): Promise<InboxSession | undefined> {
    return this.#read(token, [audience])
  }

  /** With a method, counts the request against the rate limit before any look-up. */
  async #read(token: string, audiences: string[], method?: string): Promise<InboxSession | undefined> {
    const { db, secrets, clock } = this.#services
    const given = secrets.readToken(token)
    if (!given || !audiences.includes(String(given.aud)) || given.iss !== this.#issuer) return undefined
    const isForPreferences = given.aud === preferencesAudience
    const claims = given as unknown as Claims
    const { _id = '', environmentId = '', contextKeys, vouched = false, vouchedBy, generations = [0, 0] } = claims
    const now = clock.now()
    const expiresAt = new Date(claims.exp * 1000)
    // An invalid date fails this comparison too.
    if (!(expiresAt > now) || !id.test(_id)) return undefined
    if (method !== undefined) this.#limits.takeRequest(_id, method)
    const holder = await findHolder(db, environmentId, _id, now)
    if (!holder || holder.subscriber.inbox_generation !== generations[1]) return undefined
    const { subscriber, organizationId, isHeld, standing } = holder
    const session: InboxSession = {
      ...{ subscriber, environmentId, organizationId, contextKeys, expiresAt, vouchedBy, generation: generations[0] },
      ...{ isHeld, isForPreferences },
      isVouchedFor: vouched || isForPreferences,
      // Earlier versions did not name the key; what they vouched for is taken as it was.
      isContextVouchedFor: claims.contextVouched ?? (isForPreferences || (vouched && vouchedBy === undefined)),
    }
    return hasEnded(session, standing) ? undefined : session
  }

  get #issuer(): string {
    return `${this.#services.brand.word}_api`
  }
}
