// Was this seen before? An early answer for events that come twice. Where it matters, a unique index decides.
import { type Duration, toMs } from 'millrace'
import type { Redis } from '../connection/connect.ts'
import { InvalidRedisOption, RedisError } from '../errors.ts'
import { hashed } from '../hashed.ts'

export interface DedupeOptions {
  readonly redis: Redis
  /** Keys of different scopes do not meet. */
  readonly scope: string
  /** How long a key is remembered. */
  readonly window: Duration
}

/** 'unknown': Redis cannot say. Go on as if it were the first, and let the database refuse a second one. */
export type Seen = 'first' | 'seen' | 'unknown'

export interface Dedupe {
  /** Asks and marks in one step: for effects that may be skipped. */
  first(key: string): Promise<Seen>
  /** Asks only: before a durable write. */
  seen(key: string): Promise<Seen>
  /** Marks: after the commit, so that what was rolled back is never taken for done. False: Redis could not be told. */
  remember(key: string): Promise<boolean>
}

export function createDedupe({ redis, scope, window }: DedupeOptions): Dedupe {
  const windowMs = toMs(window, 'window')
  if (!/^[\w.-]{1,50}$/.test(scope) || windowMs === 0)
    throw new InvalidRedisOption(
      `Dedupe keys of scope ${JSON.stringify(scope)} for ${windowMs} ms cannot be kept: expected 1–50 letters, digits or "_ . -", and a window above 0.`,
    )
  const keyOf = (key: string) => `${redis.prefix}:dedupe:${scope}:${hashed(key)}`
  const unknown = (error: unknown): 'unknown' => {
    if (error instanceof RedisError) return 'unknown'
    throw error
  }
  return {
    async first(key) {
      const answer = redis.run(['SET', keyOf(key), '1', 'NX', 'PX', String(windowMs)])
      return answer.then((set) => (set === null ? 'seen' : 'first'), unknown)
    },
    async seen(key) {
      return redis.run<number>(['EXISTS', keyOf(key)]).then((count) => (count === 1 ? 'seen' : 'first'), unknown)
    },
    async remember(key) {
      const answer = redis.run(['SET', keyOf(key), '1', 'PX', String(windowMs)])
      return answer.then(
        () => true,
        (error: unknown) => unknown(error) !== 'unknown',
      )
    },
  }
}
