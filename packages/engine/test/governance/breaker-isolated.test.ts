import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, jobEvent, setup } from '../support/setup.ts'

const mail = defineJob({
  type: 'mail',
  queue: defineQueues({ mail: {} }).mail,
  payload: z.object({ does: z.string(), status: z.number() }),
  retry: { attempts: 9, backoff: () => 3_600_000 },
})
const isolated = implement(mail, {
  isolation: 'process',
  module: new URL('./fixtures/isolated-mail.js', import.meta.url),
})

test('an isolated handler calls through the breaker that its worker knows', async () => {
  await using t = await setup()
  const { millrace } = await t.working([isolated])
  const failuresOf = async (service: string) => (await millrace.breakers.get(service))?.failureCount ?? 0
  const failed = async (does: string, status: number) => {
    const ended = millrace.events.next('job_retry_scheduled')
    await millrace.enqueue(mail, { does, status })
    return (await ended).failure
  }

  expect(await failed('call', 503)).toMatchObject({ message: 'answered 503' })
  expect(await failuresOf('email-service')).toBe(1)
  const { id } = await millrace.enqueue(mail, { does: 'call', status: 200 })
  await jobEvent(millrace, 'job_completed', id)
  expect(await failuresOf('email-service')).toBe(0)

  // Which errors count is asked where they were thrown: only there their classes are known.
  await failed('call strictly', 404)
  expect(await failuresOf('strict-service')).toBe(0)
  const opened = millrace.events.next('breaker_opened')
  await failed('call strictly', 500)
  expect(await opened).toEqual({ service: 'strict-service', isOwn: true })

  const snoozed = millrace.events.next('job_snoozed')
  await millrace.enqueue(mail, { does: 'call strictly', status: 200 })
  expect(await snoozed).toMatchObject({ job: { attempt: 1 }, delayMs: expect.any(Number) })

  await millrace.breakers.trip('email-service', { by: 'ann' })
  // The worker looks again within a second.
  const instead = await eventually(async () => {
    const { id: next } = await millrace.enqueue(mail, { does: 'fall back', status: 200 })
    await jobEvent(millrace, 'job_completed', next)
    const { result } = (await millrace.job(next)) as { result: { instead?: string } }
    return result.instead
  })
  expect(instead).toBe('email-service')
})
