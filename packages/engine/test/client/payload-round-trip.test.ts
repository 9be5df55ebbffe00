// Whatever is given either arrives at the handler exactly, or is refused with a type. Through a real Postgres.
import fc from 'fast-check'
import { defineJob, defineQueues, InvalidPayload, implement, type Millrace, SecretInPayload } from 'millrace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, type Setup, setup } from '../support/setup.ts'

const queues = defineQueues({ default: { concurrency: 50 } })
const carry = defineJob({
  type: 'carry',
  queue: queues.default,
  payload: z.object({ value: z.unknown().optional() }),
  retry: { attempts: 1 },
})

describe('from enqueue to the handler and back', () => {
  let t: Setup
  let millrace: Millrace
  const arrived = new Map<string, unknown>()
  beforeAll(async () => {
    t = await setup()
    const handler = implement(carry, ({ value }, ctx) => {
      arrived.set(ctx.jobId, value)
      return value
    })
    millrace = (await t.working([handler])).millrace
  })
  afterAll(() => t[Symbol.asyncDispose]())

  /** Enqueues alone or in a list; answers with what the handler got, or with the refusal. */
  async function sent(
    values: readonly unknown[],
  ): Promise<({ got: unknown; result: unknown } | { refused: unknown })[]> {
    return Promise.all(
      values.map(async (value, i) => {
        try {
          const payload = { value }
          const job =
            i % 2 === 0
              ? await millrace.enqueue(carry, payload, { delay: '1h' })
              : (await millrace.enqueueMany(carry, [payload], { delay: '1h' }))[0]
          const id = job?.id as string
          const ended = Promise.race([jobEvent(millrace, 'job_completed', id), jobEvent(millrace, 'job_died', id)])
          await millrace.runNow(id, { by: 'ann' })
          await ended
          return { got: arrived.get(id), result: (await millrace.job(id))?.result }
        } catch (refused) {
          return { refused }
        }
      }),
    )
  }

  test('any JSON value arrives exactly, and comes back exactly as a result', async () => {
    const value = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' })
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 10, maxLength: 30 }), async (values) => {
        const answers = await sent(values)
        answers.forEach((answer, i) => {
          if ('refused' in answer) {
            expect(answer.refused).toBeInstanceOf(InvalidPayload)
            expect(JSON.stringify(values[i])).toMatch(/\\u0000|__proto__/)
          } else {
            const value = withPositiveZero(values[i])
            expect(answer).toEqual({ got: value, result: value })
          }
        })
      }),
      { numRuns: 20 },
    )
  })

  test('any other value arrives as JSON has it, without a loss, or is refused', async () => {
    const value = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    let exact = 0
    let refusals = 0
    await fc.assert(
      fc.asyncProperty(fc.array(value, { minLength: 10, maxLength: 30 }), async (values) => {
        const answers = await sent(values)
        answers.forEach((answer, i) => {
          if ('refused' in answer) {
            refusals++
            expect(isTyped(answer.refused)).toBe(true)
            expect(isLossless(values[i])).toBe(false)
          } else {
            exact++
            expect(isLossless(values[i])).toBe(true)
            if (values[i] !== undefined) expect(answer.got).toEqual(JSON.parse(JSON.stringify(values[i])))
          }
        })
      }),
      { numRuns: 20 },
    )
    expect(exact).toBeGreaterThan(20)
    expect(refusals).toBeGreaterThan(20)
  })

  test('every finite number arrives with every digit', async () => {
    const edges = [2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 1e21, 1e308, 5e-324, 1.7976931348623157e308, 0.1 + 0.2]
    const number = fc.double({ noNaN: true, noDefaultInfinity: true })
    await fc.assert(
      fc.asyncProperty(fc.array(number, { minLength: 200, maxLength: 400 }), async (numbers) => {
        const values = [...numbers, ...edges].map((each) => (each === 0 ? 0 : each))
        expect(await sent([values])).toEqual([{ got: values, result: values }])
      }),
      { numRuns: 10 },
    )
  })
})

