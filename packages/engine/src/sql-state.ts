// Postgres's error codes, and what they mean to us.
import pg from 'pg'

/** SQLSTATEs that decide what we do, named once. */
const sqlState = {
  inFailedTransaction: '25P02',
  lockNotAvailable: '55P03',
  queryCanceled: '57014',
  contention: new Set(['40001', '40P01', '55P03']),
  noPartition: '23514',
  limitExceeded: '54000',
  permissionDenied: '42501',
  preparedLost: new Set(['26000', '42P05']),
  duplicates: new Set(['23505', '42P06', '42P07', '42710']),
  missing: new Set(['42P01', '3F000', '42703']),
  refused: /^(22|23|54)/,
  transient: /^(08|40|53|55|57|58)|^25(006|P03)$/,
}

const stateOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? '') : '')

/** An earlier statement has failed the transaction: only a rollback, whole or to a savepoint, is still possible. */
export const isInFailedTransaction = (error: unknown): boolean => stateOf(error) === sqlState.inFailedTransaction
/** The transaction is over, or nothing but a rollback is possible in it. */
export const isTransactionOver = (error: unknown): boolean => /^(08|25P0[23]|57P0[123])/.test(stateOf(error))
/** The server stopped it after the time that it was given, or somebody cancelled it. */
export const isStatementTimeout = (error: unknown): boolean => stateOf(error) === sqlState.queryCanceled
export const isLockTimeout = (error: unknown): boolean => stateOf(error) === sqlState.lockNotAvailable
/** A serialization failure, a deadlock or a lock timeout: the server is well, and the same call may succeed at once. */
export const isContention = (error: unknown): boolean => sqlState.contention.has(stateOf(error))
export const isPermissionDenied = (error: unknown): boolean => stateOf(error) === sqlState.permissionDenied
export const isConflict = (error: unknown): boolean => sqlState.duplicates.has(stateOf(error))
export const isMissing = (error: unknown): boolean => sqlState.missing.has(stateOf(error))
export const isNoPartition = (error: unknown): boolean =>
  stateOf(error) === sqlState.noPartition && /no partition of relation/.test((error as Error).message)
/** The session is not ours alone: a pooler gave it to somebody else meanwhile. Nothing was executed. */
export const isPreparedLost = (error: unknown): boolean =>
  sqlState.preparedLost.has(stateOf(error)) || /cached plan must not change/.test((error as Error).message)
/** The server's queue of notifications is full. By the source file of the error, as its words are translated. */
export const isNotifyQueueFull = (error: unknown): boolean =>
  stateOf(error) === sqlState.limitExceeded && (error as pg.DatabaseError).file === 'async.c'
/** Postgres will never store this value: trying again does not help, trying without it may. */
export const isRefused = (error: unknown): boolean =>
  sqlState.refused.test(stateOf(error)) && !isNoPartition(error) && !isNotifyQueueFull(error)
/** The server refused for a reason that passes: overload, fail-over, shutdown, deadlock, a timeout, a transaction idle for too long. */
export const isTransient = (error: unknown): boolean =>
  sqlState.transient.test(stateOf(error)) || isNotifyQueueFull(error)
