import { defineJob, defineQueues, defineWorkflow, implement } from 'millrace'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { Database } from '#src/store/db'
import { watchConnections } from '#src/store/one-connection'
import { setup } from '../support/setup.ts'

const queues = defineQueues({
  work: { tenant: 'required' },
  narrow: { tenant: 'required', tenantJobs: { max: 1, over: 'reject' } },
})
const hold = defineJob({ type: 'room.hold', queue: queues.work, payload: z.object({ room: z.string() }) })
const free = defineJob({ type: 'room.free', queue: queues.work, payload: z.object({ room: z.string() }) })
const pay = defineJob({ type: 'room.pay', queue: queues.work, payload: z.object({ room: z.string() }) })

const booking = defineWorkflow('booking', { input: z.object({ room: z.string() }) })
  .step('hold', hold, {
    payload: ({ input }) => ({ room: input.room }),
    undo: { job: free, payload: ({ input }) => ({ room: input.room }) },
  })
  .step('pay', pay, { after: ['hold'], payload: ({ input }) => ({ room: input.room }) })

const rush = defineJob({ type: 'room.rush', queue: queues.narrow, payload: z.object({}) })
/** The first step registers the tenant, the others are too many for it. */
const rushed = defineWorkflow('rushed', {})
  .step('hold', hold, { payload: () => ({ room: '12a' }) })
  .step('rush', rush, { payload: () => ({}) })
  .step('rush-more', rush, { payload: () => ({}) })

it('ten workflows of new tenants start at once on two connections', async () => {
  await using t = await setup()
  const millrace = t.client([], { workflows: [booking], maxConnections: 2 })
  const started = Array.from({ length: 10 }, (_, i) =>
    millrace.workflows.start(booking, { room: `room ${i}` }, { tenant: `tenant ${i % 3}` }),
  )
  expect(new Set((await Promise.all(started)).map(({ id }) => id)).size).toBe(10)
  expect(await t.sql('select name from millrace.tenant order by name')).toHaveLength(3)
})

it('workflows advance and are rolled back on one connection', async () => {
  await using t = await setup()
  const rooms: string[] = []
  const freed: string[] = []
  const millrace = t.client([], { workflows: [booking], maxConnections: 1 })
  await millrace.work({
    handlers: [
      implement(hold, async ({ room }) => void rooms.push(room)),
      implement(free, async ({ room }) => void freed.push(room)),
      implement(pay, async (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))),
    ],
  })
  const paying = millrace.events.next('job_started', ({ job }) => job.type === 'room.pay')
  const { id } = await millrace.workflows.start(booking, { room: '12a' }, { tenant: 'acme' })
  await paying
  expect(await millrace.workflows.cancel(id, { by: 'ada' })).toMatchObject({ status: 'done' })
  expect(await millrace.workflows.result(id)).toMatchObject({ status: 'rolled back' })
  expect({ rooms, freed }).toEqual({ rooms: ['12a'], freed: ['12a'] })
})

it('a new tenant is registered by the next enqueue if the start that met it is rolled back', async () => {
  await using t = await setup()
  const millrace = t.client([hold], { workflows: [rushed] })
  await expect(millrace.workflows.start(rushed, undefined, { tenant: 'acme' })).rejects.toThrow('which is its limit')
  expect(await t.sql('select name from millrace.tenant')).toEqual([])
  await millrace.enqueue(hold, { room: '12a' }, { tenant: 'acme' })
  expect(await t.sql('select name from millrace.tenant')).toEqual([{ name: 'acme' }])
})

it('a second connection of the same pool is reported while the first is held, and not after', async () => {
  await using t = await setup()
  const open = () => new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  const [db, other] = [open(), open()]
  const reports: Error[] = []
  const stop = watchConnections((violation) => reports.push(violation))
  try {
    await db.transaction(async () => void (await other.execute('select 1')))
    await db.execute('select 1')
    expect(reports).toEqual([])
    await db.transaction(() => other.transaction(() => db.execute('select 1')))
    expect(reports).toHaveLength(1)
    expect(reports[0]?.message).toContain('one-connection.test.ts')
  } finally {
    stop()
    await Promise.all([db.close(), other.close()])
  }
})
