// When the schedules fired during the week: all in time but for one night, when nothing ran.
import type { PastRow } from 'millrace/testing'
import { time } from './rows.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const DAYS = 6
/** The night of the outage. */
const MISSED_DAYS_AGO = 3

export function tickRows(now: number): PastRow[] {
  const midnight = Math.floor(now / DAY_MS) * DAY_MS
  const rows: PastRow[] = []
  for (let day = DAYS; day >= 1; day--) {
    const isMissed = day === MISSED_DAYS_AGO
    rows.push(tick('sales-report', midnight - day * DAY_MS + 4 * HOUR_MS, isMissed))
    rows.push(tick('invoices', midnight - day * DAY_MS + 1.5 * HOUR_MS, isMissed))
  }
  const quarter = HOUR_MS / 4
  const last = Math.floor(now / quarter) * quarter
  for (let ago = 24 * 4; ago >= 1; ago--)
    rows.push(tick('index-of-copper-kettle', last - ago * quarter, false, ago % 17 === 0))
  return rows
}

function tick(schedule: string, fireAt: number, isMissed: boolean, isSkipped = false): PastRow {
  const outcome = isMissed ? 'missed' : isSkipped ? 'skipped' : 'enqueued'
  const latenessMs = isMissed ? 3 * HOUR_MS : 40 + ((fireAt / 60_000) % 300)
  return {
    ...{ schedule, fire_at: time(fireAt), origin: 'due', outcome, jobs: outcome === 'enqueued' ? 1 : 0, refused: 0 },
    reason: isSkipped ? 'the job of an earlier tick is not done' : null,
    ...{ missed: isMissed ? 1 : 0, missed_to: isMissed ? time(fireAt) : null, lateness_ms: latenessMs },
    at: time(fireAt + latenessMs),
  }
}
