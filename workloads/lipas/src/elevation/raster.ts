// A piece of the elevation model: a GeoTIFF, checked against what was asked for, and the heights between its cells.
import { fromArrayBuffer } from 'geotiff'
import { type Bounds, heightOf, widthOf } from '../geometry/bounds.ts'
import type { Point } from '../geometry/projection.ts'
import { CELL } from './plan.ts'

/** What came is not the raster that was asked for. Another try may help. */
export class RasterUnusable extends Error {
  override readonly name = 'RasterUnusable'
}

const TOLERANCE = 0.01

export class Raster {
  readonly #bounds: Bounds
  readonly #width: number
  readonly #height: number
  readonly #values: ArrayLike<number>
  readonly #noData: number | null

  private constructor(bounds: Bounds, values: ArrayLike<number>, noData: number | null) {
    this.#bounds = bounds
    this.#width = widthOf(bounds) / CELL
    this.#height = heightOf(bounds) / CELL
    this.#values = values
    this.#noData = noData
  }

  /** Throws RasterUnusable. */
  static async read(bytes: ArrayBuffer, asked: Bounds): Promise<Raster> {
    const { values, noData, ...found } = await decoded(bytes)
    const [width, height] = [widthOf(asked) / CELL, heightOf(asked) / CELL]
    if (found.width !== width || found.height !== height)
      throw new RasterUnusable(
        `The elevation service sent ${found.width} by ${found.height} cells, and ${width} by ${height} were asked for.`,
      )
    if (!isSame(found.box, asked)) throw new RasterUnusable('The elevation service sent the ground of another box.')
    if (values.length !== width * height)
      throw new RasterUnusable(`The elevation service sent ${values.length} of ${width * height} heights.`)
    return new Raster(asked, values, noData)
  }

  /** Between the centres of the four cells around a point. Undefined: the model has no data there. */
  heightAt([east, north]: Point): number | undefined {
    const { minEast, maxNorth } = this.#bounds
    const [column, right] = split((east - minEast) / CELL - 0.5, this.#width)
    const [row, below] = split((maxNorth - north) / CELL - 0.5, this.#height)
    const corners: ReadonlyArray<readonly [column: number, row: number, weight: number]> = [
      [column, row, (1 - right) * (1 - below)],
      [column + 1, row, right * (1 - below)],
      [column, row + 1, (1 - right) * below],
      [column + 1, row + 1, right * below],
    ]
    let height = 0
    for (const [x, y, weight] of corners) {
      if (weight === 0) continue
      const value = this.#values[y * this.#width + x]
      if (value === undefined || Number.isNaN(value) || value === this.#noData) return undefined
      height += weight * value
    }
    return height
  }
}

/** The cell before a position and how far it is to the next one. Positions beyond the outermost centres are at those. */
function split(position: number, count: number): [cell: number, share: number] {
  const inside = Math.min(Math.max(position, 0), count - 1)
  const cell = Math.min(Math.floor(inside), Math.max(count - 2, 0))
  return [cell, inside - cell]
}

async function decoded(bytes: ArrayBuffer) {
  try {
    const image = await (await fromArrayBuffer(bytes)).getImage()
    const [minEast = 0, minNorth = 0, maxEast = 0, maxNorth = 0] = image.getBoundingBox()
    const [values] = (await image.readRasters({ samples: [0] })) as unknown as [ArrayLike<number>]
    return {
      ...{ width: image.getWidth(), height: image.getHeight(), values, noData: image.getGDALNoData() },
      box: { minEast, minNorth, maxEast, maxNorth },
    }
  } catch {
    // The parser speaks of offsets in a buffer, which helps nobody.
    throw new RasterUnusable('The elevation service sent a GeoTIFF that cannot be read: it may have been cut off.')
  }
}

const isSame = (found: Bounds, asked: Bounds): boolean =>
  (['minEast', 'minNorth', 'maxEast', 'maxNorth'] as const).every(
    (side) => Math.abs(found[side] - asked[side]) <= TOLERANCE,
  )
