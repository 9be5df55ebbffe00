// What an enqueue under a key does to the job that holds it.
import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition } from '../errors.ts'
import { type Duration, toMs } from './duration.ts'

/** How a job type is deduplicated, per tenant and key. */
export type Dedupe<Payload> = {
  /** No key, null or undefined: not deduplicated. */
  key: (payload: Payload) => string | null | undefined
} & DedupeMode

/** Until when a job holds its key, and what another enqueue under it does. */
export type DedupeMode =
  /** The default: at most one live job. Another enqueue is a duplicate until the job has ended. */
  | { mode?: 'live'; window?: never; wait?: never; maxWait?: never }
  /** One job per window, which begins with the enqueue. Another is a duplicate while the job lives or the window lasts. */
  | { mode: 'window'; window: Duration; wait?: never; maxWait?: never }
  /** At most one that waits to start. The key is free once it has started, so one more can wait beside a running one. */
  | { mode: 'waiting'; window?: never; wait?: never; maxWait?: never }
  /**
   * As 'waiting', but another enqueue replaces the one that waits, and its start is put off until `wait` has passed
   * without another; never beyond `maxWait` after the first.
   */
  | { mode: 'debounce'; wait: Duration; maxWait?: Duration; window?: never }
  /** Only the newest counts: another enqueue replaces one that waits, and one that has started is asked to stop. */
  | { mode: 'latest'; window?: never; wait?: never; maxWait?: never }

/** A checked mode, with its durations in milliseconds. */
export type DedupeRule =
  | { readonly mode: 'live' | 'waiting' | 'latest' }
  | { readonly mode: 'window'; readonly windowMs: number }
  | { readonly mode: 'debounce'; readonly waitMs: number; readonly maxWaitMs: number | null }

export const LIVE: DedupeRule = { mode: 'live' }
export const WAITING: DedupeRule = { mode: 'waiting' }
const LATEST: DedupeRule = { mode: 'latest' }

/** Which durations each mode takes. */
const DURATIONS: Record<DedupeRule['mode'], readonly string[]> = {
  live: [],
  window: ['window'],
  waiting: [],
  debounce: ['wait', 'maxWait'],
  latest: [],
}
const MODES = Object.keys(DURATIONS)
const OPTIONS = ['key', 'mode', ...Object.values(DURATIONS).flat()]

/** The rule of a contract. Callers without types get here too, so everything is looked at. */
export function resolveDedupe(type: string, dedupe: Dedupe<never> | undefined): DedupeRule {
  if (dedupe === undefined) return LIVE
  if (typeof dedupe.key !== 'function') {
    throw new InvalidDefinition(`Job "${type}" has dedupe without a key: expected { key: (payload) => text }.`)
  }
  const mode = dedupe.mode ?? 'live'
  if (!Object.hasOwn(DURATIONS, mode)) {
    const did = suggestion(String(mode), MODES)
    throw new InvalidDefinition(
      `Job "${type}" has dedupe.mode ${JSON.stringify(mode)}: expected one of ${MODES.join(', ')}.${did}`,
    )
  }
  checkOptions(type, mode, dedupe)
  return ruleOf(type, dedupe)
}

function checkOptions(type: string, mode: DedupeRule['mode'], dedupe: Dedupe<never>): void {
  for (const [option, value] of Object.entries(dedupe)) {
    if (value === undefined || option === 'key' || option === 'mode' || DURATIONS[mode].includes(option)) continue
    const owner = MODES.find((each) => DURATIONS[each as DedupeRule['mode']].includes(option))
    throw new InvalidDefinition(
      owner === undefined
        ? `Job "${type}" has an unknown option dedupe.${option}.${suggestion(option, OPTIONS)}`
        : `Job "${type}" has dedupe.${option} with mode '${mode}': it belongs to mode '${owner}'.`,
    )
  }
}

function ruleOf(type: string, dedupe: Dedupe<never>): DedupeRule {
  switch (dedupe.mode) {
    case 'window': {
      const windowMs = durationOf(type, 'window', dedupe.window)
      if (windowMs > 0) return { mode: 'window', windowMs }
      throw new InvalidDefinition(`Job "${type}" has dedupe.window 0: expected a duration above 0, like '1h'.`)
    }
    case 'debounce': {
      const waitMs = durationOf(type, 'wait', dedupe.wait)
      const maxWaitMs = dedupe.maxWait === undefined ? null : durationOf(type, 'maxWait', dedupe.maxWait)
      if (maxWaitMs === null || maxWaitMs >= waitMs) return { mode: 'debounce', waitMs, maxWaitMs }
      throw new InvalidDefinition(
        `Job "${type}" has dedupe.maxWait below dedupe.wait: its start would never be put off.`,
      )
    }
    case 'waiting':
      return WAITING
    case 'latest':
      return LATEST
    default:
      return LIVE
  }
}

function durationOf(type: string, option: string, duration: Duration | undefined): number {
  if (duration !== undefined) return toMs(duration, `Job "${type}": dedupe.${option}`)
  throw new InvalidDefinition(`Job "${type}" has dedupe without ${option}: this mode needs one, like '30s'.`)
}
