// A program with a spike buffer: `node buffer-main.js` with its settings in the environment. It enqueues tasks through the
// buffer if it is given any, moves entries to PostgreSQL, and tells the history what it was promised and what was lost.
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRedis, createBuffer } from '@millrace/redis'
import { createMillrace } from 'millrace'
import { recorder } from './history.ts'
import { named } from './named.ts'
import { contracts, type Task } from './tasks.ts'

export interface BufferSettings {
  engineUrl: string
  redisUrl: string
  historyFile: string
  tasks: readonly Task[]
  /** Also brings entries to PostgreSQL. */
  moves: boolean
  /** Between two tasks. */
  pauseMs: number
}

const settings = JSON.parse(process.env.MILLRACE_FAULT_PROCESS ?? '{}') as BufferSettings & { label: string }
const record = recorder(settings.historyFile, settings.label)
// Whoever started us is gone, and nobody is left to stop us.
process.on('disconnect', () => process.exit(1))

const TENANTS = ['elm', 'oak', 'fir']
const database = named(settings.engineUrl, settings.label)
const millrace = createMillrace({ database, jobs: [contracts.task], maxConnections: 4 })
const redis = await connectRedis({ url: settings.redisUrl })
const buffer = createBuffer({ redis, millrace, database })
buffer.on('lost', ({ entryId }) => record({ what: 'event', event: 'buffer_lost', id: entryId }))
const mover = settings.moves ? buffer.startMover() : undefined
record({ what: 'event', event: 'buffer_started' })

for (const [i, each] of settings.tasks.entries()) {
  const { n } = each
  try {
    const answer = await buffer.enqueue(contracts.task, each, { tenant: TENANTS[i % TENANTS.length] as string })
    const id = answer.status === 'buffered' ? (answer.entryId.split('.', 1)[0] as string) : answer.id
    record({ what: 'acknowledged', n, id })
  } catch (error) {
    record({ what: 'unknown', n, why: String(error) })
  }
  await sleep(settings.pauseMs)
}
record({ what: 'event', event: 'buffer_fed' })

process.once('SIGTERM', async () => {
  await mover?.stop()
  await buffer.close()
  await millrace.close()
  await redis.close()
  process.exit(0)
})
