// The worker process: `node worker-main.js` with its settings in the environment. It runs one worker, tells the
// history what happens, and leaves in order when it gets SIGTERM.
import { createMillrace, type Isolation, implement } from 'millrace'
import pg from 'pg'
import { taskHandler } from './deeds.ts'
import { recorder } from './history.ts'
import { named } from './named.ts'
import { type ScheduleSpec, schedulesOf } from './schedules.ts'
import { allContracts, contracts } from './tasks.ts'
import { tellEvents } from './tell-events.ts'

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
  /** Also runs the types 'apart' and 'isolated', which have queues of their own. */
  isApart: boolean
  schedules: readonly ScheduleSpec[]
  skewMs: number
}

const settings = JSON.parse(process.env.MILLRACE_FAULT_PROCESS ?? '{}') as WorkerSettings
const record = recorder(settings.historyFile, settings.label, settings.skewMs)
// Whoever started us is gone, and nobody is left to stop us.
process.on('disconnect', () => process.exit(1))

const effects = new pg.Pool({ connectionString: settings.serverUrl, max: 4, connectionTimeoutMillis: 5_000 })
effects.on('error', () => {})
const millrace = createMillrace({
  database: named(settings.engineUrl, settings.label),
  jobs: allContracts,
  schedules: schedulesOf(settings.schedules, settings.gate),
})

tellEvents(millrace, record)
const handler = taskHandler({ record, effects, gate: settings.gate })
const { task, brief, apart, isolated, limited, ordered } = contracts
const inProcess: Isolation = {
  isolation: 'process',
  module: new URL('./isolated-deeds.js', import.meta.url),
  memoryMb: 64,
  warm: 2,
}
const handlers = [task, brief, limited, ordered].map((contract) => implement(contract, handler))
if (settings.isApart) handlers.push(implement(apart, handler), implement(isolated, inProcess))
const worker = await millrace.work({
  handlers,
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
