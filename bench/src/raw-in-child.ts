// The raw queue as it runs in a child process.
import pg from 'pg'
import { RawQueue } from './raw-queue.ts'
import { batches } from './trivial-jobs.ts'

const BATCH = 1_000

/** On connections of its own, which are closed at the end: only then has the server counted all that they did. */
async function withQueue<Result>(databaseUrl: string, work: (queue: RawQueue) => Promise<Result>): Promise<Result> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  try {
    return await work(new RawQueue(pool))
  } finally {
    await pool.end()
  }
}

export const insertRaw = ({ databaseUrl, jobs }: { databaseUrl: string; jobs: number }): Promise<void> =>
  withQueue(databaseUrl, async (queue) => {
    for (const payloads of batches(jobs, BATCH)) await queue.insert(payloads)
  })

export const drainRaw = (databaseUrl: string): Promise<number> => withQueue(databaseUrl, (queue) => queue.drain())
