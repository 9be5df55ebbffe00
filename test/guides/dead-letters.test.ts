import type { Millrace, Worker } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from '../../packages/engine/test/support/setup.ts'
import { blocks, openDocument } from '../support/document.ts'

interface Program {
  millrace: Millrace
  bank: { isDown: boolean }
  alerts: object[]
  start(): Promise<Worker>
}
interface Looking {
  look(millrace: Millrace): Promise<string[]>
  allIdsOf(millrace: Millrace, fingerprint: string): Promise<string[]>
}
interface Deciding {
  redriveOne(millrace: Millrace, id: string): Promise<string>
  correct(millrace: Millrace, id: string): Promise<void>
  close(millrace: Millrace, paidByHand: string[], tests: string[]): Promise<void>
}

test('the examples do what the guide says', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/dead-letters.md')
  const { millrace, bank, alerts, start } = await guide.load<Program>('worker.ts', { DATABASE_URL: t.url })
  const { look, allIdsOf } = await guide.load<Looking>('look.ts')
  const { redriveOne, correct, close } = await guide.load<Deciding>('decide.ts')
  try {
    // Five orders die while the bank is down.
    let deaths = 0
    const fiveDied = new Promise<void>((resolve) => millrace.events.on('job_died', () => ++deaths === 5 && resolve()))
    for (const n of [1, 2, 3, 4, 5]) await millrace.enqueueByType('order.charge', { orderId: `A-${n}`, cents: n })
    const alerted = millrace.events.next('dlq_alert')
    const worker = await start()
    await fiveDied
    await worker.stop()

    const [line, ...others] = await look(millrace)
    expect(line).toMatch(/^5× order\.charge [0-9a-f]{12} The bank did not answer for order A-\d$/)
    expect(others).toEqual([])
    const fingerprint = (await millrace.deadLetters.list())[0]?.fingerprint as string
    const ids = await allIdsOf(millrace, fingerprint)
    expect(ids).toHaveLength(5)
    const recipe = await t.sql(blocks('docs/guides/dead-letters.md', 'sql')[0] as string)
    expect(recipe).toHaveLength(5)

    // The bank is back: the alert is raised, and the work of two letters is done.
    bank.isDown = false
    await start()
    // The first worker may have seen only some of them. Whichever tells it first, the other one does not repeat it.
    expect((await alerted).count).toBeGreaterThanOrEqual(3)
    expect(alerts).toMatchObject([{ threshold: 3 }])
    const [first, second, third, fourth, fifth] = ids as [string, string, string, string, string]
    const done = millrace.events.next('job_completed')
    const said = await redriveOne(millrace, first)
    expect(said).toBe(`job ${(await done).job.id} does the work now`)
    expect(await redriveOne(millrace, first)).toMatch(/^somebody was faster: job \d+$/)
    expect(await redriveOne(millrace, '999999')).toBe('there is no such letter')

    const corrected = millrace.events.next('job_completed')
    await correct(millrace, second)
    expect(await millrace.job((await corrected).job.id)).toMatchObject({ result: { charged: 1250 }, maxAttempts: 1 })
    expect((await millrace.deadLetters.get(second))?.notes).toMatch(/ ann@example\.com: the amount was in euros$/)

    await close(millrace, [third], [fourth, fifth])
    const statuses = await Promise.all(ids.map(async (id) => (await millrace.deadLetters.get(id))?.status))
    expect(statuses).toEqual(['retried', 'retried', 'resolved', 'ignored', 'ignored'])
    expect(await redriveOne(millrace, third)).toMatch(/^resolved: .*by ann@example\.com/)
    expect(await look(millrace)).toEqual([])
  } finally {
    await millrace.close()
  }
})
