// What stands in Redis for a job, and back: JSON of the checked payload and of the options that the caller gave.
import { type EnqueueItem, type EnqueueOptions, type JobContract, toMs } from 'millrace'

export interface Entry {
  readonly id: string
  readonly type: string
  readonly version: number
  /** The JSON text that `enqueue` would store. */
  readonly payload: string
  readonly tenant: string | null
  readonly options: EntryOptions
}

interface EntryOptions {
  readonly priority?: number
  readonly maxAttempts?: number
  readonly dedupKey?: string
  readonly correlationId?: string
  readonly parentJobId?: string
  readonly createdBy?: string
  readonly traceParent?: string
  readonly runAt?: string
  readonly delayMs?: number
}

/** The options that travel as they are. */
const COPIED = [
  'priority',
  'maxAttempts',
  'dedupKey',
  'correlationId',
  'parentJobId',
  'createdBy',
  'traceParent',
] as const

export function entryOptions(options: EnqueueOptions): EntryOptions {
  return {
    ...Object.fromEntries(COPIED.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]]))),
    ...(options.runAt && { runAt: options.runAt.toISOString() }),
    ...(options.delay !== undefined && { delayMs: toMs(options.delay, 'delay') }),
  }
}

/** What is in the text; undefined: it is none of ours. */
export function parsedEntry(text: string): Entry | undefined {
  try {
    const entry = JSON.parse(text) as Entry
    const { id, type, version, payload, options } = entry
    const isOurs =
      typeof id === 'string' && typeof type === 'string' && typeof version === 'number' && typeof payload === 'string'
    return isOurs && typeof options === 'object' && options !== null ? entry : undefined
  } catch {
    return undefined
  }
}

/** What `enqueueMany` takes. The time in the buffer counts as waiting, so the job has been due since it was accepted. */
export function itemOf(entry: Entry, contract: JobContract, acceptedAt: Date): EnqueueItem {
  const { runAt, delayMs, ...options } = entry.options
  const due = dueAt(entry, contract, acceptedAt)
  return {
    job: contract,
    payload: upgraded(entry, contract),
    options: { ...options, ...(entry.tenant !== null && { tenant: entry.tenant }), ...(due && { runAt: due }) },
  } as EnqueueItem
}

function dueAt({ options: { runAt, delayMs } }: Entry, { dedupe }: JobContract, acceptedAt: Date): Date | undefined {
  if (runAt !== undefined) return new Date(runAt)
  if (delayMs !== undefined) return new Date(acceptedAt.getTime() + delayMs)
  // A debounced job waits for silence, counted from when PostgreSQL hears of it.
  return dedupe.mode === 'debounce' ? undefined : acceptedAt
}

function upgraded({ payload, version }: Entry, { migrate, version: current }: JobContract): unknown {
  let value: unknown = JSON.parse(payload)
  for (let at = version; at < current; at++) value = migrate[at]?.(value) ?? value
  return value
}
