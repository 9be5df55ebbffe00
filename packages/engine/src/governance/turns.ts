// How much each tenant of a queue was served lately, for its weight, as one process remembers it.
//
// A clock that runs with the work: a job of a tenant with weight 3 takes it a third of a tick further. Whoever comes back
// after a while starts at the present, so nobody saves up turns by being idle.

const MAX_REMEMBERED = 20_000

export class Turns {
  readonly #served = new Map<string | null, number>()
  #present = 0

  servedOf(tenant: string | null): number {
    return Math.max(this.#served.get(tenant) ?? 0, this.#present)
  }

  /** In the order in which they were chosen. */
  serve(tenant: string | null, weight: number): void {
    const served = this.servedOf(tenant)
    this.#present = Math.max(this.#present, served - 1)
    this.#served.set(tenant, served + 1 / weight)
    if (this.#served.size > MAX_REMEMBERED) this.#forget()
  }

  /** Those that are not ahead of the present lose nothing by being forgotten. */
  #forget(): void {
    for (const [tenant, served] of this.#served) if (served <= this.#present) this.#served.delete(tenant)
    if (this.#served.size > MAX_REMEMBERED) this.#served.clear()
  }
}
