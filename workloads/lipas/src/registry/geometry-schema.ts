// GeoJSON as callers may send it: a FeatureCollection of points, lines and areas in WGS 84.
import { z } from 'zod'
import type { Geometries } from '../geometry/feature.ts'

const MOST_FEATURES = 100
const MOST_VERTICES = 20_000

/** Heights of callers are dropped: the register computes its own. */
const position = z
  .array(z.number())
  .min(2)
  .max(4)
  .refine(([longitude = 0, latitude = 0]) => Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90, {
    message: 'expected longitude and latitude in degrees',
  })
  .transform(([longitude = 0, latitude = 0]) => [longitude, latitude])

const ring = z
  .array(position)
  .min(4)
  .refine((all) => String(all[0]) === String(all.at(-1)), 'expected a ring that ends where it begins')

const geometry = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('Point'), coordinates: position }),
  z.strictObject({ type: z.literal('LineString'), coordinates: z.array(position).min(2).max(MOST_VERTICES) }),
  z.strictObject({ type: z.literal('Polygon'), coordinates: z.array(ring).min(1) }),
])

const feature = z.object({ type: z.literal('Feature'), geometry })

export const geometriesSchema: z.ZodType<Geometries> = z.strictObject({
  type: z.literal('FeatureCollection'),
  features: z.array(feature).min(1).max(MOST_FEATURES),
})
