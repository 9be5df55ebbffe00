// Searching jobs by the query language: pages, counts and suggestions, each within the time it was given.
//
// A query whose fields have indexes is one statement. If that takes too long, or if the query looks into payloads or errors,
// jobs are looked at in batches until the page is full or the time is over. The answer says then what was looked at, and its
// cursor goes on from there.
import { type Clock, monotonicMs } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { InvalidDefinition, InvalidQuery, SearchTimeout } from '../errors.ts'
import { fieldOf } from '../search/fields.ts'
import { readQuery } from '../search/parse.ts'
import { type Condition, isOneOf, type ReadQuery } from '../search/query.ts'
import type { Database } from '../store/db.ts'
import { isJobId } from '../store/job-id.ts'
import { type JobSelection, jobSearch, jobSearchCount, jobsById, jobWalk, type Walked } from '../store/job-search.ts'
import type { Job } from '../store/jobs.ts'
import { wholeNumber } from './enqueue-options.ts'
import { shownJob } from './protect.ts'
import { type Suggestions, suggest } from './suggest.ts'

export type SearchOrder = JobSelection['order']

export interface SearchScope {
  /** Only jobs of this tenant, whatever the query says: for callers who may see no other. */
  tenant?: string
  /** How long it may take, in milliseconds. Default 2000, at most 30000. */
  timeoutMs?: number
}

export interface SearchOptions extends SearchScope {
  /** Default 50, at most 1000. */
  limit?: number
  /** Default 'newest'. */
  order?: SearchOrder
  /** `next` of the page before. */
  after?: string
}

/** The jobs that were looked at one by one, because no index answers the query. */
export interface Scanned {
  /** How many. */
  readonly rows: number
  /** When the first and the last of them were created. Null: there were none. */
  readonly from: Date | null
  readonly to: Date | null
}

export interface SearchPage {
  readonly jobs: readonly Job[]
  /** Goes on after this page, or after what was looked at in time. Null: there is no more. */
  readonly next: string | null
  /** Null: an index had the answer. */
  readonly scanned: Scanned | null
}

export interface JobCount {
  readonly count: number
  /** There are more: counting stopped at the cap, or when its time was over. */
  readonly isCapped: boolean
}

export interface CountOptions extends SearchScope {
  /** Default 100000, which is the most. */
  cap?: number
}

/** A job filter of programs. */
export interface JobFilter {
  status?: Job['status']
  queue?: string
  type?: string
  tenant?: string
  correlationId?: string
  /** Only jobs with a smaller id: the last one of the page before. */
  before?: string
  /** Default 50, at most 1000. */
  limit?: number
}

const MAX_PAGE = 1_000
const MAX_CAP = 100_000
const TIMEOUT_MS = 2_000
const MAX_TIMEOUT_MS = 30_000
/** A list for programs has as long as other calls. */
const LIST_MS = 15_000
/** Of the time: for the one statement, before jobs are looked at in batches. */
const DIRECT_SHARE = 0.5
const FIRST_WALK = 5_000
const LONGEST_WALK = 200_000
/** So much every search gets on, however little time it has. */
const LEAST_WALK = { rows: 500, ms: 1_000 }
/** While somebody types. */
const SUGGESTED = { cap: 10_000, timeoutMs: 400 }

interface SearchServices {
  db: Database
  clock: Clock
  registry: Registry
}

export class JobSearch {
  readonly #services: SearchServices

  constructor(services: SearchServices) {
    this.#services = services
  }

  /** A page of the jobs that fit. Throws InvalidQuery, with the place; SearchTimeout if nothing could be looked at in time. */
  async jobs(query: string, options: SearchOptions = {}): Promise<SearchPage> {
    const { order = 'newest', after } = options
    if (order !== 'newest' && order !== 'oldest')
      throw new InvalidDefinition(`order is ${JSON.stringify(order)}: expected 'newest' or 'oldest'.`)
    const limit = pageSize(options.limit)
    const selection = {
      conditions: conditionsOf(query, options),
      order,
      after: after === undefined ? null : cursorId(after, order),
    }
    return this.#page(selection, limit, new TimeLeft(timeoutOf(options)))
  }

