// The steps of a workflow that are workflows themselves. A child is started, resumed and undone in the transaction of its
// parent: the parent's lock first, then the child's. When it ends by itself, it counts itself off the step of its parent, as a
// job does.
import type { Session } from '../store/db.ts'
import { type ChildWorkflow, workflowChildren } from '../store/workflow-children.ts'
import { type LockedWorkflow, type NewWorkflow, type StepRow, workflowInsert } from '../store/workflows.ts'
import { doAgain, resumeLater, undoAgain } from './again.ts'
import type { Advanced, CourseOptions, CourseServices } from './course.ts'
import { hasEnded } from './decide.ts'
import type { StepDefinition, StepScope } from './definition.ts'
import type { WorkflowStatus } from './graph.ts'
import { newWorkflow } from './new-workflow.ts'
import type { Steps } from './steps.ts'
import type { WaitDefinition } from './waits.ts'

const AGAIN: Partial<Record<WorkflowStatus, NonNullable<CourseOptions['change']>>> = {
  failed: doAgain,
  cancelled: doAgain,
  'rollback failed': resumeLater,
}

type Advance = (id: string, options: CourseOptions) => Promise<Advanced | undefined>

export const ROLLED_BACK_WITH_PARENT = 'the workflow of which it is a step is rolled back'

export class Children {
  readonly #session: Session
  readonly #services: CourseServices
  readonly #steps: Steps
  readonly #advance: Advance
  /** What has to be done for them when the transaction has committed. */
  readonly advanced: Advanced[] = []

  constructor(session: Session, services: CourseServices, given: { steps: Steps; advance: Advance }) {
    this.#session = session
    this.#services = services
    this.#steps = given.steps
    this.#advance = given.advance
  }

  /** One that failed or was cancelled before is resumed, one that could not be undone, too; otherwise a new one starts. */
  async start(step: StepRow, parent: LockedWorkflow, fresh: () => Promise<NewWorkflow>): Promise<void> {
    const before = step.items === null ? undefined : await this.#last(parent.id, step)
    const change = before && AGAIN[before.status]
    const id = before && change ? before.id : await this.#insert(parent, step, await fresh())
    const { status, reason } = await this.#carryOn(id, change ? { change } : {})
    Object.assign(step, { items: 1, itemsLeft: 0, itemsFailed: 0, itemsCancelled: 0, reason })
    if (!hasEnded(status)) Object.assign(step, { status: 'running', itemsLeft: 1 })
    else if (status === 'completed') Object.assign(step, { status: 'completed', completedAs: this.#steps.nextPlace() })
    else Object.assign(step, { status: 'failed', itemsFailed: 1 })
  }

  async undo(step: StepRow, parent: LockedWorkflow): Promise<void> {
    const child = (await this.#last(parent.id, step)) as ChildWorkflow
    const change = child.status === 'rollback failed' ? undoAgain : undoAll
    const { status } = await this.#carryOn(child.id, { change })
    if (hasEnded(status)) step.undo = status === 'rollback failed' ? 'failed' : 'done'
    else Object.assign(step, { undo: 'running', undoLeft: 1, undoFailed: 0 })
  }

  /** Those of these steps that have not ended. */
  async running(parentId: string, steps: readonly StepRow[]): Promise<string[]> {
    const positions = steps.filter(({ kind }) => kind === 'workflow').map(({ position }) => position)
    const children = await workflowChildren(this.#session, parentId, positions)
    return children.filter(({ status }) => !hasEnded(status)).map(({ id }) => id)
  }

  async #last(parentId: string, { position }: StepRow): Promise<ChildWorkflow | undefined> {
    const [child] = await workflowChildren(this.#session, parentId, [position])
    return child
  }

  #insert({ id }: LockedWorkflow, { position }: StepRow, fresh: NewWorkflow): Promise<string> {
    const parent = { parentId: id, parentPosition: position }
    return workflowInsert(this.#session, this.#services.clock.databaseNow(), { ...fresh, ...parent })
  }

  async #carryOn(id: string, options: CourseOptions): Promise<LockedWorkflow> {
    const advanced = (await this.#advance(id, options)) as Advanced
    this.advanced.push(advanced)
    return advanced.workflow
  }
}

/** The rows of one that begins: for the same tenant, and under the same correlation. */
export function newChild({ tenant, priority, correlationId, createdBy, traceParent }: LockedWorkflow) {
  return ({ wait }: StepDefinition, scope: StepScope): Promise<NewWorkflow> => {
    const { workflow, input } = wait as Required<WaitDefinition>
    return newWorkflow(workflow, input(scope), {
      correlationId,
      ...(tenant === null ? {} : { tenant }),
      ...(priority === null ? {} : { priority }),
      ...(createdBy === null ? {} : { createdBy }),
      ...(traceParent === null ? {} : { traceParent }),
    })
  }
}

function undoAll(workflow: LockedWorkflow): StepRow[] {
  Object.assign(workflow, { status: 'stopping', stopping: 'cancelled', reason: ROLLED_BACK_WITH_PARENT })
  return []
}

/** What is asked of a child whose parent is cancelled. */
export function cancelWith(reason: string): NonNullable<CourseOptions['change']> {
  return (workflow) => {
    if (workflow.status === 'running' || workflow.status === 'stopping') {
      workflow.reason = workflow.stopping === 'cancelled' ? workflow.reason : reason
      workflow.stopping = 'cancelled'
    }
    return []
  }
}
