// What a resource file gets to work with: the typed app to register routes on, and the services behind them.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { WorkerUtils } from 'graphile-worker'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Changes } from '../../db/core/changes.ts'
import type { Database } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { RateLimits, Role } from '../../db/core/tables.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import type { Engine } from '../../engine/engine.ts'
import type { HttpClient } from '../../providers/http-client.ts'
import type { Tracing } from '../../tracing.ts'
import type { Brand } from './brand.ts'
import type { Metrics } from './metrics.ts'
import type { Held } from './overload.ts'

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export interface Clock {
  now(): Date
}

export interface Services extends Pick<Database, 'db' | 'pool'> {
  clock: Clock
  secrets: Secrets
  changes: Changes
  brand: Brand
  /** The keys this process remembers; whoever changes keys has them forgotten before answering. */
  apiKeys: { forget(): void }
  /** The same for people and their sessions. */
  people: {
    forget(): void
    tokenOf(request: FastifyRequest): string | undefined
    authenticate(request: FastifyRequest, token: string): Promise<void>
  }
  queue: WorkerUtils
  engine: Pick<Engine, 'trigger' | 'cancel' | 'redrive' | 'report' | 'erase'>
  /** For calls to other services. */
  http: HttpClient
  metrics: Metrics
  /** Where there is somewhere to send traces to. */
  tracing?: Tracing | undefined
  log: Logger
  config: Pick<
    Config,
    | 'role'
    | 'publicUrl'
    | 'hideCredentials'
    | 'wrapData'
    | 'rateLimit'
    | 'oauth'
    | 'extraProviders'
    | 'trustedProxies'
    | 'oidc'
    | 'dashboardDir'
    | 'retention'
    | 'limits'
    | 'mostRequests'
    | 'answerSeconds'
    | 'queuePatienceSeconds'
  >
  /** Whether the service is about to end. */
  stopping: { readonly isStopping: boolean }
}

/** A subscriber in a browser: what its token opens. */
export interface InboxSession {
  subscriber: SubscriberRow
  environmentId: string
  organizationId: string
  /** Sorted; it sees and changes what has exactly these. */
  contextKeys: string[]
  /** Whether the backend said, by a hash, that this page may speak for the subscriber. */
  isVouchedFor: boolean
  expiresAt: Date
}

/** Somebody who has signed in. */
export interface Person {
  id: string
  name: string
  email: string
  role: Role
  organizationId: string
  sessionId: string
}

/** Registers the routes of one resource. */
export type Resource = (app: App, services: Services) => void

/** The environment an API key opens; everything a request reads or writes is scoped to it. */
export interface Environment {
  id: string
  organizationId: string
  userId: string
  rateLimits: RateLimits | null
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by authentication, before any handler of a route that is not public. */
    environment: Environment
    /** The same for routes of the inbox that need a token. */
    session: InboxSession
    /** Who has signed in, where it is no API key that asks. */
    person: Person | undefined
    /** What it counts for among all that are under way. */
    held: Held | undefined
  }
  interface FastifyContextConfig {
    /** Reachable without an API key. */
    public?: boolean
    /** Answered however much there is to do. */
    always?: boolean
    /** For subscribers in their browsers, who have a token. */
    inbox?: boolean
    /** For people who have signed in; API keys are turned away. */
    people?: boolean
    /** The least role it takes; without it, `viewer` to read and `editor` for anything else. */
    role?: Role
    /** Statuses of refusals that are not among those of all operations. */
    refusals?: number[]
    /** What the audit log calls it when it succeeds. */
    act?: string
  }
}
