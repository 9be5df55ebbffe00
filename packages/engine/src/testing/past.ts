// A past for a database that has none: rows of jobs that ended days ago, with the counts that workers would have kept of them.
import type { ClientConfig } from 'pg'
import { countIn } from '../histogram.ts'
import type { EndedRun } from '../maintenance/metric-flush.ts'
import { connectionOf } from '../store/connection-config.ts'
import { Database } from '../store/db.ts'
import { metricRollUp } from '../store/metrics.ts'
import { ensurePartitions } from '../store/partitions.ts'
import { type PastHolds, type PastRow, type PastTable, pastHolds, pastIds, pastInsert } from '../store/past.ts'
import type { Transaction } from '../store/transaction.ts'

export { type Failure, failureFrom } from '../failure.ts'
export type { PastHolds, PastRow, PastTable }

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const WRITE_DEADLINE_MS = 600_000
const ROLL_UP = { settleMs: MINUTE_MS, hours: 24 }

/** A run that ended in the past, as a worker would have counted it. */
export interface PastRun extends EndedRun {
  readonly endedAt: Date
}

export interface PastWriter {
  /** Reserves ids for jobs: the first of `count` that follow each other. */
  ids(count: number): Promise<number>
  /** Inserts rows, by column as the table has them. All have the columns of the first. */
  insert(table: PastTable, rows: readonly PastRow[]): Promise<void>
  /** Counts runs by minute, as workers do. Call it once: a minute is written once. */
  count(runs: Iterable<PastRun>): Promise<void>
}

export class Past implements AsyncDisposable {
  readonly #db: Database

  constructor(database: string | ClientConfig, { schema = 'millrace' }: { schema?: string } = {}) {
    this.#db = new Database({ connection: connectionOf(database), schema, maxConnections: 1 })
  }

  /** What the database holds already. Nothing, if it was never migrated. */
  holds(): Promise<PastHolds> {
    return pastHolds(this.#db)
  }

  /** Writes a past that begins at `since`, in one transaction; then sums it up by the hour, as workers do. */
  async write({ since, now }: { since: Date; now: Date }, work: (writer: PastWriter) => Promise<void>): Promise<void> {
    for (let day = since.getTime(); day < now.getTime() + DAY_MS; day += DAY_MS)
      await ensurePartitions(this.#db, new Date(Math.min(day, now.getTime())))
    await this.#db.transaction((tx) => work(writerOn(tx, this.#db.schema)), WRITE_DEADLINE_MS)
    while (await metricRollUp(this.#db, now, ROLL_UP));
  }

  close(): Promise<void> {
    return this.#db.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function writerOn(tx: Transaction, schema: string): PastWriter {
  return {
    ids: (count) => pastIds(tx, count),
    insert: (table, rows) => pastInsert(tx, { schema, table }, rows),
    async count(runs) {
      const { types, tenants } = counted(runs)
      await pastInsert(tx, { schema, table: 'metric_minute' }, types)
      await pastInsert(tx, { schema, table: 'metric_tenant_minute' }, tenants)
    },
  }
}

function counted(runs: Iterable<PastRun>) {
  const types = new Map<string, ReturnType<typeof emptyType>>()
  const tenants = new Map<string, ReturnType<typeof emptyTenant>>()
  for (const { endedAt, queue, type, tenant, outcome, durationMs, waitMs, latencyMs } of runs) {
    const minute = new Date(Math.floor(endedAt.getTime() / MINUTE_MS) * MINUTE_MS).toISOString()
    const of = entry(types, [minute, queue, type, outcome], () => emptyType({ minute, queue, type, outcome }))
    of.runs++
    of.duration_ms += countOne(of.durations, durationMs)
    of.wait_ms += countOne(of.waits, waitMs)
    of.latency_ms += countOne(of.latencies, latencyMs)
    if (tenant === null || waitMs === null) continue
    const ofTenant = entry(tenants, [minute, queue, tenant], () => emptyTenant({ minute, queue, tenant }))
    ofTenant.runs++
    ofTenant.wait_ms += countOne(ofTenant.waits, waitMs)
  }
  return { types: [...types.values()], tenants: [...tenants.values()] }
}

const emptyType = (key: { minute: string; queue: string; type: string; outcome: string }) => ({
  ...{ ...key, runs: 0, duration_ms: 0, durations: [] as number[] },
  ...{ wait_ms: 0, waits: [] as number[], latency_ms: 0, latencies: [] as number[] },
})

const emptyTenant = (key: { minute: string; queue: string; tenant: string }) => ({
  ...{ ...key, runs: 0, wait_ms: 0, waits: [] as number[] },
})

function entry<Value>(map: Map<string, Value>, key: readonly string[], make: () => Value): Value {
  const text = key.join('\0')
  let value = map.get(text)
  if (value === undefined) {
    value = make()
    map.set(text, value)
  }
  return value
}

/** Milliseconds to add to the sum. */
function countOne(histogram: number[], ms: number | null): number {
  if (ms === null) return 0
  countIn(histogram, ms)
  return ms
}
