// Work that one process of all does at a time: a lease by name.
import { textArray } from './arrays.ts'
import type { Session } from './db.ts'

export interface DutyClaim {
  name: string
  holder: string
  ttlMs: number
}

/** False: another process holds it. */
export async function dutyTake(session: Session, { name, holder, ttlMs }: DutyClaim): Promise<boolean> {
  return (await session.run('dutyTake', [name, holder, ttlMs])).length > 0
}

export async function dutyLeave(session: Session, names: readonly string[], holder: string): Promise<void> {
  await session.run('dutyLeave', [textArray(names), holder])
}
