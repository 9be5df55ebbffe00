import {
  createMillrace,
  type Implementation,
  type JobContract,
  type Logger,
  type Millrace,
  type MillraceEvents,
  type MillraceOptions,
  type Worker,
  type WorkOptions,
} from 'millrace'
import pg from 'pg'
import { freshDatabase } from './database.ts'

/** Leases short enough for tests, long enough for two busy cores. */
export const shortLease = { heartbeat: '150ms', ttl: '1500ms', sweep: '100ms' } as const
/** Looks after others as often, and keeps its connection also when the machine is busy: it must hear all that is said. */
export const attentive = { ...shortLease, ttl: '30s' } as const

export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** A database of its own, clients on it, raw SQL, and everything closed at the end. */
export async function setup(made = freshDatabase()) {
  const database = await made
  const pool = new pg.Pool({ connectionString: database.url, max: 5 })
  pool.on('error', () => {})
  const opened: Millrace[] = []

  return {
    url: database.url,
    pool,

    async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
      return (await pool.query<Row>(text, values)).rows
    },

    client(jobs: readonly JobContract[], options: Partial<MillraceOptions> = {}): Millrace {
      const millrace = createMillrace({ database: database.url, jobs, logger: silent, ...options })
      opened.push(millrace)
      rememberEvents(millrace)
      return millrace
    },

    /** A client with a worker for these handlers. */
    async working(
      handlers: readonly Implementation[],
      options: Partial<WorkOptions> = {},
    ): Promise<{ millrace: Millrace; worker: Worker }> {
      const millrace = this.client(handlers.map((each) => each.contract))
      const worker = await millrace.work({ handlers, lease: shortLease, gracePeriod: '5s', ...options })
      return { millrace, worker }
    },

    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((millrace) => millrace.close()))
      await pool.end()
      await database.drop()
    },
  }
}

export type Setup = Awaited<ReturnType<typeof setup>>

/** A job may start, and end, before its enqueue was answered. */
const remembered = ['job_started', 'job_completed', 'job_cancelled', 'job_died'] as const
const past = new WeakMap<Millrace, Map<string, unknown>>()

function rememberEvents(millrace: Millrace): void {
  const events = new Map<string, unknown>()
  past.set(millrace, events)
  for (const name of remembered) millrace.events.on(name, (event) => events.set(`${name} ${event.job.id}`, event))
}

/** Resolves when a job of that id has had this event; a start or an ending may lie in the past. A start is told once. */
export async function jobEvent<
  Name extends
    | 'job_completed'
    | 'job_cancelled'
    | 'job_died'
    | 'job_retry_scheduled'
    | 'job_snoozed'
    | 'job_started'
    | 'job_fence_lost'
    | 'job_returned'
    | 'slot_leaked',
>(millrace: Millrace, name: Name, id: string): Promise<MillraceEvents[Name]> {
  const events = past.get(millrace)
  const key = `${name} ${id}`
  const event =
    (events?.get(key) as MillraceEvents[Name] | undefined) ??
    (await millrace.events.next(name, (each) => (each as { job: { id: string } }).job.id === id))
  if (name === 'job_started') events?.delete(key)
  return event
}

/** A promise and the function that resolves it. */
export function signal<Value = void>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

/** Polls `check` until it answers with something; for what no event tells. */
export async function eventually<Value>(
  check: () => Promise<Value | undefined | false>,
  withinMs = 15_000,
): Promise<Value> {
  const end = Date.now() + withinMs
  for (;;) {
    const value = await check()
    if (value !== undefined && value !== false) return value
    if (Date.now() > end) throw new Error(`It did not happen within ${withinMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
