import { createMillrace, defineJob, defineQueues } from 'millrace'
import pg from 'pg'
import { z } from 'zod'
import { freshDatabase } from '../../../engine/test/support/database.ts'
import { fixture, type Line, Program } from './program.ts'

// The contracts of fixtures/nap.js and busy.js, as a program that only enqueues would have them.
const queues = defineQueues({ beds: { concurrency: 3 }, desk: { concurrency: 5 } })
const nap = defineJob({ type: 'nap', queue: queues.beds, payload: z.object({}) })
export const chore = defineJob({ type: 'chore', queue: queues.desk, payload: z.object({ ms: z.number() }) })

/** `millrace work` with processes of its own, on a database of its own. */
export async function setup(args: string, env: Record<string, string> = {}) {
  const database = await freshDatabase()
  const millrace = createMillrace({ database: database.url, jobs: [nap, chore] })
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  pool.on('error', () => {})
  const [module = '', ...options] = args.split(' ')
  const work = new Program(['work', fixture(module), ...options], { DATABASE_URL: database.url, ...env })
  const readyLines = () => work.lines.filter(({ event }) => event === 'process_ready')
  return {
    millrace,
    work,
    async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
      return (await pool.query<Row>(text, values)).rows
    },
    /** Resolves with the facts of the nth process that became ready. */
    async ready(nth: number): Promise<{ pid: number; process: number; workerId: string }> {
      await work.logged(() => readyLines().length >= nth)
      const { processPid, process, workerId } = readyLines()[nth - 1] as Line
      return { pid: processPid as number, process: process as number, workerId: workerId as string }
    },
    /** Starts a nap; resolves when it runs, with the process it runs in. */
    async napping(): Promise<{ id: string; pid: number }> {
      const { id } = await millrace.enqueue(nap, {})
      await work.said(/asleep/)
      const [run] = await this.sql<{ worker_id: string; pid: number }>(
        'select worker_id, worker.pid from millrace.job join millrace.worker on worker.id = worker_id where job.id = $1',
        [id],
      )
      return { id, pid: run?.pid as number }
    },
    async [Symbol.asyncDispose]() {
      await work[Symbol.asyncDispose]()
      await pool.end()
      await millrace.close()
      await database.drop()
    },
  }
}

export const event = (name: string) => (line: Line) => line.event === name
