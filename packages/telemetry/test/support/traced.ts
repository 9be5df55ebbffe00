import { startTelemetry, type TelemetryOptions } from '@millrace/telemetry'
import { trace } from '@opentelemetry/api'
import { setup } from '../../../engine/test/support/setup.ts'
import { otlpReceiver, type ReceivedSpan } from './otlp-receiver.ts'

/** A database, an SDK in this process, and a collector that it sends to. */
export async function traced(options: TelemetryOptions = {}) {
  const receiver = await otlpReceiver()
  const telemetry = startTelemetry({ endpoint: receiver.url, ...options })
  const t = await setup()
  return {
    ...t,
    receiver,
    telemetry,
    /** Everything that has arrived, once what has ended was sent. */
    async spans(name?: string): Promise<ReceivedSpan[]> {
      await telemetry.flush()
      return receiver.spans.filter((span) => name === undefined || span.name === name)
    },
    /** Resolves when so many spans of that name have arrived. */
    async received(name: string, count = 1): Promise<ReceivedSpan[]> {
      for (let tries = 0; tries < 500; tries++) {
        const found = await this.spans(name)
        if (found.length >= count) return found
        // The span ends when the outcome is written, a moment after the event that the test heard.
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      const names = receiver.spans.map((span) => span.name)
      throw new Error(`Expected ${count} spans "${name}", got ${JSON.stringify(names)}`)
    },
    /** Calls `work` inside a span of the program's own, and returns that span's ids with the result. */
    async inRequest<Value>(work: () => Promise<Value>) {
      return trace.getTracer('test').startActiveSpan('request', async (span) => {
        const value = await work()
        span.end()
        return { value, ...span.spanContext() }
      })
    },
    async [Symbol.asyncDispose]() {
      await t[Symbol.asyncDispose]()
      await telemetry.stop()
      await receiver[Symbol.asyncDispose]()
    },
  }
}

export const one = <Value>(values: readonly Value[]): Value => {
  if (values.length !== 1) throw new Error(`Expected one, got ${values.length}: ${JSON.stringify(values)}`)
  return values[0] as Value
}
