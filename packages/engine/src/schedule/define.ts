// Schedules as code declares them: which job, when, with what payload. Pure: safe to import anywhere.
import { type Duration, toMs } from '../contract/duration.ts'
import type { JobContract, PayloadInput, RequiresTenant } from '../contract/job.ts'
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition } from '../errors.ts'
import { checkWhen, type When } from './when.ts'

/** What becomes of fire times that passed while nobody could tick. */
export type MissedPolicy = 'skip' | 'once' | 'all'
/** What a tick does while the job of an earlier one is not done. */
export type OverlapPolicy = 'allow' | 'skip' | 'queue'

/** What a payload is made for. */
export interface ScheduleFire<Tenant extends string | null = string | null> {
  /** The time that the schedule names, not the moment at which somebody came to it. */
  readonly fireAt: Date
  /** The last fire time for which a job was enqueued; null: this is the first. */
  readonly previousFireAt: Date | null
  /** With `perTenant` the tenant that this job is for; else the schedule's own. */
  readonly tenant: Tenant
}

const brand = Symbol('millrace.skip')

/** See skip(). */
export interface Skip {
  readonly [brand]: true
  readonly reason: string
}

/** What a payload function returns when there is nothing to do this time. The tick is recorded with the reason. */
export const skip = (reason: string): Skip => ({ [brand]: true, reason })

export const isSkip = (value: unknown): value is Skip => typeof value === 'object' && value !== null && brand in value

export interface ScheduleOptions {
  /**
   * Fire times that passed while nobody could tick. 'once', the default: one job, for the last of them. 'skip': none, if the
   * last is more than a minute ago. 'all': one each, for the last 100. The others are recorded as missed.
   */
  missed?: MissedPolicy
  /**
   * While the job of an earlier tick is not done: 'allow' one beside it, the default; 'skip' this tick; 'queue', so that the
   * jobs run one after another. With `perTenant`: by tenant.
   */
  overlap?: OverlapPolicy
  /** Start each job a random while later, at most this long: the same for all processes. Default 0. */
  jitter?: Duration
  /** Whose jobs they are. */
  tenant?: string
  /** One job for each active tenant that Millrace knows, and `tenant` in what the payload is made from. */
  perTenant?: boolean
  /** Of its jobs. Default: the queue's. */
  priority?: number
}

export interface ScheduleDefinition<C extends JobContract, PerTenant extends boolean = boolean>
  extends ScheduleOptions {
  /** Stored: keep it for ever. Another name is another schedule. */
  name: string
  job: C
  when: When
  /**
   * The payload, or a function that makes it for each tick. The function may run in several processes for the same tick; the
   * payload of one of them is enqueued.
   */
  payload: PayloadInput<C> | MakePayload<C, PerTenant extends true ? string : string | null>
  perTenant?: PerTenant
  /** Shared by the jobs of a tick and their children. Default: `schedule-<name>-<fire time>`. */
  correlationId?: string | ((fire: ScheduleFire) => string)
  /** It is paused when it is declared for the first time, until somebody resumes it. Default false. */
  paused?: boolean
}

type MakePayload<C extends JobContract, Tenant extends string | null> = (
  fire: ScheduleFire<Tenant>,
) => PayloadInput<C> | Skip | Promise<PayloadInput<C> | Skip>

type Tenancy<C extends JobContract> =
  RequiresTenant<C> extends true ? { tenant: string; perTenant?: false } | { perTenant: true; tenant?: never } : unknown

/** Checked, as they are stored. */
export interface ScheduleSettings {
  readonly missed: MissedPolicy
  readonly overlap: OverlapPolicy
  readonly jitterMs: number
  readonly tenant: string | null
  readonly perTenant: boolean
  readonly priority: number | null
}

export interface Schedule {
  readonly name: string
  readonly job: JobContract
  readonly when: When
  readonly payload: unknown
  readonly correlationId: string | ((fire: ScheduleFire) => string) | undefined
  readonly isPaused: boolean
  readonly settings: ScheduleSettings
}

const NAME = /^[\w.:/-]{1,100}$/
const MISSED: readonly string[] = ['skip', 'once', 'all'] satisfies MissedPolicy[]
const OVERLAP: readonly string[] = ['allow', 'skip', 'queue'] satisfies OverlapPolicy[]
const OPTIONS = ['missed', 'overlap', 'jitter', 'tenant', 'perTenant', 'priority']
const KNOWN = ['name', 'job', 'when', 'payload', 'paused', 'correlationId', ...OPTIONS]

