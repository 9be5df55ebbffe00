// Types whose payloads are encrypted: what lies in the database, what people see, what the handler gets.
import {
  createMillrace,
  defineJob,
  defineQueues,
  EncryptionKeyMissing,
  type Implementation,
  implement,
  type Logger,
  type MillraceOptions,
} from 'millrace'
import { assertEnqueued, runJob } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { graveyard } from '../support/dead-letters.ts'
import { everyText } from '../support/every-text.ts'
import { ringOf } from '../support/keys.ts'
import { jobEvent, setup } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const payload = z.object({
  patient: z.object({ name: z.string(), email: z.string() }),
  room: z.number(),
  password: z.string().optional(),
})
const admit = defineJob({
  type: 'patient.admit',
  queue: queues.default,
  payload,
  result: z.object({ report: z.string().optional(), bed: z.number() }),
  sensitive: ['patient', 'password', 'report'],
  dedupe: { key: ({ patient }) => patient.email },
  retry: { attempts: 2, backoff: () => 0 },
})
const ann = { patient: { name: 'Canary Ann', email: 'canary@example.com' }, room: 7 }
const encryption = ringOf('b', 'a')

function recorder(): { logger: Logger; text(): string } {
  const lines: unknown[] = []
  const log = (fields: object, message: string) => void lines.push(fields, message)
  return { logger: { debug: log, info: log, warn: log, error: log }, text: () => JSON.stringify(lines) }
}

async function hospital(handler?: Implementation<typeof admit>['handler'], options: Partial<MillraceOptions> = {}) {
  const t = await setup()
  const millrace = t.client([admit], { encryption, ...options })
  if (handler !== undefined) await millrace.work({ handlers: [implement(admit, handler as never)] })
  return { ...t, millrace }
}

test('the handler gets the value, the database never does, and people see that it is encrypted', async () => {
  const seen: unknown[] = []
  await using t = await hospital((given: unknown) => {
    seen.push(given)
    return { report: 'canary: healthy', bed: 3 }
  })
  const { id } = await t.millrace.enqueue(admit, { ...ann, password: 'canary-pw' })
  await jobEvent(t.millrace, 'job_completed', id)
  expect(seen).toEqual([{ ...ann, password: 'canary-pw' }])
  expect(await everyText(t)).not.toMatch(/canary/i)
  expect(await t.millrace.job(id)).toMatchObject({
    payload: { patient: '[encrypted]', password: '[encrypted]', room: 7 },
    result: { report: '[encrypted]', bed: 3 },
    dedupKey: expect.stringMatching(/^hmac:/),
  })
  expect(await t.millrace.jobs()).toMatchObject([{ payload: { patient: '[encrypted]' } }])
  expect((await t.millrace.jobsByCorrelation(`job-${id}`)).jobs).toMatchObject([
    { payload: { patient: '[encrypted]' } },
  ])
  expect(await t.millrace.result(id)).toMatchObject({ result: { report: '[encrypted]' } })
  expect(await t.millrace.result(id, { contract: admit })).toMatchObject({ result: { report: 'canary: healthy' } })
})

test('a canary that is thrown and logged is found neither in the database nor in the log', async () => {
  const { logger, text } = recorder()
  await using t = await hospital(
    (given: z.infer<typeof payload>, ctx: { log: Logger }) => {
      ctx.log.info({ given, email: given.patient.email }, `admitting ${given.patient.name}`)
      ctx.log.error({ error: new Error(given.patient.name) }, JSON.stringify(given))
      throw Object.assign(new RangeError(`no bed for ${given.patient.name}\n    at canary@example.com`), { given })
    },
    { logger },
  )
  const { id } = await t.millrace.enqueue(admit, ann)
  const { failure } = await jobEvent(t.millrace, 'job_died', id)
  expect(failure).toMatchObject({ class: 'RangeError', message: expect.stringMatching(/^The message is withheld/) })
  expect(failure.stack).toMatch(/^RangeError\n\s+at .*sensitive\.test/)
  const [attempt] = await t.millrace.attempts(id)
  expect(attempt?.logs).toMatchObject([{ level: 'info', msg: 'admitting [redacted]' }, { level: 'error' }])
  const letter = await t.millrace.deadLetters.ofJob(id)
  expect(letter?.originalJob.payload).toEqual({ patient: '[encrypted]', room: 7 })
  expect(text()).toContain('admitting [redacted]')
  expect(`${await everyText(t)}${text()}${JSON.stringify([failure, attempt, letter])}`).not.toMatch(/canary/i)
})

test('a secret of a known shape is taken out of errors and log lines of any type', async () => {
  const canary = `ghp_${'canary'.repeat(6)}`
  const plain = defineJob({ type: 'plain', queue: queues.default, payload: z.object({}), retry: { attempts: 1 } })
  const { logger, text } = recorder()
  await using t = await setup()
  const millrace = t.client([plain], { logger })
  await millrace.work({
    handlers: [
      implement(plain, (_, ctx) => {
        ctx.log.warn({ token: canary, password: 'canary' }, `trying ${canary}`)
        throw new Error(`401 for ${canary}`)
      }),
    ],
  })
  const { id } = await millrace.enqueue(plain, {})
  const { failure } = await jobEvent(millrace, 'job_died', id)
  expect(failure.message).toBe('401 for [redacted]')
  expect(`${await everyText(t)}${text()}${JSON.stringify(failure)}`).not.toMatch(/canary/)
})

