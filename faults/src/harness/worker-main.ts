// The worker process: `node worker-main.js` with its settings in the environment. It runs one worker, tells the
// history what happens, and leaves in order when it gets SIGTERM.
import { createMillrace, implement, type MillraceEvents } from 'millrace'
import pg from 'pg'
import { taskHandler } from './deeds.ts'
import { recorder } from './history.ts'
import { allContracts, contracts } from './tasks.ts'

export interface WorkerSettings {
  label: string
  /** Where the engine connects: the server, or a proxy before it. */
  engineUrl: string
  /** Where effects are written. */
  serverUrl: string
  historyFile: string
  gate: string
  slots: number
  lease: { heartbeat: number; ttl: number; sweep: number }
  graceMs: number
}

const TOLD = [
  'job_rescued',
  'job_fence_lost',
  'job_returned',
  'job_died',
  'lease_lost',
  'loop_blocked',
  'listen_trusted',
  'slot_leaked',
  'worker_started',
  'worker_stopped',
  'database_error',
  'idle',
] as const satisfies readonly (keyof MillraceEvents)[]

const settings = JSON.parse(process.env.MILLRACE_FAULT_PROCESS ?? '{}') as WorkerSettings
const record = recorder(settings.historyFile, settings.label)
// Whoever started us is gone, and nobody is left to stop us.
process.on('disconnect', () => process.exit(1))

const effects = new pg.Pool({ connectionString: settings.serverUrl, max: 4, connectionTimeoutMillis: 5_000 })
effects.on('error', () => {})
const millrace = createMillrace({ database: settings.engineUrl, jobs: allContracts })

interface Told {
  job?: { id: string; runId: string }
  id?: string
  why?: string
  outcome?: string
  reason?: string
  during?: string
  isTrusted?: boolean
}

for (const name of TOLD) {
  millrace.events.on(name, (payload) => {
    const { job, id, why, outcome, reason, during, isTrusted } = payload as Told
    const about = job === undefined ? { ...(id === undefined ? {} : { id }) } : { id: job.id, run: job.runId }
    const detail = why ?? outcome ?? reason ?? during ?? isTrusted
    record({ what: 'event', event: name, ...about, ...(detail === undefined ? {} : { why: String(detail) }) })
  })
}

const handler = taskHandler({ record, effects, gate: settings.gate })
const worker = await millrace.work({
  handlers: Object.values(contracts).map((contract) => implement(contract, handler)),
  concurrency: { work: settings.slots },
  lease: settings.lease,
  gracePeriod: settings.graceMs,
})

process.on('message', (message) => {
  if (message === 'running') process.send?.({ running: worker.running })
})

process.once('SIGTERM', async () => {
  await millrace.close()
  process.exit(0)
})
