import { EgressError } from './errors.ts'

/** What one call may use. Every part has a limit; none can be switched off. */
export interface Budget {
  /** Until the headers of the answer are there: DNS, connecting and sending the request included. Per redirect. 10 s. */
  headersMs: number
  /** Longest silence inside the body of the answer. 10 s. */
  idleMs: number
  /** From the call to the last byte of the answer, redirects included. 30 s. */
  totalMs: number
  /** Bytes of the answer's body, after decompression. 10 MiB. */
  maxBytes: number
  /** Redirects that are followed. 5. */
  maxRedirects: number
}

const DEFAULTS: Budget = {
  headersMs: 10_000,
  idleMs: 10_000,
  totalMs: 30_000,
  maxBytes: 10 * 1024 * 1024,
  maxRedirects: 5,
}

/** Timers and counters take no more. */
const LARGEST = 2 ** 31 - 1

export function budgetFrom(given: Partial<Budget> = {}, base: Budget = DEFAULTS): Budget {
  return limitsFrom('A budget', given, base)
}

/** `base` with what is given instead. Every limit is a whole number; only redirects may be none at all. */
export function limitsFrom<Limits extends object>(whose: string, given: Partial<Limits>, base: Limits): Limits {
  const limits = { ...base }
  for (const [key, value] of Object.entries(given)) {
    if (!(key in base)) {
      throw new EgressError('invalid_option', `${whose} has no "${key}". It takes ${Object.keys(base).join(', ')}.`)
    }
    if (value === undefined) continue
    const least = key === 'maxRedirects' ? 0 : 1
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > LARGEST) {
      throw new EgressError(
        'invalid_option',
        `${whose.replace(/^A /, 'The ')}'s ${key} is ${String(value)}. Give a whole number from ${least} to ${LARGEST}.`,
      )
    }
    limits[key as keyof Limits] = value as Limits[keyof Limits]
  }
  return limits
}
