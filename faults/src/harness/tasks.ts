// The jobs that every scenario is made of: what a task does is written in its payload.
import { defineJob, defineQueues, fixed, type JobContract } from 'millrace'

export type Deed =
  /** An effect in a table, by a statement of its own. */
  | 'plain'
  /** The same effect inside ctx.transaction. */
  | 'transaction'
  /** As these two, after its worker's gate was opened; it ignores its abort signal, as a zombie does. */
  | 'hold'
  | 'hold-transaction'
  /** Works for `ms`, and stops when it is told to. */
  | 'heed'
  /** Works for `ms`, whatever it is told. */
  | 'ignore'
  /** As 'ignore', with an open transaction. */
  | 'ignore-transaction'
  /** Blocks the event loop for `ms`. */
  | 'block'
  /** Ends its process. */
  | 'abort'
  | 'exhaust'
  | 'kill'
  /** Says whether its value is what the corpus says it must be, and returns it. */
  | 'carry'
  /** Returns an item of the corpus. */
  | 'answer'
  | 'segfault'
  /** Works for `ms` and fails, the first time. */
  | 'stumble'

export interface Task {
  n: string
  does: Deed
  /** How long it works. Default 0. */
  ms?: number
  /** At most one live task per key; of the limited and ordered types: so many at once, one after another. */
  key?: string
  /** An item of the corpus; the producer makes it and puts it into `value`. */
  carries?: string
  value?: unknown
  /** The item of the corpus that 'answer' returns. */
  answers?: string
}

const queues = defineQueues({
  work: { concurrency: 10, pollInterval: '250ms' },
  apart: { concurrency: 4, pollInterval: '250ms' },
  isolated: { concurrency: 2, pollInterval: '250ms' },
})

const payload = {
  '~standard': {
    version: 1 as const,
    vendor: 'millrace-faults',
    validate: (value: unknown) => ({ value: value as Task }),
    types: undefined as unknown as { input: Task; output: Task },
  },
}

const dedupe = { key: ({ key }: Task) => key }
const retry = { attempts: 50, backoff: fixed('100ms') }

export const task = defineJob({ type: 'task', queue: queues.work, payload, dedupe, retry, timeout: '60s' })
/** Stuck after twice this. */
export const BRIEF_TIMEOUT_MS = 600
const brief = defineJob({ type: 'brief', queue: queues.work, payload, dedupe, retry, timeout: BRIEF_TIMEOUT_MS })
/** As brief, in a queue of its own: whoever ignores its end costs its own lane only. */
const apart = defineJob({ type: 'apart', queue: queues.apart, payload, retry, timeout: BRIEF_TIMEOUT_MS })
/** Long enough to start a process meanwhile. */
export const ISOLATED_TIMEOUT_MS = 1_500
export const ISOLATED_ATTEMPTS = 2
const isolated = defineJob({
  type: 'isolated',
  queue: queues.isolated,
  payload,
  retry: { ...retry, attempts: ISOLATED_ATTEMPTS },
  timeout: ISOLATED_TIMEOUT_MS,
})

/** How many limited tasks of a key run at once. */
export const PLACES = 2
const limited = defineJob({
  type: 'limited',
  queue: queues.work,
  payload,
  retry,
  keyLimit: { key: ({ key }) => key, concurrency: PLACES },
  timeout: '60s',
})
const ordered = defineJob({
  type: 'ordered',
  queue: queues.work,
  payload,
  retry,
  order: { key: ({ key }) => key },
  timeout: '60s',
})
/** At most one task per key and hour, whatever becomes of it. */
const windowed = defineJob({
  type: 'windowed',
  queue: queues.work,
  payload,
  dedupe: { ...dedupe, mode: 'window', window: '1h' },
  retry,
  timeout: '60s',
})

const asTask = (contract: JobContract): typeof task => contract as unknown as typeof task
export type TaskType = 'task' | 'brief' | 'apart' | 'isolated' | 'limited' | 'ordered' | 'windowed'
export const contracts: Record<TaskType, typeof task> = {
  task,
  brief: asTask(brief),
  apart: asTask(apart),
  isolated: asTask(isolated),
  limited: asTask(limited),
  ordered: asTask(ordered),
  windowed: asTask(windowed),
}
export const allContracts: readonly JobContract[] = Object.values(contracts)
