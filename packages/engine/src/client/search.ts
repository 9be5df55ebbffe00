// Searching jobs by the query language: pages, counts and suggestions, each within the time it was given.
//
// A query whose fields have indexes is one statement. If that takes too long, or if the query looks into payloads or errors,
// jobs are looked at in batches until the page is full or the time is over. The answer says then what was looked at, and its
// cursor goes on from there.
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { InvalidDefinition, InvalidQuery } from '../errors.ts'
import { readQuery } from '../search/parse.ts'
import { type Condition, isOneOf, type ReadQuery } from '../search/query.ts'
import type { Database } from '../store/db.ts'
import { isJobId } from '../store/job-id.ts'
import type { JobSelection } from '../store/job-search.ts'
import type { Job } from '../store/jobs.ts'
import { wholeNumber } from './enqueue-options.ts'
import { type FoundPage, JobFinder, type Scanned, TimeLeft } from './job-finder.ts'
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

export interface TimelineOptions extends SearchScope {
  from: Date
  to: Date
  /** How many steps. Default 60, at most 400. */
  steps?: number
}

/** When the jobs that fit were created. */
export interface JobTimeline {
  readonly stepMs: number
  /** Those with jobs, in order. */
  readonly steps: readonly { readonly at: Date; readonly counts: Readonly<Partial<Record<Job['status'], number>>> }[]
  /** Only the newest are counted: there are more. */
  readonly isCapped: boolean
  /** Counting took too long, so `steps` is empty. */
  readonly isTooLong: boolean
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
const MAX_STEPS = 400
/** Enough for a picture. */
const TIMELINE_CAP = 50_000
const TIMEOUT_MS = 2_000
const MAX_TIMEOUT_MS = 30_000
/** A list for programs has as long as other calls. */
const LIST_MS = 15_000
/** While somebody types. */
const SUGGESTED = { cap: 10_000, timeoutMs: 400 }

interface SearchServices {
  db: Database
  clock: Clock
  registry: Registry
}

export class JobSearch {
  readonly #services: SearchServices
  readonly #finder: JobFinder

  constructor(services: SearchServices) {
    this.#services = services
    this.#finder = new JobFinder(services)
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
    const { jobs, next, scanned } = await this.#page(selection, limit, new TimeLeft(timeoutOf(options)))
    return { jobs, next: next === null ? null : cursorOf(next, order), scanned }
  }

  /** How many jobs fit, up to a cap. */
  async count(query: string, options: CountOptions = {}): Promise<JobCount> {
    const cap = options.cap ?? MAX_CAP
    if (wholeNumber(cap, 'cap', 1) > MAX_CAP) throw new InvalidDefinition(`cap is ${cap}: ${MAX_CAP} is the most.`)
    return this.#finder.count(conditionsOf(query, options), cap, new TimeLeft(timeoutOf(options)))
  }

  /** How many of the jobs that fit were created when, step by step between two times. */
  async timeline(query: string, options: TimelineOptions): Promise<JobTimeline> {
    const { from, to, steps = 60 } = options
    if (wholeNumber(steps, 'steps', 1) > MAX_STEPS)
      throw new InvalidDefinition(`steps is ${steps}: ${MAX_STEPS} is the most.`)
    const stepMs = (to.getTime() - from.getTime()) / steps
    if (!(stepMs > 0)) throw new InvalidDefinition('`from` must be before `to`.')
    const within = `created:>=${from.toISOString()} created:<${to.toISOString()}`
    const conditions = conditionsOf(query === '' ? within : `${query} ${within}`, options)
    const found = await this.#finder.bins(
      conditions,
      { from, stepMs, cap: TIMELINE_CAP },
      new TimeLeft(timeoutOf(options)),
    )
    if (found === undefined) return { stepMs, steps: [], isCapped: false, isTooLong: true }
    const counts = new Map<number, Partial<Record<Job['status'], number>>>()
    for (const { bin, status, count } of found.bins) counts.set(bin, { ...counts.get(bin), [status]: count })
    const shown = [...counts].sort(([a], [b]) => a - b)
    return {
      stepMs,
      steps: shown.map(([bin, each]) => ({ at: new Date(from.getTime() + bin * stepMs), counts: each })),
      isCapped: found.isCapped,
      isTooLong: false,
    }
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
      after = page.next
    } while (after !== null && jobs.length < most)
    return jobs
  }

  async #page(selection: JobSelection, limit: number, left: TimeLeft): Promise<FoundPage> {
    const page = await this.#finder.page(selection, limit, left)
    return { ...page, jobs: page.jobs.map((job) => shownJob(this.#services.registry, job)) }
  }
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
