// What shops and their customers do while the demo runs: some jobs a second, more than their share of the noisy shop.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Millrace } from 'millrace'
import { PROFILES, type Profile } from './profiles.ts'
import { cumulate, weighted } from './random.ts'
import { NOISY, SHOPS, SUSPENDED } from './shops.ts'

const JOBS_A_SECOND = 4

const types = cumulate(PROFILES.map(({ share }) => share))
const shops = cumulate(SHOPS.map(({ name, size }) => (name === SUSPENDED ? 0 : size)))

export class Traffic {
  readonly #millrace: Millrace
  readonly #stopping = new AbortController()
  readonly #done: Promise<void>

  constructor(millrace: Millrace) {
    this.#millrace = millrace
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#done
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      // A database that is away for a moment must not end the demo: the worker logs it.
      await this.#enqueueOne().catch(() => {})
      await sleep(1_000 / JOBS_A_SECOND, undefined, { signal }).catch(() => {})
    }
  }

  async #enqueueOne(): Promise<void> {
    const { contract, hasTenant, isNoisy, payload } = PROFILES[weighted(Math.random, types)] as Profile
    const shop = isNoisy ? NOISY : (SHOPS[weighted(Math.random, shops)] as { name: string }).name
    const options = hasTenant ? { tenant: shop } : {}
    await this.#millrace.enqueueByType(contract.type, payload(Math.random, shop), { ...options, createdBy: 'web' })
  }
}
