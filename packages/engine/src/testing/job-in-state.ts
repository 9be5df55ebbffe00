// Jobs in any state, made by the statements that make them in production, so that they cannot drift apart.

import type { EnqueueOptions } from '../client/enqueue-options.ts'
import type { ClientServices } from '../client-services.ts'
import type { JobContract, PayloadInput } from '../contract/job.ts'
import { InvalidDefinition } from '../errors.ts'
import { failureFrom } from '../failure.ts'
import { Millrace } from '../millrace.ts'
import { jobBlock, jobCancelRunning } from '../store/job-changes.ts'
import type { Job } from '../store/jobs.ts'
import { type Settlement, settle } from '../store/settlements.ts'
import type { Run } from '../worker/run.ts'
import { InlineClaims } from './inline-claims.ts'

export type State =
  /** Waits and is due. */
  | 'pending'
  /** Waits for its time: in an hour, unless `delay` or `runAt` says otherwise. */
  | 'scheduled'
  /** Waits for its next attempt, 30 s after the first one failed. */
  | 'failed'
  /** Waits and is due, after its process died once. */
  | 'suspect'
  /** Waits for something other than time. */
  | 'blocked'
  /** Runs, on a worker that holds a lease and does nothing. */
  | 'processing'
  /** The same, and was asked to stop. */
  | 'stopping'
  | 'completed'
  | 'cancelled'
  /** Failed for good at its first attempt, with a dead letter. */
  | 'dead'

export interface JobInStateOptions<C extends JobContract> extends Omit<EnqueueOptions, 'tx'> {
  contract: C
  payload: PayloadInput<C>
}

const SCHEDULED_MS = 3_600_000
const RETRY_MS = 30_000

const STATES: readonly State[] = [
  'pending',
  'scheduled',
  'failed',
  'suspect',
  'blocked',
  'processing',
  'stopping',
  'completed',
  'cancelled',
  'dead',
]

/** Makes a job and brings it into that state. Answers as `millrace.job(id)` does. */
export async function jobInState<C extends JobContract>(
  millrace: Millrace,
  state: State,
  options: JobInStateOptions<C>,
): Promise<Job> {
  if (!STATES.includes(state))
    throw new InvalidDefinition(`There is no state "${state}"; expected one of ${STATES.join(', ')}.`)
  const { contract, payload, ...given } = options
  const enqueueOptions = { ...defaultsOf(state, given), ...given }
  const { id, status } = await millrace.enqueueByType(contract.type, payload, enqueueOptions)
  if (status === 'duplicate') {
    throw new InvalidDefinition(`Job ${id} holds that dedup key. Give the new job another one.`)
  }
  await bring(Millrace.servicesOf(millrace), { id, contract }, state)
  if (state === 'cancelled') await millrace.cancel(id, { by: 'jobInState' })
  return (await millrace.job(id)) as Job
}

function defaultsOf(state: State, { delay, runAt, maxAttempts }: EnqueueOptions): EnqueueOptions {
  if (state === 'scheduled' && delay === undefined && runAt === undefined) return { delay: SCHEDULED_MS }
  // Due at once, also if its contract debounces it.
  const due = delay === undefined && runAt === undefined ? { delay: 0 } : {}
  // What has failed waits only if an attempt is left.
  return state === 'failed' && maxAttempts === undefined ? { ...due, maxAttempts: 5 } : due
}

async function bring(services: ClientServices, job: { id: string; contract: JobContract }, state: State) {
  const { db, clock } = services
  const { id, contract } = job
  if (state === 'pending' || state === 'scheduled' || state === 'cancelled') return
  if (state === 'blocked') return jobBlock(db, id)
  const claims = new InlineClaims(services, [contract])
  await claims.begin()
  const run = await claims.one({ id, queue: contract.queue.name })
  if (state === 'stopping') await jobCancelRunning(db, clock.databaseNow(), [id], 'asked to stop by a test')
  if (state === 'processing' || state === 'stopping') return
  await settle(db, clock.databaseNow(), [settlementFor(state, run)])
  await claims.end()
}

function settlementFor(state: 'failed' | 'suspect' | 'completed' | 'dead', run: Run): Settlement {
  const { retention } = run.contract
  const failure = { ...failureFrom(new Error('made to fail by a test')), logs: null }
  switch (state) {
    case 'completed':
      return { kind: 'finish', ...run.fence, status: 'completed', result: null, reason: null, retention }
    case 'dead':
      return { kind: 'bury', ...run.fence, reason: 'unrecoverable', failure, retention, drop: false }
    case 'failed':
      return { kind: 'requeue', ...run.fence, delayMs: RETRY_MS, refund: false, crash: 'clear', failure }
    case 'suspect':
      return { kind: 'requeue', ...run.fence, delayMs: null, refund: true, crash: 'count', failure: null }
  }
}