/** Declares a schedule. Pass it to createMillrace({ schedules }): workers of that program tick it. */
export function defineSchedule<C extends JobContract, PerTenant extends boolean = false>(
  definition: ScheduleDefinition<C, PerTenant> & Tenancy<C>,
): Schedule {
  const { name, job, when, payload, correlationId, paused = false } = definition
  checkName(name)
  refuseUnknown(name, definition, KNOWN)
  checkWhen(when)
  if (payload === undefined)
    throw new InvalidDefinition(`Schedule "${name}" has no payload: give a value, or a function of the fire time.`)
  return { name, job, when, payload, correlationId, isPaused: paused, settings: settingsOf(name, job, definition) }
}

export function checkName(name: string): void {
  if (typeof name === 'string' && NAME.test(name)) return
  throw new InvalidDefinition(
    `Schedule name ${JSON.stringify(name)} is not usable: expected 1–100 letters, digits or "_ . : / -".`,
  )
}

function refuseUnknown(name: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((option) => !known.includes(option))
  if (unknown === undefined) return
  throw new InvalidDefinition(`Schedule "${name}" has an unknown option ${unknown}.${suggestion(unknown, known)}`)
}

/** For callers without a compiler. */
export const checkOptions = (name: string, options: object): void => refuseUnknown(name, options, OPTIONS)

/** Checks the options against each other and against the contract. */
export function settingsOf(name: string, job: JobContract, options: ScheduleOptions): ScheduleSettings {
  const { missed = 'once', overlap = 'allow', jitter = 0, tenant, perTenant = false, priority } = options
  demandOneOf(name, 'missed', missed, MISSED)
  demandOneOf(name, 'overlap', overlap, OVERLAP)
  if (priority !== undefined && (!Number.isInteger(priority) || priority < 0 || priority > 2_147_483_647))
    throw new InvalidDefinition(
      `Schedule "${name}" has priority ${priority}: expected an integer from 0 to 2147483647.`,
    )
  checkTenancy(name, job, { tenant, perTenant })
  checkOverlap(name, job, overlap)
  return {
    missed,
    overlap,
    jitterMs: toMs(jitter, `Schedule "${name}": jitter`),
    tenant: tenant ?? null,
    perTenant,
    priority: priority ?? null,
  }
}

function demandOneOf(name: string, option: string, value: string, known: readonly string[]): void {
  if (known.includes(value)) return
  throw new InvalidDefinition(
    `Schedule "${name}" has ${option} ${JSON.stringify(value)}: expected one of ${known.join(', ')}.${suggestion(String(value), known)}`,
  )
}

function checkTenancy(
  name: string,
  job: JobContract,
  { tenant, perTenant }: { tenant: string | undefined; perTenant: boolean },
): void {
  if (tenant !== undefined && perTenant)
    throw new InvalidDefinition(`Schedule "${name}" has both tenant and perTenant: it is for one of them, or for each.`)
  if (tenant !== undefined || perTenant || job.queue.options.tenant !== 'required' || job.tenantOf !== undefined) return
  throw new InvalidDefinition(
    `Schedule "${name}" enqueues "${job.type}", whose queue "${job.queue.name}" demands a tenant: give it tenant or perTenant.`,
  )
}

/** Both ways borrow a key of the job, which its contract may need for itself. */
function checkOverlap(name: string, job: JobContract, overlap: OverlapPolicy): void {
  const has = (what: string, instead: string) =>
    new InvalidDefinition(
      `Schedule "${name}" has overlap '${overlap}', and its job "${job.type}" has ${what} of its own. ${instead}`,
    )
  if (overlap === 'skip' && job.dedupeKey !== undefined)
    throw has('a dedupe key', "Leave overlap out and let that key decide, or use 'queue'.")
  if (overlap !== 'queue') return
  if (job.order !== undefined || job.keyLimit !== undefined)
    throw has('an order or limit key', 'Leave overlap out: that key decides which of its jobs run at once.')
  if (job.dedupe.mode === 'debounce' || job.dedupe.mode === 'latest')
    throw has(`dedupe mode '${job.dedupe.mode}'`, 'Leave overlap out: a job that is replaced has no place in an order.')
}
