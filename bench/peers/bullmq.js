// BullMQ, on Redis or on Postgres as its second argument says. Best: on Redis finished jobs are removed, as it advises for
// production; on Postgres the pool has the size that was fastest. It is about as fast with its defaults.
import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq'
import pg from 'pg'
import { CONCURRENCY, serve, untilTrue } from '../dist/peers/driver.js'
import { versionOf } from '../dist/peers/version.js'

const store = process.argv[3]
const isRedis = store === 'redis'
const profiles = {
  redis: { best: { worker: { removeOnComplete: { count: 0 } } }, defaults: {} },
  postgres: { best: { connection: { max: 6 } }, defaults: {} },
}

serve(({ profile, databaseUrl, redisUrl }) => {
  const { worker: workerSettings, connection: connectionSettings } = profiles[store][profile]
  const { hostname: host, port } = new URL(isRedis ? redisUrl : databaseUrl)
  const address = isRedis ? { host, port: Number(port) } : { connectionString: databaseUrl }
  const connection = { ...address, ...connectionSettings }
  const backend = isRedis ? [] : [createPostgresBackend]
  const name = `bench-${profile}`
  const openQueue = async () => {
    const queue = new Queue(name, { connection }, ...backend)
    await queue.waitUntilReady()
    return queue
  }
  return {
    version: versionOf('bullmq', import.meta.url),
    settings: { worker: { concurrency: CONCURRENCY, ...workerSettings }, connection: { ...connectionSettings } },
    async install() {
      if (isRedis) return
      const client = new pg.Client({ connectionString: databaseUrl })
      await client.connect()
      await runMigrations(client)
      await client.end()
    },
    async reset() {
      const queue = await openQueue()
      await queue.obliterate({ force: true })
      await queue.close()
    },

    async openProducer() {
      const queue = await openQueue()
      return {
        add: (payload) => queue.add('bench', payload),
        addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: 'bench', data }))),
        close: () => queue.close(),
      }
    },

    async openWorker({ started, handle }) {
      let handled = 0
      let completed = 0
      const processor = async ({ data }) => {
        handled++
        handle(data)
      }
      const worker = new Worker(
        name,
        processor,
        { connection, autorun: false, concurrency: CONCURRENCY, ...workerSettings },
        ...backend,
      )
      worker.on('error', (error) => console.error(error))
      worker.on('completed', () => completed++)
      await worker.waitUntilReady()
      started()
      void worker.run()
      return { untilSettled: () => untilTrue(() => completed === handled), close: () => worker.close() }
    },
  }
})
