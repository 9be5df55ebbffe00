// What people do with circuit breakers: look, reset, open by hand, and set what they go by.
import type { Clock } from '../clock.ts'
import { type Duration, toMs } from '../contract/duration.ts'
import type { Registry } from '../contract/registry.ts'
import {
  type BreakerSettings,
  checkServiceName,
  DEFAULT_BREAKER,
  resolveBreaker,
  type Service,
  type ServiceOptions,
} from '../contract/service.ts'
import { UnknownService } from '../errors.ts'
import type { Events } from '../events.ts'
import { changeBreaker } from '../governance/breaker-change.ts'
import { type BreakerEvent, CLOSED, settingsOf } from '../governance/breaker-state.ts'
import type { Logger } from '../logger.ts'
import { auditWrite } from '../store/audit.ts'
import {
  type BreakerOverrides,
  type BreakerState,
  breakerConfigure,
  breakerLock,
  breakerLook,
  type Probe,
  type SeenBreaker,
} from '../store/breakers.ts'
import type { Database } from '../store/db.ts'
import { reportBreaker } from './breaker-events.ts'
import { knownContracts } from './catalogue.ts'
import { author } from './enqueue-options.ts'
import type { Waker } from './waker.ts'

export interface Breaker {
  service: string
  state: BreakerState
  /** Failures in a row. */
  failureCount: number
  /** While half-open: tries that succeeded. */
  successCount: number
  lastFailureAt: Date | null
  openedAt: Date | null
  /** While open: when one job may try the service; null: only when somebody resets it. */
  nextProbeAt: Date | null
  halfOpenedAt: Date | null
  /** The run that tries the service now. */
  probe: Probe | null
  /** What it goes by. */
  settings: BreakerSettings
  /** Which of them were set at run time. */
  overrides: Partial<BreakerSettings>
  /** The job types that are not taken while it is open. */
  types: string[]
}

/** `by`: who decides; it is written into the audit log. */
export interface BreakerDecision {
  by: string
}

/** Null: as the code says. */
export type BreakerConfiguration = {
  [Option in keyof Omit<ServiceOptions, 'counts'>]?: ServiceOptions[Option] | null
}

interface Services {
  db: Database
  clock: Clock
  registry: Registry
  events: Events
  logger: Logger
  waker: Waker
}

export class CircuitBreakers {
  readonly #services: Services

  constructor(services: Services) {
    this.#services = services
  }

  /** Every service that contracts of this program or of a worker name, that has failed or that was set, by name. */
  async list(): Promise<Breaker[]> {
    const { db, clock } = this.#services
    const known = await knownContracts(this.#services)
    const rows = new Map((await breakerLook(db, clock.databaseNow())).map((row) => [row.serviceName, row]))
    return [...new Set([...known.services, ...rows.keys()])]
      .sort()
      .map((name) => breakerOf(name, rows.get(name), known))
  }

  /** Undefined: nobody has heard of that service. */
  async get(service: string): Promise<Breaker | undefined> {
    const { db, clock } = this.#services
    const known = await knownContracts(this.#services)
    const [row] = await breakerLook(db, clock.databaseNow(), [service])
    return row === undefined && !known.services.includes(service) ? undefined : breakerOf(service, row, known)
  }

  /** Closes it and forgets the failures. Throws UnknownService. */
  async reset(service: string, options: BreakerDecision): Promise<Breaker> {
    const by = author(options.by)
    const known = (await this.list()).map((breaker) => breaker.service)
    if (!known.includes(service)) throw new UnknownService(service, known)
    return this.#change(service, { kind: 'reset' }, { by, action: 'breaker.reset' })
  }

  /** Opens it by hand: until somebody resets it, or until one job may try the service after `for`. */
  async trip(service: string, options: BreakerDecision & { for?: Duration }): Promise<Breaker> {
    const by = author(options.by)
    const forMs = options.for === undefined ? null : toMs(options.for, 'trip({ for })')
    return this.#change(
      checkServiceName(service),
      { kind: 'trip', forMs },
      { by, action: 'breaker.trip', details: { forMs } },
    )
  }

  /** Sets at run time what it goes by, for all workers; an opening that is under way keeps its end. */
  async configure(service: string, { by: name, ...options }: BreakerDecision & BreakerConfiguration): Promise<Breaker> {
    const by = author(name)
    checkServiceName(service)
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value != null))
    const set = resolveBreaker(service, given)
    const { db, clock } = this.#services
    await db.transaction(async (tx) => {
      const now = clock.databaseNow()
      const row = await breakerLock(tx, now, service)
      const overrides: BreakerOverrides = {
        failures: options.failures === null ? null : (set.failures ?? row.failures),
        openForMs: options.openFor === null ? null : (set.openForMs ?? row.openForMs),
        successes: options.successes === null ? null : (set.successes ?? row.successes),
      }
      await breakerConfigure(tx, now, service, overrides)
      await auditWrite(tx, now, { by, action: 'breaker.configure', target: service, details: overrides })
    })
    return (await this.get(service)) as Breaker
  }

  async #change(
    service: string,
    event: BreakerEvent,
    audit: { by: string; action: string; details?: unknown },
  ): Promise<Breaker> {
    const { db, clock, waker } = this.#services
    const known = await knownContracts(this.#services)
    const { before, after } = await db.transaction(async (tx) => {
      const now = clock.databaseNow()
      const changed = await changeBreaker(tx, now, definitionOf(service, known), event)
      await auditWrite(tx, now, { ...audit, target: service })
      return changed
    })
    if (after.state !== before.state) reportBreaker(this.#services, { service, state: after.state, isOwn: true })
    if (after.state === 'closed') waker.wake(new Set(known.dependants(service).map(({ queue }) => queue.name)))
    return (await this.get(service)) as Breaker
  }
}

const definitionOf = (service: string, known: Registry): Service =>
  known.service(service) ?? { name: service, ...DEFAULT_BREAKER, counts: undefined }

function breakerOf(service: string, row: SeenBreaker | undefined, known: Registry): Breaker {
  const { state, failureCount, successCount, lastFailureAt, openedAt, openUntil, halfOpenedAt, probe } = row ?? CLOSED
  const { failures = null, openForMs = null, successes = null } = row ?? {}
  const set = Object.entries({ failures, openForMs, successes }).filter(([, value]) => value !== null)
  return {
    service,
    state,
    failureCount,
    successCount,
    lastFailureAt,
    openedAt,
    nextProbeAt: state === 'open' ? openUntil : null,
    halfOpenedAt: state === 'half_open' ? halfOpenedAt : null,
    probe: row?.isProbeLive && state === 'half_open' ? probe : null,
    settings: settingsOf(definitionOf(service, known), row),
    overrides: Object.fromEntries(set),
    types: known.dependants(service).map(({ type }) => type),
  }
}
