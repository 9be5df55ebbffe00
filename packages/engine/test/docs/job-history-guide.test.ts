// The examples of the guide to the history of jobs are taken out of it, type-checked and run.
import { readFileSync } from 'node:fs'
import { implement, type JobContract, type Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { examplesOf } from '../support/guide.ts'
import { setup } from '../support/setup.ts'

test('the examples pass the type checker', async () => {
  await using guide = await examplesOf('job-history.md')
  expect(await guide.complaints()).toBe('')
})

test('the story of a payment is kept, that of a ping only while somebody investigates', async () => {
  await using t = await setup()
  await using guide = await examplesOf('job-history.md')
  const { pay, ping } = await guide.load<{ pay: JobContract; ping: JobContract }>('contracts.ts')
  const { story } = await guide.load<{ story: (m: Millrace, id: string) => Promise<string[]> }>('story.ts')
  const { investigate } = await guide.load<{ investigate: (m: Millrace) => Promise<() => Promise<void>> }>('switch.ts')
  const { millrace } = await t.working([implement(pay, () => {}), implement(ping, () => {})])
  const told = async (contract: JobContract) => {
    const { id } = await millrace.enqueue(contract, { orderId: 'o-1' })
    await millrace.result(id)
    return story(millrace, id)
  }
  const whole = ['enqueued: nothing → pending', 'claimed: pending → processing', 'completed: processing → completed']
  expect(await told(pay)).toEqual(whole)
  expect(await told(ping)).toEqual([])
  const done = await investigate(millrace)
  expect(await told(ping)).toEqual(whole)
  await done()
  expect(await told(ping)).toEqual([])
})

test('the guide names every event', () => {
  const [guide, migration] = ['../../../../docs/guides/job-history.md', '../../src/store/history.ts'].map((path) =>
    readFileSync(new URL(path, import.meta.url), 'utf8'),
  ) as [string, string]
  const names = [...(/JobEventName =\n(.*?)\n\n/s.exec(migration)?.[1] ?? '').matchAll(/'(\w+)'/g)].map(
    ([, name]) => name,
  )
  expect(names.length).toBe(17)
  for (const name of names) expect(guide).toContain(`\`${name}\``)
})
