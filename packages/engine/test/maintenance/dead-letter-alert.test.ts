import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { alerting } from '../support/alerts.ts'

const queues = defineQueues({ default: {} })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.object({}) })
const times = (count: number) => Array.from({ length: count }, () => ({}))

async function setup(threshold: number) {
  const t = await alerting([task], { settings: { dead_letters: { threshold } } })
  const alerts: { count: number; threshold: number }[] = []
  t.millrace.events.on('dlq_alert', (alert) => void alerts.push(alert))
  return { ...t, alerts }
}

test('the alert is raised at the threshold, and again only after it fell below', async () => {
  await using t = await setup(5)
  await t.letters(t.millrace, task, times(4))
  await t.evaluate()
  expect(t.alerts).toEqual([])
  const last = await t.letter(t.millrace, task, {})
  await t.evaluate()
  expect(t.alerts).toEqual([{ count: 5, threshold: 5 }])
  await t.letter(t.millrace, task, {})
  await t.evaluate()
  expect(t.alerts).toHaveLength(1)
  const [other] = await t.millrace.deadLetters.list()
  await t.millrace.deadLetters.resolve([last, other?.id as string], { by: 'ann' })
  await t.evaluate()
  await t.letters(t.millrace, task, times(3))
  await t.evaluate()
  expect(t.alerts).toEqual([
    { count: 5, threshold: 5 },
    { count: 7, threshold: 5 },
  ])
})

test('an acknowledged letter is still pending and counts; a redriven one does not', async () => {
  await using t = await setup(2)
  const [a, b] = (await t.letters(t.millrace, task, times(2))) as [string, string]
  await t.millrace.deadLetters.acknowledge(a, { by: 'ann' })
  expect((await t.millrace.vitals()).deadLetters.pending).toBe(2)
  await t.millrace.deadLetters.redrive(b, { by: 'ann' })
  expect((await t.millrace.vitals()).deadLetters.pending).toBe(1)
})

test('the count goes no further than ten thousand', async () => {
  await using t = await setup(50)
  await t.sql(
    `insert into millrace.dead_letter_jobs (job_id, type, queue, correlation_id, reason, attempts, original_job, error_message, died_at)
     select g, 'task', 'default', 'c', 'exhausted', 1, '{}', 'm', now() from generate_series(1, 10500) as g`,
  )
  expect((await t.millrace.vitals()).deadLetters).toEqual({ pending: 10_000, lastHour: 10_000 })
})

test('a worker raises it as an event: at fifty by default', async () => {
  await using t = await setup(1)
  await t.letters(t.millrace, task, times(50))
  const raised = t.millrace.events.next('dlq_alert')
  await t.millrace.work({ handlers: [implement(task, () => {})] })
  expect(await raised).toEqual({ count: 50, threshold: 50 })
})

test('a worker takes another threshold, if it is one', async () => {
  await using t = await setup(1)
  await t.letters(t.millrace, task, times(2))
  const handlers = [implement(task, () => {})]
  const raised = t.millrace.events.next('dlq_alert')
  await t.millrace.work({ handlers, deadLetterAlertAt: 2 })
  expect(await raised).toEqual({ count: 2, threshold: 2 })
  await expect(t.millrace.work({ handlers, deadLetterAlertAt: 0 })).rejects.toThrow(/deadLetterAlertAt is 0/)
})
