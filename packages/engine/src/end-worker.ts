// Ends the lease of a worker whose process is gone, for whoever watched it die: a process manager.
import type { ClientConfig } from 'pg'
import { typed } from './client/typed-errors.ts'
import { connectionOf } from './store/connection-config.ts'
import { Database } from './store/db.ts'
import { workerEnd } from './store/workers.ts'

/**
 * Ends the lease of a dead worker, so that its jobs are rescued at the next sweep instead of when the lease runs out.
 * They count as crashed, as after any death. True: it was live until now.
 *
 * Only for a process that is known to be gone: a living one would go on for up to a heartbeat beside the new runs of its
 * jobs, with only the fence between them.
 */
export async function endWorker(
  connection: string | ClientConfig,
  workerId: string,
  options: { reason: string; schema?: string },
): Promise<boolean> {
  const db = new Database({
    connection: connectionOf(connection),
    schema: options.schema ?? 'millrace',
    maxConnections: 1,
  })
  try {
    return await typed(workerEnd(db, null, workerId, options.reason), db.schema)
  } finally {
    await db.close()
  }
}
