// A call through a breaker, wherever its handler runs: ask, call, tell.
import { BreakerOpen } from '../errors.ts'

export interface BreakerCallOptions<Value> {
  /** Called instead while the breaker is open. */
  fallback?: (error: BreakerOpen) => Value | Promise<Value>
}

/** One run at the breaker of one service. */
export interface Door {
  /** Throws BreakerOpen. */
  enter(): Promise<void>
  succeeded(): Promise<void>
  failed(error: unknown): Promise<void>
}

export async function callThrough<Value>(
  door: Door,
  call: () => Value | Promise<Value>,
  { fallback }: BreakerCallOptions<Value> = {},
): Promise<Value> {
  try {
    await door.enter()
  } catch (error) {
    if (fallback === undefined || !(error instanceof BreakerOpen)) throw error
    return fallback(error)
  }
  let value: Value
  try {
    value = await call()
  } catch (error) {
    await door.failed(error)
    throw error
  }
  await door.succeeded()
  return value
}
