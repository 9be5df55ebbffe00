// The metrics of one process: what the engine's events tell, what the database knows, and what the program itself measures.
import { InvalidDefinition, type Millrace, type Worker } from 'millrace'
import { Registry } from 'prom-client'
import type { DefinedMetric } from './definitions.ts'
import { type Page, pageOf } from './exposition.ts'
import { type Family, merged, type Snapshot } from './family.ts'
import { JobCounts } from './job-counts.ts'
import { jobFamilies } from './job-families.ts'
import { ProcessCounts } from './process-families.ts'
import { registeredFamilies } from './registered.ts'
import { sharedFamilies } from './shared-families.ts'
import { SharedReading } from './shared-reading.ts'
import { TenantLabels } from './tenant-labels.ts'

export interface MetricsOptions {
  /** Metrics of the program's own. */
  readonly metrics?: readonly DefinedMetric[]
  /** So many tenants have a label of their own; the rest are 'other'. At most 50, which is the default. */
  readonly maxTenants?: number
  /** The number of this process under a supervisor: a label of what only one process has, such as its memory. */
  readonly process?: string
}

const MAX_TENANTS = 50

/** Counts from now on. `stop` it before the client is closed. */
export function createMetrics(millrace: Millrace, options: MetricsOptions = {}): Metrics {
  return new Metrics(millrace, options)
}

export class Metrics {
  /** Any metric of prom-client can be registered here, too. */
  readonly registry = new Registry()
  readonly #titles: ReadonlyMap<string, string>
  readonly #maxTenants: number
  readonly #jobs: JobCounts
  readonly #process: ProcessCounts
  readonly #shared: SharedReading
  readonly #stops: (() => void)[]

  constructor(millrace: Millrace, { metrics = [], maxTenants = MAX_TENANTS, process = '' }: MetricsOptions) {
    const contracts = millrace.contracts()
    this.#maxTenants = Math.min(maxTenants, MAX_TENANTS)
    this.#titles = new Map(contracts.map(({ queue }) => [queue.name, queue.facts.title ?? queue.name]))
    this.#jobs = new JobCounts(new TenantLabels(this.#maxTenants))
    for (const { queue, type } of contracts) this.#jobs.expect(queue.name, type)
    this.#process = new ProcessCounts(process)
    this.#shared = new SharedReading(millrace, () => this.#process.readLoop())
    this.#stops = [this.#jobs.listen(millrace.events), this.#process.listen(millrace.events)]
    this.#register(metrics)
    this.#shared.start()
  }

  /** Exports slots, memory and heartbeat of a worker of this process. */
  watch(worker: Worker): void {
    this.#process.watch(worker)
  }

  /** All metrics of this process, as plain data. */
  async snapshot(): Promise<Snapshot> {
    this.#shared.scraped()
    return merged([[...this.#own(), ...(await registeredFamilies(this.registry))]])
  }

  /** What to answer a scrape. `accept`: its header, by which it has OpenMetrics or Prometheus' older format. */
  async page(accept?: string): Promise<Page> {
    return pageOf(await this.snapshot(), accept)
  }

  /** Reads what only the database knows, if no other process does. It happens by itself every 15 s. */
  refresh(): Promise<void> {
    return this.#shared.refresh()
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) stop()
    await this.#shared.stop()
  }

  #own(): Family[] {
    const reading = this.#shared.current
    const title = (queue: string) => this.#titles.get(queue) ?? reading?.titles.get(queue) ?? queue
    return [
      ...jobFamilies(this.#jobs, title),
      ...sharedFamilies(reading, title, this.#maxTenants),
      ...this.#process.families(),
    ]
  }

  #register(metrics: readonly DefinedMetric[]): void {
    const taken = new Set(this.#own().map(({ name }) => name))
    for (const { name, metric } of metrics) {
      if (taken.has(name))
        throw new InvalidDefinition(`The metric "${name}" cannot be defined: the name is in use. Choose another name.`)
      taken.add(name)
      this.registry.registerMetric(metric)
    }
  }
}
