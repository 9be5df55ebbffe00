// What a place covers in the plane: points, lines and areas, in metres.
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon'
import { simplify } from '@turf/simplify'
import { type Bounds, boundsOf } from './bounds.ts'
import { distanceBetween, distanceToLine } from './distance.ts'
import type { Geometries, Position } from './feature.ts'
import { type Point, toPlane } from './projection.ts'

export interface Shape {
  readonly points: readonly Point[]
  readonly lines: readonly (readonly Point[])[]
  /** Each with its outer ring first; every ring ends where it begins. */
  readonly areas: readonly (readonly (readonly Point[])[])[]
}

export function shapeOf({ features }: Geometries): Shape {
  const points: Point[] = []
  const lines: Point[][] = []
  const areas: Point[][][] = []
  const line = (positions: readonly Position[]): Point[] => positions.map(toPlane)
  for (const { geometry } of features) {
    if (geometry.type === 'Point') points.push(toPlane(geometry.coordinates))
    else if (geometry.type === 'LineString') lines.push(line(geometry.coordinates))
    else areas.push(geometry.coordinates.map(line))
  }
  return { points, lines, areas }
}

export const pointsOf = ({ points, lines, areas }: Shape): Point[] => [...points, ...lines.flat(), ...areas.flat(2)]

/** Of everything that a place covers. */
export const boundsOfPlace = (geometries: Geometries): Bounds => boundsOf(pointsOf(shapeOf(geometries)))

/** Without the vertices whose absence moves no line by more than `tolerance` metres. */
export function simplified({ points, lines, areas }: Shape, tolerance: number): Shape {
  const options = { tolerance, highQuality: true }
  return {
    points,
    lines: lines.map((line) =>
      line.length < 3
        ? line
        : planar(simplify({ type: 'LineString', coordinates: mutable(line) }, options).coordinates),
    ),
    areas: areas.map((rings) =>
      simplify({ type: 'Polygon', coordinates: rings.map(mutable) }, options).coordinates.map(planar),
    ),
  }
}

/** To the nearest point of the shape; 0 inside of an area. */
export function distanceToShape(point: Point, { points, lines, areas }: Shape): number {
  let nearest = Number.POSITIVE_INFINITY
  for (const each of points) nearest = Math.min(nearest, distanceBetween(point, each))
  for (const line of lines) nearest = Math.min(nearest, distanceToLine(point, line))
  for (const rings of areas) {
    const coordinates = rings.map(mutable)
    if (booleanPointInPolygon([point[0], point[1]], { type: 'Polygon', coordinates })) return 0
    for (const ring of rings) nearest = Math.min(nearest, distanceToLine(point, ring))
  }
  return nearest
}

/** Turf asks for arrays that it might write to, and does not write to them. */
const mutable = (line: readonly Point[]): number[][] => line as unknown as number[][]
const planar = (coordinates: number[][]): Point[] => coordinates as unknown as Point[]
