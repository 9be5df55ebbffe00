// Code that holds a connection must not ask the same pool for a second one. When as many callers do so at once as the pool
// has connections, each waits for the others until all of them fail.
//
// Tests watch that rule. Without a watcher, a checkout costs one comparison.
import { AsyncLocalStorage } from 'node:async_hooks'

interface Holder {
  readonly pool: object
  /** Where it asked for its connection. */
  readonly asked: Error
  /** Who called it, perhaps while holding a connection itself. */
  readonly outer: Holder | undefined
  isHolding: boolean
}

/** Runs the work that holds the connection. */
export type Holding = <Result>(work: () => Promise<Result>) => Promise<Result>

const plainly: Holding = (work) => work()
const holders = new AsyncLocalStorage<Holder>()
let watcher: ((violation: Error) => void) | undefined

/** `report` hears of each second connection that is asked for while a first one is held, until the answer is called. */
export function watchConnections(report: (violation: Error) => void): () => void {
  const before = watcher
  watcher = report
  return () => {
    watcher = before
  }
}

/** To be called before `pool` is asked for a connection, which is for `what`. */
export function oneConnection(pool: object, what: string): Holding {
  if (watcher === undefined) return plainly
  const holder = { pool, asked: new Error(what), outer: holders.getStore(), isHolding: true }
  for (let each = holder.outer; each !== undefined; each = each.outer) {
    if (each.pool === pool && each.isHolding) watcher(new SecondConnection(each.asked, holder.asked))
  }
  return async (work) => {
    try {
      return await holders.run(holder, work)
    } finally {
      holder.isHolding = false
    }
  }
}

class SecondConnection extends Error {
  constructor(first: Error, second: Error) {
    super(`The same pool was asked for a second connection while a first one was held.
The first is for ${first.stack}
The second is for ${second.stack}`)
    this.stack = this.message
  }
}
