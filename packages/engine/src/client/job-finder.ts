// Finds jobs within a time: by one statement where indexes answer the query, else by looking at jobs in batches.
import { type Clock, monotonicMs } from '../clock.ts'
import { SearchTimeout } from '../errors.ts'
import { fieldOf } from '../search/fields.ts'
import type { Condition } from '../search/query.ts'
import type { Database } from '../store/db.ts'
import {
  type JobBin,
  type JobGroup,
  type JobSelection,
  jobArchiveFew,
  jobSearch,
  jobSearchBins,
  jobSearchCount,
  jobSearchGroups,
  jobsById,
  jobWalk,
  type Walked,
} from '../store/job-search.ts'
import type { Job } from '../store/jobs.ts'
import { withIdBound } from './creation-bound.ts'
import { SYSTEM_QUEUE } from './system-job.ts'

/** The jobs that were looked at one by one, because no index answers the query. */
export interface Scanned {
  /** How many. */
  readonly rows: number
  /** When the first and the last of them were created. Null: there were none. */
  readonly from: Date | null
  readonly to: Date | null
}

/** `next`: the id after which there is more. */
export interface FoundPage {
  jobs: readonly Job[]
  next: string | null
  scanned: Scanned | null
}

/** Of the time: for the one statement, before jobs are looked at in batches. */
const DIRECT_SHARE = 0.5
const FIRST_WALK = 5_000
const LONGEST_WALK = 200_000
/** So much every search gets on, however little time it has. */
const LEAST_WALK = { rows: 500, ms: 1_000 }
const PAGE_MS = 2_000

/** All but the jobs of Millrace itself. */
export const NOT_SYSTEM: Condition = {
  field: 'queue',
  path: [],
  isNegated: true,
  matches: [{ kind: 'is', value: SYSTEM_QUEUE }],
}

export class JobFinder {
  readonly #services: { db: Database; clock: Clock }

  constructor(services: { db: Database; clock: Clock }) {
    this.#services = services
  }

  async page(given: JobSelection, limit: number, left: TimeLeft): Promise<FoundPage> {
    const { db, clock } = this.#services
    const selection = await withIdBound(db, clock.databaseNow(), given)
    const isScan = selection.conditions.some(({ field }) => fieldOf(field)?.isScanned)
    if (!isScan) {
      const statement = { now: clock.databaseNow(), timeoutMs: left.ms * DIRECT_SHARE }
      // One more than asked for: it tells whether there is a next page.
      const types = typesNamed(selection.conditions)
      const isRareInArchive = types !== undefined && (await jobArchiveFew(db, types))
      const found = await jobSearch(db, statement, { ...selection, isRareInArchive }, limit + 1)
      if (found !== undefined) {
        const jobs = found.slice(0, limit)
        return { jobs, next: found.length > limit ? (jobs.at(-1) as Job).id : null, scanned: null }
      }
    }
    return this.#scan(selection, limit, left)
  }

