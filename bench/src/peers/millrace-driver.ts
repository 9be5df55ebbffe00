// Millrace with its defaults, as the peers are driven: by the same commands in processes of its own.
import { createMillrace, defineJob, defineQueues, implement } from 'millrace'
import pg from 'pg'
import { z } from 'zod'
import { CONCURRENCY, type Driver, serve, type Target, untilTrue } from './driver.ts'
import { versionOf } from './version.ts'

const queues = defineQueues({ bench: { concurrency: CONCURRENCY } })
const job = defineJob({ type: 'bench', queue: queues.bench, payload: z.object({ n: z.number() }) })

serve(({ databaseUrl }: Target): Driver => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 1_000 })
  return {
    version: versionOf('millrace'),
    settings: { concurrency: CONCURRENCY },
    install: async () => {},
    reset: async () => void (await pool.query('truncate millrace.job, millrace.job_archive')),

    async openProducer() {
      const millrace = createMillrace({ database: databaseUrl, jobs: [job] })
      return {
        add: (payload) => millrace.enqueue(job, payload),
        addMany: (payloads) => millrace.enqueueMany(job, payloads),
        close: () => millrace.close(),
      }
    },

    async openWorker({ started, handle }) {
      const millrace = createMillrace({ database: databaseUrl, jobs: [job] })
      void millrace.events.next('worker_started').then(started)
      await millrace.work({ handlers: [implement(job, handle)] })
      const isEmpty = async () => {
        const { rows } = await pool.query('select not exists (select from millrace.job) as "isEmpty"')
        return rows[0].isEmpty
      }
      return { untilSettled: () => untilTrue(isEmpty), close: () => millrace.close() }
    },
  }
})
