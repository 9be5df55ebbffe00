// The examples of the guide to durable steps are taken out of it, type-checked and run.
import type { Implementation, JobContract, Millrace } from 'millrace'
import { drain } from 'millrace/testing'
import { expect, test } from 'vitest'
import { examplesOf } from '../support/guide.ts'
import { setup } from '../support/setup.ts'

test('the examples pass the type checker', async () => {
  await using guide = await examplesOf('durable-steps.md')
  expect(await guide.complaints()).toBe('')
})

test('the order is charged once, although its second label fails', async () => {
  await using t = await setup()
  await using guide = await examplesOf('durable-steps.md')
  const { shipOrder } = await guide.load<{ shipOrder: JobContract }>('contracts.ts')
  const { shipping } = await guide.load<{ shipping: (shop: object) => Implementation }>('ship-order.ts')
  const { progress } = await guide.load<{ progress: (m: Millrace, id: string) => Promise<string[]> }>('progress.ts')
  const done: string[] = []
  let isPrinterBroken = true
  const handler = shipping({
    charge: async (order: string, key: string) => `${order} ${done.push(`charge ${key}`)}`,
    label: async (parcel: string) => {
      if (parcel === 'b' && isPrinterBroken) throw new Error('no paper')
      done.push(parcel)
      return `label ${parcel}`
    },
  })
  const millrace = t.client([shipOrder])
  const { id } = await millrace.enqueue(shipOrder, { orderId: 'o-1', parcels: ['a', 'b'] })
  await drain(millrace, [handler])
  expect(await progress(millrace, id)).toEqual(['charge: finished', 'label:a: finished'])
  isPrinterBroken = false
  await millrace.runNow(id, { by: 'ann' })
  await drain(millrace, [handler])
  expect(done).toEqual([`charge ${id}`, 'a', 'b'])
  expect(await millrace.job(id)).toMatchObject({
    status: 'completed',
    result: { charge: 'o-1 1', labels: ['label a', 'label b'] },
  })
})
