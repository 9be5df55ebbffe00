// How people's changes of schedules are written.
//
// Every change locks the row and moves its revision, so that a tick that was being prepared from what was true before comes
// to nothing; it is written to the audit log in the same transaction, and workers are told.
import type { Clock } from '../clock.ts'
import { UnknownSchedule } from '../errors.ts'
import { auditWrite, type NewAuditEntry } from '../store/audit.ts'
import type { Database, Session } from '../store/db.ts'
import {
  clockRead,
  type NewSchedule,
  type ScheduleRow,
  scheduleGet,
  scheduleInsert,
  scheduleList,
  scheduleLock,
  scheduleRemove,
  scheduleWrite,
} from '../store/schedules.ts'
import type { Waker } from './waker.ts'

/** The target is the name of the schedule. */
export type ScheduleAudit = NewAuditEntry & { target: string }

/** What becomes of a locked row; the same row: nothing. */
export type RowChange = (row: ScheduleRow, tx: Session) => ScheduleRow | Promise<ScheduleRow>

export class ScheduleChanges {
  readonly #db: Database
  readonly #clock: Clock
  readonly #waker: Waker

  constructor(services: { db: Database; clock: Clock; waker: Waker }) {
    this.#db = services.db
    this.#clock = services.clock
    this.#waker = services.waker
  }

  async row(name: string): Promise<ScheduleRow> {
    const [row] = await scheduleGet(this.#db, this.#clock.databaseNow(), [name])
    if (row === undefined) throw await this.unknown(name)
    return row
  }

  /** The error that says so, and what there is. */
  async unknown(name: string): Promise<UnknownSchedule> {
    const rows = await scheduleList(this.#db, this.#clock.databaseNow(), null)
    return new UnknownSchedule(
      name,
      rows.map((row) => row.name),
    )
  }

  async change(entry: ScheduleAudit, change: RowChange): Promise<void> {
    const now = this.#clock.databaseNow()
    const isThere = await this.#db.transaction(async (tx) => {
      const row = (await scheduleLock(tx, now, [entry.target])).get(entry.target)
      if (row === undefined) return false
      const changed = await change(row, tx)
      if (changed === row) return true
      await scheduleWrite(tx, now, changed, entry.by)
      await this.note(tx, entry)
      return true
    })
    if (!isThere) throw await this.unknown(entry.target)
    await this.#tell()
  }

  /** `made`: the new one, at a time of the database's clock; undefined: there must be none. False: there is one already. */
  async insert(entry: ScheduleAudit, made: (now: Date) => NewSchedule | undefined): Promise<boolean> {
    const now = this.#clock.databaseNow()
    const isNew = await this.#db.transaction(async (tx) => {
      const schedule = made(await clockRead(tx, now))
      if (schedule === undefined || !(await scheduleInsert(tx, now, schedule, entry.by))) return false
      await this.note(tx, entry)
      return true
    })
    if (isNew) await this.#tell()
    return isNew
  }

  async remove(entry: ScheduleAudit): Promise<void> {
    await this.#db.transaction(async (tx) => {
      await scheduleRemove(tx, entry.target)
      await this.note(tx, entry)
    })
    await this.#tell()
  }

  /** Into the audit log. */
  note(session: Session, entry: ScheduleAudit): Promise<void> {
    return auditWrite(session, this.#clock.databaseNow(), entry)
  }

  async #tell(): Promise<void> {
    await this.#waker.tellWorkers([{ kind: 'schedules' }])
    this.#waker.schedulesChanged()
  }
}
