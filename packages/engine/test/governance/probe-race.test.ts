// The probe is exact: of many processes that ask at the same moment, one gets it.
import { BreakerOpen, defineJob, defineQueues, defineService } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import { Breakers } from '#src/governance/breakers'
import { Database } from '#src/store/db'
import { setup } from '../support/setup.ts'

const job = defineJob({ type: 'task', queue: defineQueues({ default: {} }).default, payload: z.object({}) })
const service = defineService('email-service')
const PROCESSES = 8
const ROUNDS = 10

test('of runs of several processes that ask at once exactly one gets the probe', async () => {
  await using t = await setup()
  const millrace = t.client([job])
  await millrace.enqueueMany(
    job,
    Array.from({ length: PROCESSES }, () => ({})),
  )
  const databases = Array.from(
    { length: PROCESSES },
    () => new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 }),
  )
  for (let round = 0; round < ROUNDS; round++) {
    await millrace.breakers.trip('email-service', { by: 'a test', for: 0 })
    const runs = await t.sql<{ id: string; run_id: string }>(
      `update millrace.job set status = 'processing', run_id = gen_random_uuid() returning id, run_id`,
    )
    const errors: unknown[] = []
    const asking = databases.map((db, i) => {
      const breakers = new Breakers({
        db,
        clock: systemClock,
        definition: () => service,
        onChange: () => {},
        onError: (_, error) => errors.push(error),
      })
      return breakers.enter(service, { jobId: runs[i]?.id ?? '', runId: runs[i]?.run_id ?? '' })
    })
    const answers = await Promise.allSettled(asking)
    expect(errors).toEqual([])
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const answer of answers) if (answer.status === 'rejected') expect(answer.reason).toBeInstanceOf(BreakerOpen)
  }
  await Promise.all(databases.map((db) => db.close()))
})