/** JSON has no -0. */
function withPositiveZero(value: unknown): unknown {
  if (value === 0) return 0
  if (Array.isArray(value)) return value.map(withPositiveZero)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withPositiveZero(each)]))
}

const isTyped = (error: unknown) => error instanceof InvalidPayload || error instanceof SecretInPayload

/** Written without a look at the engine: does JSON say all of it, and can Postgres store that? */
function isLossless(value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string') return !/\0|\p{Surrogate}/u.test(value)
  if (typeof value !== 'object') return false
  if (value instanceof Date) return !Number.isNaN(value.getTime())
  if (Array.isArray(value)) return Array.from(value).every((each) => each !== undefined && isLossless(each))
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return false
  return Object.entries(value).every(
    ([key, each]) => each === undefined || (key !== '__proto__' && isLossless(key) && isLossless(each)),
  )
}

describe('a refusal', () => {
  test.each([
    ['a payload that cannot be stored', { value: ['a', Number.NaN] }, InvalidPayload, /value\.1: it is NaN/],
    ['a secret', { value: { password: 'hunter2' } }, SecretInPayload, /at value\.password, judging by its name/],
  ])('of %s writes nothing and leaves the caller’s transaction usable', async (_, bad, kind, message) => {
    await using t = await setup()
    const millrace = t.client([carry])
    const tx = await t.pool.connect()
    await tx.query('begin')
    const { id } = await millrace.enqueue(carry, { value: 1 }, { tx })
    const refused = millrace.enqueue(carry, bad, { tx })
    await expect(refused).rejects.toBeInstanceOf(kind)
    await expect(refused).rejects.toThrow(message)
    await tx.query('commit')
    tx.release()
    expect(await t.sql('select id from millrace.job')).toEqual([{ id }])
  })

  test('in a list says which payload it is about, and nothing of the list is written', async () => {
    await using t = await setup()
    const millrace = t.client([carry])
    const list = (bad: unknown) => millrace.enqueueMany(carry, [{ value: 1 }, { value: bad }, { value: 3 }])
    await expect(list(1n)).rejects.toMatchObject({ issues: [{ path: '[1].value' }] })
    await expect(list({ apiKey: 'hunter2' })).rejects.toMatchObject({ path: '[1].value.apiKey' })
    await expect(millrace.enqueueMany(carry, [7 as never])).rejects.toMatchObject({ issues: [{ path: '[0]' }] })
    expect(await t.sql('select from millrace.job')).toEqual([])
  })

  test('by Postgres itself is typed too, and reaches only its own caller', async () => {
    await using t = await setup()
    await t.sql(`alter table millrace.job add constraint picky check (not payload @> '{"value":13}')`)
    const millrace = t.client([carry])
    const results = await Promise.allSettled(
      Array.from({ length: 100 }, (_, value) => millrace.enqueue(carry, { value })),
    )
    const failed = results.flatMap((each, i) => (each.status === 'rejected' ? [{ i, reason: each.reason }] : []))
    expect(failed).toEqual([{ i: 13, reason: expect.any(InvalidPayload) }])
    expect(failed[0]?.reason.message).toMatch(/Postgres refuses to store it \(SQLSTATE 23514/)
    expect(await t.sql('select count(*)::int as jobs from millrace.job')).toEqual([{ jobs: 99 }])
  })
})

test('warnings come with the result, by position', async () => {
  await using t = await setup()
  const millrace = t.client([carry])
  const warning = { code: 'possible_secret', message: expect.stringMatching(/^value\.token may be a secret/) }
  const warned = { status: 'queued', warnings: [warning] }
  expect(await millrace.enqueue(carry, { value: { token: 'abc' } })).toMatchObject(warned)
  expect(await millrace.enqueue(carry, { value: { token: 'abc' } }, { dedupKey: 'k' })).toMatchObject(warned)
  expect(await millrace.enqueueMany(carry, [{ value: 1 }, { value: { token: 'abc' } }])).toMatchObject([
    { status: 'queued', warnings: [] },
    warned,
  ])
})
