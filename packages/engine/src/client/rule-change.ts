// A change of the rules by a person: written, noted in the audit log and told to the workers as one.
import type { Now } from '../clock.ts'
import { auditWrite, type NewAuditEntry } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import { rulesChanged } from '../store/rules.ts'
import type { Transaction } from '../store/transaction.ts'
import type { Waker } from './waker.ts'

export interface RuleServices {
  db: Database
  clock: { databaseNow(): Now }
  waker: Waker
}

/** Workers heed it with their next claim, wherever they are. `entry` can depend on the result of the change. */
export async function changeRules<Result>(
  { db, clock, waker }: RuleServices,
  entry: NewAuditEntry | ((result: Result) => NewAuditEntry),
  change: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const result = await db.transaction(async (tx) => {
    const changed = await change(tx)
    await auditWrite(tx, clock.databaseNow(), typeof entry === 'function' ? entry(changed) : entry)
    await rulesChanged(tx)
    return changed
  })
  await waker.tellWorkers([{ kind: 'rules' }])
  waker.rulesChanged()
  return result
}
