import {
  ContractRequired,
  defineJob,
  defineQueues,
  InvalidPayload,
  implement,
  type JobContract,
  SecretInPayload,
  TenantLimitReached,
  TenantRequired,
} from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ringOf } from '../support/keys.ts'
import { setup } from '../support/setup.ts'

const queues = defineQueues({
  mail: { priority: 2 },
  orgs: { tenant: 'required' },
  few: { tenant: 'required', tenantJobs: { max: 1, over: 'reject' } },
})
const letter = defineJob({
  type: 'letter',
  queue: queues.mail,
  payload: z.object({ to: z.email(), copies: z.int().positive().default(1), pages: z.array(z.string()).optional() }),
  version: 3,
  migrate: { 1: (payload) => payload, 2: (payload) => payload },
  retry: { attempts: 7 },
  allowSecrets: ['pages'],
})
const bill = defineJob({
  type: 'bill',
  queue: queues.orgs,
  payload: z.object({ org: z.string(), number: z.string() }),
  tenant: ({ org }) => org,
  dedupe: { key: ({ number }) => number, mode: 'waiting' },
})
const entry = defineJob({
  type: 'entry',
  queue: queues.mail,
  payload: z.object({ account: z.string().nullable() }),
  order: { key: ({ account }) => account, onDead: 'stop' },
})
const page = defineJob({
  type: 'page',
  queue: queues.mail,
  payload: z.object({ site: z.string() }),
  keyLimit: { key: ({ site }) => site, concurrency: 2 },
})
const secret = defineJob({
  type: 'secret',
  queue: queues.mail,
  payload: z.object({ card: z.string() }),
  sensitive: ['card'],
})
const large = defineJob({ type: 'large', queue: queues.mail, payload: z.object({ n: z.bigint().optional() }) })

/** A database on which a worker has declared these types and is gone, and a client that has no contract. */
async function stranger(...jobs: JobContract[]) {
  const t = await setup()
  const program = t.client(jobs, { encryption: ringOf('a') })
  const worker = await program.work({ handlers: jobs.map((job) => implement(job as typeof letter, () => {})) })
  await worker.stop()
  return { ...t, program, millrace: t.client([]) }
}

test('a type is enqueued without its contract, under the rules that the catalogue has of it', async () => {
  await using t = await stranger(letter)
  const { id, status } = await t.millrace.enqueueByType('letter', { to: 'ann@example.com' }, { delay: '1h' })
  expect(status).toBe('queued')
  expect(await t.millrace.job(id)).toMatchObject({
    ...{ type: 'letter', queue: 'mail', priority: 2, maxAttempts: 7, payloadVersion: 3, tenant: null },
    payload: { to: 'ann@example.com' },
  })
  await t.program.work({ handlers: [implement(letter, ({ copies }) => ({ copies }))] })
  expect(
    await t.millrace.enqueueByType('letter', { to: 'bob@example.com' }).then(({ id }) => t.program.result(id)),
  ).toMatchObject({ status: 'completed', result: { copies: 1 } })
})

test('a payload that does not fit its JSON Schema is refused, and says where', async () => {
  await using t = await stranger(letter)
  const refused = await t.millrace
    .enqueueByType('letter', { to: 'nobody', copies: 0.5 })
    .catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(InvalidPayload)
  const { issues } = refused as InvalidPayload
  expect(new Set(issues.map(({ path }) => path))).toEqual(new Set(['to', 'copies']))
  await expect(t.millrace.enqueueByType('letter', {})).rejects.toThrow(/required property "to"/)
  const spy = { to: 'ann@example.com', password: 'hunter2' }
  await expect(t.millrace.enqueueByType('letter', spy)).rejects.toThrow(SecretInPayload)
  // Where secrets are meant to be, no value is quoted.
  const pages = t.millrace.enqueueByType('letter', { to: 'ann@example.com', pages: [77_123] })
  await expect(pages).rejects.toThrow(/pages\.0: it does not fit the schema/)
  expect(await t.millrace.jobs()).toEqual([])
})

