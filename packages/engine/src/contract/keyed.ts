// Jobs that run by a key of their payload: one after another, or so many at once.
import { InvalidDefinition } from '../errors.ts'

/** Jobs of one queue and tenant with the same key run one after another, in the order of their ids. */
export interface OrderPolicy<Payload> {
  /** Null: this job is not ordered. */
  key: (payload: Payload) => string | null | undefined
  /** When one dies: 'continue' with the next one, or 'stop' the key until a person decides. Default 'continue'. */
  onDead?: 'continue' | 'stop'
}

/** Of the jobs of one queue and tenant with the same key, so many run at once, in all processes together. */
export interface KeyLimitPolicy<Payload> {
  /** Null: this job is not limited. */
  key: (payload: Payload) => string | null | undefined
  concurrency: number
}

type KeyOf = (payload: never) => string | null | undefined

export interface ResolvedOrder {
  readonly key: KeyOf
  readonly stops: boolean
}

export interface ResolvedKeyLimit {
  readonly key: KeyOf
  readonly concurrency: number
}

export interface KeyedWork {
  readonly order: ResolvedOrder | undefined
  readonly keyLimit: ResolvedKeyLimit | undefined
}

interface KeyedDefinition {
  order?: OrderPolicy<never> | undefined
  keyLimit?: KeyLimitPolicy<never> | undefined
  dedupe?: { mode?: string } | undefined
}

export function resolveKeyedWork(type: string, { order, keyLimit, dedupe }: KeyedDefinition): KeyedWork {
  if (order !== undefined && keyLimit !== undefined) {
    throw new InvalidDefinition(
      `Job "${type}" has both order and keyLimit: a job runs by one key. Ordered jobs already run one at a time per key; to bound how many keys run at once, give their queue a concurrency.`,
    )
  }
  if ((order ?? keyLimit) !== undefined && (dedupe?.mode === 'debounce' || dedupe?.mode === 'latest')) {
    throw new InvalidDefinition(
      `Job "${type}" has dedupe mode '${dedupe.mode}' and ${order === undefined ? 'keyLimit' : 'order'}: a job whose payload is replaced while it waits cannot run by a key of that payload. Use mode 'live', 'waiting' or 'window'.`,
    )
  }
  for (const [name, policy] of Object.entries({ order, keyLimit })) {
    if (policy !== undefined && typeof policy.key !== 'function')
      throw new InvalidDefinition(`Job "${type}": ${name}.key must be a function of the payload.`)
  }
  const { onDead = 'continue' } = order ?? {}
  if (onDead !== 'continue' && onDead !== 'stop')
    throw new InvalidDefinition(`Job "${type}" has order.onDead "${onDead}": expected 'continue' or 'stop'.`)
  return {
    order: order && { key: order.key, stops: onDead === 'stop' },
    keyLimit: keyLimit && {
      key: keyLimit.key,
      concurrency: checkPlaces(keyLimit.concurrency, 1, `Job "${type}": keyLimit.concurrency`),
    },
  }
}

/** How many of a key run at once. */
export function checkPlaces(concurrency: number, lowest: number, what: string): number {
  if (Number.isInteger(concurrency) && concurrency >= lowest && concurrency <= 10_000) return concurrency
  throw new InvalidDefinition(`${what} is ${concurrency}: expected an integer from ${lowest} to 10000.`)
}
