// A workflow and its steps, as the API tells them.
import { type Answer, ask } from '../../data/queries.ts'
import { useLive } from '../../data/use-live.ts'

export type Workflow = Answer<'workflows', 'list'>['workflows'][number]
export type WorkflowDetails = Answer<'workflows', 'get'>
export type Step = WorkflowDetails['steps'][number]
export type Times = Answer<'workflows', 'times'>['steps'][number]

const MOVING_MS = 2_000
const STILL_MS = 30_000

export const hasEnded = ({ finishedAt }: Pick<Workflow, 'finishedAt'>): boolean => finishedAt !== null

export function useWorkflow(id: string) {
  const workflow = useLive(ask('workflows', 'get', { id }), { every: MOVING_MS })
  const every = workflow.data !== undefined && hasEnded(workflow.data) ? STILL_MS : MOVING_MS
  const times = useLive(ask('workflows', 'times', { id }), { every })
  return { workflow, times: times.data?.steps ?? [] }
}
