// Which transaction of ctx.transaction or ctx.tenantDb the handler is inside of: what ctx.once records goes with it.
import { AsyncLocalStorage } from 'node:async_hooks'
import { InvalidDefinition } from './errors.ts'
import type { Queryable } from './store/statements.ts'

interface OpenTransaction {
  readonly tx: Queryable
  isOpen: boolean
}

const storage = new AsyncLocalStorage<OpenTransaction>()

/** Undefined outside, and for whatever was left running after the end. */
export function openTransaction(): Queryable | undefined {
  const open = storage.getStore()
  return open?.isOpen ? open.tx : undefined
}

export async function inOpenTransaction<Tx extends Queryable, Value>(
  tx: Tx,
  work: (tx: Tx) => Promise<Value>,
): Promise<Value> {
  const open = { tx, isOpen: true }
  try {
    return await storage.run(open, () => work(tx))
  } finally {
    open.isOpen = false
  }
}

/** A second transaction would be another connection: it neither sees nor shares what the first has written. */
export function demandNoTransaction(what: string): void {
  if (openTransaction() === undefined) return
  throw new InvalidDefinition(
    `${what} was called inside another transaction of this run or call, and would be another one beside it. Use one of them: ctx.transaction(work), or ctx.tenantDb(work, { complete: true }) to complete the job under the tenant's role.`,
  )
}
