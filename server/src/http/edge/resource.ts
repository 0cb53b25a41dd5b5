// What every resource file receives: the typed app to register routes on, and the services behind them.
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Changes } from '../../db/core/changes.ts'
import type { Database } from '../../db/core/database.ts'
import type { Secrets } from '../../db/core/secrets.ts'
import type { EnvironmentRoles, RateLimits, Role } from '../../db/core/tables.ts'
import type { SubscriberRow } from '../../db/queries/subscribers.ts'
import type { Engine } from '../../engine/engine.ts'
import type { SimulationThread } from '../../engine/simulation/simulations.ts'
import type { HttpClient } from '../../providers/http-client.ts'
import type { Tracing } from '../../tracing.ts'
import type { Brand } from './brand.ts'
import type { Metrics } from './metrics.ts'
import type { Held } from './overload.ts'
import type { KeyRights, NeededScope } from './scopes.ts'

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
  /** For requests in environments whose clock is held: each has a connection until it is answered. */
  acts: pg.Pool
  clock: Clock
  secrets: Secrets
  changes: Changes
  brand: Brand
  /** The cache of API keys; call `forget` after changing keys, before answering, and `writeUses` before showing last uses. */
  apiKeys: { forget(): void; writeUses(): Promise<void> }
  /** The cache of people and their sessions. */
  people: {
    forget(): void
    tokenOf(request: FastifyRequest): string | undefined
    authenticate(request: FastifyRequest, token: string): Promise<void>
  }
  engine: Pick<
    Engine,
    | 'trigger'
    | 'post'
    | 'answer'
    | 'answerWithin'
    | 'cancelQuestion'
    | 'cancel'
    | 'cancelByKey'
    | 'endWait'
    | 'redrive'
    | 'report'
    | 'takeTexts'
    | 'track'
    | 'erase'
    | 'clocks'
  >
  /** For calls to other services. */
  http: HttpClient
  metrics: Metrics
  /** Set when traces are exported. */
  tracing?: Tracing | undefined
  log: Logger
  config: Pick<
    Config,
    | 'role'
    | 'publicUrl'
    | 'inboundMail'
    | 'dnsServers'
    | 'hideCredentials'
    | 'wrapData'
    | 'rateLimit'
    | 'oauth'
    | 'extraProviders'
    | 'trustedProxies'
    | 'oidc'
    | 'isPublicUrlGiven'
    | 'requireSecondFactor'
    | 'dashboardDir'
    | 'retention'
    | 'dedupDays'
    | 'limits'
    | 'metricsToken'
    | 'mostRequests'
    | 'answerSeconds'
    | 'queuePatienceSeconds'
  >
  /** The file of the thread that plays simulations, if not the built one. */
  simulationThread?: SimulationThread | undefined
  /** Whether the service is shutting down. */
  stopping: { readonly isStopping: boolean }
}

/** The session of a subscriber in a browser. */
export interface InboxSession {
  subscriber: SubscriberRow
  environmentId: string
  organizationId: string
  /** Sorted. The session reads and writes only data with exactly these contexts. */
  contextKeys: string[]
  /** Whether an HMAC hash from the backend proves that this page may act for the subscriber. */
  isVouchedFor: boolean
  /** Which API key made that hash; the session ends with it. */
  vouchedBy?: string | undefined
  /** The same for the contexts. */
  isContextVouchedFor: boolean
  /** Of the environment when the session began. */
  generation: number
  /** Whether the clock of the environment is held. */
  isHeld: boolean
  /** Opened by a link in a message: it reaches preferences, schedule and time zone only. */
  isForPreferences: boolean
  expiresAt: Date
}

/** A signed-in person. */
export interface Person {
  id: string
  name: string
  email: string
  /** In the organization. In an environment: `roleIn`. */
  role: Role
  environmentRoles: EnvironmentRoles
  organizationId: string
  sessionId: string
  /** When they last proved who they are. */
  provedAt: Date
}

/** For log lines with the id of the request. */
export const logOf = ({ log, id }: Pick<FastifyRequest, 'log' | 'id'>): FastifyBaseLogger => log.child({ reqId: id })

/** Fastify makes a logger for each request, with options, which costs more than its authentication. This one gives it itself. */
export function sharedLogger(log: Logger): Logger {
  const shared = Object.create(log) as Logger
  shared.child = ((bindings: object, options?: object) => (options ? shared : log.child(bindings))) as Logger['child']
  return shared
}

/** Registers the routes of one resource. */
export type Resource = (app: App, services: Services) => void

/** The environment an API key opens; everything a request reads or writes is scoped to it. */
export interface Environment {
  id: string
  organizationId: string
  userId: string
  rateLimits: RateLimits | null
  /** Set if its content changes by approved publishing only. */
  protection: { isOpenToAutomation: boolean } | undefined
  /** Whether its clock is held. */
  isHeld: boolean
  /** Whether it stands in front of another service. */
  isShadow: boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by authentication, before any handler of a route that is not public. */
    environment: Environment
    /** The same for routes of the inbox that need a token. */
    session: InboxSession
    /** Set for a signed-in person, not for an API key. */
    person: Person | undefined
    /** Set for an API key, not for a signed-in person. */
    key: KeyRights | undefined
    /** Its share of the load, for load shedding. */
    held: Held | undefined
    /** The time in its environment: that of the process, or what a held clock shows. */
    now(): Date
    /** For a request that only finds its environment later, one whose clock is held: reads the clock, and holds it. */
    enterHeld(reply: FastifyReply, environmentId: string): Promise<void>
    /** In front of another service, a trigger's way: passed on and done here too, or done here only. */
    way: 'mirrored' | 'here' | undefined
    /** Whether it goes on to the service behind its environment. */
    isPassedOn: boolean
    /** What a held clock shows, once it was read. */
    shown: Date | undefined
    /** The `config` of its route. */
    rules: FastifyContextConfig & { url?: string }
  }
  interface FastifyContextConfig {
    /** Reachable without an API key. */
    public?: boolean
    /** Never shed under overload. */
    always?: boolean
    /** For subscribers in browsers, with a session token. */
    inbox?: boolean
    /** Of those, open to tokens of the page of preferences too. */
    preferences?: boolean
    /** For signed-in people only; API keys are refused. */
    people?: boolean
    /** The minimum role; default: `viewer` to read, `editor` for anything else. */
    role?: Role
    /** What an API key needs; default: see `scopeNeededFor`. */
    scope?: NeededScope
    /** Open to people who still have to set up a required second factor. */
    beforeSecondFactor?: boolean
    /** Whether a person must have proved who they are a short time ago; see `proof.ts`. */
    proof?: boolean
    /**
     * `organization` if the route acts on more than the caller's environment, so that a key of one environment does not do.
     * `environment` for a route for people that acts in the one they chose: their role there counts.
     */
    reach?: 'organization' | 'environment'
    /** Changes no workflow, layout or translation, whatever its scope suggests; a protected environment allows it. */
    keepsContent?: boolean
    /** Error statuses beyond those that every operation can return. */
    refusals?: number[]
    /** The name of its audit log entry, written on success. */
    act?: string
    /** Moves a held clock, or changes nothing: where the clock is held, it may move meanwhile. */
    leavesClock?: boolean
    /** Its body has `items`, and one with text that cannot be stored keeps out no other: the handler looks at each. */
    judgesItems?: boolean
    /** Whether its schema describes a body. */
    takesBody?: boolean
    /**
     * Takes the short path. Its handler reads environment, headers and body and sets the status, and nothing else; its schema
     * describes the body and the answer of a 201.
     */
    hot?: boolean
  }
}