  /** How many jobs fit, up to a cap. */
  async count(query: string, options: CountOptions = {}): Promise<JobCount> {
    const cap = options.cap ?? MAX_CAP
    if (wholeNumber(cap, 'cap', 1) > MAX_CAP) throw new InvalidDefinition(`cap is ${cap}: ${MAX_CAP} is the most.`)
    const { db, clock } = this.#services
    const left = new TimeLeft(timeoutOf(options))
    const conditions = conditionsOf(query, options)
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

  /** Reads a query and looks for nothing: what it means, or the problem and its place. */
  read(query: string): ReadQuery {
    return readQuery(query)
  }

  /** What may stand at a position of the text, with counts where there are any. */
  suggest(query: string, position: number, options: Pick<SearchScope, 'tenant'> = {}): Promise<Suggestions> {
    const count = (text: string) => this.count(text, { ...options, ...SUGGESTED })
    return suggest({ ...this.#services, count }, { text: query, position }, options)
  }

  /** Jobs by a filter instead of a query; all that are asked for, if there are as many. */
  async list({ before, limit, ...filter }: JobFilter): Promise<Job[]> {
    if (before !== undefined && !isJobId(before))
      throw new InvalidDefinition(`before is ${JSON.stringify(before)}: expected the id of a job.`)
    const most = pageSize(limit)
    const fields = { ...filter, correlation: filter.correlationId }
    const conditions = (['status', 'queue', 'type', 'tenant', 'correlation'] as const).flatMap((field) => {
      const value = fields[field]
      return value === undefined ? [] : isOneOf(field, value)
    })
    const left = new TimeLeft(LIST_MS)
    const jobs: Job[] = []
    let after = before ?? null
    do {
      const page = await this.#page({ conditions, order: 'newest', after }, most - jobs.length, left)
      jobs.push(...page.jobs)
      if (page.next === null) break
      after = cursorId(page.next, 'newest')
    } while (jobs.length < most)
    return jobs
  }

  async #page(selection: JobSelection, limit: number, left: TimeLeft): Promise<SearchPage> {
    const { db, clock } = this.#services
    const isScan = selection.conditions.some(({ field }) => fieldOf(field)?.isScanned)
    if (!isScan) {
      const statement = { now: clock.databaseNow(), timeoutMs: left.ms * DIRECT_SHARE }
      // One more than asked for: it tells whether there is a next page.
      const jobs = await jobSearch(db, statement, selection, limit + 1)
      if (jobs !== undefined) return this.#answer(jobs, limit, selection.order)
    }
    return this.#scan(selection, limit, left)
  }

  async #scan(selection: JobSelection, limit: number, left: TimeLeft): Promise<SearchPage> {
    const ids: string[] = []
    const { last, isComplete, scanned } = await this.#walk(selection, left, (walked) => {
      ids.push(...walked.ids)
      return ids.length > limit
    })
    const { order } = selection
    const found = ids.slice(0, limit)
    const rows =
      found.length === 0 ? [] : await jobsById(this.#services.db, { now: null, timeoutMs: TIMEOUT_MS }, found, order)
    if (rows === undefined) throw new SearchTimeout(TIMEOUT_MS)
    const jobs = this.#shown(rows)
    if (ids.length > limit) return { jobs, next: cursorOf(found.at(-1) as string, order), scanned }
    return { jobs, next: isComplete || last === null ? null : cursorOf(last, order), scanned }
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
      const walked = await jobWalk(
        db,
        { now: clock.databaseNow(), timeoutMs },
        { ...selection, after: last },
        { rows: batch, isNarrowed },
      )
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

  #answer(found: readonly Job[], limit: number, order: SearchOrder): SearchPage {
    const jobs = this.#shown(found.slice(0, limit))
    return { jobs, next: found.length > limit ? cursorOf((jobs.at(-1) as Job).id, order) : null, scanned: null }
  }

  #shown(jobs: readonly Job[]): Job[] {
    return jobs.map((job) => shownJob(this.#services.registry, job))
  }
}

/** What of a call's time is left. */
class TimeLeft {
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

function add(scanned: { rows: number; from: Date | null; to: Date | null }, { rows, from, to }: Walked): void {
  scanned.rows += rows
  if (from !== null && (scanned.from === null || from < scanned.from)) scanned.from = from
  if (to !== null && (scanned.to === null || to > scanned.to)) scanned.to = to
}

/** What the query says, and what its caller may see. */
export function conditionsOf(text: string, { tenant }: SearchScope): Condition[] {
  const { query, problem } = readQuery(text)
  if (problem !== null) throw new InvalidQuery(text, problem)
  return tenant === undefined ? [...query.conditions] : [...query.conditions, isOneOf('tenant', tenant)]
}

const cursorOf = (id: string, order: SearchOrder): string => Buffer.from(`${order}:${id}`).toString('base64url')

function cursorId(cursor: string, order: SearchOrder): string {
  const [given, id] = Buffer.from(cursor, 'base64url').toString().split(':')
  if (!isJobId(id) || (given !== 'newest' && given !== 'oldest'))
    throw new InvalidDefinition(`after is ${JSON.stringify(cursor)}: expected the \`next\` of a page before.`)
  if (given !== order)
    throw new InvalidDefinition(`after is of a list in the order '${given}', and this one is '${order}'.`)
  return id
}

function pageSize(limit = 50): number {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE)
    throw new InvalidDefinition(`limit is ${limit}: expected an integer from 1 to ${MAX_PAGE}.`)
  return limit
}

function timeoutOf({ timeoutMs = TIMEOUT_MS }: SearchScope): number {
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS))
    throw new InvalidDefinition(`timeoutMs is ${timeoutMs}: expected a number from 1 to ${MAX_TIMEOUT_MS}.`)
  return timeoutMs
}
