import { describe, expect, test } from 'vitest'
import { ids, race, setup, statuses, waiting } from '../support/dedupe.ts'
import type { HandRun, Hands } from '../support/hands.ts'

describe('mode waiting', () => {
  test('lets one more wait beside a running one', async () => {
    await using t = await setup()
    const first = await t.millrace.enqueue(waiting, { key: 'a' })
    expect(await t.millrace.enqueue(waiting, { key: 'a' })).toEqual({ status: 'duplicate', id: first.id })
    const run = await t.claimOne()
    const second = await t.millrace.enqueue(waiting, { key: 'a' })
    expect(second).toMatchObject({ status: 'queued' })
    expect(await t.millrace.enqueue(waiting, { key: 'a' })).toEqual({ status: 'duplicate', id: second.id })
    expect((await t.millrace.job(first.id))?.dedupKey).toBe('a')
    await t.complete(run)
    expect(await t.millrace.job(first.id)).toMatchObject({ status: 'completed', dedupKey: 'a' })
    expect(await t.millrace.enqueue(waiting, { key: 'a' })).toEqual({ status: 'duplicate', id: second.id })
  })

  const returns: Record<string, (t: Hands, run: HandRun) => Promise<unknown>> = {
    'a failed attempt': (t, run) => t.fail(run),
    'a give-back': (t, run) => t.giveBack(run),
    'a rescue': (t) => t.rescue(),
  }

  test.each(Object.entries(returns))('%s with a newer one waiting ends as superseded', async (_, back) => {
    await using t = await setup()
    for (const tenant of [undefined, 'acme']) {
      const options = tenant === undefined ? {} : { tenant }
      const first = await t.millrace.enqueue(waiting, { key: 'a' }, options)
      const run = await t.claimOne()
      const second = await t.millrace.enqueue(waiting, { key: 'a' }, { ...options, delay: '1h' })
      await back(t, run)
      const doomed = await t.claimOne()
      expect(doomed.job).toMatchObject({ id: first.id, isCancelRequested: true })
      await t.cancelled(doomed)
      expect(await t.millrace.job(first.id)).toMatchObject({ status: 'cancelled', reason: 'superseded' })
      expect(await t.millrace.job(second.id)).toMatchObject({ status: 'pending' })
    }
  })

  test.each(Object.entries(returns))('%s with nobody else under its key runs again', async (_, back) => {
    await using t = await setup()
    const first = await t.millrace.enqueue(waiting, { key: 'a' })
    await t.millrace.enqueue(waiting, { key: 'b' }, { delay: '1h' })
    await t.millrace.enqueue(waiting, { key: 'a' }, { delay: '1h', tenant: 'acme' })
    const run = await t.claimOne()
    await back(t, run)
    t.clock.advance('1s')
    const again = await t.claimOne()
    expect(again.job).toMatchObject({ id: first.id, isCancelRequested: false })
    // Its key is not taken back, so that no settlement can run into the index.
    expect(await t.millrace.enqueue(waiting, { key: 'a' })).toMatchObject({ status: 'queued' })
  })

  test('a claim whose reply was lost is released, and superseded the same way', async () => {
    await using t = await setup()
    const first = await t.millrace.enqueue(waiting, { key: 'a' })
    const { runId } = await t.claimOne()
    await t.millrace.enqueue(waiting, { key: 'a' }, { delay: '1h' })
    await t.release(runId)
    expect((await t.claimOne()).job).toMatchObject({ id: first.id, isCancelRequested: true })
  })

  test('a dead letter goes back to work under the key it had', async () => {
    await using t = await setup()
    await t.millrace.enqueue(waiting, { key: 'a' })
    await t.bury(await t.claimOne())
    const [letter] = await t.sql<{ id: string }>('select id from millrace.dead_letter_jobs')
    const newer = await t.millrace.enqueue(waiting, { key: 'a' })
    const redrive = () => t.millrace.deadLetters.redrive(letter?.id ?? '', { by: 'ann' })
    expect(await redrive()).toMatchObject([{ status: 'duplicate', jobId: newer.id }])
    await t.claimOne()
    const [redriven] = await redrive()
    expect(redriven).toMatchObject({ status: 'redriven' })
    expect(await t.millrace.enqueue(waiting, { key: 'a' })).toMatchObject({ status: 'duplicate' })
  })

  test('raced for by fifty callers, rollbacks among them, is won once', async () => {
    await using t = await setup()
    const results = await race(t, waiting as never)
    expect(statuses(results).filter((status) => status === 'queued')).toHaveLength(1)
    expect(ids(results).size).toBe(1)
  })
})
