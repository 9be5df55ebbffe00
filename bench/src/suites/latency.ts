// How long a job waits for an idle worker: from just before enqueue, in this or in another process, to the start of
// its handler.
import { createMillrace, implement } from 'millrace'
import type { Bench } from '../bench.ts'
import { Child } from '../child.ts'
import { countdown } from '../countdown.ts'
import { openDeafProxy } from '../deaf-proxy.ts'
import { percentile } from '../figures.ts'
import { atMost } from '../report.ts'
import { interleaveTrials, named, ratio, type Trial } from '../rounds.ts'
import { enqueueSpaced, monotonicUs, type SpacedPlan, timed } from '../spaced-jobs.ts'
import type { Suite } from '../suite.ts'

const GAP_MS = 25
/** The first ones of each worker find nothing compiled and nothing cached. */
const WARM_UP_JOBS = 20

interface Setting extends Pick<SpacedPlan, 'inTransaction' | 'tenant'> {
  readonly name: string
  readonly by: 'another process' | 'own process'
  readonly canListen: boolean
}

const settings: readonly Setting[] = [
  { name: 'another process', by: 'another process', inTransaction: false, canListen: true },
  { name: 'another process, transaction', by: 'another process', inTransaction: true, canListen: true },
  { name: 'another process, of a tenant', by: 'another process', inTransaction: false, tenant: 'a', canListen: true },
  { name: 'own process', by: 'own process', inTransaction: false, canListen: true },
  { name: 'own process, transaction', by: 'own process', inTransaction: true, canListen: true },
  { name: 'another process, polling', by: 'another process', inTransaction: false, canListen: false },
]

export const latency: Suite = {
  name: 'latency',
  summary: 'p50 and p99 from enqueue to the start of the handler, with an idle worker',
  jobs: 400,
  rounds: 3,

  async run(bench) {
    const { options, progress, step } = bench
    await using producer = new Child()
    const trials = settings.map((setting) => waiting(bench, producer, setting))
    const measurements = await interleaveTrials(trials, { ...options, progress, step })
    return {
      measurements,
      ratios: settings.map(({ name, canListen }) =>
        ratio(
          `${name}, p99 / p50`,
          named(measurements, name, 'p99'),
          named(measurements, name, 'p50'),
          ...(canListen ? [atMost(3)] : []),
        ),
      ),
    }
  },
}

function waiting(bench: Bench, producer: Child, setting: Setting): Trial {
  return {
    name: setting.name,
    units: { p50: 'ms', p99: 'ms' },
    async measure() {
      const waits = await waitsOf(bench, producer, setting)
      return { p50: percentile(waits, 0.5), p99: percentile(waits, 0.99) }
    },
  }
}

async function waitsOf({ databaseUrl, pool, options }: Bench, producer: Child, setting: Setting): Promise<number[]> {
  const { by, inTransaction, tenant, canListen } = setting
  await pool.query('truncate millrace.job, millrace.job_archive')
  await using proxy = canListen ? undefined : await openDeafProxy(databaseUrl)
  await using millrace = createMillrace({ database: proxy?.url ?? databaseUrl, jobs: [timed] })
  const waits: number[] = []
  const jobs = options.jobs + WARM_UP_JOBS
  const { count, reached } = countdown(jobs)
  const handler = implement(timed, ({ askedAtUs }) => {
    waits.push((monotonicUs() - askedAtUs) / 1_000)
    count()
  })
  const trusted = canListen ? millrace.events.next('listen_trusted', ({ isTrusted }) => isTrusted) : undefined
  await millrace.work({ handlers: [handler] })
  await trusted
  const plan = { jobs, gapMs: GAP_MS, inTransaction, ...(tenant === undefined ? {} : { tenant }) }
  if (by === 'own process') await enqueueSpaced(millrace, databaseUrl, plan)
  else await producer.call('enqueueSpaced', { databaseUrl, ...plan })
  await reached
  return waits.slice(WARM_UP_JOBS)
}
