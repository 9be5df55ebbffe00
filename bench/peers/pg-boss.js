// pg-boss. Best: batches of 2,000 for two local workers that fetch on while batches come back full, woken by NOTIFY. Its
// handler takes a batch, so there is one call for up to 2,000 jobs, and they are settled together.
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { CONCURRENCY, serve, untilTrue } from '../dist/peers/driver.js'
import { versionOf } from '../dist/peers/version.js'

const profiles = {
  best: {
    boss: { useListenNotify: true },
    queue: { notify: true },
    work: { batchSize: 2_000, localConcurrency: 2, burstWhenBatchFull: true },
  },
  defaults: { boss: {}, queue: {}, work: { localConcurrency: CONCURRENCY } },
}

serve(({ profile, databaseUrl }) => {
  const settings = profiles[profile]
  const queue = `bench-${profile}`
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 1_000 })
  const open = async () => {
    const boss = new PgBoss({ connectionString: databaseUrl, ...settings.boss })
    boss.on('error', (error) => console.error(error))
    return await boss.start()
  }
  return {
    version: versionOf('pg-boss', import.meta.url),
    settings,
    async install() {
      const boss = await open()
      await boss.createQueue(queue, settings.queue)
      await boss.stop()
    },
    reset: () => pool.query('truncate pgboss.job cascade'),

    async openProducer() {
      const boss = await open()
      return {
        add: (payload) => boss.send(queue, payload),
        addMany: (payloads) =>
          boss.insert(
            queue,
            payloads.map((data) => ({ data })),
          ),
        close: () => boss.stop(),
      }
    },

    async openWorker({ started, handle }) {
      const boss = await open()
      started()
      await boss.work(queue, settings.work, async (jobs) => {
        for (const { data } of jobs) handle(data)
      })
      const isSettled = async () => {
        const { rows } = await pool.query(
          `select not exists (select from pgboss.job where state < 'completed') as "isSettled"`,
        )
        return rows[0].isSettled
      }
      return { untilSettled: () => untilTrue(isSettled), close: () => boss.stop() }
    },
  }
})
