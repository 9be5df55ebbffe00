// Turns the times of an answer into Dates. The schema says which texts are times: a payload may hold texts that look like one.
import type { z } from 'zod'

/** What this file reads of the definition of a schema. */
interface Definition {
  readonly type: string
  readonly format?: string
  readonly innerType?: z.ZodType
  readonly element?: z.ZodType
  readonly shape?: Readonly<Record<string, z.ZodType>>
}

/** The same value with a Date for each time that `schema` declares. */
export function withDates(schema: z.ZodType, value: unknown): unknown {
  const { type, format, innerType, element, shape } = schema.def as unknown as Definition
  if (value === null || value === undefined) return value
  if (innerType !== undefined) return withDates(innerType, value)
  if (type === 'string' && format === 'datetime' && typeof value === 'string') return new Date(value)
  if (element !== undefined && Array.isArray(value)) return value.map((each) => withDates(element, each))
  if (shape !== undefined && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => {
        const known = Object.hasOwn(shape, key) ? shape[key] : undefined
        return [key, known === undefined ? each : withDates(known, each)]
      }),
    )
  }
  return value
}
