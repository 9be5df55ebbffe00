// The jobs that wait at this moment, each group for another reason.
import type { JobContract } from 'millrace'
import type { PastRow, PastWriter } from 'millrace/testing'
import * as contracts from '../contracts.ts'
import { PROFILES } from '../profiles.ts'
import { type Dice, dice, pick } from '../random.ts'
import { HOSTILE, NOISY, SHOPS, SUSPENDED } from '../shops.ts'
import { time } from './rows.ts'
import { sampleRows } from './samples.ts'
import type { WeekPlan } from './week.ts'

const MINUTE_MS = 60_000

interface Group {
  readonly contract: JobContract
  /** How many there are, if the week has 40,000 jobs. */
  readonly count: number
  /** Null: shops by chance. */
  readonly tenant: string | null
  /** They came within so many minutes, or come due within them. */
  readonly minutes: number
  readonly isScheduled?: boolean
}

const GROUPS: readonly Group[] = [
  // The noisy shop: more than its rate and its slots let through.
  { contract: contracts.sendNewsletter, count: 1_400, tenant: NOISY, minutes: 95 },
  { contract: contracts.importProduct, count: 900, tenant: NOISY, minutes: 50 },
  // The queue is paused.
  { contract: contracts.capturePage, count: 60, tenant: null, minutes: 35 },
  // The breaker of the carrier is open.
  { contract: contracts.bookVan, count: 110, tenant: null, minutes: 14 },
  // One shop has one printer, and a second one hardly any work.
  { contract: contracts.printLabel, count: 70, tenant: 'copper-kettle', minutes: 12 },
  { contract: contracts.printLabel, count: 3, tenant: HOSTILE, minutes: 2 },
  // Its shop is suspended.
  { contract: contracts.sendReceipt, count: 45, tenant: SUSPENDED, minutes: 400 },
  // Later: nothing holds them but the time.
  { contract: contracts.renderInvoice, count: 40, tenant: null, minutes: 600, isScheduled: true },
  { contract: contracts.sendText, count: 25, tenant: null, minutes: 180, isScheduled: true },
]

const WEEK_JOBS = 40_000

function presentGroups({ jobs }: Pick<WeekPlan, 'jobs'>): readonly Group[] {
  return GROUPS.map((group) => ({ ...group, count: Math.max(2, Math.round((group.count * jobs) / WEEK_JOBS)) }))
}

/** After the worker of the last minutes has stopped: it would have run them. */
export async function writePresent(writer: PastWriter, plan: WeekPlan): Promise<void> {
  const { now, seed } = plan
  const roll = dice(seed + 2)
  const waiting = presentGroups(plan).flatMap((group) =>
    Array.from({ length: group.count }, () => ({ group, at: now - roll() * group.minutes * MINUTE_MS })),
  )
  waiting.sort((a, b) => a.at - b.at)
  const first = await writer.ids(waiting.length)
  await writer.insert(
    'job',
    waiting.map(({ group, at }, place) => row(roll, { group, at, id: first + place, now })),
  )
  const due = waiting.filter(({ group }) => group.isScheduled !== true)
  const waited = due.map(({ group, at }) => ({ queue: group.contract.queue.name, at }))
  await writer.insert('queue_sample', sampleRows(waited, now))
}

interface Waiting {
  readonly group: Group
  readonly at: number
  readonly id: number
  readonly now: number
}

function row(roll: Dice, { group: { contract, isScheduled, ...group }, at, id, now }: Waiting): PastRow {
  const tenant =
    group.tenant ??
    pick(
      roll,
      SHOPS.filter(({ name }) => name !== SUSPENDED),
    ).name
  const profile = PROFILES.find((each) => each.contract === contract)
  // As many minutes ahead as it would have been ago.
  const runAt = isScheduled ? 2 * now - at : at
  return {
    ...{
      id,
      status: 'pending',
      type: contract.type,
      queue: contract.queue.name,
      tenant,
      priority: contract.queue.priority,
    },
    ...{ attempt: 0, max_attempts: contract.retry.attempts, crashes: 0, payload_version: contract.version },
    ...{ run_at: time(runAt), created_at: time(at), updated_at: time(at), created_by: 'web' },
    payload: profile?.payload(roll, tenant) ?? {},
  }
}
