import { defineJob, defineQueues, fixed, implement } from 'millrace'
import { drain, fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, jobEvent, setup, shortLease } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const task = defineJob({
  type: 'task',
  queue: queues.default,
  payload: z.object({}),
  retry: { backoff: fixed('10m'), giveUpAfter: '1h' },
})
const failing = implement(task, () => {
  throw new Error('down')
})

describe('a fake clock', () => {
  test('stands still until it is moved, and only goes forwards', () => {
    const clock = fakeClock('2026-01-01T00:00:00Z')
    clock.advance('1.5h')
    clock.moveTo('2026-01-02T00:00:00Z')
    clock.advance(1)
    expect(clock.now()).toEqual(new Date('2026-01-02T00:00:00.001Z'))
    expect(clock.databaseNow()).toEqual(clock.now())
    expect(() => clock.moveTo('2026-01-01T00:00:00Z')).toThrow(/cannot go back/)
    expect(() => fakeClock('soon')).toThrow(/"soon" is not a time/)
  })

  test('is the time of every row that is written', async () => {
    await using t = await setup()
    const clock = fakeClock('2031-05-05T12:00:00Z')
    const millrace = t.client([task], { clock })
    const { id } = await millrace.enqueue(task, {}, { delay: '5m' })
    clock.advance('5m')
    await drain(millrace, [failing])
    const started = new Date('2031-05-05T12:05:00Z')
    expect(await millrace.job(id)).toMatchObject({
      status: 'failed',
      createdAt: new Date('2031-05-05T12:00:00Z'),
      startedAt: started,
      lastErrorAt: started,
      runAt: new Date('2031-05-05T12:15:00Z'),
    })
    expect(await millrace.attempts(id)).toMatchObject([{ startedAt: started, finishedAt: started }])
    expect(await millrace.queues()).toEqual([
      { queue: 'default', due: 0, scheduled: 1, processing: 0, blocked: 0, pauses: [] },
    ])
    expect(await millrace.cancel(id, { by: 'ann' })).toBe('cancelled')
    expect(await millrace.job(id)).toMatchObject({ status: 'cancelled', finishedAt: started })
  })

  test('lets a job be cancelled on a day that has no partition yet', async () => {
    await using t = await setup()
    const millrace = t.client([task], { clock: fakeClock('2040-01-01T00:00:00Z') })
    const { id } = await millrace.enqueue(task, {})
    expect(await millrace.cancel(id, { by: 'ann' })).toBe('cancelled')
  })

  test('decides when a job gives up, also when it is moved while the handler runs', async () => {
    await using t = await setup()
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const millrace = t.client([task], { clock })
    const slow = implement(task, () => {
      clock.advance('51m')
      throw new Error('down')
    })
    await millrace.enqueue(task, {})
    expect(await drain(millrace, [slow])).toMatchObject([{ outcome: 'dead', reason: 'gave_up' }])
  })

  test('moved, makes a real worker look at once; and the leases of workers do not follow it', async () => {
    await using t = await setup()
    const clock = fakeClock('2026-01-01T00:00:00Z')
    const millrace = t.client([task], { clock })
    const lost: string[] = []
    millrace.events.on('lease_lost', ({ why }) => void lost.push(why))
    const { id } = await millrace.enqueue(task, {}, { delay: '1h' })
    const idle = millrace.events.next('idle')
    await millrace.work({ handlers: [implement(task, () => 'ran')], lease: shortLease })
    await idle
    const completed = jobEvent(millrace, 'job_completed', id)
    clock.moveTo('2045-01-01T00:00:00Z')
    await completed
    expect(await millrace.job(id)).toMatchObject({ startedAt: new Date('2045-01-01T00:00:00Z') })
    // A sweep that comes after the move finds a worker whose lease is over, and no other.
    await t.sql(
      `insert into millrace.worker values (gen_random_uuid(), 'gone', 1, '0', '{}', now(), now(), now() - interval '1 second')`,
    )
    const ended = () => t.sql('select host from millrace.worker where ended_at is not null')
    await eventually(async () => (await ended()).length > 0)
    expect(await ended()).toEqual([{ host: 'gone' }])
    expect(lost).toEqual([])
  })
})
