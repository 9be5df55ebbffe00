import { defineJob, defineQueues, InvalidPayload, implement, type Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

interface Look {
  formsOf(millrace: Millrace, queue: string): Promise<unknown[]>
  isRolledOut(millrace: Millrace): Promise<boolean>
}

interface Router {
  route(millrace: Millrace, type: string, payload: unknown, tenant: string): Promise<{ status: number; id?: string }>
}

const queues = defineQueues({ mail: {} })
const payload = z.object({ to: z.string() })
const letterWith = (attempts: number) =>
  defineJob({ type: 'letter', queue: queues.mail, payload, retry: { attempts }, examples: [{ to: 'ann' }] })

test('the look of the guide shows the types of a queue, and whether all workers agree', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/catalogue.md')
  const { formsOf, isRolledOut } = await guide.load<Look>('look.ts')
  await t.working([implement(letterWith(2), () => {})])
  const client = t.client([])
  expect(await formsOf(client, 'mail')).toEqual([
    { name: 'letter', schema: expect.objectContaining({ required: ['to'] }), example: { to: 'ann' } },
  ])
  expect(await isRolledOut(client)).toBe(true)
  await t.working([implement(letterWith(3), () => {})])
  expect(await isRolledOut(client)).toBe(false)
})

test('the router of the guide enqueues what workers declare, and says what it lacks', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/catalogue.md')
  const { route } = await guide.load<Router>('router.ts')
  const bill = defineJob({ type: 'bill', queue: queues.mail, payload, dedupe: { key: ({ to }) => to } })
  const { millrace } = await t.working([implement(letterWith(2), () => {}), implement(bill, () => {})])
  const client = t.client([])
  const { id } = await route(client, 'letter', { to: 'ann' }, 'acme')
  expect(await millrace.result(String(id))).toMatchObject({ status: 'completed' })
  expect(await route(client, 'bill', { to: 'ann' }, 'acme')).toEqual({
    status: 409,
    why: expect.stringContaining('dedup key'),
  })
  await expect(route(client, 'letter', {}, 'acme')).rejects.toThrow(InvalidPayload)
})
