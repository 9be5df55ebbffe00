import { reportBreaker } from '../client/breaker-events.ts'
import type { ClientServices } from '../client-services.ts'
import { Breakers } from '../governance/breakers.ts'

/** The breakers as runs in a test's own process know them: those of the database. */
export function inlineBreakers(services: ClientServices): Breakers {
  const { db, clock, events, registry } = services
  return new Breakers({
    db,
    clock,
    definition: (name) => registry.service(name),
    onChange: (change) => reportBreaker(services, change),
    onError: (during, error) => events.emit('database_error', { during, error }),
  })
}
