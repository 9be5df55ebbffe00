// What was enqueued: to look at, and to insist on.
import { AssertionError } from 'node:assert'
import { inspect, isDeepStrictEqual } from 'node:util'
import type { JobContract, PayloadInput } from '../contract/job.ts'
import { openStored, ownerOf } from '../contract/sealed.ts'
import { SearchTimeout } from '../errors.ts'
import { Millrace } from '../millrace.ts'
import { isOneOf } from '../search/query.ts'
import { jobSearch } from '../store/job-search.ts'
import type { Job, JobStatus } from '../store/jobs.ts'

/** A job whose payload is typed by its contract: as it was given, through JSON. */
export type EnqueuedJob<C extends JobContract> = Omit<Job, 'payload'> & { payload: PayloadInput<C> }

/** Part of a payload: what is not named may be anything. */
export type PartialPayload<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { [Key in keyof T]?: PartialPayload<T[Key]> }
    : T

export interface Expectation<C extends JobContract> {
  payload?: PartialPayload<PayloadInput<C>>
  tenant?: string | null
  priority?: number
  status?: JobStatus
  runAt?: Date
  dedupKey?: string | null
  correlationId?: string
  parentJobId?: string | null
  createdBy?: string | null
}

/** Tests have few. */
const EVERY = 100_000
const PATIENCE_MS = 15_000

/** Every job of this contract, waiting, running or ended, newest first. Ended ones with retention 'none' are gone. */
export async function enqueued<C extends JobContract>(millrace: Millrace, contract: C): Promise<EnqueuedJob<C>[]> {
  const { db, registry } = Millrace.servicesOf(millrace)
  registry.demand(contract)
  const selection = { conditions: [isOneOf('type', contract.type)], order: 'newest', after: null } as const
  const jobs = await jobSearch(db, { now: null, timeoutMs: PATIENCE_MS }, selection, EVERY)
  if (jobs === undefined) throw new SearchTimeout(PATIENCE_MS)
  return jobs.map((job) => {
    const payload = openStored(registry.keys, { contract, part: 'payload', owner: ownerOf(job) }, job.payload)
    return { ...job, payload } as EnqueuedJob<C>
  })
}

/**
 * Fails unless a job of this contract was enqueued that has all that is named here. With `count`, exactly so many.
 * Returns the jobs that fit, newest first.
 */
export async function assertEnqueued<C extends JobContract>(
  millrace: Millrace,
  contract: C,
  expected: Expectation<C> & { count?: number } = {},
): Promise<[EnqueuedJob<C>, ...EnqueuedJob<C>[]]> {
  const { count, ...wanted } = expected
  const jobs = await enqueued(millrace, contract)
  const fitting = jobs.filter((job) => fits(job, wanted))
  if (count === undefined ? fitting.length > 0 : fitting.length === count) {
    return fitting as [EnqueuedJob<C>, ...EnqueuedJob<C>[]]
  }
  const times = count === undefined ? 'a job' : `${count} ${count === 1 ? 'job' : 'jobs'}`
  throw failure(`Expected ${times} "${contract.type}"`, wanted, { fitting: fitting.length, jobs })
}

/** Fails if a job of this contract was enqueued that has all that is named here. */
export async function refuteEnqueued<C extends JobContract>(
  millrace: Millrace,
  contract: C,
  unwanted: Expectation<C> = {},
): Promise<void> {
  const jobs = await enqueued(millrace, contract)
  const fitting = jobs.filter((job) => fits(job, unwanted))
  if (fitting.length === 0) return
  throw failure(`Expected no job "${contract.type}"`, unwanted, { fitting: fitting.length, jobs })
}

function fits(job: object, expected: object): boolean {
  return Object.entries(expected).every(([name, value]) => {
    const actual: unknown = job[name as keyof typeof job]
    if (name === 'payload') return contains(actual, JSON.parse(JSON.stringify(value)))
    return isDeepStrictEqual(actual, value)
  })
}

/** Objects may have more than is expected of them; lists and plain values are equal or not. */
function contains(actual: unknown, expected: unknown): boolean {
  if (!isRecord(expected) || !isRecord(actual)) return isDeepStrictEqual(actual, expected)
  return Object.entries(expected).every(([key, value]) => key in actual && contains(actual[key], value))
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const SHOWN = 10

function failure(
  what: string,
  expected: object,
  found: { fitting: number; jobs: readonly EnqueuedJob<JobContract>[] },
): AssertionError {
  const { fitting, jobs } = found
  const asked = Object.keys(expected).length === 0 ? '' : ` with ${inspect(expected, { depth: 6 })}`
  const lines = jobs.slice(0, SHOWN).map(describe)
  const rest = jobs.length > SHOWN ? [`  … and ${jobs.length - SHOWN} older ones`] : []
  const list = jobs.length === 0 ? 'Nothing of this type was.' : 'Of this type there are, newest first:'
  const head = `${what}${asked} to be enqueued, and ${fitting} were. ${list}`
  return new AssertionError({ message: [head, ...lines, ...rest].join('\n') })
}

function describe({ id, status, tenant, payload }: EnqueuedJob<JobContract>): string {
  const text = inspect(payload, { depth: 6, breakLength: Number.POSITIVE_INFINITY })
  return `  ${id} ${status}${tenant === null ? '' : ` tenant ${tenant}`} ${text}`
}
