import type { Registry } from '../contract/registry.ts'
import { InvalidDefinition } from '../errors.ts'
import type { Schedule } from './define.ts'

/** The schedules that one program declares, by name. */
export class DeclaredSchedules {
  readonly #byName = new Map<string, Schedule>()

  constructor(schedules: Iterable<Schedule>, registry: Registry) {
    for (const schedule of schedules) {
      registry.demand(schedule.job)
      if (this.#byName.has(schedule.name)) {
        throw new InvalidDefinition(
          `Two schedules have the name "${schedule.name}". Names are unique: rename one of them.`,
        )
      }
      this.#byName.set(schedule.name, schedule)
    }
  }

  get names(): string[] {
    return [...this.#byName.keys()]
  }

  get all(): Schedule[] {
    return [...this.#byName.values()]
  }

  find(name: string): Schedule | undefined {
    return this.#byName.get(name)
  }
}
