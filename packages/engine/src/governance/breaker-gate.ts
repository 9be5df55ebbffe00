// Which job types may be claimed, as far as the services go that their contracts depend on.
import type { JobContract } from '../contract/job.ts'
import { serviceName } from '../contract/service.ts'
import type { Probe } from '../store/breakers.ts'
import type { Session } from '../store/db.ts'
import type { Breakers } from './breakers.ts'

/** Types of which one job may run, to try these services. */
export interface ProbeChance<Type> {
  readonly services: readonly string[]
  readonly types: readonly Type[]
}

export interface Admitted<Type> {
  readonly types: readonly Type[]
  readonly chances: readonly ProbeChance<Type>[]
}

export class BreakerGate {
  readonly #breakers: Breakers
  readonly #servicesOf: ReadonlyMap<string, readonly string[]>
  readonly #services: readonly string[]

  constructor(breakers: Breakers, contracts: readonly JobContract[]) {
    this.#breakers = breakers
    const dependent = contracts.filter(({ services }) => services.length > 0)
    this.#servicesOf = new Map(dependent.map(({ type, services }) => [type, services.map(serviceName)]))
    this.#services = [...new Set([...this.#servicesOf.values()].flat())]
  }

  /** Without services nothing is ever asked. */
  async admit<Type extends { readonly type: string }>(types: readonly Type[]): Promise<Admitted<Type>> {
    if (this.#services.length === 0) return { types, chances: [] }
    await this.#breakers.refresh(this.#services)
    const held = this.#services.filter((name) => this.#breakers.passage(name) !== 'all')
    if (held.length === 0) return { types, chances: [] }
    const holding = (type: Type) => (this.#servicesOf.get(type.type) ?? []).filter((name) => held.includes(name))
    const chances = new Map<string, { services: string[]; types: Type[] }>()
    for (const type of types) {
      const services = holding(type)
      if (services.length === 0 || services.some((name) => this.#breakers.passage(name) === 'none')) continue
      const key = services.sort().join('\n')
      const chance = chances.get(key) ?? { services, types: [] }
      chance.types.push(type)
      chances.set(key, chance)
    }
    return { types: types.filter((type) => holding(type).length === 0), chances: [...chances.values()] }
  }

  /** When the first of these services may be tried that cannot be tried yet, as last seen. */
  get nextProbeAt(): Date | null {
    const times = this.#services.flatMap((name) => this.#breakers.nextProbeAt(name) ?? [])
    return times.sort((a, b) => a.getTime() - b.getTime())[0] ?? null
  }

  /** Inside the transaction that gives out the probe, `claim` takes a job. */
  takeProbe(services: readonly string[], claim: (tx: Session) => Promise<Probe | undefined>): Promise<boolean> {
    return this.#breakers.takeProbe(services, claim)
  }
}
