// Whether the history of a type is kept: declared by workers whose contracts say so, decided by people, whose word stands.
//
// The triggers that write it need locks which enqueues would wait behind. So each try waits for a moment only, and there are
// several of them.
import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import { HistoryRefused } from '../errors.ts'
import { isLockTimeout, isPermissionDenied, isTransient } from '../sql-state.ts'
import type { Database } from '../store/db.ts'
import { changeHistory, historyDeclare, historyStanding, historyTriggers } from '../store/history.ts'
import { ensurePartitions } from '../store/partitions.ts'
import type { Transaction } from '../store/transaction.ts'

export interface HistoryServices {
  db: Database
  clock: Clock
}

const TRIES = 5

/** Keeps the history of these types, unless somebody has decided otherwise. One statement if all is as it should be. */
export async function declareHistory(services: HistoryServices, types: readonly string[]): Promise<void> {
  if (types.length === 0) return
  const { isDeclared, isWanted, isKept } = await historyStanding(services.db, types)
  if (isDeclared && (isKept || !isWanted)) return
  await alterHistory(services, (tx) => historyDeclare(tx, services.clock.databaseNow(), types))
}

/** Throws HistoryRefused when this role may not, or when the locks could not be had. */
export async function alterHistory(
  { db, clock }: HistoryServices,
  change: (tx: Transaction) => Promise<void>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await ensurePartitions(db, clock.databaseNow())
      return await changeHistory(db, change)
    } catch (error) {
      if (isPermissionDenied(error)) throw new HistoryRefused('not_permitted', historyTriggers(db), error)
      if (!isTransient(error) && !isLockTimeout(error)) throw error
      if (tries === TRIES) throw new HistoryRefused('busy', historyTriggers(db), error)
      await pause(100 + Math.random() * 200)
    }
  }
}
