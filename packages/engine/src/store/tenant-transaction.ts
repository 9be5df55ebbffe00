// A transaction under a tenant's role: the handler's SQL runs with the rights of that role, ours with our own.
//
// Statements take turns, so that nothing of the handler's can slip in while the role is ours. Role and settings are
// local to the transaction: commit, rollback and a lost connection all end them.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { Unrecoverable } from '../errors.ts'
import { isInFailedTransaction, isPermissionDenied } from '../sql-state.ts'
import type { Queryable } from './statements.ts'
import type { Transaction } from './transaction.ts'
import { demandStaying } from './transaction-control.ts'

/** What policies look at. */
export const TENANT_SETTING = 'millrace.tenant'
export const ACTING_USER_SETTING = 'millrace.acting_user'
/** Local to the transaction, so that another one does not have it. */
const TRANSACTION_SETTING = 'millrace.transaction'

export interface TenantScope {
  role: string
  tenant: string
  actingUser: string | null
  /** The error for the handler. `cause`: the server's refusal of a foreign row. */
  refused(attempted: { table?: string | null; otherTenant?: string }, cause?: unknown): Error
}

export class TenantTransaction implements Queryable {
  readonly #tx: Transaction
  readonly #scope: TenantScope
  readonly #ownRole: string
  readonly #id: string
  #last: Promise<unknown> = Promise.resolve()
  #isOver = false
  /** Why this transaction must not commit, even if the handler caught it. */
  #refusal: Error | undefined
  /** Its transaction, role or tenant is not the one it began with: no statement may run any more. */
  #left: Error | undefined

  private constructor(tx: Transaction, scope: TenantScope, { ownRole, id }: { ownRole: string; id: string }) {
    this.#tx = tx
    this.#scope = scope
    this.#ownRole = ownRole
    this.#id = id
  }

  static async enter(tx: Transaction, scope: TenantScope): Promise<TenantTransaction> {
    const { tenant, actingUser, role } = scope
    const id = randomUUID()
    const values = [TENANT_SETTING, tenant, ACTING_USER_SETTING, actingUser ?? '', role, TRANSACTION_SETTING, id]
    const [before] = await tx.run<{ ownRole: string }>('tenantEnter', values)
    return new TenantTransaction(tx, scope, { ownRole: (before as { ownRole: string }).ownRole, id })
  }

  /** The handler's own SQL. */
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    return this.#inTurn(async () => {
      demandStaying(text)
      const answered = this.#tx.query(text, values)
      // Sent right behind it, on the same way to the server.
      const checked = this.#demandInside()
      const [answer, check] = await Promise.allSettled([answered, checked])
      if (check.status === 'rejected') throw check.reason
      if (answer.status === 'fulfilled') return answer.value
      if (!isRowSecurityRefusal(answer.reason)) throw answer.reason
      this.#refusal = this.#scope.refused({ table: tableIn(answer.reason) }, answer.reason)
      throw this.#refusal
    })
  }

  /** Before the engine writes for these tenants: its statements run with rights that no policy binds. */
  demandOwnTenant(tenants: readonly (string | null)[]): void {
    const otherTenant = tenants.find((tenant) => tenant !== null && tenant !== this.#scope.tenant)
    if (typeof otherTenant !== 'string') return
    this.#refusal = this.#scope.refused({ otherTenant })
    throw this.#refusal
  }

  /** A statement may have committed, or changed the role, in a way that its text did not show. */
  async #demandInside(): Promise<void> {
    const { tenant, role } = this.#scope
    const values = [TENANT_SETTING, tenant, TRANSACTION_SETTING, this.#id, role]
    const found = await this.#tx.run<{ isInside: boolean }>('tenantCheck', values).catch((error: unknown) => {
      // It has failed, so it is still open, and nothing but a rollback is possible.
      if (isInFailedTransaction(error)) return [{ isInside: true }]
      throw error
    })
    if (found[0]?.isInside) return
    this.#left = new Unrecoverable(
      'A statement in tenantDb left the transaction, the role or the tenant that tenantDb had set, so no further statement runs. It may have committed what came before it. Do not send commit, rollback, set role or set_config there: return to commit, throw to roll back.',
    )
    this.#refusal = this.#left
    throw this.#left
  }

  /** Statements of the engine in this transaction: the tenant's role has no rights on its tables. */
  readonly asEngine: Queryable = {
    query: (text, values) =>
      this.#inTurn(async () => {
        await this.#switch(this.#ownRole).catch((error: unknown) => {
          // Then only a rollback to a savepoint works, and that brings back the role of the savepoint.
          if (!isInFailedTransaction(error)) throw error
        })
        try {
          return await this.#tx.query(text, values)
        } finally {
          // Fails only in a transaction that has failed, and then nothing more can run in it.
          await this.#switch(this.#scope.role).catch(() => {})
        }
      }),
  }

  /** From now on the handler can do nothing more here; what it has sent is waited for. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#last
  }

  /** Then the role is the session's own again, for whatever we still have to write. */
  async leave(): Promise<void> {
    // The handler may have caught the refusal, behind a savepoint or not: it cannot commit what is left.
    if (this.#refusal !== undefined) throw this.#refusal
    await this.#switch(this.#ownRole)
  }

  async #switch(role: string): Promise<void> {
    await this.#tx.run('roleSwitch', [role])
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#last.then(() => {
      if (this.#left !== undefined) throw this.#left
      if (!this.#isOver) return work()
      throw new Error('This transaction of tenantDb is over: await every query before its work returns.')
    })
    this.#last = mine.catch(() => {})
    return mine
  }
}

/** By the routine that refuses, because messages are translated: a missing grant has the same SQLSTATE. */
function isRowSecurityRefusal(error: unknown): error is pg.DatabaseError {
  return isPermissionDenied(error) && (error as pg.DatabaseError).routine === 'ExecWithCheckOptions'
}

/** The last name in quotes: before it there may be that of the policy. */
const tableIn = ({ message }: pg.DatabaseError): string | null =>
  [...message.matchAll(/["„«“]([^"„«“”»]+)["”»“]/g)].at(-1)?.[1] ?? null
