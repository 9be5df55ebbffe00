// A service that handlers call, and when its circuit breaker opens and closes.
import { InvalidDefinition, Unrecoverable } from '../errors.ts'
import { type Duration, toMs } from './duration.ts'

export interface ServiceOptions {
  /** So many failures in a row open the breaker. Default 5. */
  failures?: number
  /** How long it stays open before one run may try the service. Default 60 s. */
  openFor?: Duration
  /** So many successful tries in a row close it again. Default 1. */
  successes?: number
  /** Whether an error says that the service is unwell. Default: all but Unrecoverable. */
  counts?: (error: unknown) => boolean
}

/** What a breaker goes by. */
export interface BreakerSettings {
  readonly failures: number
  readonly openForMs: number
  readonly successes: number
}

export interface Service extends BreakerSettings {
  readonly name: string
  readonly counts: ((error: unknown) => boolean) | undefined
}

export const DEFAULT_BREAKER: BreakerSettings = { failures: 5, openForMs: 60_000, successes: 1 }

const NAME = /^[\w.:/-]{1,100}$/
const LEAST_OPEN_MS = 100
const MOST = 1_000_000

/** Declares a service with settings of its own. A plain name does where the defaults do. */
export function defineService(name: string, options: ServiceOptions = {}): Service {
  const settings = resolveBreaker(checkServiceName(name), options)
  return { name, ...DEFAULT_BREAKER, ...settings, counts: options.counts }
}

/** Only what was given, checked. */
export function resolveBreaker(name: string, options: Omit<ServiceOptions, 'counts'>): Partial<BreakerSettings> {
  const { failures, openFor, successes } = options
  return {
    ...(failures !== undefined && { failures: checkCount(name, 'failures', failures) }),
    ...(openFor !== undefined && { openForMs: checkOpenFor(name, openFor) }),
    ...(successes !== undefined && { successes: checkCount(name, 'successes', successes) }),
  }
}

export function checkServiceName(name: string): string {
  if (typeof name === 'string' && NAME.test(name)) return name
  throw new InvalidDefinition(
    `Service name ${JSON.stringify(name)} is not usable: expected 1–100 letters, digits or "_ . : / -".`,
  )
}

export const serviceName = (service: Service | string): string => (typeof service === 'string' ? service : service.name)

/** What the contract of a job says about the services it needs, checked. */
export function checkServices(type: string, services: readonly (Service | string)[]): readonly (Service | string)[] {
  const names = services.map((service) => checkServiceName(serviceName(service)))
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw new InvalidDefinition(`Job "${type}" names service "${twice}" twice in services.`)
  return services
}

/** Did the service fail, as far as this error tells? */
export function countsAgainst({ counts }: Pick<Service, 'counts'>, error: unknown): boolean {
  return counts === undefined ? !(error instanceof Unrecoverable) : counts(error)
}

function checkCount(name: string, option: string, value: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= MOST) return value
  throw new InvalidDefinition(`Service "${name}" has ${option} ${value}: expected an integer from 1 to ${MOST}.`)
}

function checkOpenFor(name: string, openFor: Duration): number {
  const ms = toMs(openFor, `Service "${name}": openFor`)
  if (ms >= LEAST_OPEN_MS) return ms
  throw new InvalidDefinition(`Service "${name}" is open for ${ms} ms: ${LEAST_OPEN_MS} ms is the least.`)
}
