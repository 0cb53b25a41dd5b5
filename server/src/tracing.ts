// Traces, sent over OTLP: how a request became a trigger, its runs, their steps and the outgoing calls. Without a collector,
// `Tracing` is undefined, and none of this is loaded or costs anything.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Attributes, Context, Link, Span, SpanContext, Tracer } from '@opentelemetry/api'

/** How long sending the last spans may take on shutdown. */
const patienceMs = 3_000
/** While the collector is unreachable, log that only once per this time. */
const complainEveryMs = 60_000

interface SpanOptions {
  kind?: 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  /** A `traceparent`; null starts a trace. Undefined means the active span. */
  parent?: string | null | undefined
  /** Other spans that led to it, each a `traceparent`. */
  links?: readonly string[] | undefined
  attributes?: Attributes
  /** When it began, if earlier than now. */
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

  /** The caller must end it. */
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

  /** Every span begun and every line logged inside `work` belongs to this span. */
  within<T>(span: Span, work: () => T): T {
    return this.#active.run(span, work)
  }

  /** The same, and ends the span. A thrown error marks the span with its code, without its message. */
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

  /** The fields that tie a log line to the active span. */
  logged(): { trace_id?: string; span_id?: string } {
    return this.active ? loggedOf(this.active) : {}
  }

  /** Sends the spans still in memory. */
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

/** With this, another process, or this one days later, continues the trace. */
export function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** https://www.w3.org/TR/trace-context/#traceparent-header; future versions may append more. */
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
  /** Called now and then while traces cannot be sent. */
  onFailure(error: Error): void
}

/** The libraries read the target, interval and sampling from the standard OTEL_* variables themselves. */
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
        onFailure(result.error ?? new Error('The collector refused the traces'))
      }
      tell(result)
    })
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'belfry', 'belfry.role': role }))
      // The operator's attributes win.
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
  return new Tracing(api, provider.getTracer('belfry'), () => provider.shutdown())
}
