// The isolated handlers of a worker: a pool for each type.
import type { ClientConfig } from 'pg'
import type { Clock } from '../../clock.ts'
import type { Logger } from '../../logger.ts'
import type { Implementation } from '../context.ts'
import type { Run } from '../run.ts'
import type { IsolatedHandler } from './isolated-run.ts'
import { DEFAULT_MEMORY_MB, DEFAULT_WARM } from './isolation.ts'
import { IsolatedPool } from './pool.ts'

const IDLE_MS = 30_000
const MAX_RUNS = 500

export interface PoolsSettings {
  implementations: readonly Implementation[]
  connection: ClientConfig
  schema: string
  tenantRole?: string | undefined
}

export class IsolatedPools {
  readonly #pools = new Map<string, IsolatedPool>()
  readonly #clock: Clock

  constructor(settings: PoolsSettings, services: { logger: Logger; clock: Clock }) {
    this.#clock = services.clock
    const { connection, schema, tenantRole } = settings
    for (const { contract, handler } of settings.implementations) {
      if (typeof handler === 'function') continue
      const { module, memoryMb = DEFAULT_MEMORY_MB, warm = DEFAULT_WARM } = handler
      const pool = { type: contract.type, module, memoryMb, warm, idleMs: IDLE_MS, maxRuns: MAX_RUNS }
      this.#pools.set(contract.type, new IsolatedPool({ ...pool, connection, schema, tenantRole }, services.logger))
    }
  }

  async start(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.start()))
  }

  handlerFor(run: Run): Promise<IsolatedHandler> {
    const pool = this.#pools.get(run.job.type) as IsolatedPool
    return pool.handlerFor(run, this.#clock)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()))
  }
}
