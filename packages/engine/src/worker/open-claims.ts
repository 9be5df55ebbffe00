// Claims whose answer has not come, or will never come. Reconciliation must not mistake their jobs for strays, and what a
// claim took whose answer was lost is given back.
import { randomUUID } from 'node:crypto'
import { type Clock, monotonicMs } from '../clock.ts'
import { DatabaseUnavailable } from '../errors.ts'
import type { Database } from '../store/db.ts'
import { type ClaimedJob, jobReleaseRun } from '../store/job-claims.ts'
import type { LaneGroup } from './lane.ts'

export interface Claim {
  runId: string
  workerId: string
}

export interface OpenClaimsServices {
  db: Database
  clock: Clock
  workerId(): string
  /** The claim's answer. `claim.workerId` is the one it was asked under. */
  onClaimed(jobs: readonly ClaimedJob[], claim: Claim, group: LaneGroup): void
  /** An answer took so long. */
  onAnswered(tookMs: number): void
}

export class OpenClaims {
  readonly #services: OpenClaimsServices
  readonly #open = new Set<string>()
  readonly #lost = new Map<string, Claim>()

  constructor(services: OpenClaimsServices) {
    this.#services = services
  }

  /** Is the answer to this claim still to come, or lost? */
  has(runId: string): boolean {
    return this.#open.has(runId) || this.#lost.has(runId)
  }

  /** Claims under a new run id, and remembers it until the answer is here. */
  async under<Answer extends { jobs: readonly ClaimedJob[] }>(
    group: LaneGroup,
    ask: (claim: Claim) => Promise<Answer>,
  ): Promise<Answer> {
    const claim = { runId: randomUUID(), workerId: this.#services.workerId() }
    this.#open.add(claim.runId)
    const sentAtMs = monotonicMs()
    try {
      const answer = await ask(claim)
      this.#services.onAnswered(monotonicMs() - sentAtMs)
      if (answer.jobs.length > 0) this.#services.onClaimed(answer.jobs, claim, group)
      return answer
    } catch (error) {
      // Unless it was never sent, it may have taken jobs that nobody here knows of.
      if (!(error instanceof DatabaseUnavailable)) this.#lost.set(claim.runId, claim)
      throw error
    } finally {
      this.#open.delete(claim.runId)
    }
  }

  /**
   * Gives back what the lost ones took; true if there were any. Throws while the database cannot be asked, so that
   * nothing is claimed before.
   */
  async releaseLost(): Promise<boolean> {
    if (this.#lost.size === 0) return false
    const { db, clock, workerId } = this.#services
    for (const claim of [...this.#lost.values()]) {
      // Under another worker id they are orphans, and the rescuers' business.
      if (claim.workerId === workerId()) await jobReleaseRun(db, clock.databaseNow(), claim)
      this.#lost.delete(claim.runId)
    }
    return true
  }
}
