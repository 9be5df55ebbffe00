// A payload that is checked by the JSON Schema of the catalogue.
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** Of a type that is only looked at: nothing fits. */
export const unknownPayload: StandardSchemaV1 = schemaOf(() => ({
  issues: [{ message: 'its schema is not known here' }],
}))

function schemaOf(validate: StandardSchemaV1.Props['validate']): StandardSchemaV1 {
  return { '~standard': { version: 1, vendor: 'millrace', validate } }
}
