// millrace.breaker: calls of a program outside of handlers, through the breakers that all workers share.
//
// A call is no job, so no row tells whether its process still lives. If it is the probe, it is that until it ends, and for
// CALL_PROBE_MS at most: then the next call or job tries.
import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { Registry } from '../contract/registry.ts'
import { checkServiceName, type Service, serviceName } from '../contract/service.ts'
import type { Events } from '../events.ts'
import { type BreakerCallOptions, callThrough, type Door } from '../governance/breaker-call.ts'
import { Breakers } from '../governance/breakers.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../store/db.ts'
import { reportBreaker } from './breaker-events.ts'
import type { Waker } from './waker.ts'

interface Services {
  db: Database
  clock: Clock
  registry: Registry
  events: Events
  logger: Logger
  waker: Waker
}

export class BreakerCalls {
  readonly #breakers: Breakers

  constructor(services: Services) {
    const { db, clock, registry, events, waker } = services
    this.#breakers = new Breakers({
      db,
      clock,
      definition: (name) => registry.service(name),
      onChange: (change) => {
        // Workers report the changes of others.
        if (!change.isOwn) return
        reportBreaker(services, change)
        if (change.state === 'closed')
          waker.wake(new Set(registry.dependants(change.service).map(({ queue }) => queue.name)))
      },
      onError: (during, error) => events.emit('database_error', { during, error }),
    })
  }

  async call<Value>(
    service: Service | string,
    call: () => Value | Promise<Value>,
    options?: BreakerCallOptions<Value>,
  ): Promise<Value> {
    return callThrough(this.#door(service), call, options)
  }

  #door(given: Service | string): Door {
    checkServiceName(serviceName(given))
    const breakers = this.#breakers
    const service = breakers.serviceOf(given)
    const by = { jobId: null, runId: randomUUID() }
    return {
      enter: () => breakers.enter(service, by),
      succeeded: () => breakers.succeeded(service, by),
      failed: async (error) => {
        await breakers.failed(service, by, error)
        await breakers.ended(service, by)
      },
    }
  }
}
