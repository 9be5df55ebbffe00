// The geometry of a place as it is stored: GeoJSON in WGS 84, longitude before latitude, and the height once it is known.

/** Longitude and latitude in degrees, and perhaps the height in metres. */
export type Position = readonly number[]

export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly Position[])[] }

export interface Feature {
  readonly type: 'Feature'
  readonly geometry: Geometry
  readonly properties?: Readonly<Record<string, unknown>> | null | undefined
}

export interface Geometries {
  readonly type: 'FeatureCollection'
  readonly features: readonly Feature[]
}

/** All vertices, in the order in which withVertices takes them back. */
export const verticesOf = ({ features }: Geometries): Position[] =>
  features.flatMap(({ geometry }): readonly Position[] => {
    if (geometry.type === 'Point') return [geometry.coordinates]
    return geometry.type === 'LineString' ? geometry.coordinates : geometry.coordinates.flat()
  })

/** The same geometries with other vertices: as many as verticesOf returns, and in its order. */
export function withVertices(geometries: Geometries, vertices: readonly Position[]): Geometries {
  let next = 0
  const take = (): Position => {
    const vertex = vertices[next++]
    if (vertex === undefined) throw new RangeError(`There are more vertices than the ${vertices.length} given.`)
    return vertex
  }
  const moved = (geometry: Geometry): Geometry => {
    if (geometry.type === 'Point') return { ...geometry, coordinates: take() }
    if (geometry.type === 'LineString') return { ...geometry, coordinates: geometry.coordinates.map(take) }
    return { ...geometry, coordinates: geometry.coordinates.map((ring) => ring.map(take)) }
  }
  const features = geometries.features.map((feature) => ({ ...feature, geometry: moved(feature.geometry) }))
  return { type: 'FeatureCollection', features }
}
