// What operators ask of this worker: to take no more jobs, or to stop. It hears of it with its heartbeat.
import type { Events } from '../events.ts'
import type { Logger } from '../logger.ts'
import type { WorkerRequest } from '../store/workers.ts'

export interface RequestServices {
  events: Events
  logger: Logger
  workerId(): string
  /** Gives back what has not started. */
  returnUnstarted(why: string): void
  /** Claims begin again. */
  wake(): void
  stop(): Promise<void>
}

const WORDS = {
  quiet: {
    told: 'this worker takes no more jobs, as an operator asked',
    why: 'an operator asked its worker to take no more jobs',
  },
  stop: { told: 'this worker stops, as an operator asked', why: 'an operator asked its worker to stop' },
}

export class Requests {
  readonly #services: RequestServices
  #current: WorkerRequest | null = null

  constructor(services: RequestServices) {
    this.#services = services
  }

  /** Null: nothing is asked. */
  get current(): WorkerRequest | null {
    return this.#current
  }

  heard(request: WorkerRequest | null): void {
    const { events, logger, workerId, returnUnstarted, wake, stop } = this.#services
    // A stop cannot be taken back: it is under way.
    if (this.#current?.kind === 'stop' || isSame(request, this.#current)) return
    this.#current = request
    if (request === null) {
      logger.info({ worker: workerId() }, 'this worker takes jobs again')
      wake()
    } else {
      const { kind, by, reason } = request
      const { told, why } = WORDS[kind]
      logger.warn({ worker: workerId(), by, reason }, told)
      returnUnstarted(why)
    }
    events.emit('worker_asked', { workerId: workerId(), request })
    if (request?.kind === 'stop') void stop()
  }
}

const isSame = (a: WorkerRequest | null, b: WorkerRequest | null): boolean =>
  a?.kind === b?.kind && a?.by === b?.by && a?.reason === b?.reason
