// Shortest ways on foot over the street graph, from one crossing to all others within a few kilometres.
import FlatQueue from 'flatqueue'
import type { Streets } from './streets.ts'

/** Nobody walks farther. */
export const FARTHEST = 4_000
/** Ways from so many crossings are remembered: a table asks for the same squares again and again. */
const REMEMBERED = 300

export class Walks {
  readonly #streets: Streets
  readonly #known = new Map<number, Float64Array>()

  constructor(streets: Streets) {
    this.#streets = streets
  }

  /** Metres by crossing; Infinity where the way would be too long, or there is none. */
  from(start: number): Float64Array {
    const known = this.#known.get(start)
    if (known !== undefined) return known
    const metres = this.#walk(start)
    this.#known.set(start, metres)
    const [oldest] = this.#known.keys()
    if (this.#known.size > REMEMBERED) this.#known.delete(oldest as number)
    return metres
  }

  /** Dijkstra's algorithm. A crossing may stand in the queue more than once: the shortest way comes first. */
  #walk(start: number): Float64Array {
    const metres = new Float64Array(this.#streets.crossings.length).fill(Number.POSITIVE_INFINITY)
    const queue = new FlatQueue<number>()
    metres[start] = 0
    queue.push(start, 0)
    for (let length = queue.peekValue(); length !== undefined; length = queue.peekValue()) {
      const at = queue.pop() as number
      if (length > (metres[at] as number)) continue
      for (const street of this.#streets.from[at] ?? []) {
        const farther = length + street.metres
        if (farther > FARTHEST || farther >= (metres[street.to] as number)) continue
        metres[street.to] = farther
        queue.push(street.to, farther)
      }
    }
    return metres
  }
}
