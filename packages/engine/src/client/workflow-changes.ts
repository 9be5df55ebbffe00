// What people do with a workflow as a whole: cancel it, resume it, roll it back. Each is one transaction under its lock, with
// its entry in the audit log.
import type { Clock } from '../clock.ts'
import { InvalidDefinition, UnknownWorkflow } from '../errors.ts'
import { auditWrite } from '../store/audit.ts'
import type { Database, Session } from '../store/db.ts'
import { isJobId } from '../store/job-id.ts'
import type { LockedWorkflow, StepRow } from '../store/workflows.ts'
import type { Advancer } from '../workflow/advancer.ts'
import { doAgain, resumeLater, undoAgain } from '../workflow/again.ts'
import { type Advanced, advanceIn, type CourseOptions, type CourseServices } from '../workflow/course.ts'
import { hasEnded } from '../workflow/decide.ts'
import type { WorkflowStatus } from '../workflow/graph.ts'
import { type Retrial, withoutRefused } from '../workflow/step-inserts.ts'
import type { Edits } from '../workflow/step-jobs.ts'

export type WorkflowChangeResult =
  /** It was done; `as` is what the workflow is now. */
  | { status: 'done'; as: WorkflowStatus }
  /** It cannot be done with a workflow that is `as`: nothing was changed. */
  | { status: 'refused'; as: WorkflowStatus; message: string }
  | { status: 'not_found' }

export interface ChangeServices extends CourseServices {
  db: Database
  clock: Clock
  advancer: Advancer
}

interface Change {
  action: string
  by: string
  details?: unknown
  /** Why not; undefined: it may be done. */
  refuse(workflow: LockedWorkflow): string | undefined
  change(workflow: LockedWorkflow, steps: readonly StepRow[]): readonly StepRow[]
  /** When all is decided: what it throws lets nothing have happened. */
  check?(): void
  options?: CourseOptions
}

/** The refusal must roll back whatever the advance would have done. */
class Refused extends Error {
  readonly as: WorkflowStatus

  constructor(as: WorkflowStatus, message: string) {
    super(message)
    this.as = as
  }
}

const DEADLINE_MS = 120_000
const BEGUN: readonly StepRow['status'][] = ['running', 'completed']

async function changed(services: ChangeServices, id: string, change: Change): Promise<WorkflowChangeResult> {
  if (!isJobId(id)) return { status: 'not_found' }
  try {
    const advanced = await withoutRefused((how) =>
      services.db.transaction((tx) => changeIn(tx, services, { id, change, how }), DEADLINE_MS),
    )
    if (advanced === undefined) return { status: 'not_found' }
    await services.advancer.afterwards(advanced)
    return { status: 'done', as: advanced.workflow.status }
  } catch (error) {
    if (error instanceof Refused) return { status: 'refused', as: error.as, message: error.message }
    throw error
  }
}

async function changeIn(
  tx: Session,
  services: ChangeServices,
  { id, change, how }: { id: string; change: Change; how: Retrial },
): Promise<Advanced | undefined> {
  const { clock, definitions } = services
  const { action, by, details } = change
  const outcome = await advanceIn(tx, services, id, {
    ...change.options,
    by,
    ...how,
    change: (workflow, steps) => {
      const why = change.refuse(workflow)
      if (why !== undefined) throw new Refused(workflow.status, why)
      if (!definitions.has(workflow.name)) throw new UnknownWorkflow(workflow.name, definitions.names)
      return change.change(workflow, steps)
    },
  })
  if (outcome === undefined) return undefined
  change.check?.()
  const { name, tenant } = outcome.workflow
  const entry = { by, action, target: id, tenant, details: { name, ...(details as object) } }
  await auditWrite(tx, clock.databaseNow(), entry)
  return outcome
}

