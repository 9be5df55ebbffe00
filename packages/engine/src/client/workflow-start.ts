// Starting a workflow: its input checked, its graph stored, its first steps enqueued, in one transaction.
import type { Clock } from '../clock.ts'
import type { Database, Session } from '../store/db.ts'
import { allOrNothing } from '../store/savepoint.ts'
import type { Queryable } from '../store/statements.ts'
import { demandOwnTenant, sessionOn } from '../store/transaction.ts'
import { type NewWorkflow, workflowInsert } from '../store/workflows.ts'
import type { Advancer } from '../workflow/advancer.ts'
import { checkHasSteps } from '../workflow/check.ts'
import { type Advanced, advanceIn, type CourseServices } from '../workflow/course.ts'
import type { WorkflowDefinition } from '../workflow/definition.ts'
import { newWorkflow } from '../workflow/new-workflow.ts'

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
    const session = sessionOn(tx, services.db.schema)
    demandOwnTenant(session, [workflow.tenant])
    // Its caller may catch a refusal and commit: half a workflow would wait for ever.
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
