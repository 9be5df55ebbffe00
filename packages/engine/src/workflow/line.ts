// Does something for each of many ids: a few at a time, and never twice at once for the same one.

interface Place {
  done: Promise<void>
  isDone(): void
}

export class Line {
  readonly #atOnce: number
  readonly #work: (id: string) => Promise<void>
  readonly #waiting = new Map<string, Place>()
  readonly #active = new Map<string, Place>()

  /** `work` never fails. */
  constructor(atOnce: number, work: (id: string) => Promise<void>) {
    this.#atOnce = atOnce
    this.#work = work
  }

  /** Resolves when each of them was done, begun after this. */
  async add(ids: Iterable<string>): Promise<void> {
    const places = [...ids].map((id) => this.#placeOf(id))
    this.#goOn()
    await Promise.all(places.map(({ done }) => done))
  }

  /** Resolves when nothing is left. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await Promise.all([...this.#active.values()].map(({ done }) => done))
  }

  #placeOf(id: string): Place {
    let place = this.#waiting.get(id)
    if (place === undefined) {
      let isDone = () => {}
      const done = new Promise<void>((resolve) => {
        isDone = resolve
      })
      place = { done, isDone }
      this.#waiting.set(id, place)
    }
    return place
  }

  #goOn(): void {
    for (const [id, place] of this.#waiting) {
      if (this.#active.size >= this.#atOnce) return
      if (this.#active.has(id)) continue
      this.#waiting.delete(id)
      this.#active.set(id, place)
      void this.#do(id, place)
    }
  }

  async #do(id: string, place: Place): Promise<void> {
    await this.#work(id)
    this.#active.delete(id)
    this.#goOn()
    place.isDone()
  }
}
