import type { StepDefinition } from './definition.ts'

/**
 * Steps in order, found by name. Never changes: `with` gives a new list, which shares what is the same. So adding one costs
 * the same however many there are, unless two lists continue the same one.
 */
export class StepList {
  readonly #shared: StepDefinition[]
  readonly #places: Map<string, number>
  readonly #length: number
  #all: readonly StepDefinition[] | undefined

  constructor(steps: StepDefinition[] = [], places = new Map(steps.map(({ name }, place) => [name, place]))) {
    this.#shared = steps
    this.#places = places
    this.#length = steps.length
  }

  get all(): readonly StepDefinition[] {
    this.#all ??= this.#shared.slice(0, this.#length)
    return this.#all
  }

  get(name: string): StepDefinition | undefined {
    const place = this.#places.get(name)
    return place !== undefined && place < this.#length ? this.#shared[place] : undefined
  }

  with(step: StepDefinition): StepList {
    const isContinued = this.#shared.length > this.#length
    if (isContinued) return new StepList([...this.all, step])
    this.#places.set(step.name, this.#length)
    this.#shared.push(step)
    return new StepList(this.#shared, this.#places)
  }
}
