// JSON Schema of a payload, as far as its schema library offers it: by Standard JSON Schema, so that no library is named here.
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

export type JsonSchema = Readonly<Record<string, unknown>>

export type JsonSchemaOf =
  | { readonly schema: JsonSchema; readonly schemaMissing: null }
  /** Why there is none. */
  | { readonly schema: null; readonly schemaMissing: string }

const MAX_BYTES = 256 * 1024
const TARGET = 'draft-2020-12'

/** What the schema takes: its input, before defaults and transformations. */
export function jsonSchemaOf(schema: StandardSchemaV1): JsonSchemaOf {
  const standard: Partial<StandardJSONSchemaV1.Props> & { vendor: string } = schema['~standard']
  if (typeof standard.jsonSchema?.input !== 'function') return missing(`${standard.vendor} offers no JSON Schema`)
  try {
    const text = JSON.stringify(standard.jsonSchema.input({ target: TARGET }))
    // Postgres takes no NUL.
    if (text.includes('\\u0000')) return missing('the JSON Schema holds a NUL character')
    if (Buffer.byteLength(text) > MAX_BYTES) return missing(`the JSON Schema is larger than ${MAX_BYTES / 1024} KB`)
    return { schema: JSON.parse(text), schemaMissing: null }
  } catch (error) {
    return missing(error instanceof Error ? error.message : String(error))
  }
}

const missing = (schemaMissing: string): JsonSchemaOf => ({ schema: null, schemaMissing })
