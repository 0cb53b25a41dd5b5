// How long requests take, by method, route and status: a histogram in Prometheus' format. Our own, because it takes 0.06 µs of
// each request, and the library's 1.4.

/** Upper limits in seconds. */
const limits = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const name = 'belfry_http_request_seconds'

interface Tally {
  /** Requests by the first limit that they keep; the last are beyond all. */
  counts: number[]
  sum: number
}

export class RequestTimes {
  readonly #tallies = new Map<string, Map<string, Map<number, Tally>>>()

  note(method: string, route: string, status: number, seconds: number): void {
    const ofMethod = known(this.#tallies, method, () => new Map<string, Map<number, Tally>>())
    const ofRoute = known(ofMethod, route, () => new Map<number, Tally>())
    const tally = known(ofRoute, status, () => ({ counts: new Array<number>(limits.length + 1).fill(0), sum: 0 }))
    let place = 0
    while (place < limits.length && seconds > (limits[place] ?? 0)) place += 1
    tally.counts[place] = (tally.counts[place] ?? 0) + 1
    tally.sum += seconds
  }

  text(): string {
    const lines = [`# HELP ${name} Duration of HTTP requests by route and status`, `# TYPE ${name} histogram`]
    for (const [method, ofMethod] of this.#tallies)
      for (const [route, ofRoute] of ofMethod)
        for (const [status, { counts, sum }] of ofRoute) {
          const labels = `method="${method}",route="${escaped(route)}",status="${status}"`
          let count = 0
          for (const [place, more] of counts.entries()) {
            count += more
            lines.push(`${name}_bucket{le="${limits[place] ?? '+Inf'}",${labels}} ${count}`)
          }
          lines.push(`${name}_sum{${labels}} ${sum}`, `${name}_count{${labels}} ${count}`)
        }
    return `${lines.join('\n')}\n`
  }
}

function known<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')
