import { reportBreaker } from '../client/breaker-events.ts'
import { Breakers } from '../governance/breakers.ts'
import type { ClientServices } from '../millrace.ts'

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
