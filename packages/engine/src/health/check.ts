// What a check is. To add one, write a function that returns findings and list it in checks.ts.
import type { Clock } from '../clock.ts'
import type { Database } from '../store/db.ts'
import type { ServerState } from '../store/server.ts'
import type { Finding, HealthArea, Verdict } from '../verdict.ts'
import type { Vitals } from './vitals.ts'

/** What checks look at. Those that need more ask the database. */
export interface Patient {
  readonly vitals: Vitals
  readonly server: ServerState
  readonly db: Database
  readonly clock: Clock
  readonly limits: HealthLimits
}

export interface HealthLimits {
  /** From when on an open transaction is blamed for dead rows. */
  readonly oldSnapshotMs: number
  /** The clock of this process. */
  readonly processNow: () => number
}

export interface Check {
  readonly name: string
  readonly area: HealthArea
  /** No complaint: `fine` says what was looked at and is well. */
  look(patient: Patient): Outcome | Promise<Outcome>
}

export interface Complaint {
  readonly verdict: Exclude<Verdict, 'ok'>
  readonly says: string
  readonly remedy: string
}

export interface Outcome {
  readonly fine: string
  readonly complaints: readonly Complaint[]
}

export function findingsOf({ name, area }: Pick<Check, 'name' | 'area'>, { fine, complaints }: Outcome): Finding[] {
  if (complaints.length === 0) return [{ check: name, area, verdict: 'ok', says: fine, remedy: null }]
  return complaints.map((complaint) => ({ check: name, area, ...complaint }))
}

export const degraded = (says: string, remedy: string): Complaint => ({ verdict: 'degraded', says, remedy })
export const failing = (says: string, remedy: string): Complaint => ({ verdict: 'failing', says, remedy })
