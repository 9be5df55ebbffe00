// The figures of the page: who has what, why it waits, and what a caller may not see.
import { expect, test } from 'vitest'
import { enqueueWithIsolation } from '#src/jobs/router'
import { neighboursOf } from '#src/page/neighbours'
import { ask } from '../support/ask.ts'
import { type Dartwing, LARGE, SMALL, setup } from '../support/dartwing.ts'

const change = { doctype: 'Task', names: ['TASK-1'], change: { status: 'Done' } }
const enqueue = (t: Dartwing, organization: string) =>
  enqueueWithIsolation(t.millrace, { method: 'dartwing_core.crud.update_documents', organization, arguments: change })

test('an idle installation says so, and shows the slots of one process', async () => {
  await using t = await setup()
  const { verdict, slots, neighbours } = await neighboursOf(t.system, null)
  expect(verdict).toBe('No job waits.')
  expect(slots.map(({ queue }) => queue).join(' ')).toBe(`${'critical '.repeat(4)}${'default '.repeat(8)}bulk bulk`)
  expect(neighbours.map(({ organization }) => organization)).toEqual([1, 2, 3, 4, 5].map((n) => `ORG-2025-0000${n}`))
})

test('the organization with most waiting jobs is named, with its use of the limit and why its oldest job waits', async () => {
  await using t = await setup()
  for (let i = 0; i < 25; i++) await enqueue(t, LARGE)
  await enqueue(t, SMALL)
  const { verdict, neighbours } = await neighboursOf(t.system, null)
  expect(verdict).toBe(`${LARGE} has 25 default jobs waiting; no other organization has run a job in the last minute.`)
  const large = neighbours.find(({ organization }) => organization === LARGE)
  expect(large?.queues[1]).toEqual({ queue: 'default', waiting: 25, running: 0, limit: 500, isOver: false })
  expect(large?.why).toContain('No worker')
})

test('a caller of one organization sees that one only', async () => {
  await using t = await setup()
  await enqueue(t, LARGE)
  const { neighbours } = await neighboursOf(t.system, [SMALL])
  expect(neighbours.map(({ organization }) => organization)).toEqual([SMALL])
  const response = await ask(t, '/dartwing/api/neighbours', { tenants: [SMALL] })
  expect(response.status).toBe(200)
  expect(await response.text()).not.toContain(LARGE)
  const page = await ask(t, '/dartwing', { tenants: [SMALL] })
  expect(await page.text()).not.toContain('Meridian Logistics')
})

test('hostile titles are text on the page', async () => {
  await using t = await setup()
  await t.sql('update dartwing.organization set title = $2 where name = $1', [SMALL, '<img src=x onerror=alert(1)>'])
  const text = await (await ask(t, '/dartwing')).text()
  expect(text).not.toContain('<img')
  expect(text).toContain('&#60;img src=x')
})

test('a job is enqueued over HTTP, for an organization of the caller only', async () => {
  await using t = await setup()
  const body = { method: 'dartwing_core.crud.update_documents', organization: LARGE, arguments: change }
  const post = (tenants?: string[]) =>
    ask(t, '/dartwing/api/enqueue', { method: 'POST', body, ...(tenants && { tenants }) })
  expect(await (await post()).json()).toMatchObject({ status: 'queued', warnings: [] })
  const refused = await post([SMALL])
  expect(refused.status).toBe(403)
  expect(await refused.text()).toContain(`Use a token of ${LARGE}`)
})

test('an administrator limits, weighs and suspends an organization', async () => {
  await using t = await setup()
  const patch = (body: object, role: 'operator' | 'admin' = 'admin') =>
    ask(t, `/dartwing/api/organizations/${LARGE}`, { method: 'PATCH', body, role })
  expect((await patch({ status: 'Suspended' }, 'operator')).status).toBe(403)
  expect((await patch({ queue: 'default', max_jobs: 7, over: 'reject', weight: 3, minSlots: 1 })).status).toBe(200)
  expect(await t.millrace.tenants.limits(LARGE)).toMatchObject([{ queue: 'default', jobs: 7, over: 'reject' }])
  expect(await t.millrace.tenants.get(LARGE)).toMatchObject({ weight: 3, minSlots: 1 })
  expect(await (await patch({ status: 'Suspended' })).json()).toMatchObject({ status: 'Suspended' })
  await expect(enqueue(t, LARGE)).rejects.toThrow('is suspended')
  expect((await patch({ status: 'Active', queue: 'default', max_jobs: null })).status).toBe(200)
  expect(await t.millrace.tenants.limits(LARGE)).toEqual([])
  expect(await enqueue(t, LARGE)).toMatchObject({ status: 'queued' })
  expect((await patch({ queue: 'default' })).status, 'a limit without a number').toBe(400)
})
