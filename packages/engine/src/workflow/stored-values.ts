// What a workflow was given and told: stored as it came, and checked again by whoever uses it.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { validate } from '../contract/payload.ts'
import type { Session } from '../store/db.ts'
import { workflowSignalList } from '../store/workflow-waits.ts'

/** `what` names it in the error. */
export async function parsedValue(
  what: string,
  schema: StandardSchemaV1 | undefined,
  stored: unknown,
): Promise<unknown> {
  if (schema === undefined) return undefined
  const checked = await validate(schema, stored)
  if ('value' in checked) return checked.value
  const issues = checked.issues.map(({ path, message }) => `${path} ${message}`.trim()).join('; ')
  throw new Error(`The stored ${what} does not fit the schema any more: ${issues}`)
}

export async function signalledValue(
  session: Session,
  workflowId: string,
  { name, schema }: { name: string; schema: StandardSchemaV1 | undefined },
): Promise<unknown> {
  const signals = await workflowSignalList(session, workflowId)
  return parsedValue(`signal "${name}"`, schema, signals.find((each) => each.name === name)?.payload)
}
