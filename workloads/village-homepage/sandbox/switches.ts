// A switch for each service: how it behaves from now on.

export const SERVICES = [
  'feeds',
  'anthropic',
  'alpha-vantage',
  'stooq',
  'nws',
  'open-meteo',
  'pagerduty',
  'slack',
  'smtp',
] as const
export type ServiceName = (typeof SERVICES)[number]

export const MODES = ['ok', 'slow', 'down', 'limited'] as const
export type Mode = (typeof MODES)[number]

export interface Setting {
  readonly mode: Mode
  /** How long a slow service takes to answer. */
  readonly delayMs: number
}

export const SLOW_MS = 8_000

export const isService = (name: string): name is ServiceName => SERVICES.some((each) => each === name)
export const isMode = (mode: unknown): mode is Mode => MODES.some((each) => each === mode)

export class Switches {
  readonly #settings = new Map<ServiceName, Setting>()

  get(service: ServiceName): Setting {
    return this.#settings.get(service) ?? { mode: 'ok', delayMs: SLOW_MS }
  }

  set(service: ServiceName, mode: Mode, { delayMs = SLOW_MS }: { delayMs?: number } = {}): void {
    this.#settings.set(service, { mode, delayMs })
  }
}
