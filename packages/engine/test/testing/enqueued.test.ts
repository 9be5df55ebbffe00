import { defineJob, defineQueues, implement } from 'millrace'
import { assertEnqueued, drain, enqueued, refuteEnqueued } from 'millrace/testing'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const mail = defineJob({
  type: 'mail',
  queue: queues.default,
  payload: z.object({
    to: z.string(),
    at: z.coerce.date().optional(),
    body: z.object({ text: z.string(), tags: z.array(z.string()) }),
  }),
})
const unlisted = defineJob({ type: 'unlisted', queue: queues.default, payload: z.object({}) })
const body = { text: 'hello', tags: ['a', 'b'] }

async function scene() {
  const t = await setup()
  const millrace = t.client([mail])
  await millrace.enqueue(mail, { to: 'ann', body }, { tenant: 'acme', correlationId: 'c-1' })
  await millrace.enqueue(mail, { to: 'bob', body, at: new Date(0) }, { delay: '1h' })
  return { t, millrace, [Symbol.asyncDispose]: () => t[Symbol.asyncDispose]() }
}

describe('enqueued', () => {
  test('lists the jobs of a contract, newest first, waiting or ended, typed', async () => {
    await using s = await scene()
    await drain(s.millrace, [implement(mail, () => {})])
    const jobs = await enqueued(s.millrace, mail)
    expect(jobs.map(({ payload, status }) => [payload.to, status])).toEqual([
      ['bob', 'pending'],
      ['ann', 'completed'],
    ])
    expectTypeOf(jobs[0]?.payload.to).toEqualTypeOf<string | undefined>()
    await expect(enqueued(s.millrace, unlisted)).rejects.toThrow(/no job type "unlisted"/)
  })
})

describe('assertEnqueued', () => {
  test('finds a job by part of its payload and by its columns', async () => {
    await using s = await scene()
    expect(await assertEnqueued(s.millrace, mail)).toHaveLength(2)
    const [job] = await assertEnqueued(s.millrace, mail, {
      payload: { to: 'ann', body: { text: 'hello' } },
      tenant: 'acme',
    })
    expect(job).toMatchObject({ correlationId: 'c-1' })
    await assertEnqueued(s.millrace, mail, { payload: { body: { tags: ['a', 'b'] } }, count: 2 })
    await assertEnqueued(s.millrace, mail, { payload: { at: new Date(0) }, tenant: null, count: 1 })
    await assertEnqueued(s.millrace, mail, { status: 'dead', count: 0 })
    // @ts-expect-error the contract has no such field
    await expect(assertEnqueued(s.millrace, mail, { payload: { form: 'x' } })).rejects.toThrow()
  })

  test('says what was enqueued instead, newest first', async () => {
    await using s = await scene()
    const asserting = assertEnqueued(s.millrace, mail, { payload: { to: 'eve' } })
    await expect(asserting).rejects.toMatchObject({ code: 'ERR_ASSERTION' })
    const { message } = (await asserting.catch((error: Error) => error as Error)) as Error
    expect(message).toMatch(/^Expected a job "mail" with \{ payload: \{ to: 'eve' \} \} to be enqueued, and 0 were\./)
    expect(message).toMatch(/\n {2}\d+ pending .*bob.*\n {2}\d+ pending tenant acme .*ann/)
  })

  test('is strict about lists, values and numbers of jobs', async () => {
    await using s = await scene()
    const expectations = [
      { payload: { body: { tags: ['a'] } } },
      { payload: { to: 'ANN' } },
      { payload: { to: 'ann' }, tenant: 'other' },
      { payload: { to: 'ann' }, count: 2 },
      { count: 0 },
    ]
    for (const expectation of expectations) {
      await expect(assertEnqueued(s.millrace, mail, expectation), JSON.stringify(expectation)).rejects.toThrow(
        /Expected/,
      )
    }
  })

  test('says that there is nothing at all', async () => {
    await using t = await setup()
    await expect(assertEnqueued(t.client([mail]), mail)).rejects.toThrow(/Nothing of this type was/)
  })

  test('shows ten jobs and counts the others', async () => {
    await using t = await setup()
    const millrace = t.client([mail])
    await millrace.enqueueMany(
      mail,
      Array.from({ length: 13 }, () => ({ to: 'x', body })),
    )
    await expect(assertEnqueued(millrace, mail, { tenant: 'a' })).rejects.toThrow(/… and 3 older ones/)
  })
})

describe('refuteEnqueued', () => {
  test('fails if there is such a job', async () => {
    await using s = await scene()
    await refuteEnqueued(s.millrace, mail, { payload: { to: 'eve' } })
    await expect(refuteEnqueued(s.millrace, mail, { payload: { to: 'ann' } })).rejects.toThrow(
      /Expected no job "mail".*1 were/s,
    )
    await expect(refuteEnqueued(s.millrace, mail)).rejects.toThrow(/2 were/)
  })
})
