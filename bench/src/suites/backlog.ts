// Whether the drain rate depends on what lies around: millions of jobs that may not or need not run now, millions that
// are done, and a planner that knows about them, or does not.
import { createMillrace, type Millrace } from 'millrace'
import type pg from 'pg'
import { type Bench, openPool } from '../bench.ts'
import { fillDeep, type Statistics, setStatistics, withoutAutovacuum } from '../deep-backlog.ts'
import { atLeast } from '../report.ts'
import { type Contestant, interleave, named, ratio } from '../rounds.ts'
import type { Suite } from '../suite.ts'
import { drainRate, enqueueAll, trivial, untilSettledAfter } from '../trivial-jobs.ts'

const EMPTY = 'empty tables'
const STATISTICS: readonly Statistics[] = ['fresh', 'stale', 'missing']
const deepName = (statistics: Statistics): string => `deep backlog, ${statistics} statistics`

export const backlog: Suite = {
  name: 'backlog',
  summary: 'the drain rate beside 2 M waiting and 5 M archived jobs, against empty tables',
  jobs: 50_000,
  rounds: 3,
  scale: 1,

  async run(bench) {
    const { options, progress, step } = bench
    await using empty = await openTables(bench)
    await using deep = await openTables(bench)
    await fillDeep(deep, options.scale ?? 1, step)
    const contestants = [
      drained(EMPTY, empty, { jobs: options.jobs, statistics: 'fresh', isEmpty: true }),
      ...STATISTICS.map((statistics) =>
        drained(deepName(statistics), deep, { jobs: options.jobs, statistics, isEmpty: false }),
      ),
    ]
    const measurements = await interleave(contestants, { ...options, progress, step })
    const of = (name: string) => named(measurements, name)
    return {
      measurements,
      ratios: STATISTICS.map((statistics) =>
        ratio(`${statistics} statistics / empty tables`, of(deepName(statistics)), of(EMPTY), atLeast(0.85)),
      ),
    }
  },
}

interface Tables extends AsyncDisposable {
  readonly pool: pg.Pool
  readonly databaseUrl: string
  readonly millrace: Millrace
}

async function openTables(bench: Bench): Promise<Tables> {
  const url = await bench.freshDatabase()
  const pool = openPool(url)
  await withoutAutovacuum(pool, url)
  const millrace = createMillrace({ database: url, jobs: [trivial] })
  return {
    pool,
    databaseUrl: url,
    millrace,
    async [Symbol.asyncDispose]() {
      await millrace.close()
      await pool.end()
    },
  }
}

interface Setting {
  readonly jobs: number
  readonly statistics: Statistics
  readonly isEmpty: boolean
}

function drained(name: string, { pool, millrace }: Tables, { jobs, statistics, isEmpty }: Setting): Contestant {
  return {
    name,
    unit: 'jobs/s',
    async measure() {
      if (isEmpty) await pool.query('truncate millrace.job, millrace.job_archive')
      const { rows } = await pool.query<{ last: string }>(`select nextval('millrace.job_id_seq') as last`)
      await enqueueAll(millrace, jobs)
      await pool.query('vacuum millrace.job')
      await setStatistics(pool, statistics)
      await pool.query('checkpoint')
      return drainRate(millrace, { jobs, untilSettled: () => untilSettledAfter(pool, rows[0]?.last ?? '0') })
    },
  }
}
