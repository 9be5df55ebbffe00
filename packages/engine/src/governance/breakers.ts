// The breakers as one process knows them: a copy of their rows that is at most a second old while it is used, and the
// changes that calls make.
//
// Exactness: a call goes by what was known when it began. So for a second after a breaker has opened elsewhere, calls of
// this process still go through, and a success resets the count of failures only if they were known here. A successful
// call of a closed breaker without failures writes nothing. The probe is exact: its row is locked while it is given out.
import { type Clock, monotonicMs } from '../clock.ts'
import { countsAgainst, DEFAULT_BREAKER, type Service } from '../contract/service.ts'
import { BreakerOpen, BudgetExceeded, LeaseLost } from '../errors.ts'
import { type BreakerState, breakerLook, type LockedBreaker, type Probe, type SeenBreaker } from '../store/breakers.ts'
import type { Database, Session } from '../store/db.ts'
import { type ChangedBreaker, changeBreaker, probeBreakers } from './breaker-change.ts'
import { isProbe, settingsOf } from './breaker-state.ts'

const FRESH_MS = 1_000
/** How soon a job asks again that met somebody else's probe. */
const PROBE_WAIT_MS = 2_000
const LEAST_WAIT_MS = 500
/** What is thrown inside a call by ourselves says nothing about the service. */
const OURS = [BreakerOpen, BudgetExceeded, LeaseLost]

export interface BreakerChange {
  readonly service: string
  readonly state: BreakerState
  /** Made by this process, not only seen. */
  readonly isOwn: boolean
}

export interface BreakersServices {
  db: Database
  clock: Clock
  /** The settings that the program gives a service by name. */
  definition(name: string): Service | undefined
  onChange(change: BreakerChange): void
  onError(during: string, error: unknown): void
}

/** Whether calls go through: all, none, or one run as a probe. */
export type Passage = 'all' | 'none' | 'probe'

interface Seen {
  readonly row: SeenBreaker
  readonly atMs: number
  /** By a clock that is moved by hand. */
  readonly at: Date | null
}

export class Breakers {
  readonly #services: BreakersServices
  readonly #names = new Set<string>()
  readonly #seen = new Map<string, Seen>()
  /** Changes of this process, one after the other for each service. */
  readonly #turns = new Map<string, Promise<unknown>>()
  #lookedAtMs = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined

  constructor(services: BreakersServices) {
    this.#services = services
  }

  serviceOf(service: Service | string): Service {
    if (typeof service !== 'string') return service
    return this.#services.definition(service) ?? { name: service, ...DEFAULT_BREAKER, counts: undefined }
  }

  /** Brings what is known about these services up to date, unless it is. */
  async refresh(names: readonly string[]): Promise<void> {
    const unknown = names.filter((name) => !this.#names.has(name))
    if (unknown.length > 0) {
      for (const name of unknown) this.#names.add(name)
      this.#looking = undefined
    } else if (this.#isFresh()) return
    if (this.#looking === undefined) {
      const looking = this.#look().finally(() => {
        if (this.#looking === looking) this.#looking = undefined
      })
      this.#looking = looking
    }
    await this.#looking
  }

  /** As last seen. */
  passage(name: string): Passage {
    const seen = this.#seen.get(name)
    if (seen === undefined || seen.row.state === 'closed') return 'all'
    if (seen.row.state === 'half_open') return seen.row.isProbeLive ? 'none' : 'probe'
    const { probeInMs } = seen.row
    return probeInMs !== null && probeInMs <= this.#ageOf(seen) ? 'probe' : 'none'
  }

  /** As last seen; null: it is not open, or only somebody's hand ends that. */
  nextProbeAt(name: string): Date | null {
    const row = this.#seen.get(name)?.row
    return row?.state === 'open' ? row.openUntil : null
  }

  /** Throws BreakerOpen unless this run may call the service. */
  async enter(service: Service, run: Probe): Promise<void> {
    const { name } = service
    await this.#unlessFailing('look at a breaker', () => this.refresh([name]))
    if (this.#isOpenTo(name, run)) return
    if (this.passage(name) === 'probe') {
      await this.#unlessFailing('take a probe', async () => {
        if (!(await this.takeProbe([name], async () => run))) await this.refresh([name])
      })
      if (this.#isOpenTo(name, run)) return
    }
    throw this.#refusal(service)
  }

  async succeeded(service: Service, run: Probe): Promise<void> {
    const isNews = (): boolean => {
      const row = this.#seen.get(service.name)?.row
      return row !== undefined && (row.state === 'closed' ? row.failureCount > 0 : isProbe(row, run))
    }
    if (isNews()) await this.#inTurn([service.name], async () => isNews() && this.#tell(service, 'success', run))
  }

  /** A call has thrown this. */
  async failed(service: Service, run: Probe, error: unknown): Promise<void> {
    if (OURS.some((each) => error instanceof each) || !countsAgainst(service, error)) return
    // Calls that were under way when it opened say nothing new.
    await this.#inTurn(
      [service.name],
      async () => this.#isOpenTo(service.name, run) && this.#tell(service, 'failure', run),
    )
  }

