// The way out of the village: the guarded fetch, and where the services are. Opened by `start`, which knows the sandbox.
import { createEgress, type Egress, type EgressFetch, type EgressInit } from '@millrace/egress'
import type { VillageConfig } from '../config/read.ts'
import { type Addresses, realAddresses, type Sandbox, type ServiceName, type Stand } from './services.ts'

interface Opened {
  readonly hasSandbox: boolean
  readonly egress: Egress
  readonly addresses: Addresses
}

export class Outside {
  readonly #config: VillageConfig
  #opened: Opened | undefined

  constructor(config: VillageConfig) {
    this.#config = config
  }

  open(stands: Readonly<Record<ServiceName, Stand>>, sandbox: Sandbox | undefined): void {
    if (this.#opened !== undefined) throw new Error('The way out of the village is open already.')
    const real = realAddresses(this.#config)
    const addresses = Object.fromEntries(
      Object.entries(stands).map(([name, stand]) => {
        const service = name as ServiceName
        return [name, stand === 'sandbox' && sandbox !== undefined ? sandbox.addresses[service] : real[service]]
      }),
    ) as unknown as Addresses
    const egress = createEgress({
      allow: [...this.#config.egress.allow, ...(sandbox?.allow ?? [])],
      userAgent: this.#config.feeds.userAgent,
    })
    this.#opened = { hasSandbox: sandbox !== undefined, egress, addresses }
  }

  /** For strangers' addresses and services alike: reaches no private address that is not allowed. */
  readonly fetch: EgressFetch = (input: string | URL | Request, init?: EgressInit) =>
    this.#now().egress.fetch(input, init)

  get addresses(): Addresses {
    return this.#now().addresses
  }

  /** Whether there is something behind addresses of the sandbox that the tables hold from an earlier start. */
  get hasSandbox(): boolean {
    return this.#now().hasSandbox
  }

  async close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    await opened?.egress.close()
  }

  #now(): Opened {
    if (this.#opened !== undefined) return this.#opened
    throw new Error('The village has not started yet, or has stopped: it calls no outside service.')
  }
}
