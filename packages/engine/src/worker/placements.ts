// The jobs on the board as the pulse knows them: the main thread has told it which job lies on which place.
import { monotonicMs } from '../clock.ts'
import type { PlacedJobs, PlacedKind } from './pulse-protocol.ts'

/** A job that lies on the board. */
export interface Placed extends PlacedKind {
  id: string
  runId: string
}

export class Placements {
  /** For each place the claim whose job lies there, … */
  readonly #claims: (PlacedJobs | undefined)[]
  /** … which of its jobs, … */
  readonly #positions: Int32Array
  /** … and when we were told. */
  readonly #heardAtMs: Float64Array

  constructor(places: number) {
    this.#claims = new Array<PlacedJobs | undefined>(places).fill(undefined)
    this.#positions = new Int32Array(places)
    this.#heardAtMs = new Float64Array(places)
  }

  heard(jobs: PlacedJobs): void {
    const heardAtMs = monotonicMs()
    jobs.places.forEach((place, position) => {
      this.#claims[place] = jobs
      this.#positions[place] = position
      this.#heardAtMs[place] = heardAtMs
    })
  }

  /** The jobs on places of which `is` holds. */
  where(is: (place: number) => boolean): Placed[] {
    return this.#claims.flatMap((claim, place) => {
      if (claim === undefined || !is(place)) return []
      const position = this.#positions[place] as number
      const kind = claim.kinds[claim.kindOf[position] as number] as PlacedKind
      return [{ ...kind, id: claim.ids[position] as string, runId: claim.runId }]
    })
  }

  /** As `where`, but only of jobs that we had been told of by then. */
  heardBefore(ms: number, is: (place: number) => boolean): Placed[] {
    return this.where((place) => (this.#heardAtMs[place] as number) < ms && is(place))
  }
}
