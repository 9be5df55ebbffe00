// Breakers in a test's own process: they are those of the database, and time is the fake clock's.
import { createMillrace, defineJob, defineQueues, defineService, implement } from 'millrace'
import { drain, fakeClock, runJob } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../support/database.ts'
import { silent } from '../support/setup.ts'

const queues = defineQueues({ mail: {} })
const service = defineService('email-service', { failures: 2, openFor: '60s' })
const base = { queue: queues.mail, payload: z.object({}), retry: { backoff: () => 3_600_000 } }
const send = defineJob({ ...base, type: 'send', services: [service] })
const other = defineJob({ ...base, type: 'other' })

async function setup() {
  const database = await freshDatabase()
  const clock = fakeClock('2026-03-01T10:00:00Z')
  const millrace = createMillrace({ database: database.url, jobs: [send, other], logger: silent, clock })
  const state = { isDown: true, calls: 0 }
  const handlers = [
    implement(send, (_, ctx) =>
      ctx.breaker('email-service', () => {
        state.calls++
        if (state.isDown) throw new Error('no route')
        return 'sent'
      }),
    ),
    implement(other, () => 'done'),
  ] as const
  return {
    clock,
    millrace,
    state,
    handlers,
    async [Symbol.asyncDispose]() {
      await millrace.close()
      await database.drop()
    },
  }
}

describe('drain', () => {
  test('leaves jobs alone whose service is open, and runs one when it may be tried', async () => {
    await using t = await setup()
    await t.millrace.enqueueMany(send, [{}, {}, {}, {}])
    await t.millrace.enqueue(other, {})
    const runs = await drain(t.millrace, t.handlers)
    expect(runs.map(({ job, outcome }) => `${job.type} ${outcome}`)).toEqual([
      'send retry',
      'send retry',
      'other completed',
    ])
    expect(await t.millrace.breakers.get('email-service')).toMatchObject({
      state: 'open',
      nextProbeAt: new Date('2026-03-01T10:01:00Z'),
    })

    const probed = await drain(t.millrace, t.handlers, { advance: '90s' })
    expect(probed.map(({ job, outcome }) => `${job.type} ${outcome}`)).toEqual(['send retry'])
    expect(await t.millrace.breakers.get('email-service')).toMatchObject({
      state: 'open',
      openedAt: new Date('2026-03-01T10:01:00Z'),
    })

    t.state.isDown = false
    const rest = await drain(t.millrace, t.handlers, { advance: '60s' })
    expect(rest.map(({ job, outcome }) => `${job.type} ${outcome}`)).toEqual(['send completed'])
    expect(await t.millrace.breakers.get('email-service')).toMatchObject({ state: 'closed', failureCount: 0 })
  })
})

describe('runJob', () => {
  test('runs the job it was told to run, and the call meets the open breaker', async () => {
    await using t = await setup()
    await t.millrace.breakers.trip('email-service', { by: 'a test', for: '60s' })
    const { outcome, job } = await runJob(t.handlers[0], {}, { millrace: t.millrace })
    expect({ outcome, calls: t.state.calls }).toEqual({ outcome: 'snoozed', calls: 0 })
    expect(await t.millrace.job(job.id)).toMatchObject({ attempt: 0, runAt: new Date('2026-03-01T10:01:00Z') })
  })

  test('without a database every breaker is closed', async () => {
    await using t = await setup()
    t.state.isDown = false
    expect(await runJob(t.handlers[0], {})).toMatchObject({ outcome: 'completed', result: 'sent' })
    t.state.isDown = true
    expect(await runJob(t.handlers[0], {})).toMatchObject({ outcome: 'retry' })
  })
})
