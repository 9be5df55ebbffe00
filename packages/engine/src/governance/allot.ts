// Who gets the free slots: weighted shares of what runs, guaranteed minima first, and never more than a limit allows.
//
// The next slot goes to the tenant that holds the least for its weight, so tenants with long jobs and with short ones
// hold equal shares of the slots. A share is mostly no whole number: it is rounded up, but down for those that are ahead,
// see Balance. Between those that hold the same, whoever was served least for its weight is next: so everybody has a turn
// also where there are more tenants than slots. Whoever has nothing to offer is passed over: no slot stays free
// while anyone may run.
import type { Rival } from './balance.ts'

/** A job that may be claimed. */
export interface Candidate {
  readonly id: string
  readonly tenant: string | null
  readonly type: string
}

/** What a tenant holds and may hold. Jobs without a tenant count as one. */
export interface Share {
  readonly running: number
  readonly weight: number
  /** Served before all others below this. */
  readonly minSlots: number
  readonly maxSlots: number
  /** How much it was served lately, for its weight: see Turns. */
  readonly served: number
  /** It has used more than its share: see Balance. */
  readonly isAhead: boolean
}

export interface Allotment<Job> {
  readonly chosen: Job[]
  /** Who would have taken more, and does not hold what it does because of its minimum. */
  readonly rivals: Rival[]
}

/** Asked for every job that is about to be chosen; says yes and counts it, or says no. */
export type Admit<Job> = (candidate: Job) => boolean

interface Contender<Job> {
  readonly tenant: string | null
  readonly share: Share
  readonly jobs: readonly Job[]
  readonly place: number
  served: number
  held: number
  next: number
}

/** `candidates`: of each tenant in the order in which they are to run; tenants in the order of their turn. */
export function allot<Job extends Candidate>(
  slots: number,
  candidates: readonly Job[],
  shareOf: (tenant: string | null) => Share,
  admit: Admit<Job>,
): Allotment<Job> {
  const heap = new Heap<Contender<Job>>(goesFirst)
  for (const contender of contendersOf(candidates, shareOf)) heap.push(contender)
  const chosen: Job[] = []
  while (chosen.length < slots) {
    const contender = heap.pop()
    if (contender === undefined) break
    if (contender.held >= contender.share.maxSlots) continue
    const job = firstAdmitted(contender, admit)
    if (job === undefined) continue
    chosen.push(job)
    contender.held++
    contender.served += 1 / contender.share.weight
    heap.push(contender)
  }
  return {
    chosen,
    rivals: heap.items.filter(isRival).map(({ tenant, share, held }) => ({ tenant, held, weight: share.weight })),
  }
}

function isRival({ jobs, next, held, share }: Contender<unknown>): boolean {
  return next < jobs.length && held < share.maxSlots && (share.minSlots === 0 || held > share.minSlots)
}

function contendersOf<Job extends Candidate>(
  candidates: readonly Job[],
  shareOf: (tenant: string | null) => Share,
): Contender<Job>[] {
  const byTenant = new Map<string | null, Job[]>()
  for (const job of candidates) {
    const jobs = byTenant.get(job.tenant)
    if (jobs === undefined) byTenant.set(job.tenant, [job])
    else jobs.push(job)
  }
  return [...byTenant].map(([tenant, jobs], place) => {
    const share = shareOf(tenant)
    return { tenant, share, jobs, place, served: share.served, held: share.running, next: 0 }
  })
}

function firstAdmitted<Job>(contender: Contender<Job>, admit: Admit<Job>): Job | undefined {
  while (contender.next < contender.jobs.length) {
    const job = contender.jobs[contender.next++] as Job
    if (admit(job)) return job
  }
  return undefined
}

function goesFirst(a: Contender<unknown>, b: Contender<unknown>): boolean {
  const aIsOwed = a.held < a.share.minSlots
  const bIsOwed = b.held < b.share.minSlots
  if (aIsOwed !== bIsOwed) return aIsOwed
  const byShare = rounded(a) * b.share.weight - rounded(b) * a.share.weight
  if (byShare !== 0) return byShare < 0
  return a.served === b.served ? a.place < b.place : a.served < b.served
}

const rounded = ({ held, share }: Contender<unknown>): number => (share.isAhead ? held + 1 : held)

class Heap<Item> {
  readonly #items: Item[] = []
  readonly #isBefore: (a: Item, b: Item) => boolean

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore
  }

  get items(): readonly Item[] {
    return this.#items
  }

  push(item: Item): void {
    const items = this.#items
    let at = items.length
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#isBefore(item, items[above] as Item)) break
      items[at] = items[above] as Item
      at = above
    }
    items[at] = item
  }

  pop(): Item | undefined {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (items.length > 0) this.#sink(last as Item)
    return first
  }

  #sink(item: Item): void {
    const items = this.#items
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= items.length) break
      if (below + 1 < items.length && this.#isBefore(items[below + 1] as Item, items[below] as Item)) below++
      if (!this.#isBefore(items[below] as Item, item)) break
      items[at] = items[below] as Item
      at = below
    }
    items[at] = item
  }
}