export function cancelWorkflow(
  services: ChangeServices,
  id: string,
  { by, reason }: { by: string; reason: string },
): Promise<WorkflowChangeResult> {
  return changed(services, id, {
    action: 'workflow.cancel',
    by,
    details: { reason },
    refuse: ({ status, stopping, resumes }) => {
      if (hasEnded(status)) return `Workflow ${id} is ${status} already: there is nothing to cancel.`
      // What somebody has resumed is rolled back after all.
      if (resumes) return undefined
      if (stopping === 'cancelled') return `Workflow ${id} was cancelled before, and is ${status}.`
      return status === 'rolling back'
        ? `Workflow ${id} is rolling back because it failed: it ends by itself.`
        : undefined
    },
    change: (workflow) => {
      workflow.stopping = 'cancelled'
      workflow.resumes = false
      workflow.reason = reason
      return []
    },
  })
}

export function resumeWorkflow(
  services: ChangeServices,
  id: string,
  { by, payloads = {} }: { by: string; payloads?: Edits },
): Promise<WorkflowChangeResult> {
  let edited: StepRow[] = []
  let isUndoing = false
  return changed(services, id, {
    action: 'workflow.resume',
    by,
    details: { edited: Object.keys(payloads) },
    options: { edits: payloads, isStrict: true },
    refuse: ({ status, parentId, resumes }) => {
      if (parentId !== null) return isPart(id, parentId, 'resume')
      if (status === 'failed' || status === 'cancelled' || status === 'rollback failed') return undefined
      if (resumes) return `Workflow ${id} was resumed before: it goes on when the undo under way has ended.`
      if (status === 'rolling back') return undefined
      const why =
        status === 'rolled back' ? 'What it had done was undone: start it anew.' : 'There is nothing to resume.'
      return `Workflow ${id} is ${status}. ${why}`
    },
    change: (workflow, steps) => {
      if (workflow.status === 'rolling back') return resumedLater(workflow, payloads)
      isUndoing = workflow.status === 'rollback failed'
      const begun = isUndoing ? undoAgain(workflow, steps) : doAgain(workflow, steps)
      edited = begun.filter(({ name }) => Object.hasOwn(payloads, name))
      const names = begun.filter(({ kind }) => kind === 'jobs').map(({ name }) => name)
      const wrong = Object.keys(payloads).find((name) => !names.includes(name))
      if (wrong === undefined) return begun
      throw new InvalidDefinition(
        `resume got a payload for "${wrong}", which is no step that begins anew: those are ${names.map((name) => `"${name}"`).join(', ')}.`,
      )
    },
    check: () => checkBegun(edited, isUndoing),
  })
}

/** Which jobs begin anew is known when the undo under way has ended. */
function resumedLater(workflow: LockedWorkflow, payloads: Edits): readonly StepRow[] {
  if (Object.keys(payloads).length === 0) return resumeLater(workflow)
  throw new InvalidDefinition(
    `Workflow ${workflow.id} is rolling back, and goes on when the undo under way has ended: a payload cannot be given before. Resume without it; if a step fails, resume with its payload then.`,
  )
}

/** What somebody wrote is used now or never: a step that begins later would be given what its definition says. */
function checkBegun(edited: readonly StepRow[], isUndoing: boolean): void {
  const idle = edited.find(({ status, undo }) => (isUndoing ? undo === 'none' : !BEGUN.includes(status)))
  if (idle === undefined) return
  throw new InvalidDefinition(
    `resume got a payload for "${idle.name}", which does not begin yet: other steps come before it. Resume without it; if that step fails, resume with its payload then.`,
  )
}

const isPart = (id: string, parentId: string, verb: string): string =>
  `Workflow ${id} is a step of workflow ${parentId}: ${verb} that one.`

export function rollBackWorkflow(
  services: ChangeServices,
  id: string,
  { by }: { by: string },
): Promise<WorkflowChangeResult> {
  return changed(services, id, {
    action: 'workflow.roll_back',
    by,
    refuse: ({ status, parentId }) =>
      parentId !== null
        ? isPart(id, parentId, 'roll back')
        : status === 'failed'
          ? undefined
          : `Workflow ${id} is ${status}: only one that failed can be rolled back.`,
    change: (workflow) => {
      workflow.status = 'stopping'
      workflow.rollsBack = true
      return []
    },
  })
}
