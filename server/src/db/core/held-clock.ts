// Moments of environments whose clock is held. Everything there happens at the time that clock shows, but ids are made of the
// real time: partitions and retention go by them.

/** A moment of a held clock, and when it really was. */
export class HeldMoment extends Date {
  readonly real: Date

  constructor(shown: Date, real: Date) {
    super(shown)
    this.real = real
  }
}

/** Whoever changes something over HTTP holds this lock with others, so that the clock does not move meanwhile. */
export const actsLock = (environmentId: string) => `act ${environmentId}`

/** When it really was. */
export const realOf = (moment: Date): Date => (moment instanceof HeldMoment ? moment.real : moment)
