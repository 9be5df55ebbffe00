// Walks the schema of the configuration: which keys there are, and which of them hold further keys.
import { z } from 'zod'

/** Defaults and the like lie around a schema. */
function inner(schema: z.ZodType): z.ZodType {
  const { def } = schema as unknown as { def: { type: string; innerType?: z.ZodType } }
  return def.innerType === undefined ? schema : inner(def.innerType)
}

/** The keys below, or undefined: this is a value, a list, or a table whose keys are the user's. */
export function keysOf(schema: z.ZodType): Readonly<Record<string, z.ZodType>> | undefined {
  const found = inner(schema)
  return found instanceof z.ZodObject ? (found.shape as Record<string, z.ZodType>) : undefined
}

/** What stands at a path, or undefined if nothing may. */
export function schemaAt(schema: z.ZodType, path: readonly PropertyKey[]): z.ZodType | undefined {
  const [key, ...rest] = path
  if (key === undefined) return schema
  const below = keysOf(schema)?.[String(key)]
  return below === undefined ? undefined : schemaAt(below, rest)
}

/** The path of every value that a variable of the environment can set. */
export function valuePaths(schema: z.ZodType, at: readonly string[] = []): string[][] {
  const keys = keysOf(schema)
  if (keys === undefined) return [[...at]]
  return Object.entries(keys).flatMap(([key, below]) => valuePaths(below, [...at, key]))
}
