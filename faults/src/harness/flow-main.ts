// A worker process that knows the workflows and runs their parts.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMillrace, implement, Unrecoverable } from 'millrace'
import { flows, part } from './flows.ts'
import { recorder } from './history.ts'
import { tellEvents } from './tell-events.ts'
import type { WorkerSettings } from './worker-main.ts'

/** Some parts end at a beat of the clock that all processes share: many at once, here and elsewhere. Others end alone. */
const BEAT_MS = 60

const settings = JSON.parse(process.env.MILLRACE_FAULT_PROCESS ?? '{}') as WorkerSettings
const record = recorder(settings.historyFile, settings.label)
// Whoever started us is gone, and nobody is left to stop us.
process.on('disconnect', () => process.exit(1))

const millrace = createMillrace({ database: settings.engineUrl, jobs: [part], workflows: Object.values(flows) })
tellEvents(millrace, record)
const handler = implement(part, async ({ n, ms, isTogether, isFailing }, ctx) => {
  const tell = (what: 'started' | 'ended') => record({ what, n, id: ctx.jobId, run: ctx.runId, attempt: ctx.attempt })
  tell('started')
  const untilBeat = isTogether ? BEAT_MS - ((Date.now() + ms) % BEAT_MS) : 0
  await sleep(ms + untilBeat, undefined, { signal: ctx.signal })
  tell('ended')
  if (isFailing) throw new Unrecoverable('told to fail')
})
await millrace.work({
  handlers: [handler],
  concurrency: { parts: settings.slots },
  lease: settings.lease,
  gracePeriod: settings.graceMs,
})

process.once('SIGTERM', async () => {
  await millrace.close()
  process.exit(0)
})
