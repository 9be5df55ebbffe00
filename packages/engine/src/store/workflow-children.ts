// Workflows that are steps of others.
import type { WorkflowStatus } from '../workflow/graph.ts'
import { plainArray } from './arrays.ts'
import type { Session } from './db.ts'

export interface ChildWorkflow {
  position: number
  id: string
  status: WorkflowStatus
}

/** Of each of these steps the last that was started. */
export async function workflowChildren(
  session: Session,
  parentId: string,
  positions: readonly number[],
): Promise<ChildWorkflow[]> {
  if (positions.length === 0) return []
  return session.run('workflowChildren', [parentId, plainArray(positions)])
}

export async function workflowChildEnd(
  session: Session,
  child: { parentId: string; parentPosition: number; status: WorkflowStatus; reason: string | null },
): Promise<void> {
  const { parentId, parentPosition, status, reason } = child
  await session.run('workflowChildEnd', [parentId, parentPosition, status, reason])
}
