// Signals: somebody outside says that a workflow may go on. One transaction under its lock: the signal is kept, its entry is in
// the audit log, and the step that waits for it is marked. In the caller's transaction what follows is done in it, too;
// otherwise right after it, so that whatever hinders that never loses the signal.
import { InvalidDefinition, UnknownSignal, UnknownWorkflow } from '../errors.ts'
import { auditWrite } from '../store/audit.ts'
import type { Session } from '../store/db.ts'
import { isJobId } from '../store/job-id.ts'
import { allOrNothing } from '../store/savepoint.ts'
import type { Queryable } from '../store/statements.ts'
import { demandOwnTenant, sessionOn } from '../store/transaction.ts'
import { type WorkflowSignal, workflowSignalList, workflowSignalWrite } from '../store/workflow-waits.ts'
import { type LockedWorkflow, type StepRow, workflowGet, workflowLock, workflowStepRows } from '../store/workflows.ts'
import { advanceIn } from '../workflow/course.ts'
import type { WorkflowStatus } from '../workflow/graph.ts'
import { checkedText } from '../workflow/new-workflow.ts'
import { author, label } from './enqueue-options.ts'
import type { ChangeServices } from './workflow-changes.ts'

export interface SignalOptions {
  /** Who says it: it is written down with it. */
  by: string
  /** Says that two signals are the same, sent twice. */
  key?: string
  /** Your own transaction: the signal was sent exactly if it commits. The workflow stands still until then. */
  tx?: Queryable
}

export type SignalResult =
  /** It is kept, and its step completes: now, or when it starts. */
  | { status: 'accepted' }
  /** It came before, with the same key: nothing was changed. */
  | { status: 'repeated' }
  /** It cannot be taken by a workflow that is `as`: nothing was changed. */
  | { status: 'refused'; as: WorkflowStatus; message: string }
  | { status: 'not_found' }

interface Sent {
  id: string
  name: string
  payload: string | null
  key: string | null
  by: string
}

const DEADLINE_MS = 30_000

export async function signalWorkflow(
  services: ChangeServices,
  { id, name, payload }: { id: string; name: string; payload: unknown },
  options: SignalOptions,
): Promise<SignalResult> {
  const by = author(options.by)
  const key = label(options.key ?? null, 'key')
  if (!isJobId(id)) return { status: 'not_found' }
  const { db, advancer } = services
  const session = options.tx === undefined ? db : sessionOn(options.tx, db.schema)
  const workflow = await workflowGet(session, id)
  if (workflow === undefined) return { status: 'not_found' }
  demandOwnTenant(session, [workflow.tenant])
  const text = await payloadText(services, { workflow: workflow.name, name, payload })
  const sent = { id, name, payload: text, key, by }
  if (options.tx !== undefined) {
    return allOrNothing(session, async () => {
      const result = await send(services, session, { ...sent, isOwn: false })
      if (result.status === 'accepted') await advanceIn(session, services, id, { tells: true })
      return result
    })
  }
  const result = await db.transaction((tx) => send(services, tx, { ...sent, isOwn: true }), DEADLINE_MS)
  if (result.status === 'accepted') await advancer.heard([id])
  return result
}

/** The JSON text that is stored. It is checked as a job's payload is. */
async function payloadText(
  { definitions }: ChangeServices,
  { workflow, name, payload }: { workflow: string; name: string; payload: unknown },
): Promise<string | null> {
  if (!definitions.has(workflow)) throw new UnknownWorkflow(workflow, definitions.names)
  const signals = definitions.signalsOf(workflow)
  const schema = signals.get(name)
  if (schema === undefined && !signals.has(name)) throw new UnknownSignal(workflow, name, [...signals.keys()])
  if (schema !== undefined) return checkedText(`signal ${name}`, schema, payload)
  if (payload === undefined) return null
  throw new InvalidDefinition(`Signal "${name}" of workflow "${workflow}" takes no payload, and one was given.`)
}

async function send(
  services: ChangeServices,
  session: Session,
  { isOwn, ...sent }: Sent & { isOwn: boolean },
): Promise<SignalResult> {
  const { id, name, payload, key, by } = sent
  const now = services.clock.databaseNow()
  const workflow = await workflowLock(session, id, { isOwn })
  if (workflow === undefined) return { status: 'not_found' }
  const steps = await workflowStepRows(session, id)
  const step = steps.find((each) => each.name === name && each.kind === 'signal')
  // It was started by a program that did not know of it.
  if (step === undefined) throw new UnknownSignal(workflow.name, name, signalNames(steps))
  const before = (await workflowSignalList(session, id)).find((each) => each.name === name)
  if (before !== undefined && key !== null && before.key === key) return { status: 'repeated' }
  const message = refusalOf(workflow, step, before)
  if (message !== undefined) return { status: 'refused', as: workflow.status, message }
  await workflowSignalWrite(session, now, { workflowId: id, name, payload, key, sentBy: by })
  const details = { name: workflow.name, signal: name }
  await auditWrite(session, now, { by, action: 'workflow.signal', target: id, tenant: workflow.tenant, details })
  return { status: 'accepted' }
}

const signalNames = (steps: readonly StepRow[]): string[] =>
  steps.filter(({ kind }) => kind === 'signal').map(({ name }) => name)

/** Undefined: it is taken. */
function refusalOf(
  { id, status }: LockedWorkflow,
  step: StepRow,
  before: WorkflowSignal | undefined,
): string | undefined {
  if (before !== undefined) return `Workflow ${id} has got signal "${step.name}" already: the first one counts.`
  if (status !== 'running') return `Workflow ${id} is ${status}: it waits for no signal any more.`
  if (step.status === 'waiting' || step.status === 'running') return undefined
  const why = step.reason === null ? '' : ` (${step.reason})`
  return `Signal "${step.name}" comes too late: its step of workflow ${id} is ${step.status}${why}.`
}
