// A payload that is checked by the JSON Schema of the catalogue. The validator is loaded with the first such payload: programs that
// have their contracts never need it.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { JsonSchema } from '../contract/json-schema.ts'

const DRAFT = '2020-12'
const MOST_ISSUES = 10

export function payloadBySchema(schema: JsonSchema): StandardSchemaV1 {
  return schemaOf(async (value) => {
    const { Validator } = await import('@cfworker/json-schema')
    const { valid, errors } = new Validator(schema, DRAFT, false).validate(value)
    return valid ? { value } : { issues: innermost(errors).slice(0, MOST_ISSUES).map(issueOf) }
  })
}

/** Of a type without JSON Schema, which is only looked at: nothing fits. */
export const uncheckedPayload: StandardSchemaV1 = schemaOf(() => ({
  issues: [{ message: 'its schema is not known here' }],
}))

function schemaOf(validate: StandardSchemaV1.Props['validate']): StandardSchemaV1 {
  return { '~standard': { version: 1, vendor: 'millrace', validate } }
}

interface SchemaError {
  readonly keywordLocation: string
  readonly instanceLocation: string
  readonly error: string
}

/** The others only say that something in them is wrong. */
function innermost(errors: readonly SchemaError[]): SchemaError[] {
  return errors.filter(
    ({ keywordLocation }) => !errors.some((other) => other.keywordLocation.startsWith(`${keywordLocation}/`)),
  )
}

/** `instanceLocation`: a JSON pointer in a fragment, '#/items/0'. */
function issueOf({ instanceLocation, error }: SchemaError): StandardSchemaV1.Issue {
  const keys = instanceLocation.split('/').slice(1)
  return { path: keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')), message: error }
}
