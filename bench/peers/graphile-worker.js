// graphile-worker. Best: the batching of its page on performance, with a larger local queue than there, which was faster.
import { EventEmitter } from 'node:events'
import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { CONCURRENCY, serve, untilTrue } from '../dist/peers/driver.js'
import { versionOf } from '../dist/peers/version.js'

const profiles = {
  best: { localQueue: { size: 2_000 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
  defaults: {},
}

serve(({ profile, databaseUrl }) => {
  const settings = { concurrentJobs: CONCURRENCY, ...profiles[profile] }
  const preset = { worker: { connectionString: databaseUrl, logger: new Logger(() => () => {}), ...settings } }
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 1_000 })
  return {
    version: versionOf('graphile-worker', import.meta.url),
    settings,
    async install() {
      const utils = await makeWorkerUtils({ preset })
      await utils.migrate()
      await utils.release()
    },
    reset: () => pool.query('truncate graphile_worker._private_jobs, graphile_worker._private_job_queues'),

    async openProducer() {
      const utils = await makeWorkerUtils({ preset })
      return {
        add: (payload) => utils.addJob('bench', payload),
        addMany: (payloads) => utils.addJobs(payloads.map((payload) => ({ identifier: 'bench', payload }))),
        close: () => utils.release(),
      }
    },

    async openWorker({ started, handle }) {
      const events = new EventEmitter()
      events.once('pool:create', started)
      const runner = await run({
        preset,
        events,
        noHandleSignals: true,
        taskList: { bench: handle },
        parsedCronItems: [],
      })
      const isEmpty = async () => {
        const { rows } = await pool.query('select not exists (select from graphile_worker.jobs) as "isEmpty"')
        return rows[0].isEmpty
      }
      return { untilSettled: () => untilTrue(isEmpty), close: () => runner.stop() }
    },
  }
})
