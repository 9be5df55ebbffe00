// What handlers log may refer to itself in more ways than a process can walk.
import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.object({}), retry: { attempts: 1 } })

test('a handler that logs and throws objects that know each other leaves the worker alive', async () => {
  await using t = await setup()
  let reads = 0
  const people: Record<string, unknown>[] = Array.from({ length: 14 }, (_, i) => ({
    get name() {
      reads += 1
      if (reads > 10_000) throw new Error('read too often')
      return `person ${i}`
    },
  }))
  for (const person of people) person.knows = people.filter((other) => other !== person)
  const { millrace } = await t.working([
    implement(task, (_, ctx) => {
      ctx.log.info({ people }, 'they met')
      throw Object.assign(new Error('nobody came'), { people })
    }),
  ])
  const { id } = await millrace.enqueue(task, {})
  await jobEvent(millrace, 'job_died', id)
  const [attempt] = await millrace.attempts(id)
  expect(attempt).toMatchObject({ errorMessage: 'nobody came', logs: [{ msg: 'they met' }] })
  expect(reads).toBeLessThan(1_000)
})
