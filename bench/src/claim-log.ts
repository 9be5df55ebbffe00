// Which claims this process made and what came back: looked at from outside, where every statement of the engine passes.
import { Database } from '../../packages/engine/dist/store/db.js'
import { monotonicUs } from './spaced-jobs.ts'

export interface Claim {
  readonly sentAtUs: number
  readonly answeredAtUs: number
  readonly jobs: number
}

/** Answers with a growing list. Before the first worker, and once per process. */
export function logClaims(): Claim[] {
  const claims: Claim[] = []
  const tuples = Database.prototype.tuples
  Database.prototype.tuples = async function observed<Tuple>(this: Database, ...args: Parameters<Database['tuples']>) {
    const sentAtUs = monotonicUs()
    const jobs = await tuples.apply<Database, Parameters<Database['tuples']>, Promise<Tuple[]>>(this, args)
    const [statement] = args
    if (statement === 'jobClaim' || statement === 'jobClaimTypes') {
      claims.push({ sentAtUs, answeredAtUs: monotonicUs(), jobs: jobs.length })
    }
    return jobs
  }
  return claims
}

export interface ClaimSummary {
  readonly claims: number
  readonly jobsPerClaim: number
  /** Claims that came back with nothing although a later one still found jobs. */
  readonly emptyClaims: number
}

/**
 * Of all processes together, while nothing is enqueued: whatever a claim found was there all along, so one that was
 * answered empty before the last successful one was even sent had missed something.
 */
export function summarise(claims: readonly Claim[]): ClaimSummary {
  const successful = claims.filter(({ jobs }) => jobs > 0)
  if (successful.length === 0)
    throw new Error('no claim was seen: the engine claims in a way that claim-log.ts does not know')
  const lastSentUs = Math.max(...successful.map(({ sentAtUs }) => sentAtUs))
  return {
    claims: successful.length,
    jobsPerClaim: successful.reduce((sum, { jobs }) => sum + jobs, 0) / successful.length,
    emptyClaims: claims.filter(({ jobs, answeredAtUs }) => jobs === 0 && answeredAtUs < lastSentUs).length,
  }
}
