// Tenants that all have a backlog, on the slots of one or more processes, in virtual time: what the policy of shares comes to.
import { allot, type Share } from '#src/governance/allot'
import { Balance } from '#src/governance/balance'
import { firstOffer, largerOffer } from '#src/governance/look'
import { Turns } from '#src/governance/turns'

export interface Backlog extends Partial<Pick<Share, 'minSlots' | 'maxSlots'>> {
  readonly weight: number
  /** How long its next job takes. */
  lengthMs(nowMs: number): number
  /** Default: always. */
  hasWork?(nowMs: number): boolean
}

export interface Plan {
  readonly tenants: readonly Backlog[]
  readonly processes: number
  readonly slots: number
  /** Claimed ahead, in each process. */
  readonly ahead: number
  readonly untilMs: number
}

export interface SlotRun {
  readonly tenant: number
  readonly startMs: number
  readonly endMs: number
}

class Process {
  readonly turns = new Turns()
  readonly balance = new Balance()
  readonly buffer: number[] = []
  readonly running: SlotRun[] = []
}

/** Every run that began before `untilMs`, in the order of their beginnings. */
export function runs({ tenants, processes, slots, ahead, untilMs }: Plan): SlotRun[] {
  const all = Array.from({ length: processes }, () => new Process())
  const done: SlotRun[] = []
  let nowMs = 0

  const heldOf = (tenant: number): number =>
    all.reduce(
      (sum, { buffer, running }) =>
        sum + buffer.filter((each) => each === tenant).length + running.filter((run) => run.tenant === tenant).length,
      0,
    )

  function claim({ turns, balance, buffer }: Process, count: number): void {
    balance.settle()
    const offered = (offer: number) =>
      tenants.map(({ hasWork, weight }) => (hasWork?.(nowMs) === false ? 0 : Math.min(count + 1, offer * weight)))
    const shareOf = (name: string | null): Share => {
      const { weight, minSlots = 0, maxSlots = Number.POSITIVE_INFINITY } = tenants[Number(name)] as Backlog
      const served = turns.servedOf(name)
      return { running: heldOf(Number(name)), weight, minSlots, maxSlots, served, isAhead: balance.isAhead(name) }
    }
    const choose = (offer: number): ReturnType<typeof allot<{ id: string; tenant: string; type: string }>> => {
      const offers = offered(offer)
      const candidates = offers.flatMap((jobs, i) => new Array(jobs).fill({ id: '', tenant: `${i}`, type: '' }))
      const result = allot(count, candidates, shareOf, () => true)
      const taken = (i: number) => result.chosen.filter(({ tenant }) => tenant === `${i}`).length
      const larger = largerOffer(offer, count)
      const isShort = offers.some((jobs, i) => jobs > 0 && taken(i) === jobs)
      return larger !== undefined && isShort ? choose(larger) : result
    }
    const { chosen, rivals } = choose(firstOffer(count, tenants.length))
    for (const { tenant } of chosen) {
      const { weight } = tenants[Number(tenant)] as Backlog
      turns.serve(tenant, weight)
      balance.take(tenant, weight)
      buffer.push(Number(tenant))
    }
    balance.compete(rivals)
  }

  function work(process: Process): void {
    const { buffer, running } = process
    const free = slots - running.length - buffer.length + ahead
    if (free > buffer.length) claim(process, free)
    while (running.length < slots && buffer.length > 0) {
      const tenant = buffer.shift() as number
      const run = { tenant, startMs: nowMs, endMs: nowMs + (tenants[tenant] as Backlog).lengthMs(nowMs) }
      running.push(run)
      done.push(run)
    }
  }

  function endNext(): void {
    const owner = all.reduce((first, each) => (firstEnd(each) < firstEnd(first) ? each : first))
    nowMs = firstEnd(owner)
    const at = owner.running.findIndex(({ endMs }) => endMs === nowMs)
    const [over] = owner.running.splice(at, 1)
    if (over !== undefined) owner.balance.ran(`${over.tenant}`, over.endMs - over.startMs)
    work(owner)
  }

  for (const process of all) work(process)
  while (nowMs < untilMs && all.some(({ running }) => running.length > 0)) endNext()
  return done
}

const firstEnd = ({ running }: Process): number => Math.min(...running.map(({ endMs }) => endMs))

/** The part of the busy slots' time that each had between two moments. */
export function sharesOf(all: readonly SlotRun[], tenants: number, fromMs: number, toMs: number): number[] {
  const times = Array.from({ length: tenants }, () => 0)
  for (const { tenant, startMs, endMs } of all) {
    times[tenant] = (times[tenant] as number) + Math.max(0, Math.min(endMs, toMs) - Math.max(startMs, fromMs))
  }
  const total = times.reduce((sum, time) => sum + time, 0)
  return times.map((time) => time / total)
}
