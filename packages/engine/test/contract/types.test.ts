// Checked by the compiler in `npm run build`: each @ts-expect-error fails the build if the line below it compiles.

import {
  cancel,
  createMillrace,
  defineJob,
  defineQueues,
  defineWorkflow,
  type EnqueueResult,
  implement,
} from 'millrace'
import type pg from 'pg'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'

const queues = defineQueues({ high: { priority: 0 }, orgs: { tenant: 'required' } })
const email = defineJob({
  type: 'email',
  queue: queues.high,
  payload: z.object({ to: z.string(), at: z.iso.datetime().transform((text) => new Date(text)) }),
  result: z.object({ messageId: z.string() }),
})
const sync = defineJob({ type: 'sync', queue: queues.orgs, payload: z.object({ org: z.string() }) })
const derived = defineJob({
  type: 'derived',
  queue: queues.orgs,
  payload: z.object({ org: z.string() }),
  tenant: (payload) => payload.org,
})

const workflow = defineWorkflow('workflow', {}).step('sync', derived, { payload: () => ({ org: 'o' }) })

/** Only compiled, never run. */
async function neverRun(pool: pg.Pool, client: pg.Client, pooled: pg.PoolClient) {
  const millrace = createMillrace({ database: '', jobs: [email, sync, derived] })
  await millrace.enqueue(derived, { org: 'o' }, { tx: client })
  await millrace.enqueue(derived, { org: 'o' }, { tx: pooled })
  // @ts-expect-error a pool is no transaction
  await millrace.enqueue(derived, { org: 'o' }, { tx: pool })
  // @ts-expect-error the same for many
  await millrace.enqueueMany(derived, [{ org: 'o' }], { tx: pool })
  // @ts-expect-error the same for a workflow
  await millrace.workflows.start(workflow, undefined, { tx: pool })
  // @ts-expect-error the same for a signal
  await millrace.workflows.signal('1', 'go', undefined, { by: 'ada', tx: pool })
  expectTypeOf(await millrace.enqueue(email, { to: 'a', at: '2026-01-01T00:00:00Z' })).toEqualTypeOf<EnqueueResult>()
  // @ts-expect-error a field is missing
  await millrace.enqueue(email, { to: 'a' })
  // @ts-expect-error a field has the wrong type
  await millrace.enqueue(email, { to: 1, at: '' })
  // @ts-expect-error the handler's side of a transform is not what a caller passes
  await millrace.enqueue(email, { to: 'a', at: new Date() })

  await millrace.enqueue(sync, { org: 'o' }, { tenant: 'o' })
  // @ts-expect-error the queue requires a tenant
  await millrace.enqueue(sync, { org: 'o' })
  // @ts-expect-error the queue requires a tenant, other options do not help
  await millrace.enqueue(sync, { org: 'o' }, { priority: 1 })
  // @ts-expect-error the same for many
  await millrace.enqueueMany(sync, [{ org: 'o' }])
  await millrace.enqueue(derived, { org: 'o' })

  // @ts-expect-error there is no such queue
  defineJob({ type: 'x', queue: queues.low, payload: z.object({}) })
  // @ts-expect-error a queue is a reference, not a name
  defineJob({ type: 'x', queue: 'high', payload: z.object({}) })

  const keyed = { type: 'x', queue: queues.high, payload: z.object({ id: z.string() }) }
  defineJob({ ...keyed, dedupe: { key: ({ id }) => id, mode: 'window', window: '1h' } })
  defineJob({ ...keyed, dedupe: { key: ({ id }) => id, mode: 'debounce', wait: '5s', maxWait: '1m' } })
  // @ts-expect-error the payload has no such field
  defineJob({ ...keyed, dedupe: { key: ({ name }) => name, mode: 'latest' } })
  // @ts-expect-error there is no such mode
  defineJob({ ...keyed, dedupe: { key: ({ id }) => id, mode: 'replace' } })
  // @ts-expect-error a window belongs to mode 'window'
  defineJob({ ...keyed, dedupe: { key: ({ id }) => id, window: '1h' } })
  // @ts-expect-error the mode needs its duration
  defineJob({ ...keyed, dedupe: { key: ({ id }) => id, mode: 'window' } })
  // @ts-expect-error only a debounced job waits
  defineJob({ ...keyed, dedupe: { key: ({ id }) => id, mode: 'latest', wait: '5s' } })

  implement(email, (payload, ctx) => {
    expectTypeOf(payload).toEqualTypeOf<{ to: string; at: Date }>()
    expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>()
    return { messageId: 'm' }
  })
  implement(email, () => cancel('unsubscribed'))
  // @ts-expect-error the result does not fit the contract
  implement(email, () => ({ messageId: 1 }))
  // @ts-expect-error the contract promises a result
  implement(email, async () => 'sent')
  implement(sync, () => {})
  defineJob({
    type: 'x',
    queue: queues.orgs,
    payload: z.object({ org: z.string() }),
    // @ts-expect-error the function that derives the tenant sees the payload's type
    tenant: (payload) => payload.nope,
  })
  const dated = z.object({ at: z.iso.datetime().transform((text) => new Date(text)) })
  defineJob({ type: 'x', queue: queues.high, payload: dated, examples: [{ at: '2026-01-01T00:00:00Z' }] })
  // @ts-expect-error an example is what a caller passes, not what the handler gets
  defineJob({ type: 'x', queue: queues.high, payload: dated, examples: [{ at: new Date() }] })
}

test('types flow from schema to call site and handler', () => {
  expectTypeOf(neverRun).returns.resolves.toBeVoid()
})
