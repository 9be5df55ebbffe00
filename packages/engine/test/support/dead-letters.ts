import type { DeadReason, JobContract, Millrace } from 'millrace'
import { failureFrom } from '#src/failure'
import { Database } from '#src/store/db'
import { ensurePartitions } from '#src/store/partitions'
import { settle } from '#src/store/settlements'
import { setup as base, type Setup } from './setup.ts'

interface Death {
  reason?: DeadReason
  error?: unknown
  /** When it dies. Default: now. */
  at?: Date
}

/** A database whose jobs can be made to die, as a worker would do it. */
export async function graveyard() {
  const t = await base()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 4 })

  /** Ends live jobs for good; returns the ids of their letters by position. */
  const kill = async (jobIds: readonly string[], death: Death = {}): Promise<string[]> => {
    const { reason = 'exhausted', error = new Error('it failed'), at = null } = death
    const running = await t.sql<{ id: string; run_id: string }>(
      `update millrace.job set status = 'processing', attempt = max_attempts, run_id = gen_random_uuid(), started_at = now()
       where id = any($1) returning id, run_id`,
      [jobIds],
    )
    const failure = { ...failureFrom(error), logs: '[{"msg":"last words"}]' }
    const burials = running.map(({ id, run_id }) => ({
      kind: 'bury' as const,
      id,
      runId: run_id,
      reason,
      failure,
      retention: 'standard' as const,
      drop: false,
    }))
    if (at !== null) await ensurePartitions(db, at)
    const { won } = await settle(db, at, burials)
    if (won.size !== jobIds.length) throw new Error(`${jobIds.length - won.size} jobs were not there to die`)
    const letters = await t.sql<{ id: string; job_id: string }>(
      'select id, job_id from millrace.dead_letter_jobs where job_id = any($1)',
      [jobIds],
    )
    return jobIds.map((jobId) => letters.find((letter) => letter.job_id === jobId)?.id as string)
  }

  return {
    ...t,
    db,
    kill,

    /** New jobs, dead at once; the ids of their letters. */
    async letters(millrace: Millrace, contract: JobContract, payloads: readonly unknown[], death: Death = {}) {
      const results = await millrace.enqueueMany(contract, payloads as never[])
      return kill(
        results.map(({ id }) => id),
        death,
      )
    },

    async letter(millrace: Millrace, contract: JobContract, payload: unknown, death: Death = {}): Promise<string> {
      return (await this.letters(millrace, contract, [payload], death))[0] as string
    },

    liveJobs: (): ReturnType<Setup['sql']> => t.sql('select * from millrace.job order by id'),

    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}