  async count(conditions: readonly Condition[], cap: number, left: TimeLeft) {
    const { db, clock } = this.#services
    const statement = { now: clock.databaseNow(), timeoutMs: left.ms * DIRECT_SHARE }
    const count = await jobSearchCount(db, statement, conditions, cap + 1)
    if (count !== undefined) return { count: Math.min(count, cap), isCapped: count > cap }
    let found = 0
    const end = await this.#walk({ conditions, order: 'newest', after: null }, left, (walked) => {
      found += walked.count
      return found > cap
    })
    return { count: Math.min(found, cap), isCapped: !end.isComplete || found > cap }
  }

  /** The newest jobs by when they were created. Undefined: no index answers the query in time. */
  async bins(
    conditions: readonly Condition[],
    steps: { from: Date; stepMs: number; cap: number },
    left: TimeLeft,
  ): Promise<{ bins: JobBin[]; isCapped: boolean } | undefined> {
    const { db, clock } = this.#services
    const statement = { now: clock.databaseNow(), timeoutMs: left.ms }
    const bins = await jobSearchBins(db, statement, conditions, steps)
    return bins && { bins, isCapped: bins.reduce((sum, { count }) => sum + count, 0) >= steps.cap }
  }

  /** The jobs by what an operation would do with them; `priority`: the one that they would get. */
  async groups(conditions: readonly Condition[], cap: number, left: TimeLeft, priority: number | null) {
    const { db, clock } = this.#services
    const group = async (given: readonly Condition[], timeoutMs: number) => {
      const found = await jobSearchGroups(db, { now: clock.databaseNow(), timeoutMs }, given, { cap, priority })
      return found && { groups: found, isCapped: total(found) >= cap }
    }
    const direct = await group(conditions, left.ms * DIRECT_SHARE)
    if (direct !== undefined) return direct
    const ids: string[] = []
    const end = await this.#walk({ conditions, order: 'oldest', after: null }, left, (walked) => {
      ids.push(...walked.ids)
      return ids.length >= cap
    })
    const named: Condition = {
      field: 'id',
      path: [],
      isNegated: false,
      matches: ids.map((value) => ({ kind: 'is', value })),
    }
    const found = ids.length === 0 ? { groups: [], isCapped: false } : await group([named], PAGE_MS)
    if (found === undefined) throw new SearchTimeout(PAGE_MS)
    return { groups: found.groups, isCapped: found.isCapped || !end.isComplete }
  }

  async #scan(selection: JobSelection, limit: number, left: TimeLeft): Promise<FoundPage> {
    const ids: string[] = []
    const { last, isComplete, scanned } = await this.#walk(selection, left, (walked) => {
      ids.push(...walked.ids)
      return ids.length > limit
    })
    const found = ids.slice(0, limit)
    const statement = { now: null, timeoutMs: PAGE_MS }
    const jobs = found.length === 0 ? [] : await jobsById(this.#services.db, statement, found, selection.order)
    if (jobs === undefined) throw new SearchTimeout(PAGE_MS)
    if (ids.length > limit) return { jobs, next: found.at(-1) as string, scanned }
    return { jobs, next: isComplete ? null : last, scanned }
  }

  /** Looks at jobs in batches, each as large as the time allows, until `isEnough`, the end or the end of the time. */
  async #walk(selection: JobSelection, left: TimeLeft, isEnough: (walked: Walked) => boolean) {
    const { db, clock } = this.#services
    let last = selection.after
    let batch = FIRST_WALK
    let isNarrowed = selection.conditions.some(({ field }) => !fieldOf(field)?.isScanned)
    const scanned = { rows: 0, from: null as Date | null, to: null as Date | null }
    for (;;) {
      const startedMs = monotonicMs()
      const isFirst = scanned.rows === 0
      // If the indexes of the other conditions do not help either, a batch of all jobs still gets on.
      const shareMs = isNarrowed && isFirst ? left.ms * DIRECT_SHARE : left.ms
      const timeoutMs = batch === LEAST_WALK.rows ? Math.max(shareMs, LEAST_WALK.ms) : Math.max(shareMs, 1)
      const statement = { now: clock.databaseNow(), timeoutMs }
      const walked = await jobWalk(db, statement, { ...selection, after: last }, { rows: batch, isNarrowed })
      if (walked === undefined) {
        if (!isFirst) return { last, isComplete: false, scanned }
        if (batch === LEAST_WALK.rows) throw new SearchTimeout(left.givenMs)
        batch = isNarrowed ? FIRST_WALK : LEAST_WALK.rows
        isNarrowed = false
        continue
      }
      add(scanned, walked)
      last = walked.last ?? last
      const isComplete = walked.rows < batch
      if (isEnough(walked) || isComplete) return { last, isComplete, scanned }
      const tookMs = Math.max(monotonicMs() - startedMs, 1)
      if (left.ms < tookMs) return { last, isComplete, scanned }
      batch = Math.min(LONGEST_WALK, batch * 4, Math.max(FIRST_WALK, Math.floor((batch * left.ms) / tookMs / 2)))
    }
  }
}

function typesNamed(conditions: readonly Condition[]): string[] | undefined {
  const condition = conditions.find(({ field, isNegated }) => field === 'type' && !isNegated)
  const names = condition?.matches.flatMap((match) => (match.kind === 'is' ? match.value : []))
  return names !== undefined && names.length === condition?.matches.length ? names : undefined
}

/** What of a call's time is left. */
export class TimeLeft {
  readonly givenMs: number
  readonly #endMs: number

  constructor(givenMs: number) {
    this.givenMs = givenMs
    this.#endMs = monotonicMs() + givenMs
  }

  get ms(): number {
    return Math.max(0, this.#endMs - monotonicMs())
  }
}

const total = (groups: readonly JobGroup[]): number => groups.reduce((sum, { count }) => sum + count, 0)

function add(scanned: { rows: number; from: Date | null; to: Date | null }, { rows, from, to }: Walked): void {
  scanned.rows += rows
  if (from !== null && (scanned.from === null || from < scanned.from)) scanned.from = from
  if (to !== null && (scanned.to === null || to > scanned.to)) scanned.to = to
}
