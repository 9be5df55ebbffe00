// ctx.step: parts of a handler that a later run of the same job does not repeat.
//
// A step is a key of ctx.once that belongs to one job. Its record is there for every run of that job, and for the job that
// takes its place when its dead letter is redriven. It goes when nothing knows of the job any more.
import { InvalidDefinition } from '../errors.ts'
import type { Once, OnceCaller, OnceWork } from './once.ts'

export class Steps {
  readonly #once: Once
  /** By run: the names in use. */
  readonly #names = new WeakMap<object, Set<string>>()

  constructor(once: Once) {
    this.#once = once
  }

  /** Throws InvalidDefinition when the run has a step of that name already. One that failed may be tried again. */
  async run<Value>(run: object, caller: OnceCaller, step: OnceWork<Value>): Promise<Value> {
    const names = this.#names.get(run) ?? new Set()
    this.#names.set(run, names)
    const { key: name } = step
    if (names.has(name)) {
      throw new InvalidDefinition(
        `The handler of job "${caller.type}" has two steps "${name}": the second would get the result of the first. Give every step a name of its own; in a loop, one with the position or id in it.`,
      )
    }
    names.add(name)
    try {
      return await this.#once.run(caller, { ...step, isStep: true })
    } catch (error) {
      names.delete(name)
      throw error
    }
  }
}
