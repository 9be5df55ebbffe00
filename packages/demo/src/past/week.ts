// All jobs of the past week, made by dice: the same seed, number and time give the same week.
import { FLAWS, type Flaw } from '../failures.ts'
import { PROFILES, type Profile } from '../profiles.ts'
import { cumulate, type Dice, dice, uuid, weighted } from '../random.ts'
import { NOISY, SHOPS, SUSPENDED } from '../shops.ts'
import { type Course, courseOf } from './course.ts'

const HOUR_MS = 3_600_000
const SLOT_MS = HOUR_MS / 4
/** A little less than the archive keeps. */
export const WEEK_MS = 7 * 24 * HOUR_MS - HOUR_MS
export const NOISY_HOURS = 36
export const SUSPENDED_HOURS = 22
const DOOMED = 4

/** How busy each hour of a day is. */
const DAY = [3, 2, 2, 2, 3, 5, 10, 22, 42, 62, 75, 84, 88, 80, 78, 82, 88, 92, 80, 64, 50, 34, 18, 8]
const NIGHT = [70, 90, 85, 60, 30, 12, 10, 8, 8, 8, 10, 10, 10, 10, 10, 10, 12, 12, 14, 16, 20, 28, 40, 55]
/** From Sunday on. */
const WEEKDAYS = [0.45, 1, 1.05, 1, 1.1, 1.25, 0.7]

export interface WeekJob extends Course {
  readonly profile: Profile
  readonly tenant: string | null
  readonly createdAt: number
  readonly payload: Record<string, unknown>
  readonly result: unknown
  readonly createdBy: string
  /** Of each run. */
  readonly runIds: readonly string[]
  readonly workerIds: readonly string[]
  /** It does the work of a dead one. */
  readonly redrives?: WeekJob
}

export interface WeekPlan {
  readonly now: number
  readonly seed: number
  readonly jobs: number
}

/** In the order in which they were enqueued. */
export function week({ now, seed, jobs }: WeekPlan): WeekJob[] {
  const roll = dice(seed)
  const workers = new Workers(roll, now)
  const curves = { day: curve(now, DAY), night: curve(now, NIGHT) }
  const types = cumulate(PROFILES.map(({ share }) => share))
  const shops = cumulate(SHOPS.map(({ size }) => size))
  const made: WeekJob[] = []
  for (let i = 0; i < jobs; i++) {
    const profile = PROFILES[weighted(roll, types)] as Profile
    const createdAt = now - WEEK_MS + (weighted(roll, curves[profile.busy]) + roll()) * SLOT_MS
    const tenant = profile.hasTenant ? tenantAt(roll, { profile, shops, hours: (now - createdAt) / HOUR_MS }) : null
    made.push(jobOf(roll, { profile, tenant, createdAt, now, workers }))
  }
  made.push(...doomed(roll, { now, workers, shops }))
  return made.sort((a, b) => a.createdAt - b.createdAt)
}

/** Of each kind of failure some jobs that die of it, however few jobs the week has. */
function doomed(
  roll: Dice,
  { now, workers, shops }: { now: number; workers: Workers; shops: readonly number[] },
): WeekJob[] {
  return FLAWS.flatMap((flaw) => {
    const profile = PROFILES.find(({ contract }) => contract.type === flaw.type) as Profile
    const { from = WEEK_MS / HOUR_MS, to = 0 } = flaw
    return Array.from({ length: DOOMED }, () => {
      const createdAt = now - (to + roll() * (from - to)) * HOUR_MS
      const tenant = profile.hasTenant ? tenantAt(roll, { profile, shops, hours: (now - createdAt) / HOUR_MS }) : null
      return jobOf(roll, { profile, tenant, createdAt, now, workers, flaw })
    })
  })
}

interface JobPlan {
  readonly profile: Profile
  readonly tenant: string | null
  readonly createdAt: number
  readonly now: number
  readonly workers: Workers
  readonly createdBy?: string
  readonly redrives?: WeekJob
  readonly flaw?: Flaw
}

export function jobOf(roll: Dice, plan: JobPlan): WeekJob {
  const { profile, tenant, createdAt, now, workers, createdBy = 'web', redrives, flaw } = plan
  const isNoisy = profile.isNoisy && now - createdAt < NOISY_HOURS * HOUR_MS
  const delayed = isNoisy ? (tenant === NOISY ? 60 : 3) : 1
  const course = courseOf(roll, { profile, createdAt, now, delayed, ...(flaw && { flaw }) })
  return {
    ...course,
    ...{ profile, tenant, createdAt, createdBy },
    payload: redrives?.payload ?? profile.payload(roll, tenant ?? ''),
    result: course.end.status === 'completed' ? (profile.result?.(roll) ?? null) : null,
    runIds: course.runs.map(() => uuid(roll)),
    workerIds: course.runs.map(({ startedAt }) => workers.at(roll, startedAt)),
    ...(redrives && { redrives }),
  }
}

function curve(now: number, byHour: readonly number[]): number[] {
  const slots = Math.floor(WEEK_MS / SLOT_MS)
  return cumulate(
    Array.from({ length: slots }, (_, slot) => {
      const at = new Date(now - WEEK_MS + slot * SLOT_MS)
      return (byHour[at.getUTCHours()] as number) * (WEEKDAYS[at.getUTCDay()] as number)
    }),
  )
}

function tenantAt(
  roll: Dice,
  { profile, shops, hours }: { profile: Profile; shops: readonly number[]; hours: number },
): string {
  if (profile.isNoisy && hours < NOISY_HOURS && roll() < 0.8) return NOISY
  for (;;) {
    const { name } = SHOPS[weighted(roll, shops)] as { name: string }
    if (name !== SUSPENDED || hours > SUSPENDED_HOURS) return name
  }
}

/** Three at a time; all of them are replaced when a version is deployed. */
export class Workers {
  readonly #shifts: readonly { from: number; ids: readonly string[] }[]

  constructor(roll: Dice, now: number) {
    const starts = [WEEK_MS / HOUR_MS, 98, 30, 18].map((hours) => now - hours * HOUR_MS)
    this.#shifts = starts.map((from) => ({ from, ids: [uuid(roll), uuid(roll), uuid(roll)] })).reverse()
  }

  at(roll: Dice, time: number): string {
    const { ids } = this.#shifts.find(({ from }) => from <= time) ?? (this.#shifts.at(-1) as { ids: readonly string[] })
    return ids[Math.floor(roll() * ids.length)] as string
  }
}
