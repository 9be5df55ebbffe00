// Watches whether this worker has more to do than it can, so that critical queues go first.
//
// Looks every few seconds, in workers with a lane that serves critical queues beside others; it asks the database only about
// critical queues with an `sla` in which work waits. Too much of one thing is an overload; it is over when
// nothing has been above half of what is allowed for three looks in a row, so that it does not come and go.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Ticker } from '../maintenance/loop.ts'

export interface OverloadLimits {
  /** How late the event loop may be on average. */
  loopLagMs: number
  /** How long a claim may take on average. */
  claimMs: number
  checkIntervalMs: number
}

/** One thing that is measured. */
export interface Strain {
  /** Of what is allowed: above 1 is too much. */
  readonly share: number
  /** For people: "claims take 1.4 s". */
  readonly why: string
}

export interface OverloadServices {
  measure(): Promise<readonly Strain[]>
  /** It has begun, or is over. `why`: how it began. */
  onChange(why: string, isOverloaded: boolean): void
}

const CALM = 0.5
const CALM_LOOKS = 3

export class Overload implements Ticker<boolean> {
  readonly name = 'overload check'
  readonly #services: OverloadServices
  readonly #intervalMs: number
  #why: string | undefined
  #calmLooks = 0

  constructor(intervalMs: number, services: OverloadServices) {
    this.#intervalMs = intervalMs
    this.#services = services
  }

  get isOverloaded(): boolean {
    return this.#why !== undefined
  }

  async tick(): Promise<boolean> {
    const strains = await this.#services.measure()
    const worst = strains.reduce<Strain>((most, each) => (each.share > most.share ? each : most), NONE)
    if (this.#why === undefined) this.#begin(worst)
    else this.#endIfCalm(this.#why, worst)
    return this.isOverloaded
  }

  delayAfter(): number {
    return this.#intervalMs
  }

  #begin({ share, why }: Strain): void {
    if (share <= 1) return
    this.#why = why
    this.#calmLooks = 0
    this.#services.onChange(why, true)
  }

  #endIfCalm(why: string, { share }: Strain): void {
    this.#calmLooks = share < CALM ? this.#calmLooks + 1 : 0
    if (this.#calmLooks < CALM_LOOKS) return
    this.#why = undefined
    this.#services.onChange(why, false)
  }
}

const NONE: Strain = { share: 0, why: '' }
const RESOLUTION_MS = 20

/** What a process can tell about itself since it was last asked. */
export class OwnStrain {
  readonly #limits: OverloadLimits
  readonly #delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  #claims = 0
  #claimsMs = 0

  constructor(limits: OverloadLimits) {
    this.#limits = limits
    this.#delays.enable()
  }

  claimTook(ms: number): void {
    this.#claims++
    this.#claimsMs += ms
  }

  read(): Strain[] {
    const meanMs = this.#delays.mean / 1e6
    const lagMs = Number.isFinite(meanMs) ? Math.max(0, meanMs - RESOLUTION_MS) : 0
    const claimMs = this.#claims === 0 ? 0 : this.#claimsMs / this.#claims
    this.#delays.reset()
    this.#claims = 0
    this.#claimsMs = 0
    return [
      { share: lagMs / this.#limits.loopLagMs, why: `the event loop is ${Math.round(lagMs)} ms late on average` },
      { share: claimMs / this.#limits.claimMs, why: `a claim takes ${Math.round(claimMs)} ms on average` },
    ]
  }

  close(): void {
    this.#delays.disable()
  }
}
