// Requests in environments whose clock is held: they happen at the time it shows, and it does not move until they are answered.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { actsLock, HeldMoment } from '../../db/core/held-clock.ts'
import { fail } from '../../errors.ts'
import type { App, Services } from './resource.ts'

const readShown = 'SELECT clock_now FROM environments WHERE id = $1 AND clock_now IS NOT NULL'

export class HeldRequests {
  readonly #services: Pick<Services, 'acts' | 'pool' | 'clock'>

  constructor(app: App, services: Pick<Services, 'acts' | 'pool' | 'clock'>) {
    this.#services = services
    const { clock } = services
    app.decorateRequest('shown')
    app.decorateRequest('now', function now(this: FastifyRequest) {
      return this.shown ?? clock.now()
    })
    const enter = this.enter.bind(this)
    app.decorateRequest('enterHeld', function enterHeld(this: FastifyRequest, reply: FastifyReply, id: string) {
      return enter(this, reply, id)
    })
  }

  /** The environment of a request, if its clock is held. */
  environmentOf({ environment, session }: FastifyRequest): string | undefined {
    if (environment?.isHeld) return environment.id
    return session?.isHeld ? session.environmentId : undefined
  }

  /** Reads the clock, and holds it for a request that changes something. */
  async enter(request: FastifyRequest, reply: FastifyReply, environmentId: string): Promise<void> {
    const { pool, clock } = this.#services
    const isReading = request.method === 'GET' || request.method === 'HEAD' || request.rules.leavesClock
    const rows = isReading
      ? (await pool.query<{ clock_now: Date }>(readShown, [environmentId])).rows
      : await this.#hold(reply, environmentId)
    const [row] = rows
    // The environment was deleted after the key was checked.
    if (!row) throw fail('api_key_not_found')
    request.shown = new HeldMoment(row.clock_now, clock.now())
  }

  async #hold(reply: FastifyReply, environmentId: string): Promise<Array<{ clock_now: Date }>> {
    const client = await this.#services.acts.connect()
    const letGo = () => {
      client.query('COMMIT').then(
        () => client.release(),
        () => client.release(true),
      )
    }
    try {
      await client.query('BEGIN')
      await client.query('SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', [actsLock(environmentId)])
      const { rows } = await client.query<{ clock_now: Date }>(readShown, [environmentId])
      // Answered, or the caller has hung up and nothing more is written.
      if (reply.raw.closed) letGo()
      else reply.raw.once('close', letGo)
      return rows
    } catch (error) {
      client.release(true)
      throw error
    }
  }
}
