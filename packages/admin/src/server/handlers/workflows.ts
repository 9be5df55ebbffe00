import { type Millrace, type SignalResult, type WorkflowChangeResult, WorkflowNotFound } from 'millrace'
import { contract } from '../../contract/operations.ts'
import { type Caller, hasRole, maySee, newestFirst, tenantsToList } from '../caller.ts'
import { conflict } from '../problem.ts'
import { given, type Route, route } from '../route.ts'
import { eachTenant } from './jobs.ts'

const { workflows } = contract
const PAGE = 50

async function visible(millrace: Millrace, caller: Caller, id: string) {
  const workflow = await millrace.workflows.get(id)
  if (workflow === undefined || !maySee(caller, workflow.tenant)) throw new WorkflowNotFound(id)
  return workflow
}

/** What was done, or why not. */
function settled<Result extends WorkflowChangeResult | SignalResult>(
  id: string,
  result: Result,
): Exclude<Result, { status: 'refused' | 'not_found' }> {
  if (result.status === 'not_found') throw new WorkflowNotFound(id)
  if (result.status === 'refused') throw conflict('workflow_state', result.message, { as: result.as })
  return result as Exclude<Result, { status: 'refused' | 'not_found' }>
}

export const workflowRoutes: readonly Route[] = [
  route(workflows.list, async ({ tenant, limit = PAGE, ...filter }, { millrace, caller }) => {
    const lists = await eachTenant(tenantsToList(caller, tenant), (each) =>
      millrace.workflows.list({ ...given({ ...filter, tenant: each }), limit }),
    )
    const page = newestFirst(lists, limit)
    return { workflows: page, next: page.length === limit ? (page.at(-1)?.id ?? null) : null }
  }),

  route(workflows.get, async ({ id }, { millrace, caller }) => {
    const { input, ...workflow } = await visible(millrace, caller, id)
    return hasRole(caller, 'operator') ? { ...workflow, input } : workflow
  }),

  route(workflows.times, async ({ id }, { millrace, caller }) => {
    await visible(millrace, caller, id)
    return { steps: await millrace.workflows.times(id) }
  }),

  route(workflows.signal, async ({ id, name, payload, key }, { millrace, caller, by }) => {
    await visible(millrace, caller, id)
    return settled(id, await millrace.workflows.signal(id, name, payload, { by, ...given({ key }) }))
  }),

  route(workflows.cancel, async ({ id, reason }, { millrace, caller, by }) => {
    await visible(millrace, caller, id)
    return settled(id, await millrace.workflows.cancel(id, { by, ...given({ reason }) }))
  }),

  route(workflows.resume, async ({ id, payloads }, { millrace, caller, by }) => {
    await visible(millrace, caller, id)
    return settled(id, await millrace.workflows.resume(id, { by, ...given({ payloads }) }))
  }),

  route(workflows.rollBack, async ({ id }, { millrace, caller, by }) => {
    await visible(millrace, caller, id)
    return settled(id, await millrace.workflows.rollBack(id, { by }))
  }),
]
