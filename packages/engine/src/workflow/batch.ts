// Many jobs of one type as a unit, whose progress can be read, and perhaps one more when all of them have ended.
import type { JobContract, PayloadInput, RequiresTenant } from '../contract/job.ts'
import { type AsGiven, listAsGiven } from './as-given.ts'
import { checkNotSensitive } from './check.ts'
import { declare, type WorkflowOptions } from './define.ts'
import type { JobCounts, WorkflowDefinition } from './definition.ts'

export interface BatchOptions<Each extends JobContract, Last extends JobContract>
  extends Omit<WorkflowOptions<undefined>, 'input'> {
  /** What `start` is given is a list of this job's payloads. */
  each: Each
  /**
   * Runs when all have ended, also if some failed, and is given how many: what to make of failures is up to it. Without
   * it, a batch of which a job failed has failed.
   */
  finally?: Last & Counting<Last>
}

type Counting<Last extends JobContract> = [JobCounts] extends [PayloadInput<Last>]
  ? unknown
  : { payload: 'must take { total: number, completed: number, failed: number }' }

/** Declares a batch: its steps are `each`, whose counts are its progress, and `finally`. */
export function defineBatch<Each extends JobContract, Last extends JobContract = JobContract>(
  name: string,
  { each, finally: last, ...options }: BatchOptions<Each, Last>,
): WorkflowDefinition<AsGiven<readonly PayloadInput<Each>[]>, true extends RequiresTenant<Each | Last> ? true : false> {
  checkNotSensitive(name, [each])
  const jobs = declare(name, { ...options, input: listAsGiven(() => each.payload) }).each('each', each, {
    over: ({ input }) => input as readonly unknown[],
    payload: ({ item }) => item,
  })
  if (last === undefined) return jobs as never
  return jobs.step('finally', last, { after: { each: 'continue' }, payload: ({ counts }) => counts.each }) as never
}
