import type { Events } from '../events.ts'
import type { BreakerChange } from '../governance/breakers.ts'
import type { Logger } from '../logger.ts'

const events = { open: 'breaker_opened', half_open: 'breaker_half_opened', closed: 'breaker_closed' } as const

const told = {
  open: 'a circuit breaker opened: the service is not called',
  half_open: 'a circuit breaker is half-open: one job tries the service',
  closed: 'a circuit breaker closed: the service is called again',
} as const

/** Tells listeners and the log that a breaker has changed. */
export function reportBreaker(services: { events: Events; logger: Logger }, change: BreakerChange): void {
  const { service, state, isOwn } = change
  services.events.emit(events[state], { service, isOwn })
  services.logger[state === 'open' ? 'warn' : 'info']({ service, isOwn }, told[state])
}
