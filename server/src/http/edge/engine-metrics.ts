// Metrics of the engine: triggers, runs, provider calls, webhooks, and what is failing at the moment.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Meter } from '../../engine/core/meter.ts'

/** Read at each scrape. */
interface Watched {
  openCircuits(): number
  sockets(): number
}

export class EngineMetrics implements Meter {
  readonly #registers: Registry[]
  readonly #accepted: Counter
  readonly #started: Counter
  readonly #ended: Counter
  readonly #calls: Histogram
  readonly #failovers: Counter
  readonly #webhooks: Counter
  readonly #drained: Counter
  readonly #socketsRefused: Counter

  constructor(registry: Registry) {
    const registers = [registry]
    this.#registers = registers
    this.#accepted = new Counter({
      name: 'belfry_triggers_accepted_total',
      help: 'Triggers committed by this process',
      registers,
    })
    this.#started = new Counter({
      name: 'belfry_runs_started_total',
      help: 'Runs started by this process, one for each recipient of a trigger',
      registers,
    })
    this.#ended = new Counter({
      name: 'belfry_runs_ended_total',
      help: 'Runs that ended in this process, by status',
      labelNames: ['status'],
      registers,
    })
    this.#calls = new Histogram({
      name: 'belfry_provider_call_seconds',
      help: 'Duration of calls to providers, by provider and outcome: sent, or the error code',
      labelNames: ['provider', 'outcome'],
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    })
    this.#failovers = new Counter({
      name: 'belfry_provider_failovers_total',
      help: 'Messages that went on to another integration, by the provider that failed and its error',
      labelNames: ['provider', 'error'],
      registers,
    })
    this.#webhooks = new Counter({
      name: 'belfry_webhook_requests_total',
      help: 'Requests to webhook endpoints, by outcome',
      labelNames: ['outcome'],
      registers,
    })
    this.#drained = new Counter({
      name: 'belfry_outbox_calls_total',
      help: 'Calls of the SQL functions that this process took from an outbox, by kind and outcome',
      labelNames: ['kind', 'outcome'],
      registers,
    })
    this.#socketsRefused = new Counter({
      name: 'belfry_inbox_sockets_refused_total',
      help: 'Browser sockets refused for want of room',
      registers,
    })
    // Start at 0, so that a rate exists from the first event on.
    for (const status of ['completed', 'error'] as const) this.ended(status, 0)
    for (const outcome of ['delivered', 'failed'] as const) this.told(outcome, 0)
    for (const outcome of ['accepted', 'refused'] as const) this.drained('trigger', outcome, 0)
  }

  accepted(count: number): void {
    this.#accepted.inc(count)
  }

  started(count: number): void {
    this.#started.inc(count)
  }

  ended(status: 'completed' | 'error', count: number): void {
    this.#ended.inc({ status }, count)
  }

  called(provider: string, outcome: string, seconds: number): void {
    this.#calls.observe({ provider, outcome }, seconds)
  }

  failedOver(provider: string, error: string): void {
    this.#failovers.inc({ provider, error })
  }

  told(outcome: 'delivered' | 'failed', count: number): void {
    this.#webhooks.inc({ outcome }, count)
  }

  drained(kind: string, outcome: 'accepted' | 'refused', count: number): void {
    this.#drained.inc({ kind, outcome }, count)
  }

  socketRefused(): void {
    this.#socketsRefused.inc()
  }

  watch({ openCircuits, sockets }: Watched): void {
    const registers = this.#registers
    new Gauge({
      name: 'belfry_circuits_open',
      help: 'Integrations that this process pauses because they failed repeatedly',
      registers,
      collect(): void {
        this.set(openCircuits())
      },
    })
    new Gauge({
      name: 'belfry_inbox_sockets',
      help: 'Browser sockets connected to this process',
      registers,
      collect(): void {
        this.set(sockets())
      },
    })
  }
}
