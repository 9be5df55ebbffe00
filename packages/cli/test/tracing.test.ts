import { createMillrace, defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../../engine/test/support/database.ts'
import { otlpReceiver } from '../../telemetry/test/support/otlp-receiver.ts'
import { fixture, Program } from './support/program.ts'

// The contract of fixtures/nap.js.
const queues = defineQueues({ beds: { concurrency: 3 } })
const nap = defineJob({ type: 'nap', queue: queues.beds, payload: z.object({}) })

test('work sends the spans of its runs where the OTEL_* variables say, the last ones before it ends', async () => {
  await using database = await freshDatabase()
  await using receiver = await otlpReceiver()
  const millrace = createMillrace({ database: database.url, jobs: [nap] })
  await using work = new Program(['work', fixture('nap.js')], {
    DATABASE_URL: database.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.origin,
  })
  const traceParent = `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`
  const { id } = await millrace.enqueue(nap, {}, { traceParent })
  await millrace.close()
  await work.said(/asleep/)
  work.signal('SIGUSR2')
  work.signal('SIGTERM')
  expect(await work.ended()).toMatchObject({ code: 0 })
  expect(receiver.spans).toMatchObject([
    {
      name: 'process beds',
      links: [{ traceId: 'a1'.repeat(16), spanId: 'b2'.repeat(8) }],
      attributes: { 'job.id': Number(id), 'millrace.outcome': 'completed' },
      events: [{ name: 'job.completed' }],
      resource: { 'service.name': 'naps' },
    },
  ])
})
