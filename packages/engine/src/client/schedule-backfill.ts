// Ticks for a range of fire times in the past.
import { InvalidDefinition } from '../errors.ts'
import { previousFire } from '../schedule/due.ts'
import { fires } from '../schedule/next-fire.ts'
import type { Database } from '../store/db.ts'
import { scheduleTicked, TICKS_KEPT_MS, type TickOutcome } from '../store/schedule-ticks.ts'
import { scheduleList, timingInForce } from '../store/schedules.ts'
import type { Known } from './schedule-payload.ts'
import type { ScheduleTicks } from './schedule-ticks.ts'

/** Who does it: written into the audit log. */
export interface By {
  by: string
}

export interface BackfillRange extends By {
  /** The first and the last fire time, both included. */
  from: Date
  to: Date
  /** Also fire times so old that it is forgotten whether they were ticked: their jobs may be enqueued twice. Default false. */
  force?: boolean
}

export interface BackfillResult {
  /** Fire times in the range. */
  fires: number
  /** Those that were ticked before, and were left alone. */
  before: number
  enqueued: number
  skipped: number
  failed: number
}

const MOST = 1_000

/** `noted`: before the first is ticked. */
export async function backfill(
  { db, ticks }: { db: Database; ticks: ScheduleTicks },
  known: Known,
  { from, to, by, force = false }: BackfillRange,
  noted: (range: { from: Date; to: Date }) => Promise<void>,
): Promise<BackfillResult> {
  const { name } = known.row
  const timing = timingInForce(known.row)
  const wanted = firesOf(known, from, to)
  if (!force) await refuseForgotten(db, known, wanted)
  await noted({ from, to })
  const ticked = await scheduleTicked(db, name, from, to)
  const counts: Record<TickOutcome | 'before', number> = {
    ...{ before: 0, enqueued: 0, skipped: 0, failed: 0, missed: 0, running: 0 },
  }
  let previousFireAt = wanted[0] === undefined ? null : (previousFire(timing, wanted[0]) ?? null)
  for (const fireAt of wanted) {
    const asked = { schedule: name, fireAt, origin: 'backfill' as const, author: by, previousFireAt }
    const result = ticked.has(fireAt.getTime()) ? undefined : await ticks.ask(known, asked)
    counts[result?.outcome ?? 'before']++
    previousFireAt = fireAt
  }
  const { before, enqueued, skipped, failed, running } = counts
  return { fires: wanted.length, before, enqueued: enqueued + running, skipped, failed }
}

/** Those before the schedule was written were never due. */
async function refuseForgotten(db: Database, { row }: Known, wanted: readonly Date[]): Promise<void> {
  const [listed] = await scheduleList(db, row.now, [row.name])
  const keptSince = new Date(row.now.getTime() - TICKS_KEPT_MS)
  const forgotten = wanted.filter((fireAt) => fireAt < keptSince && listed !== undefined && fireAt >= listed.createdAt)
  if (forgotten.length === 0) return
  throw new InvalidDefinition(
    `${forgotten.length} of the fire times of "${row.name}" are more than 30 days old, so that it is forgotten which of them were ticked. Begin the range at ${keptSince.toISOString()}, or say that their jobs may be enqueued twice: force.`,
  )
}

function firesOf({ row }: Known, from: Date, to: Date): Date[] {
  if (!(from <= to) || to > row.now)
    throw new InvalidDefinition(
      `The range from ${String(from)} to ${String(to)} cannot be backfilled: expected a range in the past.`,
    )
  const wanted = [...fires(timingInForce(row), { from, to, count: MOST + 1 })]
  if (wanted.length <= MOST) return wanted
  throw new InvalidDefinition(
    `"${row.name}" has more than ${MOST} fire times from ${from.toISOString()} to ${to.toISOString()}. Backfill a shorter range, then the next.`,
  )
}
