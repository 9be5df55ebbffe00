import { setTimeout as sleep } from 'node:timers/promises'
import { asksForTraces, hasTelemetry, startTelemetry, type Telemetry, type TelemetryOptions } from '@millrace/telemetry'
import { context, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api'
import { InMemorySpanExporter } from '@opentelemetry/sdk-trace-base'
import { describe, expect, test, vi } from 'vitest'
import { otlpReceiver } from '../support/otlp-receiver.ts'

/** Stopped at the end of its scope. */
function started(options: TelemetryOptions): Telemetry & AsyncDisposable {
  const telemetry = startTelemetry(options)
  return { ...telemetry, [Symbol.asyncDispose]: async () => void (await telemetry.stop()) }
}

const tracer = () => trace.getTracer('test')

describe('startTelemetry', () => {
  test('sends what has ended to the collector that the variables name, with who sends it', async () => {
    await using receiver = await otlpReceiver()
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.origin)
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-key=abc')
    vi.stubEnv('OTEL_SERVICE_NAME', 'from-env')
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'team=feeds')
    await using telemetry = started({ version: '2.0.0', attributes: { region: 'eu' } })
    tracer().startSpan('work').end()
    expect(await telemetry.flush()).toBe(true)
    expect(receiver.headers[0]).toMatchObject({ 'x-key': 'abc' })
    expect(receiver.spans).toMatchObject([
      {
        name: 'work',
        resource: {
          'service.name': 'from-env',
          'service.version': '2.0.0',
          team: 'feeds',
          region: 'eu',
          'process.pid': process.pid,
        },
      },
    ])
    // A command line may hold a password.
    expect(Object.keys(receiver.spans[0]?.resource ?? {}).filter((name) => name.startsWith('process.command'))).toEqual(
      [],
    )
  })

  test('refuses to be the second SDK of a process, and leaves room for another when it has stopped', async () => {
    const first = startTelemetry({ exporter: new InMemorySpanExporter() })
    expect(() => startTelemetry()).toThrow('This process has an OpenTelemetry SDK already')
    expect(await first.stop()).toBe(true)
    expect(hasTelemetry()).toBe(false)
    await using _ = started({ exporter: new InMemorySpanExporter() })
    expect(hasTelemetry()).toBe(true)
  })

  test('stops in bounded time when the collector does not answer', async () => {
    await using receiver = await otlpReceiver()
    receiver.stopAnswering()
    const telemetry = startTelemetry({ endpoint: receiver.url, patience: '200ms' })
    tracer().startSpan('lost').end()
    const late = Symbol('late')
    const stopped = await Promise.race([telemetry.stop(), sleep(10_000, late, { ref: false })])
    expect(stopped).toBe(false)
  })

  test('prints spans to the console', async () => {
    const dir = vi.spyOn(console, 'dir').mockImplementation(() => {})
    await using telemetry = started({ exporter: 'console', service: 'shop' })
    tracer().startSpan('printed').end()
    await telemetry.flush()
    expect(dir.mock.calls[0]?.[0]).toMatchObject({ name: 'printed' })
  })

  test.each([
    [{ sampling: 2 }, 'sampling is 2'],
    [{ patience: 'soon' as '1s' }, 'patience'],
  ])('refuses %o', (options, message) => {
    expect(() => startTelemetry({ exporter: new InMemorySpanExporter(), ...options })).toThrow(message)
    expect(hasTelemetry()).toBe(false)
  })
})

describe('sampling', () => {
  const linked = (flags: TraceFlags) => ({
    links: [{ context: { traceId: 'a1'.repeat(16), spanId: 'b2'.repeat(8), traceFlags: flags } }],
  })

  test('keeps a run whose enqueue was kept, and drops one whose enqueue was dropped, whatever the share', async () => {
    const exporter = new InMemorySpanExporter()
    await using telemetry = started({ exporter, sampling: 0 })
    tracer().startSpan('root', {}, ROOT_CONTEXT).end()
    tracer().startSpan('kept', linked(TraceFlags.SAMPLED), ROOT_CONTEXT).end()
    tracer().startSpan('dropped', linked(TraceFlags.NONE), ROOT_CONTEXT).end()
    await telemetry.flush()
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['kept'])
  })

  test('lets a span follow its parent rather than its links', async () => {
    const exporter = new InMemorySpanExporter()
    await using telemetry = started({ exporter, sampling: 1 })
    const parent = tracer().startSpan('parent')
    context.with(trace.setSpan(ROOT_CONTEXT, parent), () => tracer().startSpan('child', linked(TraceFlags.NONE)).end())
    parent.end()
    await telemetry.flush()
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['child', 'parent'])
  })

  test('takes its share from the standard variables', async () => {
    vi.stubEnv('OTEL_TRACES_SAMPLER', 'parentbased_traceidratio')
    vi.stubEnv('OTEL_TRACES_SAMPLER_ARG', '0.5')
    const exporter = new InMemorySpanExporter()
    await using telemetry = started({ exporter })
    for (let i = 0; i < 400; i++) tracer().startSpan('root', {}, ROOT_CONTEXT).end()
    await telemetry.flush()
    const { length } = exporter.getFinishedSpans()
    expect(length).toBeGreaterThan(120)
    expect(length).toBeLessThan(280)
  })

  test('says which samplers it knows', () => {
    vi.stubEnv('OTEL_TRACES_SAMPLER', 'jaeger')
    expect(() => startTelemetry({ exporter: new InMemorySpanExporter() })).toThrow('expected one of always_on')
  })
})

test.each([
  [{}, false],
  [{ OTEL_SERVICE_NAME: 'x' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/v1/traces' }, true],
  [{ OTEL_TRACES_EXPORTER: 'console' }, true],
  [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, false],
  [{ OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, false],
])('%o asks for traces: %s', (env, asks) => {
  expect(asksForTraces(env)).toBe(asks)
})
