// Reports over a span of time, and the queue statistics of this moment.
//
// They read the counts by minute and by hour, live jobs through the indexes of the claims, and dead letters. They never read the
// archive, so its size does not matter.
import type { Clock } from '../clock.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import { InvalidDefinition } from '../errors.ts'
import type { Database } from '../store/db.ts'
import {
  type MetricEdge,
  type MetricSelection,
  type MetricStep,
  metricEdge,
  metricLetters,
  metricRuns,
  metricThroughput,
  type RunOutcome,
} from '../store/metrics.ts'
import { type QueueSample, queueSampleList } from '../store/queue-samples.ts'
import { statsDead, statsLive, statsOldest } from '../store/stats.ts'
import type { Health } from '../verdict.ts'
import { spanOf, stepSpanOf, stepsOf } from './metric-span.ts'
import { type RunSummary, summaryOf } from './run-summary.ts'

export interface CountAndOldest {
  readonly count: number
  /** Null: there is none. */
  readonly oldest: Date | null
}

/** What lives and what is dead, of all queues. A job is in one of `pending`, `failed`, `blocked` and `processing`. */
export interface QueueStats {
  /** Jobs that wait for their first attempt. `oldest`: since when the oldest job that could run now has been due. */
  readonly pending: CountAndOldest
  /** Of those that are pending or failed, the ones whose time has not come. */
  readonly scheduled: { readonly count: number }
  /** `oldest`: the start of the longest run. */
  readonly processing: CountAndOldest
  /** Jobs that wait for another attempt. */
  readonly failed: { readonly count: number }
  /** Jobs that wait for others of their key, or for their tenant. */
  readonly blocked: { readonly count: number }
  /** Dead letters that wait for a decision. */
  readonly dead: CountAndOldest
}

export interface ReportSpan {
  /** How far back the report begins: '24h', or a time. */
  readonly since: Duration | Date
  /** Default: now. */
  readonly until?: Date
}

export interface ReportSelection {
  readonly queue?: string
  readonly type?: string
}

export interface TypeReport extends RunSummary {
  readonly queue: string
  readonly type: string
}

/** What became of runs in a span, by queue and type. */
export interface RunReport {
  readonly from: Date
  readonly to: Date
  readonly total: RunSummary
  readonly types: readonly TypeReport[]
}

export interface SeriesPoint extends RunSummary {
  /** The beginning of the step, in UTC. */
  readonly at: Date
}

/** What became of runs, step by step. Steps without runs are there, too. */
export interface RunSeries {
  readonly from: Date
  readonly to: Date
  readonly step: MetricStep
  readonly points: readonly SeriesPoint[]
}

export interface QueuePoint {
  /** The beginning of the step, in UTC. */
  readonly at: Date
  /** Queues that held jobs, with the highest figures of the step. Null: no worker looked, so nothing is known. */
  readonly queues: readonly QueueSample[] | null
}

/** How the queues stood, step by step. */
export interface QueueSeries {
  readonly from: Date
  readonly to: Date
  readonly step: MetricStep
  readonly points: readonly QueuePoint[]
}

export interface LetterPoint {
  readonly at: Date
  /** Jobs that became dead letters. */
  readonly born: number
  /** Letters that were redriven, resolved or ignored. */
  readonly decided: number
  /** Letters that waited for a decision at the end of the step. */
  readonly pending: number
}

export interface LetterSeries {
  readonly from: Date
  readonly to: Date
  readonly step: 'hour' | 'day'
  /** By how many more letters wait for a decision than at the beginning. */
  readonly growth: number
  readonly points: readonly LetterPoint[]
}

export interface HoursReport {
  readonly from: Date
  readonly to: Date
  readonly currentStats: QueueStats
  readonly health: Health
  readonly performanceMetrics: readonly {
    readonly queue: string
    readonly type: string
    readonly status: RunOutcome
    readonly jobCount: number
    readonly avgDurationMs: number | null
    readonly p50DurationMs: number | null
    readonly p95DurationMs: number | null
    readonly p99DurationMs: number | null
    readonly avgQueueTimeMs: number | null
  }[]
  readonly hourlyThroughput: readonly {
    readonly hour: Date
    readonly queue: string
    readonly type: string
    readonly status: RunOutcome
    readonly jobCount: number
  }[]
  readonly generatedAt: Date
}

interface ReportServices {
  db: Database
  clock: Clock
  health: () => Promise<Health>
}

const HOUR_MS = 3_600_000
const MAX_REPORT_HOURS = 168
const STEPS: readonly string[] = ['minute', 'hour', 'day']

