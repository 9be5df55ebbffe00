// What the map shows now. What never changes is read once; squares and places are read when somebody looks.
import { type Bounds, boundsOf, widened } from '../geometry/bounds.ts'
import type { Point } from '../geometry/projection.ts'
import { shapeOf } from '../geometry/shape.ts'
import type { LipasSystem } from '../system.ts'
import { MapPlaces } from './map-places.ts'
import {
  boundsOfSites,
  type MapFeature,
  type MapSquare,
  mapFeatures,
  mapSquares,
  type Summary,
  squareIndices,
  summaryOf,
} from './map-store.ts'
import { featurePath } from './page/places.ts'

const MARGIN = 300

interface Ground {
  readonly frame: Bounds
  readonly squares: readonly MapSquare[]
  readonly features: readonly (Pick<MapFeature, 'kind' | 'name'> & { readonly path: string })[]
}

export interface MapState extends Ground {
  /** One character for each square, in their order: see levelOf. */
  readonly levels: string
  readonly computed: number
  readonly summary: Summary | undefined
  readonly places: MapPlaces
}

/** 0 to 7; '-' where nothing was computed yet. */
export const levelOf = (index: number | null): string =>
  index === null ? '-' : String(index <= 0 ? 0 : Math.min(7, 1 + Math.floor((index - 0.001) / LEVEL_STEP)))
export const LEVEL_STEP = 1.5

/** Visitors who look at the same moment share one reading. */
const FRESH_MS = 1_000

export class RegisterMap {
  readonly #system: LipasSystem
  readonly #places = new MapPlaces()
  #ground: Ground | undefined
  #kept: { readonly at: number; readonly state: Promise<MapState> } | undefined

  constructor(system: LipasSystem) {
    this.#system = system
  }

  state(): Promise<MapState> {
    if (this.#kept === undefined || performance.now() - this.#kept.at > FRESH_MS) {
      const state = this.#read()
      this.#kept = { at: performance.now(), state }
      state.catch(() => {
        this.#kept = undefined
      })
    }
    return this.#kept.state
  }

  async #read(): Promise<MapState> {
    const { database } = this.#system
    const ground = this.#ground ?? (await this.#readGround())
    // An empty register may be filled later.
    if (ground.squares.length > 0) this.#ground = ground
    const indices = await squareIndices(database)
    const summary = await summaryOf(database)
    await this.#places.refresh(database, ground.frame)
    return {
      ...ground,
      levels: indices.map(levelOf).join(''),
      computed: indices.filter((index) => index !== null).length,
      ...{ summary, places: this.#places },
    }
  }

  async #readGround(): Promise<Ground> {
    const { database } = this.#system
    const squares = await mapSquares(database)
    const places = await boundsOfSites(database)
    const corners = squares.map(({ east, north }): Point => [east, north])
    if (places !== null) corners.push([places.minEast, places.minNorth], [places.maxEast, places.maxNorth])
    if (corners.length === 0) corners.push([0, 0])
    const frame = widened(boundsOf(corners), MARGIN)
    const features = (await mapFeatures(database)).map(({ kind, name, geometries }) => ({
      ...{ kind, name, path: featurePath(shapeOf(geometries), frame) },
    }))
    return { frame, squares, features }
  }
}