test('where secrets are allowed in plain they are stored, and not shown', async () => {
  const sync = defineJob({
    type: 'sync',
    queue: queues.default,
    payload: z.object({ token: z.string() }),
    allowSecrets: ['token'],
  })
  await using t = await graveyard()
  const millrace = t.client([sync])
  const { id } = await millrace.enqueue(sync, { token: 'canary' })
  expect(await millrace.job(id)).toMatchObject({ payload: { token: '[redacted]' } })
  expect(await everyText(t)).toContain('canary')
  const letter = await t.kill([id])
  const shown = { by: 'ann', payload: { token: '[redacted]' } }
  expect(await millrace.deadLetters.redrive(letter, shown)).toMatchObject([
    { status: 'refused', reason: 'invalid_payload', message: expect.stringMatching(/where a secret belongs/) },
  ])
})

describe('the dedup key', () => {
  test('is an HMAC, and equal keys are still equal after the encryption key was changed', async () => {
    await using t = await hospital()
    const { id } = await t.millrace.enqueue(admit, ann)
    const rotated = t.client([admit], { encryption: ringOf('c', 'b') })
    expect(await rotated.enqueue(admit, ann)).toEqual({ status: 'duplicate', id })
    expect(await rotated.enqueueMany(admit, [ann])).toEqual([{ status: 'duplicate', id }])
  })

  test('stays with a redriven job', async () => {
    await using t = await hospital(() => {
      throw new Error('no')
    })
    const { id } = await t.millrace.enqueue(admit, ann)
    await jobEvent(t.millrace, 'job_died', id)
    const [{ dedup_key: before } = {}] = await t.sql<{ dedup_key: string }>(
      'select dedup_key from millrace.job_archive',
    )
    const letter = await t.millrace.deadLetters.ofJob(id)
    const other = t.client([admit], { encryption: ringOf('c', 'b') })
    const [redriven] = await other.deadLetters.redrive(letter?.id as string, { by: 'ann' })
    const job = await other.job((redriven as { jobId: string }).jobId)
    expect(job).toMatchObject({ dedupKey: before, payload: { patient: '[encrypted]' } })
  })
})

describe('without the key', () => {
  test('nothing is enqueued, no worker starts, and the error says what to do', async () => {
    await using t = await setup()
    const millrace = t.client([admit])
    await expect(millrace.enqueue(admit, ann)).rejects.toThrow(EncryptionKeyMissing)
    await expect(millrace.work({ handlers: [implement(admit, () => ({ bed: 1 }))] })).rejects.toThrow(
      /no keys to encrypt them with. Pass createMillrace\(\{ encryption/,
    )
    expect(await t.sql('select from millrace.job')).toEqual([])
  })

  test('of a stored value the job is a dead letter that names the key, and can be redriven when the key is back', async () => {
    await using t = await hospital()
    const { id } = await t.millrace.enqueue(admit, ann)
    const other = t.client([admit], { encryption: ringOf('c') })
    const died = jobEvent(other, 'job_died', id)
    const worker = await other.work({ handlers: [implement(admit, () => ({ bed: 1 }))] })
    expect(await died).toMatchObject({
      reason: 'invalid_payload',
      failure: { class: 'Undecryptable', message: expect.stringMatching(/key "b", which this program does not have/) },
    })
    await worker.stop()
    const letter = (await other.deadLetters.ofJob(id))?.id as string
    expect(await other.deadLetters.redrive(letter, { by: 'ann' })).toMatchObject([
      { status: 'refused', reason: 'undecryptable' },
    ])
    expect(await t.millrace.deadLetters.redrive(letter, { by: 'ann' })).toMatchObject([{ status: 'redriven' }])
  })

  test('people can still look', async () => {
    await using t = await hospital()
    const { id } = await t.millrace.enqueue(admit, ann)
    const looking = createMillrace({ database: t.url, jobs: [] })
    expect(await looking.job(id)).toMatchObject({ payload: { patient: '[encrypted]', room: 7 } })
    await looking.close()
  })
})

test('an issue with a sensitive payload names no value and no key below the path', async () => {
  await using t = await hospital()
  const wrong = { patient: { name: 'x', canary: 1 }, room: 'canary' }
  const error = await t.millrace.enqueueByType('patient.admit', wrong).catch((thrown: Error) => thrown)
  expect(String(error)).toMatch(/patient: it does not fit the schema; room: it does not fit the schema/)
  expect(String(error)).not.toMatch(/canary/)
})

test('in tests the handler and whoever looks at what was enqueued see plain values', async () => {
  const report = await runJob(
    implement(admit, ({ patient }) => ({ report: patient.name, bed: 2 })),
    ann,
  )
  expect(report).toMatchObject({ outcome: 'completed', result: { report: 'Canary Ann', bed: 2 } })
  await using t = await hospital()
  await t.millrace.enqueue(admit, ann)
  await assertEnqueued(t.millrace, admit, { payload: { patient: { name: 'Canary Ann' } } })
})