export class Reports {
  readonly #services: ReportServices

  constructor(services: ReportServices) {
    this.#services = services
  }

  /** How many jobs wait, run, have failed and are dead, of all queues together, and since when. */
  async queueStats(): Promise<QueueStats> {
    const { db, clock } = this.#services
    const live = await statsLive(db, clock.databaseNow(), 0)
    const { runningSince, deadSince } = await statsOldest(db)
    const dead = (await statsDead(db)).reduce((sum, row) => sum + row.dead, 0)
    const sum = (read: (row: (typeof live)[number]) => number) => live.reduce((total, row) => total + read(row), 0)
    const failed = sum((row) => row.failed)
    const due = live.flatMap(({ oldestDueAt }) => (oldestDueAt === null ? [] : oldestDueAt.getTime()))
    return {
      pending: {
        count: sum((row) => row.waiting - row.blocked) - failed,
        oldest: due.length === 0 ? null : new Date(Math.min(...due)),
      },
      scheduled: { count: sum((row) => row.waiting - row.blocked - row.due) },
      processing: { count: sum((row) => row.running), oldest: runningSince },
      failed: { count: failed },
      blocked: { count: sum((row) => row.blocked) },
      dead: { count: dead, oldest: deadSince },
    }
  }

  /** What became of runs in a span, by queue and type and in all: up to 13 months back. */
  async runs(options: ReportSpan & ReportSelection): Promise<RunReport> {
    const { from, to, edge } = await this.#bounds(options)
    const span = spanOf(from, to, edge)
    const rows = await metricRuns(this.#services.db, span, { ...selection(options), step: null, byType: true })
    return {
      from: span.from,
      to: span.to,
      total: summaryOf(rows),
      types: [...grouped(rows, ({ queue, type }) => JSON.stringify([queue, type])).values()].map((ofType) => {
        const [{ queue, type }] = ofType
        return { queue, type, ...summaryOf(ofType) }
      }),
    }
  }

  /**
   * What became of runs, step by step, of a queue, a type or all: by the minute for up to six hours, by the hour for up to 31 days, by
   * the day for up to 400.
   */
  async series({ step, ...options }: ReportSpan & ReportSelection & { step: MetricStep }): Promise<RunSeries> {
    const { from, to, edge } = await this.#bounds(options)
    const span = stepSpanOf(from, to, checkedStep(step), edge)
    const rows = await metricRuns(this.#services.db, span, { ...selection(options), step, byType: false })
    const byStep = grouped(rows, ({ at }) => at.getTime())
    return {
      from: span.from,
      to: span.to,
      step,
      points: stepsOf(span, step).map((at) => ({ at, ...summaryOf(byStep.get(at.getTime()) ?? []) })),
    }
  }

  /**
   * How many jobs waited and ran in each queue, and for how long the oldest due one had been due: by the minute for up to six hours, by
   * the hour for up to 31 days, by the day for up to 400. A worker looks once a minute.
   */
  async queues({ step, ...options }: ReportSpan & { step: MetricStep; queue?: string }): Promise<QueueSeries> {
    const { from, to, edge } = await this.#bounds(options)
    const span = stepSpanOf(from, to, checkedStep(step), edge)
    const queue = options.queue ?? null
    const rows = await queueSampleList(this.#services.db, { from: span.from, to: span.to, step, queue })
    const byStep = grouped(rows, ({ at }) => at.getTime())
    return {
      from: span.from,
      to: span.to,
      step,
      points: stepsOf(span, step).map((at) => ({ at, queues: samplesOf(byStep.get(at.getTime())) })),
    }
  }

  /** Dead letters that were born and decided about, by the hour or by the day. Default: the last 30 days, by the day. */
  async deadLetters({
    step = 'day',
    since = '30d',
    ...options
  }: Partial<ReportSpan> & ReportSelection & { step?: 'hour' | 'day' } = {}): Promise<LetterSeries> {
    if (step !== 'hour' && step !== 'day')
      throw new InvalidDefinition(`step is ${JSON.stringify(step)}: expected hour or day.`)
    const { db } = this.#services
    const { from, to, edge } = await this.#bounds({ since, ...options })
    const span = stepSpanOf(from, to, step, edge)
    const chosen = selection(options)
    // Up to now, because the number that wait now is what the others are counted back from.
    const until = new Date(Math.max(span.to.getTime(), edge.now.getTime() + 1))
    const whole = { from: span.from, hoursTo: rolledUpWithin(span.from, until, edge), to: until }
    const counted = new Map((await metricLetters(db, whole, { ...chosen, step })).map((row) => [row.at.getTime(), row]))
    const waiting = (await statsDead(db)).filter(
      ({ queue, type }) => queue === (chosen.queue ?? queue) && type === (chosen.type ?? type),
    )
    let pending = waiting.reduce((sum, { dead }) => sum + dead, 0)
    const now = pending
    for (const [atMs, { born, decided }] of counted) if (atMs >= span.to.getTime()) pending -= born - decided
    const points: LetterPoint[] = []
    for (const at of stepsOf(span, step).reverse()) {
      const { born = 0, decided = 0 } = counted.get(at.getTime()) ?? {}
      points.unshift({ at, born, decided, pending: Math.max(0, pending) })
      pending -= born - decided
    }
    return { from: span.from, to: span.to, step, growth: now - pending, points }
  }

  /**
   * One document about the last hours: what stands in the queues now and how the platform is, how long runs of each type and outcome took, and how many ended
   * in each hour. Default: the last 24 hours; at most a week back.
   */
  async overHours({ fromHoursAgo = 24, toHoursAgo = 0 } = {}): Promise<HoursReport> {
    if (!(toHoursAgo >= 0 && fromHoursAgo > toHoursAgo && fromHoursAgo <= MAX_REPORT_HOURS))
      throw new InvalidDefinition(
        `The report is from ${fromHoursAgo} to ${toHoursAgo} hours ago: expected 168 ≥ from > to ≥ 0, such as 24 and 0.`,
      )
    const { db, clock } = this.#services
    const edge = await metricEdge(db, clock.databaseNow())
    const ago = (hours: number) => new Date(edge.now.getTime() - hours * HOUR_MS)
    const span = spanOf(ago(fromHoursAgo), ago(toHoursAgo), edge)
    const rows = await metricRuns(db, span, { queue: null, type: null, step: null, byType: true })
    return {
      from: span.from,
      to: span.to,
      currentStats: await this.queueStats(),
      health: await this.#services.health(),
      performanceMetrics: rows.map((row) => {
        // Of rows of one outcome, so a snoozed run's duration counts here.
        const { duration, wait } = summaryOf([{ ...row, outcome: 'completed' }])
        return {
          ...{ queue: row.queue, type: row.type, status: row.outcome, jobCount: row.runs },
          avgDurationMs: duration.meanMs,
          p50DurationMs: duration.p50Ms,
          p95DurationMs: duration.p95Ms,
          p99DurationMs: duration.p99Ms,
          avgQueueTimeMs: wait.meanMs,
        }
      }),
      hourlyThroughput: (await metricThroughput(db, span)).map(({ hour, queue, type, outcome, runs }) => ({
        ...{ hour, queue, type, status: outcome, jobCount: runs },
      })),
      generatedAt: edge.now,
    }
  }

  async #bounds({ since, until }: ReportSpan): Promise<{ from: Date; to: Date; edge: MetricEdge }> {
    const { db, clock } = this.#services
    const edge = await metricEdge(db, clock.databaseNow())
    const to = until ?? edge.now
    const from = since instanceof Date ? since : new Date(to.getTime() - toMs(since, 'since'))
    if (Number.isNaN(from.getTime()) || Number.isNaN(to.getTime()) || from >= to)
      throw new InvalidDefinition('The span of a report must begin before it ends: expected `since` before `until`.')
    return { from, to, edge }
  }
}

function checkedStep(step: MetricStep): MetricStep {
  if (STEPS.includes(step)) return step
  throw new InvalidDefinition(`step is ${JSON.stringify(step)}: expected minute, hour or day.`)
}

function samplesOf(rows: Awaited<ReturnType<typeof queueSampleList>> | undefined): QueueSample[] | null {
  if (rows === undefined) return null
  return rows.flatMap(({ at: _, queue, ...figures }) => (queue === null ? [] : { queue, ...figures }))
}

const selection = ({ queue, type }: ReportSelection): MetricSelection => ({ queue: queue ?? null, type: type ?? null })

/** From there on letters are counted themselves. */
function rolledUpWithin(from: Date, to: Date, { rolledUpUntil }: MetricEdge): Date {
  const edgeMs = rolledUpUntil?.getTime() ?? 0
  return new Date(Math.min(to.getTime(), Math.max(from.getTime(), edgeMs)))
}

/** No group is empty. */
function grouped<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, [Row, ...Row[]]> {
  const groups = new Map<Key, [Row, ...Row[]]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group === undefined) groups.set(keyOf(row), [row])
    else group.push(row)
  }
  return groups
}
