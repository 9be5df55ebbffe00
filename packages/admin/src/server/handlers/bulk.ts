import { type BulkActionName, BulkNotFound, type BulkReport, type BulkRequest, InvalidDefinition } from 'millrace'
import type { z } from 'zod'
import { contract } from '../../contract/operations.ts'
import { type Caller, demandRole, maySee, newestFirst, oneTenant, tenantsToList } from '../caller.ts'
import { conflict, Refusal } from '../problem.ts'
import { type CallContext, given, type Route, route } from '../route.ts'
import { eachTenant } from './jobs.ts'

const { bulk } = contract
const PAGE = 50
const ITEMS = 100

type Asked = z.output<typeof bulk.preview.input>

/** What an action can be given. */
const OPTIONS: Readonly<Record<BulkActionName, readonly string[]>> = {
  retry: ['maxAttempts'],
  redrive: ['maxAttempts'],
  cancel: ['reason'],
  prioritise: ['priority'],
  fail: ['reason', 'final'],
  prune: [],
  resolve: ['note'],
  ignore: ['note'],
}

function requestOf(caller: Caller, { query, ids, tenant, action, ...options }: Asked): BulkRequest {
  if (action === 'prune') demandRole(caller, 'admin')
  for (const option of Object.keys(given(options))) {
    if (OPTIONS[action].includes(option)) continue
    const takes = OPTIONS[action].join(' and ') || 'nothing further'
    throw new Refusal(400, 'invalid_request', `\`${option}\` does not belong to ${action}, which takes ${takes}.`)
  }
  // The engine says what is missing.
  const request: object = { action, ...given({ query, ids, tenant: oneTenant(caller, tenant), ...options }) }
  return request as BulkRequest
}

async function visible({ millrace, caller }: CallContext, id: string): Promise<BulkReport> {
  const operation = await millrace.bulk.get(id)
  if (operation === undefined || !maySee(caller, operation.tenant)) throw new BulkNotFound(id)
  return operation
}

export const bulkRoutes: readonly Route[] = [
  route(bulk.preview, async (asked, { millrace, caller }) => millrace.bulk.preview(requestOf(caller, asked))),

  route(bulk.start, async ({ dryRun, rate, limit, canary, ...asked }, { millrace, caller, by }) =>
    millrace.bulk.start(requestOf(caller, asked), { by, ...given({ dryRun, rate, limit, canary }) }),
  ),

  route(bulk.list, async ({ tenant, before, limit = PAGE }, { millrace, caller }) => {
    const lists = await eachTenant(tenantsToList(caller, tenant), (each) =>
      millrace.bulk.list({ ...given({ tenant: each, before }), limit }),
    )
    const operations = newestFirst(lists, limit)
    return { operations, next: operations.length === limit ? (operations.at(-1)?.id ?? null) : null }
  }),

  route(bulk.get, ({ id }, context) => visible(context, id)),

  route(bulk.items, async ({ id, limit = ITEMS, ...filter }, context) => {
    await visible(context, id)
    const items = await context.millrace.bulk.items(id, { ...given(filter), limit })
    return { items, next: items.length === limit ? (items.at(-1)?.jobId ?? null) : null }
  }),

  route(bulk.cancel, async ({ id }, context) => {
    const before = await visible(context, id)
    const after = before.status === 'running' ? await context.millrace.bulk.cancel(id, { by: context.by }) : before
    if (before.status === 'running' && after.cancelledBy === context.by) return after
    const detail = `Bulk operation ${id} is ${after.status} already: nothing was changed.`
    throw conflict('already_finished', detail, { as: after.status })
  }),

  route(bulk.proceed, async ({ id, rate }, context) => {
    const { status, canary } = await visible(context, id)
    const isWaiting = status === 'running' && (canary?.stage === 'choosing' || canary?.stage === 'waiting')
    if (isWaiting) return context.millrace.bulk.proceed(id, { by: context.by, ...given({ rate }) })
    const why = canary === null ? 'has no canary' : status === 'running' ? `is past its canary` : `is ${status} already`
    throw conflict('no_canary', `Bulk operation ${id} ${why}: nothing was changed.`)
  }),

  route(bulk.undo, async ({ id }, context) => {
    await visible(context, id)
    return context.millrace.bulk.undo(id, { by: context.by }).catch((error) => {
      throw error instanceof InvalidDefinition ? conflict('no_undo', error.message) : error
    })
  }),
]
