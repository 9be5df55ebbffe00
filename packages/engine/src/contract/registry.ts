import { suggestion } from '../did-you-mean.ts'
import { InvalidDefinition, UnknownJobType } from '../errors.ts'
import type { Budget } from './budget.ts'
import type { JobContract, Retention } from './job.ts'
import type { KeyRing } from './key-ring.ts'
import type { ResolvedRedrive } from './redrive.ts'
import { type Service, serviceName } from './service.ts'

/** The contracts one program knows, by type, and the keys of what is sensitive in their jobs. */
export class Registry {
  readonly #contracts = new Map<string, JobContract>()
  readonly #budgets = new Map<string, Budget>()
  readonly #services = new Map<string, Service>()
  readonly keys: KeyRing | undefined

  constructor(contracts: Iterable<JobContract>, keys?: KeyRing) {
    this.keys = keys
    for (const contract of contracts) {
      const other = this.#contracts.get(contract.type)
      if (other !== undefined && other !== contract) {
        throw new InvalidDefinition(
          `Two contracts have the type "${contract.type}". Types are unique: rename one of them.`,
        )
      }
      this.#contracts.set(contract.type, contract)
      if (contract.budget !== undefined) this.#addBudget(contract.budget)
      for (const service of contract.services) if (typeof service !== 'string') this.#addService(service)
    }
  }

  #addService(service: Service): void {
    const other = this.#services.get(service.name) ?? service
    if (other !== service) {
      throw new InvalidDefinition(
        `Two contracts define service "${service.name}", each for itself. Define it once and import it, or name it as text.`,
      )
    }
    this.#services.set(service.name, service)
  }

  /** The services that contracts depend on, by name. */
  get services(): string[] {
    return [...new Set([...this.#contracts.values()].flatMap(({ services }) => services.map(serviceName)))].sort()
  }

  /** With settings of its own; undefined: none of the contracts gives it any. */
  service(name: string): Service | undefined {
    return this.#services.get(name)
  }

  /** The contracts that depend on this service. */
  dependants(service: string): JobContract[] {
    return [...this.#contracts.values()].filter(({ services }) =>
      services.some((each) => serviceName(each) === service),
    )
  }

  get types(): string[] {
    return [...this.#contracts.keys()]
  }

  get contracts(): JobContract[] {
    return [...this.#contracts.values()]
  }

  get queues(): string[] {
    return [...new Set(this.contracts.map(({ queue }) => queue.name))]
  }

  demandQueue(name: string): void {
    if (this.queues.includes(name)) return
    throw new InvalidDefinition(
      `There is no queue "${name}".${suggestion(name, this.queues)} List a contract of it in createMillrace({ jobs }), or start a worker that declares it.`,
    )
  }

  /** Types whose history is kept for another time than a week. */
  get retentions(): { type: string; retention: Retention }[] {
    return [...this.#contracts.values()].filter(({ retention }) => retention !== 'standard')
  }

  /** Types of which every transition is kept. */
  get historic(): string[] {
    return this.contracts.filter(({ history }) => history === 'full').map(({ type }) => type)
  }

  /** Types whose dead letters go back to work by themselves. */
  get redrives(): { type: string; redrive: ResolvedRedrive }[] {
    return [...this.#contracts.values()].flatMap(({ type, redrive }) =>
      redrive === undefined ? [] : { type, redrive },
    )
  }

  get budgets(): Budget[] {
    return [...this.#budgets.values()]
  }

  findBudget(name: string): Budget | undefined {
    return this.#budgets.get(name)
  }

  find(type: string): JobContract | undefined {
    return this.#contracts.get(type)
  }

  get(type: string): JobContract {
    const contract = this.#contracts.get(type)
    if (contract === undefined) throw new UnknownJobType(type, this.types)
    return contract
  }

  /** Refuses a contract that was declared but never listed: it would be enqueued and nobody would run it. */
  demand(contract: JobContract): void {
    if (this.#contracts.get(contract.type) !== contract) throw new UnknownJobType(contract.type, this.types)
  }

  #addBudget(budget: Budget): void {
    const other = this.#budgets.get(budget.name)
    if (other !== undefined && other !== budget) {
      throw new InvalidDefinition(
        `Two budgets have the name "${budget.name}". Declare it once and name that one in every contract.`,
      )
    }
    this.#budgets.set(budget.name, budget)
  }
}
