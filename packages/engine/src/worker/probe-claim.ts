import type { BreakerGate, ProbeChance } from '../governance/breaker-gate.ts'
import type { GovernedAnswer, GovernedRequest } from '../governance/governed-claim.ts'
import type { Governor } from '../governance/governor.ts'
import type { ClaimedJob } from '../store/job-claims.ts'

export interface ProbeClaim extends Pick<GovernedRequest, 'runId' | 'workerId' | 'here' | 'mayTakeSuspect'> {
  queues: readonly string[]
}

/**
 * Takes the first job of these types that may run in one of the queues, if one run may try their services now. It is
 * claimed in the transaction that makes it the probe, so no other process has one.
 */
export async function claimProbe(
  { gate, governor }: { gate: BreakerGate; governor: Governor },
  { services, types }: ProbeChance<{ type: string; stuckAfterMs: number }>,
  { queues, ...claim }: ProbeClaim,
): Promise<{ jobs: readonly ClaimedJob[] }> {
  let jobs: readonly ClaimedJob[] = []
  const answers: GovernedAnswer[] = []
  if (queues.length === 0) return { jobs }
  await gate.takeProbe(services, async (tx) => {
    for (const queue of queues) {
      if (jobs.length > 0) break
      const answer = await governor.claimIn(tx, { ...claim, queue, slots: 1, types })
      answers.push(answer)
      jobs = answer.jobs
    }
    return jobs[0] && { jobId: jobs[0].id, runId: claim.runId }
  })
  for (const answer of answers) answer.committed()
  return { jobs }
}
