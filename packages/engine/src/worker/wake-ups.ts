// What tells a worker that there may be something to do: whoever is in the same process, the messages its pulse hears, and a
// clock that is moved by hand.
import { SYSTEM_QUEUE } from '../client/system-job.ts'
import type { Waker } from '../client/waker.ts'
import type { Clock } from '../clock.ts'
import type { Events } from '../events.ts'
import type { Admitter } from '../governance/admitter.ts'
import type { Governor } from '../governance/governor.ts'
import type { Loop } from '../maintenance/loop.ts'
import type { Position } from '../store/job-claims.ts'
import type { Advancer } from '../workflow/advancer.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Fetcher } from './fetcher.ts'

export interface WakeUpServices {
  clock: Clock
  events: Events
  waker: Waker
  admitter: Admitter
  advancer: Advancer
  governor: Governor
  dispatcher: Dispatcher
  fetcher: Fetcher
  scheduler: Loop<unknown>
  system: Loop<unknown>
  onError(during: string, error: unknown): void
}

export class WakeUps {
  readonly #services: WakeUpServices
  #isListenTrusted = false
  #ends: (() => void)[] = []
  #isReadingRules = false
  #areRulesStale = false

  constructor(services: WakeUpServices) {
    this.#services = services
  }

  /** Messages arrive; otherwise whoever cannot be told has to look. */
  get isListenTrusted(): boolean {
    return this.#isListenTrusted
  }

  /** From now on this process is listened to. */
  start(): void {
    const { clock, waker } = this.#services
    const offClock = clock.onMoved?.(() => this.#clockMoved())
    this.#ends = [
      waker.onLocal((queue, jobs) => this.work(queue, jobs)),
      waker.onRules(() => this.rules()),
      waker.onSchedules(() => this.schedules()),
      ...(offClock === undefined ? [] : [offClock]),
    ]
  }

  stop(): void {
    for (const end of this.#ends.splice(0)) end()
  }

  /** There may be work in this queue. `returned`: jobs that may stand before what was claimed from it last. */
  work(queue: string, returned: readonly Position[] = []): void {
    const { fetcher, governor, system } = this.#services
    if (queue === SYSTEM_QUEUE) system.wake()
    fetcher.goBackTo(queue, returned)
    governor.goBackTo(queue, returned)
    fetcher.wake(queue)
  }

  /** Schedules were changed. */
  schedules(): void {
    this.#services.scheduler.wake()
  }

  /**
   * Somebody changed tenants, pauses or limits: runs of tenants that may not run are stopped, and claims begin anew. One
   * reading at a time; what is said meanwhile makes it read once more.
   */
  rules(): void {
    this.#areRulesStale = true
    if (!this.#isReadingRules) void this.#readRules()
  }

  async #readRules(): Promise<void> {
    this.#isReadingRules = true
    while (this.#areRulesStale) {
      this.#areRulesStale = false
      await this.#applyRules().catch((error: unknown) => this.#services.onError('read the rules', error))
    }
    this.#isReadingRules = false
  }

  async #applyRules(): Promise<void> {
    const { governor, dispatcher, fetcher } = this.#services
    await governor.refresh()
    for (const run of dispatcher.runs) {
      const suspended = governor.suspension(run.job.tenant)
      if (suspended !== undefined) run.abort(suspended)
    }
    fetcher.wake()
  }

  /** Messages arrive from now on, or no longer. */
  listening(isTrusted: boolean): void {
    const { events, fetcher, scheduler, system } = this.#services
    this.#isListenTrusted = isTrusted
    events.emit('listen_trusted', { isTrusted })
    // Whatever was said while nobody listened is lost: look once.
    fetcher.wake()
    scheduler.wake()
    system.wake()
  }

  /** What was to wait for its time may be due now. */
  #clockMoved(): void {
    const { admitter, advancer, fetcher, scheduler, onError } = this.#services
    fetcher.wake()
    scheduler.wake()
    if (advancer.isNeeded) advancer.sweep().catch((error: unknown) => onError('workflows', error))
    if (admitter.isSweepNeeded) admitter.sweep().catch((error: unknown) => onError('admission', error))
  }
}