  /** A call that is no job has ended: if it is still the probe, it has shown nothing, and the next one may try. */
  async ended(service: Service, run: Probe): Promise<void> {
    const isNews = () => !this.#isClosed(service.name) && this.#isOpenTo(service.name, run)
    if (isNews()) await this.#inTurn([service.name], async () => isNews() && this.#tell(service, 'end', run))
  }

  /** Makes the run that `find` comes up with the probe of these services, if they may be tried now. */
  async takeProbe(names: readonly string[], find: (tx: Session) => Promise<Probe | undefined>): Promise<boolean> {
    const { db, clock } = this.#services
    const services = names.map((name) => this.serviceOf(name))
    const changed = await this.#inTurn(names, async () => {
      if (names.some((name) => this.passage(name) !== 'probe')) return undefined
      const taken = await db.transaction((tx) => probeBreakers(tx, clock.databaseNow(), services, () => find(tx)))
      for (const each of taken ?? []) this.#changed(each)
      return taken
    })
    // Another process was faster, or nothing waits.
    if (changed === undefined) this.#lookedAtMs = Number.NEGATIVE_INFINITY
    return changed !== undefined
  }

  #isFresh(): boolean {
    // A clock that is moved by hand may have been moved.
    return this.#services.clock.databaseNow() === null && monotonicMs() - this.#lookedAtMs < FRESH_MS
  }

  #ageOf({ atMs, at }: Seen): number {
    const now = this.#services.clock.databaseNow()
    return now === null || at === null ? monotonicMs() - atMs : now.getTime() - at.getTime()
  }

  async #look(): Promise<void> {
    const { db, clock } = this.#services
    const names = [...this.#names]
    const before = new Map(names.map((name) => [name, this.#seen.get(name)]))
    const atMs = monotonicMs()
    const at = clock.databaseNow()
    const rows = new Map((await breakerLook(db, at, names)).map((row) => [row.serviceName, row]))
    this.#lookedAtMs = atMs
    for (const name of names) {
      // What this process has changed meanwhile, or is about to, it knows better.
      if (this.#turns.has(name) || this.#seen.get(name) !== before.get(name)) continue
      const row = rows.get(name)
      const state = row?.state ?? 'closed'
      const from = before.get(name)?.row.state ?? 'closed'
      if (row === undefined) this.#seen.delete(name)
      else this.#seen.set(name, { row, atMs, at })
      if (state !== from) this.#services.onChange({ service: name, state, isOwn: false })
    }
  }

  #isOpenTo(name: string, run: Probe): boolean {
    const row = this.#seen.get(name)?.row
    return this.#isClosed(name) || (row !== undefined && isProbe(row, run))
  }

  #isClosed(name: string): boolean {
    return (this.#seen.get(name)?.row.state ?? 'closed') === 'closed'
  }

  async #tell(service: Service, kind: 'success' | 'failure' | 'end', by: Probe): Promise<void> {
    const { db, clock } = this.#services
    await this.#unlessFailing('change a breaker', async () =>
      this.#changed(await db.transaction((tx) => changeBreaker(tx, clock.databaseNow(), service, { kind, by }))),
    )
  }

  #changed({ before, after }: ChangedBreaker): void {
    const { serviceName: service, state } = after
    this.#names.add(service)
    this.#seen.set(service, { row: seenAfter(after), atMs: monotonicMs(), at: this.#services.clock.databaseNow() })
    if (state !== before.state) this.#services.onChange({ service, state, isOwn: true })
  }

  async #inTurn<Result>(names: readonly string[], work: () => Promise<Result>): Promise<Result> {
    const before = names.map((name) => this.#turns.get(name))
    const mine = Promise.allSettled(before).then(work)
    for (const name of names) this.#turns.set(name, mine)
    try {
      return await mine
    } finally {
      for (const name of names) if (this.#turns.get(name) === mine) this.#turns.delete(name)
    }
  }

  /** A breaker must not make a job fail that would not without it: what cannot be known or written is told, and let be. */
  async #unlessFailing(during: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#services.onError(during, error)
    }
  }

  #refusal(service: Service): BreakerOpen {
    const seen = this.#seen.get(service.name) as Seen
    const { state, openedAt, openUntil, probeInMs } = seen.row
    const untilProbeMs =
      state === 'half_open'
        ? PROBE_WAIT_MS
        : probeInMs === null
          ? settingsOf(service, seen.row).openForMs
          : probeInMs - this.#ageOf(seen)
    const delayMs = Math.max(LEAST_WAIT_MS, Math.ceil(untilProbeMs))
    return new BreakerOpen(service.name, { openedAt, nextProbeAt: state === 'open' ? openUntil : null, delayMs })
  }
}

/** A probe that was noted just now is that of a run under way. */
function seenAfter({ now, ...row }: LockedBreaker): SeenBreaker {
  const probeInMs = row.openUntil === null ? null : row.openUntil.getTime() - now.getTime()
  return { ...row, isProbeLive: row.probe !== null, probeInMs }
}
