import {
  defineJob,
  defineQueues,
  type JobContract,
  type MillraceEvents,
  type MillraceOptions,
  type Schedule,
} from 'millrace'
import { fakeClock } from 'millrace/testing'
import { z } from 'zod'
import { ScheduleTicks } from '#src/client/schedule-ticks'
import { Scheduler, type SchedulerServices } from '#src/maintenance/scheduler'
import { Millrace } from '#src/millrace'
import { ensurePartitions } from '#src/store/partitions'
import { InlineSchedules } from '#src/testing/inline-schedules'
import { setup } from './setup.ts'

const queues = defineQueues({ main: {} })
export const report = defineJob({ type: 'report', queue: queues.main, payload: z.object({ n: z.number() }) })

/** The scheduler of a worker, whose passes are called by hand. */
export function schedulerOf(millrace: unknown, others: Partial<SchedulerServices> = {}): Scheduler {
  const services = Millrace.servicesOf(millrace as Millrace)
  const { types } = services.registry
  const silent = { onError: () => {}, isTold: () => false, onLate: () => {} }
  return new Scheduler({ ...services, types, ticks: new ScheduleTicks(services), ...silent, ...others })
}

/** A process that ticks schedules when it is told to. */
export interface Pod {
  millrace: Millrace
  /** As a worker does when it starts. */
  declare(): Promise<void>
  fire(): Promise<void>
  ticked: MillraceEvents['schedule_ticked'][]
  missed: MillraceEvents['schedule_missed'][]
}

/** A database, a clock that is moved by hand, and processes with schedules that do nothing by themselves. */
export async function scheduling(start = '2030-01-01T00:00:00.001Z') {
  const t = await setup()
  const clock = fakeClock(start)
  return {
    ...t,
    clock,

    async pod(
      schedules: readonly Schedule[],
      { jobs = [report], ...options }: Partial<MillraceOptions> & { jobs?: readonly JobContract[] } = {},
    ): Promise<Pod> {
      const millrace = t.client(jobs, { clock, schedules, ...options }) as Millrace
      const services = Millrace.servicesOf(millrace)
      await ensurePartitions(services.db, clock.now())
      const inline = new InlineSchedules(services, services.registry.types)
      const pod: Pod = {
        millrace,
        declare: () => inline.declare(),
        fire: () => inline.fire(),
        ticked: [],
        missed: [],
      }
      millrace.events.on('schedule_ticked', (tick) => pod.ticked.push(tick))
      millrace.events.on('schedule_missed', (missed) => pod.missed.push(missed))
      await pod.declare()
      return pod
    },

    jobs: () =>
      t.sql<{
        id: string
        type: string
        tenant: string | null
        payload: unknown
        order_key: string | null
        run_at: Date
      }>('select * from millrace.job order by id'),

    ticks: (name?: string) =>
      t.sql<Record<string, unknown> & { fire_at: Date; outcome: string; reason: string | null; missed: number }>(
        'select * from millrace.schedule_tick where $1::text is null or schedule = $1 order by id',
        [name ?? null],
      ),

    /** Ends what waits, as a worker would. */
    async finishJobs(): Promise<void> {
      await t.sql('delete from millrace.job')
    },
  }
}

export const by = { by: 'the test' }
