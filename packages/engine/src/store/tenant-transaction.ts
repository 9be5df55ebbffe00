// A transaction under a tenant's role: the handler's SQL runs with the rights of that role, ours with our own.
//
// Statements take turns, so that nothing of the handler's can slip in while the role is ours. Role and settings are
// local to the transaction: commit, rollback and a lost connection all end them.
import type pg from 'pg'
import { isPermissionDenied } from '../sql-state.ts'
import type { Queryable } from './statements.ts'
import type { Transaction } from './transaction.ts'

/** What policies look at. */
export const TENANT_SETTING = 'millrace.tenant'
export const ACTING_USER_SETTING = 'millrace.acting_user'

export interface TenantScope {
  role: string
  tenant: string
  actingUser: string | null
  /** What the handler gets instead of the server's refusal of a foreign row. */
  refused(table: string | null, cause: unknown): Error
}

/** An accident guard, not a wall: these would end the tenant's role in the midst of the handler's work. */
const LEAVES =
  /^\s*(begin|start|commit|end|abort|rollback(?!\s+(work\s+|transaction\s+)?to)|prepare\s+transaction|discard|reset\s+(role|all|session)|set\s+((local|session)\s+)?(role|session\s+authorization))\b/i

export class TenantTransaction implements Queryable {
  readonly #tx: Transaction
  readonly #scope: TenantScope
  readonly #ownRole: string
  #last: Promise<unknown> = Promise.resolve()
  #isOver = false
  #refusal: Error | undefined

  private constructor(tx: Transaction, scope: TenantScope, ownRole: string) {
    this.#tx = tx
    this.#scope = scope
    this.#ownRole = ownRole
  }

  static async enter(tx: Transaction, scope: TenantScope): Promise<TenantTransaction> {
    const { tenant, actingUser, role } = scope
    const values = [TENANT_SETTING, tenant, ACTING_USER_SETTING, actingUser ?? '', role]
    const [before] = await tx.run<{ ownRole: string }>('tenantEnter', values)
    return new TenantTransaction(tx, scope, (before as { ownRole: string }).ownRole)
  }

  /** The handler's own SQL. */
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    return this.#inTurn(async () => {
      if (LEAVES.test(text))
        throw new Error(
          `ctx.tenantDb owns its transaction and its role: "${text.trim().slice(0, 40)}" is not for its work to say. Return to commit, throw to roll back.`,
        )
      try {
        return await this.#tx.query(text, values)
      } catch (error) {
        if (!isRowSecurityRefusal(error)) throw error
        this.#refusal = this.#scope.refused(tableIn(error), error)
        throw this.#refusal
      }
    })
  }

  /** Statements of the engine in this transaction: the tenant's role has no rights on its tables. */
  readonly asEngine: Queryable = {
    query: (text, values) =>
      this.#inTurn(async () => {
        await this.#switch(this.#ownRole)
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
    await this.#switch(this.#ownRole).catch((error: unknown) => {
      // A handler that caught the refusal cannot commit what is left.
      throw this.#refusal ?? error
    })
  }

  async #switch(role: string): Promise<void> {
    await this.#tx.run('roleSwitch', [role])
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#last.then(() => {
      if (!this.#isOver) return work()
      throw new Error('This transaction of ctx.tenantDb is over: await every query before its work returns.')
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
