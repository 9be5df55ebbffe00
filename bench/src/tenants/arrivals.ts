// How long the jobs of small tenants wait for their start, with and without the backlog of a large one.
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Millrace } from 'millrace'
import type { Bench } from '../bench.ts'
import { countdown } from '../countdown.ts'
import { percentile } from '../figures.ts'
import type { Contestant } from '../rounds.ts'
import { fillShared, tenantJob, timedHandler } from './tenant-jobs.ts'

export const SMALL_TENANTS = 50
export const JOBS_EACH = 10
/** Enough for the worker to know how long its handlers take, and to claim ahead as it does when it has run for a while. */
const WARM_JOBS = 200
/** Ten jobs of 10 ms each fill an eighth of the slots. */
const TRICKLE_EVERY_MS = 40

export interface Arrival {
  readonly name: string
  /** Of the large tenant. */
  readonly backlog: number
  /** 'burst': all tenants at once. 'trickle': one after the other, so that alone they would find free slots. */
  readonly how: 'burst' | 'trickle'
}

/** The p95 from just before enqueue to the start of the handler. */
export function arrival({ pool }: Bench, millrace: Millrace, { name, backlog, how }: Arrival): Contestant {
  return {
    name,
    unit: 'ms',
    async measure() {
      // The large tenant is last in the walk when all begin, and the warm-up's is first.
      await fillShared(
        pool,
        new Map([['warm-up', WARM_JOBS], ...(backlog > 0 ? [['zz large', backlog] as const] : [])]),
      )
      const warm = countdown(WARM_JOBS)
      const all = countdown(SMALL_TENANTS * JOBS_EACH)
      const askedMs = new Map<string, number>()
      const waits: number[] = []
      const handler = timedHandler(({ tenant, startedMs }) => {
        if (tenant === 'warm-up') return warm.count()
        const asked = askedMs.get(tenant)
        if (asked === undefined) return
        waits.push(startedMs - asked)
        all.count()
      })
      await using _worker = await millrace.work({ handlers: [handler], gracePeriod: '0ms' })
      await warm.reached
      const payloads = Array.from({ length: JOBS_EACH }, (_, n) => ({ n }))
      const arrive = (tenant: string) => {
        askedMs.set(tenant, performance.now())
        return millrace.enqueueMany(tenantJob, payloads, { tenant })
      }
      const arrivals: Promise<unknown>[] = []
      for (let i = 0; i < SMALL_TENANTS; i++) {
        if (how === 'trickle') await sleep(TRICKLE_EVERY_MS)
        arrivals.push(arrive(`small ${i}`))
      }
      await Promise.all([...arrivals, all.reached])
      return percentile(waits, 0.95)
    },
  }
}
