// The engine's own claim and settle statements on its own tables, but in a plain loop of 500 + 500 without worker,
// lease or handlers. Between this and the raw loop lies what the schema costs; between this and the worker, what the
// process costs.
import { randomUUID } from 'node:crypto'
import { Database } from '../../packages/engine/dist/store/db.js'
import { jobClaim } from '../../packages/engine/dist/store/job-claims.js'
import { type Settlement, settle } from '../../packages/engine/dist/store/settlements.js'

const BATCH = 500

export async function drainByStatements(databaseUrl: string, queue: string, type: string): Promise<number> {
  const db = new Database({ connection: { connectionString: databaseUrl }, schema: 'millrace', maxConnections: 1 })
  let handled = 0
  try {
    for (;;) {
      const runId = randomUUID()
      const jobs = await jobClaim(db, null, {
        queues: [{ queue, limit: BATCH }],
        types: [{ type, stuckAfterMs: 600_000 }],
        runId,
        workerId: runId,
        suspectQueues: [],
        byType: false,
      })
      if (jobs.length === 0) return handled
      handled += jobs.length
      await settle(
        db,
        null,
        jobs.map((job) => completed(job.id, runId)),
      )
    }
  } finally {
    await db.close()
  }
}

function completed(id: string, runId: string): Settlement {
  return { kind: 'finish', id, runId, status: 'completed', result: null, reason: null, retention: 'standard' }
}
