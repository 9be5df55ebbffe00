// The raw loop in a process of its own, so that it is measured as everybody else is.
import pg from 'pg'
import { RawQueue } from '../raw-queue.ts'
import { type Driver, type Payload, serve, type Target } from './driver.ts'

serve(({ databaseUrl }: Target): Driver => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 1_000 })
  const queue = new RawQueue(pool)
  const addMany = (payloads: readonly Payload[]) => queue.insert(payloads)
  return {
    version: '500 + 500',
    settings: { claim: 500, settle: 500 },
    install: () => queue.reset(),
    reset: () => queue.reset(),
    openProducer: async () => ({ add: (payload) => addMany([payload]), addMany, close: async () => {} }),
    async openWorker({ started, handle }) {
      await pool.query('select')
      started()
      const handled = await queue.drain()
      for (let n = 0; n < handled; n++) handle({ n })
      return { untilSettled: async () => {}, close: async () => {} }
    },
  }
})
