// A worker process for one of the two queues that share a limit: its label says which. It writes begin and end of every
// run into the database, under its run_id.
import { createMillrace, implement, type JobContext } from 'millrace'
import pg from 'pg'
import { taskHandler } from './deeds.ts'
import { recorder } from './history.ts'
import { type LimitedType, limitedContracts } from './limited-tasks.ts'
import { named } from './named.ts'
import type { Task } from './tasks.ts'
import { tellEvents } from './tell-events.ts'
import type { WorkerSettings } from './worker-main.ts'

const settings = JSON.parse(process.env.MILLRACE_FAULT_PROCESS ?? '{}') as WorkerSettings
const record = recorder(settings.historyFile, settings.label)
process.on('disconnect', () => process.exit(1))

const effects = new pg.Pool({ connectionString: settings.serverUrl, max: 4, connectionTimeoutMillis: 5_000 })
effects.on('error', () => {})
const perform = taskHandler({ record, effects, gate: settings.gate })

async function handler(task: Task, ctx: JobContext): Promise<unknown> {
  await effects.query('insert into fault.run (job_id, run_id, who) values ($1, $2, $3)', [
    ctx.jobId,
    ctx.runId,
    settings.label,
  ])
  try {
    return await perform(task, ctx)
  } finally {
    await effects.query('update fault.run set ended_at = clock_timestamp() where job_id = $1 and run_id = $2', [
      ctx.jobId,
      ctx.runId,
    ])
  }
}

const contract = limitedContracts[settings.label.split('-')[0] as LimitedType]
const { engineUrl, label } = settings
const millrace = createMillrace({
  database: named(engineUrl, label),
  jobs: Object.values(limitedContracts),
})
tellEvents(millrace, record)
await millrace.work({
  handlers: [implement(contract, handler)],
  lease: settings.lease,
  gracePeriod: settings.graceMs,
})

process.once('SIGTERM', async () => {
  await millrace.close()
  process.exit(0)
})
