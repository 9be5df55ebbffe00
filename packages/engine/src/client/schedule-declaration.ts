// What the code of a program says about its schedules, written when a worker starts.
//
// Several workers may start at once: the rows are locked in one order. A cadence that has not changed keeps its timing, so
// that an interval goes on from where it began; one that has changed counts from now on, and what is due by now is settled
// by the one before.

import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import type { Now } from '../clock.ts'
import type { Schedule } from '../schedule/define.ts'
import { afterEdit, firstFire, inPhase } from '../schedule/due.ts'
import { timingOf, type When } from '../schedule/when.ts'
import type { Database, Session } from '../store/db.ts'
import {
  clockRead,
  type ScheduleRow,
  scheduleDeclared,
  scheduleInsert,
  scheduleLock,
  scheduleWrite,
} from '../store/schedules.ts'

const BY = 'code'

export interface Declaration {
  /** Something is new, or was edited. */
  readonly isNews: boolean
  /** Names that schedules created at run time have: those go on, and the code's do not fire. */
  readonly taken: readonly string[]
}

export async function declareSchedules(db: Database, now: Now, schedules: readonly Schedule[]): Promise<Declaration> {
  if (schedules.length === 0) return { isNews: false, taken: [] }
  const sorted = [...schedules].sort((a, b) => (a.name < b.name ? -1 : 1))
  const names = sorted.map(({ name }) => name)
  return db.transaction(async (tx) => {
    const rows = await scheduleLock(tx, now, names)
    const taken = names.filter((name) => rows.get(name)?.source === 'runtime')
    let isNews = false
    for (const schedule of sorted.filter(({ name }) => !taken.includes(name))) {
      const row = rows.get(schedule.name)
      const isWritten = row === undefined ? insert(tx, now, schedule) : update(tx, now, schedule, row)
      isNews = (await isWritten) || isNews
    }
    const free = names.filter((name) => !taken.includes(name))
    await scheduleDeclared(tx, now, free, `${hostname()} ${process.pid}`)
    return { isNews, taken }
  })
}

async function insert(tx: Session, now: Now, schedule: Schedule): Promise<boolean> {
  const { name, job, when, settings, isPaused } = schedule
  const at = await clockRead(tx, now)
  const timing = timingOf(when, { now: at })
  const row = {
    name,
    jobType: job.type,
    source: 'code' as const,
    cadence: when,
    timing,
    options: settings,
    payload: null,
  }
  const pauseReason = isPaused ? 'its code declares it as paused' : null
  // Another worker may have declared it since we looked: then it is there, and the same.
  return scheduleInsert(tx, now, { ...row, nextAt: firstFire(timing, at), pauseReason }, BY)
}

async function update(tx: Session, now: Now, schedule: Schedule, row: ScheduleRow): Promise<boolean> {
  const { job, when, settings } = schedule
  const isSameCadence = isDeepStrictEqual(row.cadence, plain(when))
  if (isSameCadence && row.jobType === job.type && isDeepStrictEqual(row.options, plain(settings))) return false
  const timed = isSameCadence ? row : { ...row, cadence: when, ...timingFrom(when, row) }
  return scheduleWrite(tx, now, { ...timed, jobType: job.type, options: settings }, BY)
}

/** What somebody has set instead stays in force. */
function timingFrom(when: When, row: ScheduleRow): Pick<ScheduleRow, 'timing' | 'nextAt'> {
  const timing = inPhase(row.timing, timingOf(when, row))
  return row.editedTiming === null ? afterEdit(row.timing, timing, row) : { timing, nextAt: row.nextAt }
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
