// A bound on how long statements wait for locks, in a transaction that goes on without it.
import type { Session } from './db.ts'

/**
 * Runs `work` and leaves the transaction's own `lock_timeout` as it was. If a statement of `work` fails, the transaction
 * has failed with it, and a rollback, whole or to a savepoint, brings the setting back.
 */
export async function withPatience<Result>(session: Session, ms: number, work: () => Promise<Result>): Promise<Result> {
  const [setting] = await session.run<{ before: string }>('lockPatience', [ms])
  const end = () => session.run('lockPatienceEnd', [setting?.before])
  try {
    const result = await work()
    await end()
    return result
  } catch (error) {
    await end().catch(() => {})
    throw error
  }
}
