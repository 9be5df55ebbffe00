// Several statements in somebody else's transaction, of which all stay or none, whatever that goes on to do.
import type { Session } from './db.ts'

export async function allOrNothing<Result>(session: Session, work: () => Promise<Result>): Promise<Result> {
  await session.run('savepoint', [])
  try {
    const result = await work()
    await session.run('savepointKeep', [])
    return result
  } catch (error) {
    // If the connection is gone, so is the transaction.
    await session.run('savepointTakeBack', []).catch(() => {})
    throw error
  }
}
