// Traces, sent over OTLP: how a request became a trigger, its runs, their steps and the calls to others. Only whoever has
// somewhere to send them to has a `Tracing`; everybody else holds undefined, loads nothing of this and pays nothing for it.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Context, Link, Span, SpanContext, Tracer } from '@opentelemetry/api'

/** How long the last spans may take on their way when the service stops. */
const patienceMs = 3_000
/** Where nobody takes the traces, the log says so once in a while. */
const complainEveryMs = 60_000

interface SpanOptions {
  kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  /** As in `traceparent`; null begins a trace. The span under way, where it is undefined. */
  parent?: string | null | undefined
  /** Others that led to it, as in `traceparent`. */
  links?: readonly string[] | undefined
  attributes?: Attributes
  /** When it began, where that is over already. */
  since?: Date
}

type Api = typeof import('@opentelemetry/api')

export class Tracing {
  readonly #api: Api
  readonly #tracer: Tracer
  readonly #end: () => Promise<void>
  readonly #active = new AsyncLocalStorage<Span>()

  constructor(api: Api, tracer: Tracer, end: () => Promise<void>) {
    this.#api = api
    this.#tracer = tracer
    this.#end = end
  }

  /** Whoever begins one ends it. */
  begin(name: string, { kind = 'internal', parent, links = [], attributes = {}, since }: SpanOptions = {}): Span {
    const { SpanKind } = this.#api
    const kinds = {
      internal: SpanKind.INTERNAL,
      server: SpanKind.SERVER,
      client: SpanKind.CLIENT,
      producer: SpanKind.PRODUCER,
      consumer: SpanKind.CONSUMER,
    }
    const linked = links.flatMap((text): Link[] => {
      const context = readTraceparent(text)
      return context ? [{ context }] : []
    })
    const options = { kind: kinds[kind], attributes, links: linked, ...(since ? { startTime: since } : {}) }
    return this.#tracer.startSpan(name, options, this.#contextOf(parent))
  }

  #contextOf(parent: string | null | undefined): Context {
    const { ROOT_CONTEXT, trace } = this.#api
    if (parent === undefined) return this.active ? trace.setSpan(ROOT_CONTEXT, this.active) : ROOT_CONTEXT
    const context = parent === null ? undefined : readTraceparent(parent)
    return context ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT
  }

  /** Everything that is begun meanwhile, and every line that is logged, belongs to this span. */
  within<T>(span: Span, work: () => T): T {
    return this.#active.run(span, work)
  }

  /** The same, ended with it. What is thrown is an error of the span, which keeps its code and not its words. */
  async during<T>(span: Span, work: () => Promise<T>): Promise<T> {
    try {
      return await this.within(span, work)
    } catch (error) {
      this.fail(span, codeOf(error))
      throw error
    } finally {
      span.end()
    }
  }

  fail(span: Span, code: string): void {
    span.setAttribute('error.type', code).setStatus({ code: this.#api.SpanStatusCode.ERROR, message: code })
  }

  get active(): Span | undefined {
    return this.#active.getStore()
  }

  /** What a line of the log says of the span under way. */
  logged(): { trace_id?: string; span_id?: string } {
    return this.active ? loggedOf(this.active) : {}
  }

  /** Sends what is left. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs)
    })
    await Promise.race([this.#end().catch(() => undefined), over])
    clearTimeout(timer)
  }
}

export function loggedOf(span: Span): { trace_id: string; span_id: string } {
  const { traceId, spanId } = span.spanContext()
  return { trace_id: traceId, span_id: spanId }
}

/** By which another process, or this one some days later, goes on with the trace. */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** https://www.w3.org/TR/trace-context/#traceparent-header; versions to come may have more behind it. */
const form = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

function readTraceparent(text: string): SpanContext | undefined {
  const [, version, traceId, spanId, flags = '', more] = form.exec(text) ?? []
  if (traceId === undefined || spanId === undefined || (version === '00' && more !== undefined)) return undefined
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
}

const codeOf = (error: unknown): string => {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'Error'
}

interface Settings {
  protocol: 'http/protobuf' | 'http/json'
  role: string
  /** Told now and then while the traces cannot be sent. */
  onFailure(error: Error): void
}

/** Where to, how often and how many is said by the standard's own variables, which the libraries read themselves. */
export async function startTracing({ protocol, role, onFailure }: Settings): Promise<Tracing> {
  const [api, { BasicTracerProvider, BatchSpanProcessor }, resources, { OTLPTraceExporter }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/resources'),
    protocol === 'http/json'
      ? import('@opentelemetry/exporter-trace-otlp-http')
      : import('@opentelemetry/exporter-trace-otlp-proto'),
  ])
  const exporter = new OTLPTraceExporter()
  const send = exporter.export.bind(exporter)
  let complainedAt = Number.NEGATIVE_INFINITY
  exporter.export = (spans, tell) =>
    send(spans, (result) => {
      if (result.code !== 0 && performance.now() - complainedAt > complainEveryMs) {
        complainedAt = performance.now()
        onFailure(result.error ?? new Error('The receiver of traces refuses them'))
      }
      tell(result)
    })
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'belfry', 'belfry.role': role }))
      // What the operator says counts for more.
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  return new Tracing(api, provider.getTracer('belfry'), () => provider.shutdown())
}
