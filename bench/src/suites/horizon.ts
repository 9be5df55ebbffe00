// What a transaction that somebody forgot costs: while its snapshot lives, nothing that jobs leave behind can be
// vacuumed, and every claim has to find its way past it.
import { createMillrace } from 'millrace'
import pg from 'pg'
import type { Bench } from '../bench.ts'
import { Child } from '../child.ts'
import { atLeast } from '../report.ts'
import { interleaveTrials, named, ratio } from '../rounds.ts'
import { type FlowPlan, type FlowWindow, flow } from '../steady-flow.ts'
import type { Suite } from '../suite.ts'
import { trivial } from '../trivial-jobs.ts'

/** What flows: 20 is about as many as one claim serves. */
const FLOWS = [
  { name: '', tenants: 0, target: atLeast(0.8) },
  { name: ', 20 tenants', tenants: 20, target: undefined },
]
const FREE = 'no open transaction'
const HELD = 'transaction open'
const WARM_UP_SECONDS = 5
/** What counts as the rate on empty tables. */
const FIRST_SHARE = 0.25
const WINDOWS = 12

export const horizon: Suite = {
  name: 'horizon',
  summary: 'the rate of a steady flow while another session keeps a transaction open, against the rate without it',
  jobs: 5_000,
  rounds: 1,
  seconds: 120,

  async run(bench) {
    const { options, progress, step, databaseUrl } = bench
    const seconds = options.seconds ?? 0
    await using millrace = createMillrace({ database: databaseUrl, jobs: [trivial] })
    await using worker = new Child()
    const course = (length: number, windows: number, flowing: Pick<Course, 'isHeld' | 'tenants'>) =>
      flowOnEmpty(bench, { millrace, worker, seconds: length, windowSeconds: length / windows, ...flowing })
    const courses: Record<string, FlowWindow[][]> = {}
    step('warming up')
    await course(Math.min(WARM_UP_SECONDS, seconds), 1, { isHeld: false, tenants: 0 })
    const trials = FLOWS.flatMap(({ name: flowing, tenants }) =>
      [FREE, HELD].map((state) => ({
        name: state + flowing,
        units: { 'at first': 'jobs/s', 'at the end': 'jobs/s' },
        async measure() {
          const windows = await course(seconds, Math.min(WINDOWS, seconds), { isHeld: state === HELD, tenants })
          courses[state + flowing] = [...(courses[state + flowing] ?? []), windows]
          const first = windows.slice(0, Math.ceil(windows.length * FIRST_SHARE))
          return { 'at first': meanRate(first), 'at the end': meanRate(windows.slice(-1)) }
        },
      })),
    )
    const measurements = await interleaveTrials(trials, { ...options, progress, step, warmUp: false })
    const of = (name: string, when: string) => named(measurements, name, when)
    return {
      measurements,
      ratios: FLOWS.flatMap(({ name, target }) => [
        ratio(
          `open for ${seconds} s / never open, at first${name}`,
          of(HELD + name, 'at the end'),
          of(FREE + name, 'at first'),
          target,
        ),
        ratio(`both at the end${name}`, of(HELD + name, 'at the end'), of(FREE + name, 'at the end')),
        ratio(`never open, at the end / at first${name}`, of(FREE + name, 'at the end'), of(FREE + name, 'at first')),
      ]),
      details: { courses },
    }
  },
}

const meanRate = (windows: readonly FlowWindow[]): number =>
  windows.reduce((sum, { jobsPerSecond }) => sum + jobsPerSecond, 0) / windows.length

interface Course extends Pick<FlowPlan, 'millrace' | 'worker' | 'seconds' | 'windowSeconds' | 'tenants'> {
  readonly isHeld: boolean
}

async function flowOnEmpty(bench: Bench, { isHeld, ...course }: Course): Promise<FlowWindow[]> {
  const { pool, databaseUrl, options, step } = bench
  await pool.query('truncate millrace.job, millrace.job_archive')
  await pool.query('vacuum analyze millrace.job')
  await pool.query('checkpoint')
  await using _open = isHeld ? await openTransaction(databaseUrl) : undefined
  return flow({ ...course, pool, databaseUrl, depth: options.jobs, step })
}

/** Idle, with a snapshot, as a report or a forgotten psql has one. */
async function openTransaction(databaseUrl: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: databaseUrl })
  client.on('error', () => {})
  await client.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('select count(*) from millrace.worker')
  return { [Symbol.asyncDispose]: () => client.end() }
}
