// Kinds of failure: who is hit, what was decided, and since which version of a program.
import type { Now } from '../clock.ts'
import type { DeadReason } from '../contract/redrive.ts'
import { plainArray } from './arrays.ts'
import type { Session } from './db.ts'

/** More about a group. Of each fingerprint the newest ten thousand letters are looked at. */
export interface DeadLetterGroupFacts {
  fingerprint: string
  type: string
  /** Of the newest letter. */
  queue: string
  reason: DeadReason
  errorClass: string | null
  /** Notes of the newest letter that has any. */
  lastNotes: string | null
  /** All that were looked at, decided ones included. */
  letters: number
  /** There are more, which were not looked at. */
  isCapped: boolean
  /** Pending ones that somebody has seen; by whom and when the last of them was. */
  acknowledged: number
  acknowledgedBy: string | null
  acknowledgedAt: Date | null
  retried: number
  resolved: number
  ignored: number
  /** How many died in each hour, the oldest hour first; the last one has just begun or is under way. */
  byHour: number[]
  /** How many tenants have pending letters; jobs without a tenant count as one. */
  tenants: number
  /** The ten with most. */
  byTenant: { tenant: string | null; letters: number }[]
}

export interface GroupFactsOptions {
  fingerprints: readonly string[]
  tenants: readonly string[] | null
  hours: number
}

const MOST_LOOKED_AT = 10_000

type FactsRow = Omit<DeadLetterGroupFacts, 'byHour'> & { byHour: Record<string, number> }

export async function deadLetterGroupFacts(
  session: Session,
  now: Now,
  { fingerprints, tenants, hours }: GroupFactsOptions,
): Promise<DeadLetterGroupFacts[]> {
  const parameters = [now, plainArray(fingerprints), tenants && plainArray(tenants), hours, MOST_LOOKED_AT]
  const rows = await session.run<FactsRow>('deadLetterGroupFacts', parameters)
  return rows.map(({ byHour, ...row }) => ({
    ...row,
    byHour: Array.from({ length: hours }, (_, index) => byHour[hours - 1 - index] ?? 0),
  }))
}

/** Letters of a group that failed in a version of a program. */
export interface DeadLetterVersion {
  version: string
  letters: number
  firstDiedAt: Date
  lastDiedAt: Date
  /** Since when workers of that version are known. */
  startedAt: Date
}

const MOST_FOR_VERSIONS = 500

export function deadLetterVersions(
  session: Session,
  group: { fingerprint: string; type: string },
  tenants: readonly string[] | null,
): Promise<DeadLetterVersion[]> {
  const of = tenants && plainArray(tenants)
  return session.run('deadLetterVersions', [group.fingerprint, group.type, of, MOST_FOR_VERSIONS])
}
