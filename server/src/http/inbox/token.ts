// Session tokens of browsers: each opens one inbox, in one set of contexts, until it expires.
import type { FastifyRequest } from 'fastify'
import { idPattern } from '../../db/core/ids.ts'
import { findSubscriberById } from '../../db/queries/subscribers.ts'
import { fail } from '../../errors.ts'
import type { InboxSession, Services } from '../edge/resource.ts'
import { InboxLimits } from './limit.ts'

const livesDays = 15
const audience = 'widget_user'
const scheme = 'Bearer'
const id = new RegExp(idPattern)

type Holder = Omit<InboxSession, 'expiresAt'>

export class InboxTokens {
  readonly #services: Pick<Services, 'db' | 'secrets' | 'clock' | 'brand'>
  readonly #limits: InboxLimits

  constructor(services: Pick<Services, 'db' | 'secrets' | 'clock' | 'brand'>) {
    this.#services = services
    this.#limits = new InboxLimits(services.clock)
  }

  /** Without names and addresses, since the token is in the URL of the socket. */
  issue({ subscriber, organizationId, environmentId, contextKeys, isVouchedFor }: Holder): string {
    const { secrets, clock } = this.#services
    const iat = Math.floor(clock.now().getTime() / 1000)
    return secrets.makeToken({
      _id: subscriber.id,
      subscriberId: subscriber.subscriber_id,
      organizationId,
      environmentId,
      contextKeys,
      ...(isVouchedFor ? { vouched: true } : {}),
      iss: this.#issuer,
      aud: audience,
      iat,
      exp: iat + livesDays * 86_400,
    })
  }

  async authenticate({ headers, method }: FastifyRequest): Promise<InboxSession> {
    const { authorization } = headers
    if (!authorization) throw fail('missing_authorization')
    const [word = ''] = authorization.split(' ', 1)
    if (word !== scheme)
      throw fail('invalid_scheme', { scheme: word, expected: `${scheme} <the token of the inbox session>` })
    const session = await this.read(authorization.slice(scheme.length + 1), method)
    if (!session) throw fail('unauthorized')
    return session
  }

  /**
   * Undefined for a token that is not ours, has another purpose or has expired, or whose subscriber was deleted. With a
   * method, counts the request against the rate limit before any look-up.
   */
  async read(token: string, method?: string): Promise<InboxSession | undefined> {
    const { db, secrets, clock } = this.#services
    const claims = secrets.readToken(token)
    if (claims?.aud !== audience || claims.iss !== this.#issuer) return undefined
    const { _id, environmentId, contextKeys, vouched, exp } = claims as Record<string, string> & {
      contextKeys: string[]
      vouched?: true
      exp: number
    }
    const expiresAt = new Date(exp * 1000)
    // An invalid date fails this comparison too.
    if (!(expiresAt > clock.now()) || !id.test(_id ?? '')) return undefined
    if (method !== undefined) this.#limits.takeRequest(_id ?? '', method)
    const subscriber = await findSubscriberById(db, environmentId ?? '', _id ?? '')
    if (!subscriber) return undefined
    const { organization_id, environment_id } = subscriber
    return {
      ...{ subscriber, environmentId: environment_id, organizationId: organization_id, contextKeys, expiresAt },
      isVouchedFor: vouched === true,
    }
  }

  get #issuer(): string {
    return `${this.#services.brand.word}_api`
  }
}
