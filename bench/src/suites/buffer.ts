// A spike: so many callers enqueue one job after the other, into PostgreSQL or into Redis with a mover behind it.
import { performance } from 'node:perf_hooks'
import { connectRedis, createBuffer, redisMigrations, type SpikeBuffer } from '@millrace/redis'
import { findRedis, startRedis } from '@millrace/redis/testing'
import { createMillrace, defineJob, defineQueues, migrateProgram } from 'millrace'
import { z } from 'zod'
import type { Bench } from '../bench.ts'
import { percentile } from '../figures.ts'
import { interleaveTrials, named, ratio, type Trial } from '../rounds.ts'
import { CannotMeasure, type Suite } from '../suite.ts'
import { until } from '../until.ts'

const IN_FLIGHT = [1, 16, 256]
const TENANTS = 20
const ACCEPTED = 'accepted'
const P95 = 'p95'
const IN_POSTGRES = 'until all are in PostgreSQL'
const units = { [ACCEPTED]: 'jobs/s', [P95]: 'ms', [IN_POSTGRES]: 's' }
const direct = (callers: number): string => `enqueue, ${callers} callers`
const buffered = (callers: number): string => `buffer.enqueue, ${callers} callers`

const queues = defineQueues({ bench: {} })
const payload = z.object({ n: z.number(), shop: z.string() })
const view = defineJob({ type: 'view', queue: queues.bench, payload, tenant: ({ shop }) => shop })

export const buffer: Suite = {
  name: 'buffer',
  summary: 'a spike of single enqueues of 20 tenants, into PostgreSQL and through the buffer of @millrace/redis',
  jobs: 20_000,
  rounds: 3,

  async run(bench) {
    if (findRedis() === undefined)
      throw new CannotMeasure('No redis-server was found. Install one, or name it by MILLRACE_REDIS_BIN.')
    await migrateProgram(bench.databaseUrl, redisMigrations)
    await using server = await startRedis({ persistence: 'everysec' })
    await using redis = await connectRedis({ url: server.url, timeoutMs: 5_000 })
    await using millrace = createMillrace({ database: bench.databaseUrl, jobs: [view] })
    await using spikes = createBuffer({ redis, millrace, database: bench.databaseUrl, maxEntries: 4_000_000 })
    const write = (n: number) => millrace.enqueue(view, payloadOf(n))
    const trials = IN_FLIGHT.flatMap((callers) => [
      spike(bench, direct(callers), { callers, write }),
      spike(bench, buffered(callers), { callers, write: (n) => spikes.enqueue(view, payloadOf(n)), spikes }),
    ])
    const measurements = await interleaveTrials(trials, {
      ...bench.options,
      progress: bench.progress,
      step: bench.step,
    })
    const of = (name: string, figure: string) => named(measurements, name, figure)
    return {
      measurements,
      ratios: IN_FLIGHT.flatMap((callers) =>
        [ACCEPTED, P95, IN_POSTGRES].map((figure) =>
          ratio(
            `buffer / PostgreSQL, ${callers} callers, ${figure}`,
            of(buffered(callers), figure),
            of(direct(callers), figure),
          ),
        ),
      ),
    }
  },
}

interface Spike {
  readonly callers: number
  write(n: number): Promise<unknown>
  readonly spikes?: SpikeBuffer
}

function spike({ pool, options }: Bench, name: string, { callers, write, spikes }: Spike): Trial {
  // One caller waits for a commit each time: fewer of those still take long enough to be measured.
  const jobs = Math.max(1, Math.round(options.jobs / (callers === 1 ? 20 : 1)))
  return {
    name,
    units,
    async measure() {
      await pool.query('truncate millrace.job')
      await using _ = spikes?.startMover()
      const waits: number[] = []
      const startedAt = performance.now()
      let next = 0
      const caller = async () => {
        while (next < jobs) {
          const askedAt = performance.now()
          await write(next++)
          waits.push(performance.now() - askedAt)
        }
      }
      await Promise.all(Array.from({ length: callers }, caller))
      const acceptedMs = performance.now() - startedAt
      await until(pool, 'select count(*) = $1 as is_so from millrace.job', [jobs])
      const p95 = percentile(waits, 0.95)
      return {
        [ACCEPTED]: (jobs * 1_000) / acceptedMs,
        [P95]: p95,
        [IN_POSTGRES]: (performance.now() - startedAt) / 1_000,
      }
    },
  }
}

const payloadOf = (n: number) => ({ n, shop: `shop ${n % TENANTS}` })
