import { createMillrace } from 'millrace'
import { HealthWatch, type ShownHealth } from './health-watch.ts'
import type { Lifecycle } from './lifecycle.ts'

const ANSWER_MS = 2_000

/**
 * Whether work can be done right now, and the verdict on the whole platform. Asks on connections of its own, so that busy handlers
 * do not make it wait: one for each of the two.
 */
export class Readiness {
  readonly #lifecycle: Lifecycle
  #workObstacle: () => string | undefined = () => undefined
  #ask: (() => Promise<unknown>) | undefined
  #asking: Promise<string | undefined> | undefined
  #watch: HealthWatch | undefined

  constructor(lifecycle: Lifecycle) {
    this.#lifecycle = lifecycle
  }

  async watchDatabase(database: string, schema: string): Promise<void> {
    const probe = await this.#lifecycle.start({
      name: 'database probe',
      begin: async () => createMillrace({ database, schema, jobs: [], maxConnections: 2, notify: false }),
      end: (client) => client.close(),
    })
    // No job has this id: the cheapest question that needs the server, the schema and its rights.
    this.#ask = () => probe.job('0')
    this.#watch = new HealthWatch(probe)
  }

  /** `obstacle` says why the workers cannot work, or nothing. */
  watchWork(obstacle: () => string | undefined): void {
    this.#workObstacle = obstacle
  }

  /** Why not, or undefined. Never rejects. */
  obstacle(): Promise<string | undefined> {
    this.#asking ??= this.#look().finally(() => {
      this.#asking = undefined
    })
    return this.#asking
  }

  /** The verdict on the whole platform, as it was read last; undefined: not yet. Says nothing about this process. Never rejects. */
  async health(): Promise<ShownHealth | undefined> {
    return this.#lifecycle.phase.kind === 'stopping' ? undefined : this.#watch?.look()
  }

  async #look(): Promise<string | undefined> {
    const { phase } = this.#lifecycle
    if (phase.kind === 'starting') return `starting: ${phase.part}`
    if (phase.kind === 'stopping') return 'stopping'
    return this.#workObstacle() ?? this.#databaseObstacle()
  }

  async #databaseObstacle(): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`the database did not answer within ${ANSWER_MS / 1_000} s`)),
        ANSWER_MS,
      )
    })
    const answer = this.#ask?.()
    answer?.catch(() => {})
    try {
      await Promise.race([answer, late])
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    } finally {
      clearTimeout(timer)
    }
  }
}
