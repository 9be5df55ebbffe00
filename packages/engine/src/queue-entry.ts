// Where claims enter a queue.
//
// What was claimed leaves dead entries at the heads of the index, one for each priority, until vacuum comes, and none comes as
// long as somebody keeps a transaction open: then a claim that begins there walks over all that has ever been claimed.
// After a long walk the next ones begin behind the last claimed jobs. They miss what appears in front of those: what was
// given back or committed late. Nearly all of that belongs where claims were a moment ago; so some begin there, and few at the
// head: the longer each of these walks is, the rarer. What this process itself gives back or admits, it goes back for.

import { LongWalk } from './long-walk.ts'
import type { ClaimedJob, Position } from './store/job-claims.ts'
import { compareIds } from './store/job-id.ts'

const MAX_HEADLESS_MS = 20_000
/** A look from the head that found nothing more may have passed over what somebody else held. */
const LEAST_REST_MS = 1_000
/** "A moment ago" is once to twice this. */
const MOMENT_MS = 5_000
/** Those that were claimed from last. The others are entered at their heads. */
const MAX_STREAMS = 64

/** Where a claim began: at the head, where claims were a moment ago, or where the last one ended. */
export interface Entry {
  readonly from: 'head' | 'recent' | 'last'
  /** The jobs behind which it began, each of another stream. */
  readonly behind: readonly Position[]
}

/** How a claim was made. */
export interface Walked extends Pick<Entry, 'from'> {
  readonly sentAtMs: number
  /** What it took beyond what such a claim takes. */
  readonly walkMs: number
  /** How many queues before this one it entered at the head as well: nobody knows in which of them it walked. */
  readonly nth?: number
}

type Positions = Map<string, Position>

/** A stream is a priority, or a type or a tenant at a priority where they are claimed apart. */
const streamBy = {
  priority: ({ priority }: Position) => `${priority}`,
  type: ({ type, priority }: Position) => `${priority} ${type}`,
  tenant: ({ tenant, priority }: Position) => (tenant === null ? `${priority}` : `${priority} ${tenant}`),
}

export class QueueEntry {
  readonly #streamOf: (job: Position) => string
  /** By stream, the one that was claimed from last at the end. */
  readonly #last = new Map<string, Position>()
  /** What #last was a moment ago, and a shorter one. */
  #recent: Positions = new Map()
  #newest: Positions = new Map()
  #newestAtMs = Number.NEGATIVE_INFINITY
  readonly #dueMs = { head: 0, recent: 0 }
  readonly #walks = {
    head: new LongWalk({ maxRestMs: MAX_HEADLESS_MS }),
    recent: new LongWalk({ maxRestMs: MAX_HEADLESS_MS }),
  }

  constructor(by: keyof typeof streamBy) {
    this.#streamOf = streamBy[by]
  }

  enter(nowMs: number): Entry {
    if (nowMs >= this.#dueMs.head) return { from: 'head', behind: [] }
    const from = nowMs >= this.#dueMs.recent ? 'recent' : 'last'
    return { from, behind: [...(from === 'recent' ? this.#recent : this.#last).values()] }
  }

  /** How long until a claim may find what one missed that began there; infinite: nothing can have been missed. */
  untilFurtherUp(from: Entry['from'], nowMs: number): number {
    const { head, recent } = this.#dueMs
    if (from === 'last') return Math.max(0, Math.min(head, recent) - nowMs)
    if (from === 'recent') return Math.max(0, head - nowMs)
    return head <= nowMs ? Number.POSITIVE_INFINITY : Math.max(LEAST_REST_MS, head - nowMs)
  }

  /** This job waits again, or does at last: the next claims find it. */
  goBackTo(job: Position): void {
    this.#setBack(justBefore(job))
  }

  /** What a claim took from this queue, in order, and how long it walked. */
  claimed(jobs: readonly ClaimedJob[], claim: Walked): void {
    const last = this.#lastOfEach(jobs)
    // Another claim of this process may have come further meanwhile.
    const isNews = (stream: string, job: Position) => {
      const known = this.#last.get(stream)
      return claim.from !== 'last' || known === undefined || isBehind(job, known)
    }
    this.moved(
      [...last].flatMap(([stream, job]) => (isNews(stream, job) ? job : [])),
      claim,
    )
  }

  /** Where the next claims are to begin, one position for each stream that is known better now. */
  moved(positions: readonly Position[], { from, sentAtMs, walkMs, nth = 0 }: Walked): void {
    for (const position of positions) {
      // What was found further up goes on there: there may be more.
      if (from !== 'last') this.#setBack(position)
      this.#remember(position)
    }
    // Not all at once: the next time each is judged by itself.
    if (from !== 'last') this.#dueMs[from] = sentAtMs + this.#walks[from].restAfter(walkMs) / (1 + nth)
    if (sentAtMs - this.#newestAtMs < MOMENT_MS) return
    this.#recent = this.#newestAtMs === Number.NEGATIVE_INFINITY ? new Map(this.#last) : this.#newest
    this.#newest = new Map(this.#last)
    this.#newestAtMs = sentAtMs
  }

  #setBack(position: Position): void {
    const stream = this.#streamOf(position)
    for (const positions of [this.#last, this.#recent, this.#newest]) {
      const known = positions.get(stream)
      if (known !== undefined && isBehind(known, position)) positions.set(stream, position)
    }
  }

  /** The last job of each stream. One that was in a crash comes from elsewhere. */
  #lastOfEach(jobs: readonly ClaimedJob[]): Map<string, ClaimedJob> {
    const found = new Map<string, ClaimedJob>()
    let next: ClaimedJob | undefined
    for (let at = jobs.length - 1; at >= 0; at--) {
      const job = jobs[at] as ClaimedJob
      if (job.crashes > 0 || (job.priority === next?.priority && job.type === next.type)) continue
      next = job
      const stream = this.#streamOf(job)
      if (!found.has(stream)) found.set(stream, job)
    }
    return found
  }

  #remember({ tenant, type, priority, runAtS, id }: Position): void {
    const position = { tenant, type, priority, runAtS, id }
    const stream = this.#streamOf(position)
    this.#last.delete(stream)
    this.#last.set(stream, position)
    const [oldest] = this.#last.keys()
    if (this.#last.size > MAX_STREAMS) this.#last.delete(oldest as string)
  }
}

/** Of two jobs of one stream. */
const isBehind = (job: Position, last: Position): boolean =>
  job.runAtS > last.runAtS || (job.runAtS === last.runAtS && compareIds(job.id, last.id) > 0)

/** Where nothing stands between it and the job. */
export const justBefore = ({ tenant, type, priority, runAtS, id }: Position): Position => ({
  tenant,
  type,
  priority,
  runAtS,
  id: String(BigInt(id) - 1n),
})
