// A worker that serves some of its program's queues.
import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { onlyChosen } from '#src/worker/chosen-queues'
import { planLanes } from '#src/worker/lane-plan'
import { jobEvent, setup } from '../support/setup.ts'

const queues = defineQueues({ high: {}, low: {} })
const payload = z.object({})
const quick = defineJob({ type: 'quick', queue: queues.high, payload, speed: 'fast' })
const slow = defineJob({ type: 'slow', queue: queues.low, payload })
const handlers = [implement(quick, () => {}), implement(slow, () => {})]

test('leaves the jobs of the other queues where they are', async () => {
  await using t = await setup()
  const millrace = t.client([quick, slow])
  const left = await millrace.enqueue(quick, {})
  const taken = await millrace.enqueue(slow, {})
  const ended = jobEvent(millrace, 'job_completed', taken.id)
  const worker = await millrace.work({ handlers, queues: ['low'] })
  await ended
  expect(worker.lanes.map(({ name }) => name)).toEqual(['low'])
  expect(await millrace.job(left.id)).toMatchObject({ status: 'pending', attempt: 0 })
})

test('keeps of its lanes and settings what they say of the chosen queues', () => {
  const lanes = { fast: { slots: 2, takes: 'fast' as const }, general: { slots: 3, queues: { high: 2, low: 1 } } }
  const chosen = onlyChosen({ handlers, queues: ['low'], lanes, timeouts: { quick: '1s', slow: '2s' } })
  expect(chosen).toMatchObject({ lanes: { general: { slots: 3, queues: { low: 1 } } }, timeouts: { slow: '2s' } })
  const contracts = chosen.handlers.map(({ contract }) => contract)
  expect(planLanes(chosen, contracts).map(({ name }) => name)).toEqual(['general'])
  expect(onlyChosen({ handlers, queues: ['high'], lanes }).lanes).toMatchObject({ fast: { queues: ['high'] } })
})

test('is refused without a queue, and with one that no handler has', () => {
  expect(() => onlyChosen({ handlers, queues: [] })).toThrow(/names no queue/)
  expect(() => onlyChosen({ handlers, queues: ['hihg'] })).toThrow(/names queue "hihg".*Did you mean "high"/)
})