test('what the contract derives from the payload must be given', async () => {
  await using t = await stranger(bill, entry, page)
  const invoice = { org: 'acme', number: '7' }
  const enqueue = t.millrace.enqueueByType.bind(t.millrace)
  await expect(enqueue('bill', invoice)).rejects.toThrow(
    /derives its tenant from the payload\. Pass \{ tenant \}; at the command line --tenant\./,
  )
  await expect(enqueue('bill', invoice, { tenant: 'acme' })).rejects.toThrow(
    'Job "bill" cannot be enqueued without its contract: it derives its dedup key from the payload. Pass { dedupKey }, or null if this job has none; at the command line --dedup-key or --no-dedup-key.',
  )
  const { id } = await enqueue('bill', invoice, { tenant: 'acme', dedupKey: '7' })
  expect(await t.program.enqueue(bill, invoice)).toEqual({ status: 'duplicate', id })
  await expect(enqueue('entry', { account: 'a' })).rejects.toThrow(/its order key from the payload/)
  await expect(enqueue('page', { site: 'a' })).rejects.toThrow(/its limit key from the payload/)
  await expect(enqueue('page', { site: 'a' }, { limitKey: 'a', orderKey: 'a' })).rejects.toThrow(/no order key/)
  const ordered = await enqueue('entry', { account: 'a' }, { orderKey: 'a' })
  const free = await enqueue('entry', { account: null }, { orderKey: null })
  const limited = await enqueue('page', { site: 'b' }, { limitKey: 'b' })
  expect(
    await t.sql(
      'select id::text, order_key, order_stops, limit_key, limit_concurrency from millrace.job where queue = $1 order by id',
      ['mail'],
    ),
  ).toEqual([
    { id: ordered.id, order_key: 'a', order_stops: true, limit_key: null, limit_concurrency: null },
    { id: free.id, order_key: null, order_stops: null, limit_key: null, limit_concurrency: null },
    { id: limited.id, order_key: null, order_stops: null, limit_key: 'b', limit_concurrency: 2 },
  ])
})

test('the limits of a queue on its tenants hold without the contract', async () => {
  await using t = await stranger(defineJob({ type: 'audit', queue: queues.few, payload: z.object({}) }))
  await expect(t.millrace.enqueueByType('audit', {})).rejects.toThrow(TenantRequired)
  await t.millrace.enqueueByType('audit', {}, { tenant: 'acme' })
  await expect(t.millrace.enqueueByType('audit', {}, { tenant: 'acme' })).rejects.toThrow(TenantLimitReached)
})

test('types with sensitive values, and those without JSON Schema, are refused with the reason', async () => {
  await using t = await stranger(secret, large)
  const refused = t.millrace.enqueueByType('secret', { card: '4111' })
  await expect(refused).rejects.toThrow(ContractRequired)
  await expect(refused).rejects.toThrow(
    'Job "secret" cannot be enqueued without its contract: its values at card are stored encrypted, and only a program with the contract and the keys does that. Enqueue it in a program that lists the contract in createMillrace({ jobs }); at the command line, pass --module.',
  )
  await expect(t.millrace.enqueueByType('large', {})).rejects.toThrow(/no JSON Schema: BigInt cannot be represented/)
})

test('a type that nobody has declared gets a suggestion', async () => {
  await using t = await stranger(letter)
  await expect(t.millrace.enqueueByType('leter', {})).rejects.toThrow(/no job type "leter"\. Did you mean "letter"\?/)
})

test('a program that has the contract goes by it', async () => {
  await using t = await stranger(letter, bill)
  const old = t.client([bill])
  const { id } = await old.enqueueByType('bill', { org: 'acme', number: '7' })
  expect(await old.job(id)).toMatchObject({ tenant: 'acme' })
  await expect(old.enqueueByType('bill', { org: 'b', number: '8' }, { orderKey: 'x' })).rejects.toThrow(
    /leave orderKey out/,
  )
})
