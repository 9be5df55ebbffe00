// A GeoTIFF of heights, as the land survey's server sends them: one strip of 32-bit floats, north at the top, in EPSG:3067.
import { type Bounds, heightOf, widthOf } from '../geometry/bounds.ts'

export const NO_DATA = -9_999
const [ASCII, SHORT, LONG, DOUBLE] = [2, 3, 4, 12]
const BYTES: Readonly<Record<number, number>> = { [ASCII]: 1, [SHORT]: 2, [LONG]: 4, [DOUBLE]: 8 }
/** GeoKeys: projected, a cell is an area, ETRS-TM35FIN. */
const GEO_KEYS = [1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 3067]

/** `heights` row by row from the north-western corner. */
export function geotiff(bounds: Bounds, cell: number, heights: Float32Array): Buffer {
  const [width, height] = [widthOf(bounds) / cell, heightOf(bounds) / cell]
  const noData = [...`${NO_DATA}\0`].map((character) => character.charCodeAt(0))
  const entries: Array<[tag: number, type: number, values: readonly number[]]> = [
    ...([
      [256, LONG, [width]],
      [257, LONG, [height]],
      [258, SHORT, [32]],
      [259, SHORT, [1]],
      [262, SHORT, [1]],
      [273, LONG, [0]],
      [277, SHORT, [1]],
      [278, LONG, [height]],
      [279, LONG, [heights.byteLength]],
      [339, SHORT, [3]],
    ] as Array<[number, number, number[]]>),
    [33_550, DOUBLE, [cell, cell, 0]],
    [33_922, DOUBLE, [0, 0, 0, bounds.minEast, bounds.maxNorth, 0]],
    [34_735, SHORT, GEO_KEYS],
    [42_113, ASCII, noData],
  ]
  const directory = 8
  const beyond = directory + 2 + entries.length * 12 + 4
  const extra = entries.reduce((sum, [, type, values]) => sum + roomFor(type, values), 0)
  const strip = Math.ceil((beyond + extra) / 4) * 4
  const file = Buffer.alloc(strip + heights.byteLength)
  file.write('II', 0, 'latin1')
  file.writeUInt16LE(42, 2)
  file.writeUInt32LE(directory, 4)
  file.writeUInt16LE(entries.length, directory)
  let [at, free] = [directory + 2, beyond]
  for (const [tag, type, values] of entries) {
    file.writeUInt16LE(tag, at)
    file.writeUInt16LE(type, at + 2)
    file.writeUInt32LE(values.length, at + 4)
    const room = roomFor(type, values)
    if (room > 0) file.writeUInt32LE(free, at + 8)
    put(file, { type, values: tag === 273 ? [strip] : values, from: room > 0 ? free : at + 8 })
    at += 12
    free += room
  }
  Buffer.from(heights.buffer, heights.byteOffset, heights.byteLength).copy(file, strip)
  return file
}

/** Values of up to four bytes stand in the entry itself. */
function roomFor(type: number, values: readonly number[]): number {
  const bytes = (BYTES[type] ?? 1) * values.length
  return bytes <= 4 ? 0 : bytes + (bytes % 2)
}

function put(file: Buffer, { type, values, from }: { type: number; values: readonly number[]; from: number }): void {
  for (const [i, value] of values.entries()) {
    const at = from + i * (BYTES[type] ?? 1)
    if (type === DOUBLE) file.writeDoubleLE(value, at)
    else if (type === LONG) file.writeUInt32LE(value, at)
    else if (type === SHORT) file.writeUInt16LE(value, at)
    else file.writeUInt8(value, at)
  }
}
