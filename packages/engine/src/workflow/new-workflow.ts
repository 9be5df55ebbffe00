// The rows of a workflow that begins, from its definition and what it is given.
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { label, wholeNumber } from '../client/enqueue-options.ts'
import { encodeJson, validate } from '../contract/payload.ts'
import { InvalidDefinition, InvalidPayload, SecretInPayload, TenantRequired } from '../errors.ts'
import { runContext } from '../run-context.ts'
import type { NewWorkflow } from '../store/workflows.ts'
import { activeTraceParent } from '../tracing.ts'
import type { StepDefinition, WorkflowDefinition } from './definition.ts'

/** A batch is started with the payloads of all its jobs. Read whenever a step ends: what many steps share had better be small. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024

export async function newWorkflow(
  definition: WorkflowDefinition,
  input: unknown,
  options: { tenant?: string; priority?: number; correlationId?: string; createdBy?: string; traceParent?: string },
): Promise<NewWorkflow> {
  const { name, rollsBack, retention, steps } = definition
  const tenant = label(options.tenant ?? null, 'tenant')
  if (definition.requiresTenant && !tenant) {
    const needy = steps.flatMap(({ contract, undo }) => [contract, undo?.contract].filter((each) => each !== undefined))
    const first = needy.find(({ queue, tenantOf }) => queue.options.tenant === 'required' && tenantOf === undefined)
    throw new TenantRequired(first?.type ?? name, first?.queue.name ?? '')
  }
  const running = runContext.getStore()
  return {
    parentId: null,
    parentPosition: null,
    name,
    rollsBack,
    retention,
    tenant,
    priority: options.priority === undefined ? null : wholeNumber(options.priority, 'priority', 0),
    correlationId: label(options.correlationId ?? null, 'correlationId') ?? running?.correlationId ?? null,
    createdBy: label(options.createdBy ?? null, 'createdBy'),
    traceParent: options.traceParent ?? activeTraceParent() ?? running?.traceParent ?? null,
    input: await inputText(definition, input),
    steps: steps.map((step) => ({
      name: step.name,
      after: step.after,
      onFailure: step.onFailure,
      canBeUndone: canBeUndone(step),
      isList: step.over !== undefined,
      kind: step.wait?.kind ?? 'jobs',
    })),
  }
}

/** A workflow can be undone if a step of it can. */
function canBeUndone({ undo, wait }: StepDefinition): boolean {
  return undo !== undefined || (wait?.workflow?.steps.some(canBeUndone) ?? false)
}

/** The JSON text that is stored. It is checked as a payload is. */
async function inputText({ name, input: schema }: WorkflowDefinition, input: unknown): Promise<string | null> {
  if (schema !== undefined) return checkedText(`workflow ${name}`, schema, input)
  if (input === undefined) return null
  throw new InvalidDefinition(`Workflow "${name}" takes no input, and some was given. Declare it with { input }.`)
}

/** JSON text of a value that fits a schema. `what` names it in the error. */
export async function checkedText(what: string, schema: StandardSchemaV1, value: unknown): Promise<string> {
  const encoded = encodeJson(value, { maxBytes: MAX_INPUT_BYTES, allowSecrets: [] })
  if ('refusal' in encoded) {
    const { path, message, isSecret } = encoded.refusal
    throw isSecret ? new SecretInPayload(what, path, message) : new InvalidPayload(what, [{ path, message }])
  }
  const checked = await validate(schema, encoded.value)
  if ('issues' in checked) throw new InvalidPayload(what, checked.issues)
  return encoded.text
}
