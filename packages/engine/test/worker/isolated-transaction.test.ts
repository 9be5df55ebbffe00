import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, jobEvent, setup } from '../support/setup.ts'

const booking = defineJob({
  // The database's address, which the module has no other way to know.
  allowSecrets: ['url'],
  type: 'booking',
  queue: defineQueues({ default: {} }).default,
  payload: z.looseObject({ does: z.string() }),
  result: z.object({ booked: z.boolean() }).optional(),
  retry: { attempts: 2, backoff: () => 3_600_000 },
})

async function ledger(does: string) {
  const t = await setup()
  await t.sql('create table ledger (job text)')
  const module = new URL('./fixtures/deeds.js', import.meta.url)
  const { millrace } = await t.working([implement(booking, { isolation: 'process', module })])
  const { id } = await millrace.enqueue(booking, { does, url: t.url })
  return { ...t, id, millrace, entries: () => t.sql('select job from ledger') }
}

describe('ctx.transaction of an isolated handler', () => {
  test('commits effects and completion together', async () => {
    await using t = await ledger('transaction')
    await jobEvent(t.millrace, 'job_completed', t.id)
    expect(await t.entries()).toEqual([{ job: t.id }])
    expect(await t.millrace.job(t.id)).toMatchObject({ status: 'completed', result: { booked: true }, attempt: 1 })
  })

  test('settles an outcome returned from inside', async () => {
    await using t = await ledger('transaction-outcome')
    expect(await jobEvent(t.millrace, 'job_cancelled', t.id)).toMatchObject({ reason: 'booked, but not needed' })
    expect(await t.entries()).toEqual([{ job: t.id }])
  })

  test.each([
    ['the handler throws', 'transaction-throws', 'Error'],
    ['the process ends before the commit', 'transaction-crashes', 'IsolatedCrash'],
  ])('rolls back when %s, and the attempt fails', async (_, does, expected) => {
    await using t = await ledger(does)
    expect(await jobEvent(t.millrace, 'job_retry_scheduled', t.id)).toMatchObject({ failure: { class: expected } })
    expect(await t.entries()).toEqual([])
  })

  test('rolls back when the schema of the contract refuses the result', async () => {
    await using t = await ledger('bad-result')
    expect(await jobEvent(t.millrace, 'job_died', t.id)).toMatchObject({ failure: { class: 'InvalidResult' } })
    expect(await t.entries()).toEqual([])
  })

  test('has completed the job although its process ended right after the commit', async () => {
    await using t = await ledger('commit-and-crash')
    await eventually(async () => (await t.millrace.job(t.id))?.status === 'completed')
    expect(await t.millrace.attempts(t.id)).toEqual([])
    expect(await t.entries()).toEqual([{ job: t.id }])
  })

  test('rolls back when another run has taken over meanwhile', async () => {
    await using t = await ledger('zombie')
    await jobEvent(t.millrace, 'job_fence_lost', t.id)
    expect(await t.entries()).toEqual([])
  })
})

describe('ctx.complete(tx) of an isolated handler', () => {
  test('completes the job if that transaction commits', async () => {
    await using t = await ledger('complete')
    await jobEvent(t.millrace, 'job_completed', t.id)
    expect(await t.entries()).toEqual([{ job: t.id }])
    expect(await t.millrace.job(t.id)).toMatchObject({ result: { booked: true } })
  })

  test('counts as a failed attempt if that transaction rolls back', async () => {
    await using t = await ledger('complete-and-roll-back')
    expect(await jobEvent(t.millrace, 'job_retry_scheduled', t.id)).toMatchObject({
      failure: { message: expect.stringMatching(/did not commit/) },
    })
    expect(await t.entries()).toEqual([])
  })
})
