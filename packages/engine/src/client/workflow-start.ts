// Starting a workflow: its input checked, its graph stored, its first steps enqueued, in one transaction.
import type { Clock } from '../clock.ts'
import { encodeJson, validate } from '../contract/payload.ts'
import { InvalidDefinition, InvalidPayload, SecretInPayload, TenantRequired } from '../errors.ts'
import { runContext } from '../run-context.ts'
import { type Database, type Queryable, type Session, sessionOn } from '../store/db.ts'
import { allOrNothing } from '../store/savepoint.ts'
import { type NewWorkflow, workflowInsert } from '../store/workflows.ts'
import type { Advancer } from '../workflow/advancer.ts'
import { checkHasSteps } from '../workflow/check.ts'
import { type Advanced, advanceIn, type CourseServices } from '../workflow/course.ts'
import type { WorkflowDefinition } from '../workflow/definition.ts'
import { label, wholeNumber } from './enqueue-options.ts'

export interface StartOptions {
  /**
   * Your own transaction: the workflow exists exactly if it commits. A start that is refused leaves it as it was. Anything
   * with `query(text, values)`.
   */
  tx?: Queryable
  /** Of all its jobs whose contract does not read it from the payload. */
  tenant?: string
  /** Of all its jobs. Default: each queue's. */
  priority?: number
  /** Ties its jobs together. Default: the running job's; without one its own, `workflow-<id>`. */
  correlationId?: string
  /** Who asked for it. */
  createdBy?: string
}

export interface StartServices extends CourseServices {
  db: Database
  clock: Clock
  advancer: Advancer
}

/** A batch is started with the payloads of all its jobs. Read whenever a step ends: what many steps share had better be small. */
const MAX_INPUT_BYTES = 16 * 1024 * 1024
const START_DEADLINE_MS = 120_000

export async function startWorkflow(
  services: StartServices,
  definition: WorkflowDefinition,
  given: { input: unknown; options: StartOptions },
): Promise<{ id: string }> {
  services.definitions.demand(definition)
  checkHasSteps(definition)
  const workflow = await newWorkflow(definition, given.input, given.options)
  const { tx } = given.options
  if (tx !== undefined) {
    // Its caller may catch a refusal and commit: half a workflow would wait for ever.
    const session = sessionOn(tx, services.db.schema)
    const { id } = await allOrNothing(session, () => begin(services, session, { workflow, tells: true }))
    return { id }
  }
  const { id, advanced } = await services.db.transaction(
    (own) => begin(services, own, { workflow, tells: false }),
    START_DEADLINE_MS,
  )
  await services.advancer.afterwards(advanced)
  return { id }
}

async function begin(
  services: StartServices,
  session: Session,
  { workflow, tells }: { workflow: NewWorkflow; tells: boolean },
): Promise<{ id: string; advanced: Advanced }> {
  const id = await workflowInsert(session, services.clock.databaseNow(), workflow)
  const advanced = await advanceIn(session, services, id, { isStrict: true, tells })
  return { id, advanced: advanced as Advanced }
}

async function newWorkflow(
  definition: WorkflowDefinition,
  input: unknown,
  options: StartOptions,
): Promise<NewWorkflow> {
  const { name, rollsBack, retention, steps } = definition
  const tenant = label(options.tenant ?? null, 'tenant')
  if (definition.requiresTenant && !tenant) {
    const needy = steps.flatMap(({ contract, undo }) => (undo === undefined ? contract : [contract, undo.contract]))
    const first = needy.find(({ queue, tenantOf }) => queue.options.tenant === 'required' && tenantOf === undefined)
    throw new TenantRequired(first?.type ?? name, first?.queue.name ?? '')
  }
  const running = runContext.getStore()
  return {
    name,
    rollsBack,
    retention,
    tenant,
    priority: options.priority === undefined ? null : wholeNumber(options.priority, 'priority', 0),
    correlationId: label(options.correlationId ?? null, 'correlationId') ?? running?.correlationId ?? null,
    createdBy: label(options.createdBy ?? null, 'createdBy'),
    input: await inputText(definition, input),
    steps: steps.map((step) => ({
      name: step.name,
      after: step.after,
      onFailure: step.onFailure,
      canBeUndone: step.undo !== undefined,
      isList: step.over !== undefined,
    })),
  }
}

/** The JSON text that is stored. It is checked as a payload is. */
async function inputText({ name, input: schema }: WorkflowDefinition, input: unknown): Promise<string | null> {
  const what = `workflow ${name}`
  if (schema === undefined) {
    if (input === undefined) return null
    throw new InvalidDefinition(`Workflow "${name}" takes no input, and some was given. Declare it with { input }.`)
  }
  const encoded = encodeJson(input, { maxBytes: MAX_INPUT_BYTES, allowSecrets: [] })
  if ('refusal' in encoded) {
    const { path, message, isSecret } = encoded.refusal
    throw isSecret ? new SecretInPayload(what, path, message) : new InvalidPayload(what, [{ path, message }])
  }
  const checked = await validate(schema, encoded.value)
  if ('issues' in checked) throw new InvalidPayload(what, checked.issues)
  return encoded.text
}
