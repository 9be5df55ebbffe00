// Whether a `tx` of the caller is a transaction, as far as that is known without asking the server.
import { NotATransaction } from '../errors.ts'
import type { Queryable } from './statements.ts'

/** As node-postgres has it: `status` is I before BEGIN, and after COMMIT or ROLLBACK. */
interface Client {
  getTransactionStatus?: () => unknown
  /** Nothing is sent that has not been answered. */
  readyForQuery?: unknown
}

/** Throws NotATransaction for a pool, and for a client on which no transaction is open. */
export function demandTransaction(tx: Queryable): void {
  if (typeof tx?.query !== 'function') throw new NotATransaction('it has no function `query`')
  if (typeof (tx as { totalCount?: unknown }).totalCount === 'number') {
    throw new NotATransaction('it is a pool, and each query on a pool may run on another connection')
  }
  const { getTransactionStatus, readyForQuery } = tx as Client
  // A BEGIN that was sent and not awaited has no answer yet.
  if (readyForQuery !== true || typeof getTransactionStatus !== 'function') return
  if (getTransactionStatus.call(tx) === 'I')
    throw new NotATransaction('no transaction is open on it: `begin` is missing')
}
