// From degrees to metres and back. All computing is done in the plane of EPSG:3067, the national grid.
import proj4 from 'proj4'
import type { Position } from './feature.ts'

/** East and north in metres (EPSG:3067). */
export type Point = readonly [east: number, north: number]

const ETRS_TM35FIN = '+proj=utm +zone=35 +ellps=GRS80 +towgs84=0,0,0,0,0,0,0 +units=m +no_defs'
const converter = proj4('WGS84', ETRS_TM35FIN)

export function toPlane([longitude = Number.NaN, latitude = Number.NaN]: Position): Point {
  const [east, north] = converter.forward([longitude, latitude])
  return [east as number, north as number]
}

/** Rounded to seven decimals of a degree, about a centimetre. */
export function toWorld([east, north]: Point): [longitude: number, latitude: number] {
  const [longitude, latitude] = converter.inverse([east, north])
  return [round(longitude as number), round(latitude as number)]
}

const round = (degrees: number): number => Math.round(degrees * 1e7) / 1e7
