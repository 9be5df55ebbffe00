// millrace.breaker: calls outside of handlers share the breakers of all workers.
import { BreakerOpen, defineJob, defineQueues, defineService, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, type Setup, setup, signal } from '../support/setup.ts'

const service = defineService('email-service', { failures: 2, openFor: '10m', successes: 2 })
const queues = defineQueues({ mail: {} })
const send = defineJob({ type: 'mail.send', queue: queues.mail, payload: z.object({}), services: [service] })

const down = () => Promise.reject(new Error('no route to the mail server'))
const bringProbe = (t: Setup) => t.sql(`update millrace.circuit_breakers set open_until = now() - interval '1 second'`)

/** A web process: it has contracts and no worker. */
async function opened(t: Setup) {
  const web = t.client([send])
  const event = web.events.next('breaker_opened')
  for (let i = 0; i < 2; i++) await expect(web.breaker(service, down)).rejects.toThrow('no route')
  expect(await event).toEqual({ service: 'email-service', isOwn: true })
  return web
}

test('a call outside of handlers returns its value, and its failures open the breaker for workers and other programs', async () => {
  await using t = await setup()
  const web = await opened(t)
  await expect(web.breaker(service, () => 'sent')).rejects.toBeInstanceOf(BreakerOpen)
  expect(await web.breaker(service, () => 'sent', { fallback: ({ service: name }) => `${name} is down` })).toBe(
    'email-service is down',
  )
  expect(await web.breaker('other-service', async () => 7)).toBe(7)
  expect(await web.breakers.get('email-service')).toMatchObject({ state: 'open', failureCount: 2, probe: null })
  await expect(t.client([send]).breaker('email-service', () => 'sent')).rejects.toBeInstanceOf(BreakerOpen)
})

test('one call tries the service while other calls and jobs wait, and successful calls close the breaker', async () => {
  await using t = await setup()
  await opened(t)
  await bringProbe(t)
  const web = t.client([send])
  const [entered, answered] = [signal(), signal()]
  const trying = web.breaker(service, async () => {
    entered.resolve()
    await answered.promise
    return 'sent'
  })
  await entered.promise
  const { probe } = (await web.breakers.get('email-service')) ?? {}
  expect(probe).toEqual({ jobId: null, runId: expect.any(String) })
  // Another program looks for the first time, and a call of this one goes by what it knows.
  await expect(t.client([send]).breaker(service, () => 'sent')).rejects.toBeInstanceOf(BreakerOpen)
  await expect(web.breaker(service, () => 'sent')).rejects.toBeInstanceOf(BreakerOpen)
  const { id } = await web.enqueue(send, {})
  const sentences = (await web.explain(id)).reasons.map(({ sentence }) => sentence)
  expect(sentences.join()).toContain('a call outside of jobs tries the service')

  const closed = web.events.next('breaker_closed')
  answered.resolve()
  expect(await trying).toBe('sent')
  expect(await web.breakers.get('email-service')).toMatchObject({ state: 'half_open', successCount: 1, probe: null })
  expect(await web.breaker(service, () => 'again')).toBe('again')
  expect(await closed).toEqual({ service: 'email-service', isOwn: true })
  const { millrace } = await t.working([implement(send, () => 'done')])
  await jobEvent(millrace, 'job_completed', id)
})

test('a trial whose error says nothing about the service, or whose process died, lets the next call try', async () => {
  await using t = await setup()
  await opened(t)
  await bringProbe(t)
  const web = t.client([send])
  const choosy = { ...service, counts: () => false }
  await expect(web.breaker(choosy, down)).rejects.toThrow('no route')
  expect(await web.breakers.get('email-service')).toMatchObject({ state: 'half_open', probe: null })
  const [entered, never] = [signal(), signal()]
  const dying = t.client([send])
  const lost = dying.breaker(service, async () => {
    entered.resolve()
    await never.promise
  })
  await entered.promise
  await t.sql(`update millrace.circuit_breakers set updated_at = now() - interval '1 minute'`)
  const next = t.client([send])
  expect(await next.breaker(service, () => 'sent')).toBe('sent')
  expect(await next.breakers.get('email-service')).toMatchObject({ state: 'half_open', successCount: 1 })
  never.resolve()
  await lost
  // It was the probe no longer, so its success is not counted.
  expect(await next.breakers.get('email-service')).toMatchObject({ state: 'half_open', successCount: 1 })
})

test('a call goes through while the database cannot be reached, and what it throws stays as it is', async () => {
  await using t = await setup()
  const web = t.client([send], { database: 'postgres://nobody@127.0.0.1:1/nowhere' })
  expect(await web.breaker(service, () => 'sent')).toBe('sent')
  const own = Object.assign(new Error('own'), { code: '42P01', syscall: 'connect' })
  await expect(web.breaker(service, () => Promise.reject(own))).rejects.toBe(own)
})
