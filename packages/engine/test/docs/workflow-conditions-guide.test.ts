// The examples of the guide to workflows that wait are taken out of it, type-checked and run.
import {
  type Implementation,
  implement,
  type JobContract,
  type Millrace,
  type Queryable,
  type WorkflowDefinition,
} from 'millrace'
import { expect, test } from 'vitest'
import { examplesOf } from '../support/guide.ts'
import { eventually, setup, shortLease } from '../support/setup.ts'
import { statuses } from '../workflow/running.ts'

const GUIDE = 'workflow-conditions-and-signals.md'

type Contracts = Record<'reserve' | 'review' | 'ship' | 'remind', JobContract>

function handlersOf({ reserve, review, ship, remind }: Contracts, cents: number): Implementation[] {
  return [
    implement(reserve, (payload) => ({ ...(payload as { order: string }), cents })),
    implement(review, () => ({ isSuspicious: true })),
    implement(ship, () => undefined),
    implement(remind, () => undefined),
  ] as Implementation[]
}

test('the examples pass the type checker', async () => {
  await using guide = await examplesOf(GUIDE)
  expect(await guide.complaints()).toBe('')
})

test('a small order is shipped without a review, and the reminder waits', async () => {
  await using guide = await examplesOf(GUIDE)
  await using t = await setup()
  const { order } = await guide.load<{ order: WorkflowDefinition }>('order.ts')
  const contracts = await guide.load<Contracts>('contracts.ts')
  const millrace = t.client([], { workflows: [order] })
  await millrace.work({ handlers: handlersOf(contracts, 100), lease: shortLease })
  const { id } = await millrace.workflows.start(order, { order: 'o1' } as never)
  await eventually(async () => (await statuses(millrace.workflows, id)).remind === 'running')
  expect(await statuses(millrace.workflows, id)).toMatchObject({ review: 'skipped', ship: 'completed' })
})

test('a suspicious order is not shipped', async () => {
  await using guide = await examplesOf(GUIDE)
  await using t = await setup()
  const { order } = await guide.load<{ order: WorkflowDefinition }>('order.ts')
  const contracts = await guide.load<Contracts>('contracts.ts')
  const millrace = t.client([], { workflows: [order] })
  await millrace.work({ handlers: handlersOf(contracts, 200_000), lease: shortLease })
  const { id } = await millrace.workflows.start(order, { order: 'o1' } as never)
  expect((await millrace.workflows.result(id)).status).toBe('completed')
  expect(await statuses(millrace.workflows, id)).toMatchObject({
    review: 'completed',
    ship: 'skipped',
    remind: 'skipped',
  })
})

test('a large purchase waits for its approval, which commits with the writes of whoever gives it', async () => {
  await using guide = await examplesOf(GUIDE)
  await using t = await setup()
  const { purchase } = await guide.load<{ purchase: WorkflowDefinition }>('purchase.ts')
  type Approve = (millrace: Millrace, id: string, note: string, tx?: Queryable) => Promise<string>
  const { approve } = await guide.load<{ approve: Approve }>('approve.ts')
  const contracts = await guide.load<Contracts>('contracts.ts')
  const millrace = t.client([contracts.review], { workflows: [purchase] })
  await millrace.work({ handlers: handlersOf(contracts, 200_000), lease: shortLease })
  const { id } = await millrace.workflows.start(purchase, { order: 'o1' } as never)
  await eventually(async () => (await statuses(millrace.workflows, id)).approved === 'running')
  const client = await t.pool.connect()
  await client.query('begin')
  expect(await approve(millrace, id, 'fine', client)).toBe('accepted')
  await client.query('commit')
  client.release()
  expect(await approve(millrace, id, 'fine')).toBe('repeated')
  expect(await approve(millrace, id, 'again')).toContain('the first one counts')
  expect(await statuses(millrace.workflows, id)).toEqual({
    reserve: 'completed',
    approved: 'completed',
    remind: 'skipped',
    'cooling-off': 'running',
    ship: 'waiting',
  })
})

test('a workflow has two others as steps, one after the other', async () => {
  await using guide = await examplesOf(GUIDE)
  await using t = await setup()
  const { restock } = await guide.load<{ restock: WorkflowDefinition }>('restock.ts')
  const contracts = await guide.load<Contracts>('contracts.ts')
  const millrace = t.client([], { workflows: [restock] })
  await millrace.work({ handlers: handlersOf(contracts, 200_000), lease: shortLease })
  const { id } = await millrace.workflows.start(restock, { orders: ['o1', 'o2'] } as never)
  expect((await millrace.workflows.result(id)).status).toBe('completed')
  const children = await millrace.workflows.list({ name: 'order' })
  expect(children.map(({ parentId, correlationId }) => [parentId, correlationId])).toEqual([
    [id, `workflow-${id}`],
    [id, `workflow-${id}`],
  ])
})
