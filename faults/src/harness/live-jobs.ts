// Live jobs put straight into the table, for scenarios that race the store functions without a worker.
import { randomUUID } from 'node:crypto'
import type { ClaimRequest } from '../../../packages/engine/dist/store/job-claims.js'
import type { World } from './world.ts'

export const QUEUE = 'race'
const TYPE = 'race'

/** Fills the empty table with pending jobs, all due, over a few priorities. */
export async function fillJobs(world: World, count: number): Promise<void> {
  await world.query('truncate millrace.job')
  await world.query(
    `insert into millrace.job (type, queue, priority, max_attempts, run_at, created_at, updated_at, correlation_id, payload)
     select $1, $2, i % 3, 5, now() - interval '1 minute', now(), now(), 'race', '{}'
     from generate_series(1, $3) as i`,
    [TYPE, QUEUE, count],
  )
}

/** Makes every job pending again: the next ready round. */
export async function readyAgain(world: World): Promise<void> {
  await world.query(`update millrace.job set status = 'pending', run_id = null, worker_id = null, attempt = 0`)
}

export function claimOf(limit: number, how: { byType: boolean; isSuspectWanted: boolean }): ClaimRequest {
  return {
    queues: [{ queue: QUEUE, limit }],
    types: [{ type: TYPE, stuckAfterMs: 60_000 }],
    runId: randomUUID(),
    workerId: randomUUID(),
    suspectQueues: how.isSuspectWanted ? [QUEUE] : [],
    byType: how.byType,
  }
}
