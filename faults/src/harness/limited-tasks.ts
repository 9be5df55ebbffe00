// Two queues whose tasks share one limit: three run at once, in all processes together.
import { defineJob, defineLimit, defineQueues, type JobContract } from 'millrace'
import { task } from './tasks.ts'

export const PLACES = 3
const limits = [defineLimit('browsers', { running: PLACES })]

const queues = defineQueues({
  shots: { concurrency: 5, pollInterval: '250ms' },
  pages: { concurrency: 5, pollInterval: '250ms' },
})

const { payload, retry } = task
const common = { payload, retry, timeout: '60s', limits } as const

export type LimitedType = 'shots' | 'pages'
/** A queue each, named as the type. */
export const limitedContracts = {
  shots: defineJob({ type: 'shots', queue: queues.shots, ...common }),
  pages: defineJob({ type: 'pages', queue: queues.pages, ...common }),
} satisfies Record<LimitedType, JobContract>
