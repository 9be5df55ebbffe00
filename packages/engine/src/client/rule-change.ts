// A change of the rules by a person: written, noted in the audit log and told to the workers as one.
import type { Now } from '../clock.ts'
import { auditWrite, type NewAuditEntry } from '../store/audit.ts'
import type { Database } from '../store/db.ts'
import type { WorkKey } from '../store/keyed-work.ts'
import { withPatience } from '../store/lock-patience.ts'
import { type Message, notify } from '../store/notifications.ts'
import { rulesChanged } from '../store/rules.ts'
import type { Queryable } from '../store/statements.ts'
import { sessionOn, type Transaction } from '../store/transaction.ts'
import { author } from './enqueue-options.ts'
import type { Waker } from './waker.ts'

/** A change that waits longer for another transaction fails as a conflict. */
const RULES_WAIT_MS = 5_000

export interface RuleServices {
  db: Database
  clock: { databaseNow(): Now }
  waker: Waker
}

/** A transaction of the caller. */
interface OwnTransaction {
  readonly tx: Queryable
  /** Under which jobs may be let through once it has committed. */
  readonly keys?: readonly WorkKey[]
}

/**
 * Workers heed it with their next claim, wherever they are. `entry` can depend on the result of the change. `own`: a transaction
 * of the caller, which tells the workers when it commits. Until then it holds the one row of the rules' version, so other changes
 * of rules wait for it, up to RULES_WAIT_MS.
 */
export async function changeRules<Result>(
  { db, clock, waker }: RuleServices,
  entry: NewAuditEntry | ((result: Result) => NewAuditEntry),
  change: (tx: Transaction) => Promise<Result>,
  own?: OwnTransaction,
): Promise<Result> {
  // An entry that depends on the result is checked by its caller.
  if (typeof entry !== 'function') author(entry.by)
  const changeIn = (tx: Transaction): Promise<Result> =>
    withPatience(tx, RULES_WAIT_MS, async () => {
      // First: every change locks that one row before any other, so two of them cannot deadlock.
      await rulesChanged(tx)
      const changed = await change(tx)
      await auditWrite(tx, clock.databaseNow(), typeof entry === 'function' ? entry(changed) : entry)
      return changed
    })
  if (own === undefined) {
    const result = await db.transaction(changeIn)
    await waker.tellWorkers([{ kind: 'rules' }])
    waker.rulesChanged()
    return result
  }
  const session = sessionOn(own.tx, db.schema)
  const result = await changeIn(session)
  const keys = (own.keys ?? []).map((key): Message => ({ kind: 'key', key }))
  await notify(session, db.schema, [{ kind: 'rules' }, ...keys])
  // What this process remembers must not hide the change from the rest of the caller's transaction.
  waker.rulesChanged()
  return result
}
