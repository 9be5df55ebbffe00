// A switch for each service: how it behaves from now on.

export const MODES = ['ok', 'slow', 'down', 'limited'] as const
export type Mode = (typeof MODES)[number]

export interface Setting {
  readonly mode: Mode
  /** How long a slow service takes to answer. */
  readonly delayMs: number
}

export const SLOW_MS = 8_000

export const isMode = (mode: unknown): mode is Mode => MODES.some((each) => each === mode)

export class Switches<Name extends string> {
  readonly #settings = new Map<Name, Setting>()

  get(service: Name): Setting {
    return this.#settings.get(service) ?? { mode: 'ok', delayMs: SLOW_MS }
  }

  set(service: Name, mode: Mode, { delayMs = SLOW_MS }: { delayMs?: number } = {}): void {
    this.#settings.set(service, { mode, delayMs })
  }
}
