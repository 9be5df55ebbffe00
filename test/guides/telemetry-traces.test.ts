import { trace } from '@opentelemetry/api'
import { expect, test } from 'vitest'
import { otlpReceiver } from '../../packages/telemetry/test/support/otlp-receiver.ts'
import { openDocument } from '../support/document.ts'

interface Guide {
  telemetry: { stop(): Promise<boolean> }
}

test('the module of the guide sends spans where the variables say', async () => {
  await using receiver = await otlpReceiver()
  await using guide = await openDocument('docs/guides/telemetry.md')
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin }
  const { telemetry } = await guide.load<Guide>('tracing.ts', env)
  // One in ten is kept.
  for (let i = 0; i < 200; i++) trace.getTracer('test').startSpan('work').end()
  expect(await telemetry.stop()).toBe(true)
  expect(receiver.spans[0]?.resource).toMatchObject({ 'service.name': 'shop', 'service.version': '1.4.2' })
})
