// What only millrace/testing asks of the database.
import type { Now } from '../clock.ts'
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'

/** When the next waiting job of these queues and types becomes due, or null when nothing waits. */
export async function jobDueNext(
  session: Session,
  now: Now,
  among: { queues: readonly string[]; types: readonly string[] },
): Promise<Date | null> {
  const values = [now, textArray(among.queues), textArray(among.types)]
  const [row] = await session.run<{ dueAt: Date | null }>('jobDueNext', values)
  return row?.dueAt ?? null
}
