// Schemas for inputs that are handed on to jobs: checked as the jobs' payloads are, and otherwise left alone. A schema that
// turns text into dates does so when the job runs, not before.
import type { StandardSchemaV1 } from '@standard-schema/spec'

export type AsGiven<Input> = StandardSchemaV1<Input, Input>

/** What this schema takes, as it was given. */
export function asGiven<Input>(schema: StandardSchemaV1<Input>): AsGiven<Input> {
  return schemaOf((value) => issuesOf(schema, value, []))
}

/** An object with what this schema takes under a key. */
export function asGivenUnder<Input>(key: keyof Input & string, schema: StandardSchemaV1): AsGiven<Input> {
  return schemaOf((value) => issuesOf(schema, Object(value)[key], [key]))
}

/** A list of what these schemas take; `schemaAt` says which is for the element at an index, undefined: none may be there. */
export function listAsGiven<Element>(
  schemaAt: (index: number) => StandardSchemaV1 | undefined,
): AsGiven<readonly Element[]> {
  return schemaOf(async (value) => {
    if (!Array.isArray(value)) return [{ message: 'expected a list' }]
    const all: StandardSchemaV1.Issue[] = []
    for (const [index, element] of value.entries()) {
      const schema = schemaAt(index)
      if (schema === undefined) all.push({ message: 'there is no job for it', path: [index] })
      else all.push(...(await issuesOf(schema, element, [index])))
    }
    return all
  })
}

function schemaOf<Input>(check: (value: unknown) => Promise<readonly StandardSchemaV1.Issue[]>): AsGiven<Input> {
  const validate = async (value: unknown): Promise<StandardSchemaV1.Result<Input>> => {
    const issues = await check(value)
    return issues.length > 0 ? { issues } : { value: value as Input }
  }
  return { '~standard': { version: 1, vendor: 'millrace', validate } }
}

async function issuesOf(
  schema: StandardSchemaV1,
  value: unknown,
  at: readonly PropertyKey[],
): Promise<StandardSchemaV1.Issue[]> {
  const { issues = [] } = await schema['~standard'].validate(value)
  return issues.map(({ message, path = [] }) => ({ message, path: [...at, ...path] }))
}
