// Plays something in the thread for simulations and answers with the result, or with why it cannot be played.
import type { FastifyReply } from 'fastify'
import type { Logger } from 'pino'
import { type Refusal, SimulationRefused } from '../../engine/simulation/scenario.ts'
import { SimulationAbandoned, type Simulations, SimulationsBusy } from '../../engine/simulation/simulations.ts'
import type { Job } from '../../engine/simulation/thread.ts'
import { fail, type RequestError } from '../../errors.ts'
import { goneWith } from '../edge/hang-up.ts'

/** Reads what is played only once it is its turn. Nothing is answered to a caller who has hung up. */
export async function answerPlayed(
  { threads, log }: { threads: Simulations; log: Logger },
  reply: FastifyReply,
  read: () => Promise<Job>,
): Promise<FastifyReply> {
  const gone = goneWith(reply)
  let answer: Buffer
  try {
    const leave = await threads.enter(gone)
    try {
      const outcome = await threads.play(await read(), gone)
      if ('refusal' in outcome) throw new SimulationRefused(outcome.refusal)
      if ('failure' in outcome) throw new Error(`The simulation failed: ${outcome.failure}`)
      answer = Buffer.from(outcome.answer.buffer)
    } finally {
      leave()
    }
  } catch (error) {
    if (error instanceof SimulationAbandoned) {
      log.debug('the caller of a simulation is gone')
      return reply
    }
    if (error instanceof SimulationsBusy)
      throw fail('too_many_simulations', undefined, { headers: { 'Retry-After': '1' } })
    throw error instanceof SimulationRefused ? refused(error.refusal) : error
  }
  return reply.type('application/json; charset=utf-8').send(answer as never)
}

export function refused(refusal: Refusal): RequestError {
  switch (refusal.code) {
    case 'simulation_invalid':
      return fail(refusal.code, refusal.params, { ctx: { where: refusal.params.where } })
    case 'simulation_too_large':
      return fail(refusal.code, refusal.params, { ctx: refusal.params })
    case 'simulation_needs_answers':
      return fail(refusal.code, refusal.params, { ctx: refusal.params })
    case 'workflow_version_not_found':
      return fail(refusal.code, refusal.params, { ctx: refusal.params })
    case 'workflow_not_found':
      return fail(refusal.code, undefined, { ctx: refusal.params })
  }
}
