// What one job costs, whatever time it takes: log written, processor time here and in the server, pages, dead rows.
import type pg from 'pg'
import type { Bench } from '../bench.ts'
import { Child } from '../child.ts'
import { untilHandled } from '../child-work.ts'
import { type Expenses, expensesOf, type Meter } from '../expenses.ts'
import { RawQueue } from '../raw-queue.ts'
import { interleaveTrials, named, ratio, type Trial } from '../rounds.ts'
import { NO_SERVER_CPU, serverCpu } from '../server-cpu.ts'
import type { Suite } from '../suite.ts'
import { untilEmpty } from '../trivial-jobs.ts'

const OURS = 'millrace'
const RAW = 'raw loop'

export const cost: Suite = {
  name: 'cost',
  summary: 'log, processor time, pages and dead rows of one job, against a raw SQL loop',
  jobs: 100_000,
  rounds: 3,

  async run(bench) {
    const { options, progress, step } = bench
    const readServerCpu = await serverCpu(bench)
    await using ourChild = new Child()
    await using rawChild = new Child()
    const trials = [
      costing(bench, ours(bench, ourChild), readServerCpu),
      costing(bench, raw(bench, rawChild), readServerCpu),
    ]
    const measurements = await interleaveTrials(trials, { ...options, progress, step })
    const figures = Object.keys(unitsOf(readServerCpu !== undefined))
    return {
      measurements,
      ratios: figures.map((figure) =>
        ratio(`${OURS} / ${RAW}, ${figure}`, named(measurements, OURS, figure), named(measurements, RAW, figure)),
      ),
      notes: readServerCpu === undefined ? [NO_SERVER_CPU] : [],
    }
  },
}

interface Queue {
  readonly name: string
  readonly schema: string
  readonly child: Child
  reset(): Promise<unknown>
  enqueue(): Promise<unknown>
  run(): Promise<unknown>
}

function ours({ pool, databaseUrl, options: { jobs } }: Bench, child: Child): Queue {
  return {
    name: OURS,
    schema: 'millrace',
    child,
    reset: () => pool.query('truncate millrace.job, millrace.job_archive'),
    enqueue: () => child.call('enqueueTrivial', { databaseUrl, jobs }),
    async run() {
      await child.call('startWorker', { databaseUrl })
      await untilHandled([child], jobs)
      await untilEmpty(pool)
      await child.call('stopWorker')
    },
  }
}

function raw({ pool, databaseUrl, options: { jobs } }: Bench, child: Child): Queue {
  return {
    name: RAW,
    schema: 'raw',
    child,
    reset: () => new RawQueue(pool).reset(),
    enqueue: () => child.call('insertRaw', { databaseUrl, jobs }),
    run: () => child.call('drainRaw', databaseUrl),
  }
}

function costing(bench: Bench, queue: Queue, readServerCpu: Meter['readServerCpu']): Trial {
  const { name, schema, child } = queue
  const { jobs } = bench.options
  return {
    name,
    units: unitsOf(readServerCpu !== undefined),
    async measure() {
      const meter = { pool: bench.pool, schema, child, readServerCpu }
      await queue.reset()
      await bench.pool.query('checkpoint')
      const enqueue = await expensesOf(meter, async () => void (await queue.enqueue()))
      await tidyUp(bench.pool, schema)
      const run = await expensesOf(meter, async () => void (await queue.run()))
      return figuresOf({ enqueue, run }, jobs)
    },
  }
}

function unitsOf(hasServerCpu: boolean): Record<string, string> {
  return Object.fromEntries(
    ['enqueue', 'run'].flatMap((phase) => [
      [`${phase}, log`, 'bytes/job'],
      [`${phase}, CPU here`, 'µs/job'],
      ...(hasServerCpu ? [[`${phase}, CPU of the server`, 'µs/job']] : []),
      [`${phase}, pages touched`, 'pages/job'],
      ...(phase === 'run' ? [[`${phase}, dead rows`, 'rows/job']] : []),
    ]),
  )
}

function figuresOf(phases: Record<string, Expenses>, jobs: number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(phases).flatMap(([phase, expenses]) => [
      [`${phase}, log`, expenses.walBytes / jobs],
      [`${phase}, CPU here`, expenses.clientCpuUs / jobs],
      [`${phase}, CPU of the server`, expenses.serverCpuUs / jobs],
      [`${phase}, pages touched`, expenses.pages / jobs],
      [`${phase}, dead rows`, expenses.deadRows / jobs],
    ]),
  )
}

/** No checkpoint: the pages of short-lived jobs are seldom older than the last one, and would be logged whole here. */
async function tidyUp(pool: pg.Pool, schema: string): Promise<void> {
  const client = await pool.connect()
  await client.query(`vacuum analyze ${schema}.job`)
  await client.query('select pg_stat_force_next_flush()')
  client.release()
}
