// The held clock of an environment for tests: requests and their cache keys. Refresh with ['clock'].
import { queryOptions } from '@tanstack/react-query'
import { type Answer, api, type Body, inEnvironment } from './client.ts'

export type Advanced = Answer<'POST /v1/clock/advance'>
export type Advance = Body<'POST /v1/clock/advance'>

/** While it moves, how far it has come is asked this often. */
const watchMs = 500

export const clock = {
  /** @param isMoving whether this page moves it */
  now: ({ isMoving = false } = {}) =>
    queryOptions({
      queryKey: inEnvironment('clock'),
      queryFn: ({ signal }) => api('GET /v1/clock', { signal }),
      // Whether it is held never changes; where it is, somebody else may move it.
      staleTime: ({ state }) => (state.data?.held === false ? Number.POSITIVE_INFINITY : 0),
      refetchInterval: ({ state }) =>
        state.data?.held !== true ? false : isMoving || state.data.advancingTo ? watchMs : 10_000,
    }),
  advance: (body: Advance, signal: AbortSignal) => api('POST /v1/clock/advance', { body, signal }),
}
