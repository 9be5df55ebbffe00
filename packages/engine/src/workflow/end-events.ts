import type { Events, WorkflowRef } from '../events.ts'
import type { LockedWorkflow } from '../store/workflows.ts'

const NOT_COMPLETED = {
  failed: 'workflow_failed',
  cancelled: 'workflow_cancelled',
  'rolled back': 'workflow_rolled_back',
  'rollback failed': 'workflow_rollback_failed',
} as const

/** Says how a workflow ended, to whoever listens. */
export function reportEnd(events: Events, { id, name, tenant, correlationId, status, reason }: LockedWorkflow): void {
  const workflow: WorkflowRef = { id, name, tenant, correlationId }
  if (status === 'completed') events.emit('workflow_completed', { workflow })
  else if (status in NOT_COMPLETED)
    events.emit(NOT_COMPLETED[status as keyof typeof NOT_COMPLETED], { workflow, reason: reason ?? '' })
}
