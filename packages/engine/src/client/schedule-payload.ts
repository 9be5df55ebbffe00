// What a tick enqueues: the payload made by its schedule's code, checked before anything is written, and the job's options.
import { createHash } from 'node:crypto'
import type { JobContract } from '../contract/job.ts'
import type { Registry } from '../contract/registry.ts'
import { KeyBusy, TenantBusy, TenantSuspended, TransactionFailed } from '../errors.ts'
import { failureFrom } from '../failure.ts'
import { isPassing } from '../governance/budgets.ts'
import { isSkip, type Schedule, type ScheduleFire } from '../schedule/define.ts'
import type { DeclaredSchedules } from '../schedule/schedules.ts'
import type { TickOrigin } from '../store/schedule-ticks.ts'
import type { ScheduleRow } from '../store/schedules.ts'
import { type JobOptions, newJob } from './enqueue-options.ts'

/** How long a payload function may take. */
const DEADLINE_MS = 30_000

export type Made =
  | { kind: 'payload'; payload: unknown; options: JobOptions }
  | { kind: 'skip'; reason: string }
  | { kind: 'error'; reason: string }
  /** One each, made page by page. */
  | { kind: 'by tenant' }

/** A schedule that this process can tick. */
export interface Known {
  readonly row: ScheduleRow
  readonly contract: JobContract
  /** A value, or a function of the fire. */
  readonly payload: unknown
  readonly correlationId?: Schedule['correlationId']
}

/** Undefined: this program has neither its code nor, if it was created at run time, the contract of its job. */
export function knownSchedule(
  { declared, registry }: { declared: DeclaredSchedules; registry: Registry },
  row: ScheduleRow,
): Known | undefined {
  if (row.source === 'code') {
    const schedule = declared.find(row.name)
    if (schedule === undefined) return undefined
    const { job, payload, correlationId } = schedule
    return { row, contract: job, payload, correlationId }
  }
  const contract = registry.find(row.jobType)
  return contract && { row, contract, payload: row.payload }
}

/** Never throws: whatever the author's code does is a fact about this tick. */
export async function makePayload(known: Known, fire: ScheduleFire, origin: TickOrigin): Promise<Made> {
  try {
    const { payload } = known
    const made: unknown = typeof payload === 'function' ? await inTime(payload as MakePayload, fire) : payload
    if (isSkip(made)) return { kind: 'skip', reason: made.reason }
    const options = jobOptions(known, fire, origin)
    await newJob(known.contract, made, options)
    return { kind: 'payload', payload: made, options }
  } catch (error) {
    return { kind: 'error', reason: reasonOf(known.contract, error) }
  }
}

/** As with handlers: what is thrown about a sensitive job may hold what must not be stored. */
function reasonOf({ sensitive }: JobContract, error: unknown): string {
  const { class: name, message } = failureFrom(error)
  return sensitive.length === 0 ? message : `${name}; its message is not stored, because the job is sensitive`
}

type MakePayload = (fire: ScheduleFire) => unknown

async function inTime(make: MakePayload, fire: ScheduleFire): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`The payload function did not return within ${DEADLINE_MS / 1_000} s.`)
    timer = setTimeout(() => reject(error), DEADLINE_MS)
  })
  try {
    return await Promise.race([make(fire), late])
  } finally {
    clearTimeout(timer)
  }
}

function jobOptions({ row, correlationId }: Known, fire: ScheduleFire, origin: TickOrigin): JobOptions {
  const { name, options } = row
  const { overlap, priority, jitterMs } = options
  const key = `schedule:${name}`
  return {
    createdBy: key,
    correlationId:
      (typeof correlationId === 'function' ? correlationId(fire) : correlationId) ??
      `schedule-${name}-${fire.fireAt.toISOString()}`,
    ...(fire.tenant !== null && { tenant: fire.tenant }),
    ...(priority !== null && { priority }),
    ...(jitterMs > 0 && origin === 'due' && { runAt: jittered(name, fire, jitterMs) }),
    // Whoever asks for a range wants every job of it: skipping the second because of the first would be absurd.
    ...(overlap === 'skip' && origin !== 'backfill' && { dedupKey: key }),
    ...(overlap === 'queue' && { orderKey: key }),
  }
}

/** The same in every process, and another for each tenant and time. */
function jittered(name: string, { fireAt, tenant }: ScheduleFire, jitterMs: number): Date {
  const hash = createHash('sha256')
    .update(JSON.stringify([name, tenant, fireAt.getTime()]))
    .digest()
  return new Date(fireAt.getTime() + Math.floor((hash.readUInt32BE() / 2 ** 32) * jitterMs))
}

/** A database that is away, or a key or tenant that an open transaction holds: nothing has happened, and it is tried again. */
export const isForLater = (error: unknown): boolean =>
  isPassing(error instanceof TransactionFailed ? error.cause : error) ||
  error instanceof KeyBusy ||
  error instanceof TenantBusy

/** What an enqueue refused, as a fact about its tick. */
export function refusalOf(error: unknown): Made {
  const reason = failureFrom(error).message
  return error instanceof TenantSuspended ? { kind: 'skip', reason } : { kind: 'error', reason }
}
