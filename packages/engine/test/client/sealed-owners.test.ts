// Encrypted values belong to a tenant: elsewhere they do not open.
import { defineJob, defineLimit, defineQueues, defineWorkflow, implement, Undecryptable, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ringOf, sealedBefore } from '../support/keys.ts'
import { jobEvent, setup } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const rate = defineLimit('words', { rate: '1000/minute' })
const care = defineJob({
  type: 'care',
  queue: queues.default,
  payload: z.object({ name: z.string(), dies: z.boolean().optional() }),
  result: z.object({ name: z.string() }),
  sensitive: ['name'],
  limits: [rate],
  cost: ({ name }) => name.length,
})
const handled = implement(care, async ({ name, dies }, ctx) => {
  if (dies) throw new Unrecoverable('no')
  return ctx.step('look', () => ({ name: `${ctx.tenant}: ${name}` }))
})
const encryption = ringOf('a')

test("a value that is copied into another tenant's job does not open there", async () => {
  await using t = await setup()
  const millrace = t.client([care], { encryption })
  const [ann, bob] = [
    await millrace.enqueue(care, { name: 'Ann' }, { tenant: 'acme' }),
    await millrace.enqueue(care, { name: 'Bob' }, { tenant: 'bolt' }),
  ]
  await t.sql('update millrace.job set payload = (select payload from millrace.job where id = $1) where id = $2', [
    ann.id,
    bob.id,
  ])
  await millrace.work({ handlers: [handled] })
  expect(await jobEvent(millrace, 'job_died', bob.id)).toMatchObject({
    reason: 'invalid_payload',
    failure: { class: 'Undecryptable' },
  })
  await jobEvent(millrace, 'job_completed', ann.id)
  expect(await millrace.result(ann.id, { contract: care })).toMatchObject({ result: { name: 'acme: Ann' } })
  await t.sql("update millrace.job_archive set tenant = 'bolt' where id = $1", [ann.id])
  await expect(millrace.result(ann.id, { contract: care })).rejects.toThrow(Undecryptable)
})

test('a dead letter is redriven under its own tenant and under no other', async () => {
  await using t = await setup()
  const millrace = t.client([care], { encryption })
  const worker = await millrace.work({ handlers: [handled] })
  const { id } = await millrace.enqueue(care, { name: 'Ann', dies: true }, { tenant: 'acme' })
  await jobEvent(millrace, 'job_died', id)
  await worker.stop()
  const letter = (await millrace.deadLetters.ofJob(id))?.id ?? ''
  await t.sql("update millrace.dead_letter_jobs set tenant = 'bolt'")
  expect(await millrace.deadLetters.redrive(letter, { by: 'ann' })).toMatchObject([{ status: 'refused' }])
  await t.sql("update millrace.dead_letter_jobs set tenant = 'acme'")
  const payload = { name: 'Anna' }
  const [redriven] = await millrace.deadLetters.redrive(letter, { by: 'ann', payload })
  const jobId = redriven !== undefined && 'jobId' in redriven ? redriven.jobId : ''
  await millrace.work({ handlers: [handled] })
  await jobEvent(millrace, 'job_completed', jobId)
  expect(await millrace.result(jobId, { contract: care })).toMatchObject({ result: { name: 'acme: Anna' } })
})

test('steps of a workflow hand values on within it, whatever tenants their contract gives them', async () => {
  const own = defineJob({
    type: 'own',
    queue: queues.default,
    payload: z.object({ name: z.string(), of: z.string() }),
    result: z.object({ name: z.string() }),
    sensitive: ['name'],
    tenant: ({ of }) => of,
  })
  const flow = defineWorkflow('visits')
    .step('first', care, { payload: () => ({ name: 'Ann' }) })
    .step('second', own, { after: 'first', payload: ({ results }) => ({ name: results.first.name, of: 'bolt' }) })
    .step('third', care, { after: 'second', payload: ({ results }) => ({ name: results.second.name }) })
  await using t = await setup()
  const millrace = t.client([], { workflows: [flow], encryption })
  await millrace.work({ handlers: [handled, implement(own, ({ name }, ctx) => ({ name: `${ctx.tenant}, ${name}` }))] })
  const { id } = await millrace.workflows.start(flow, undefined as never, { tenant: 'acme' })
  expect(await millrace.workflows.result(id)).toMatchObject({ status: 'completed' })
  const [last] = await t.sql<{ id: string }>('select max(job_id)::text as id from millrace.workflow_item')
  expect(await millrace.result(last?.id ?? '', { contract: care })).toMatchObject({
    result: { name: 'acme: bolt, acme: Ann' },
  })
})

test('what was encrypted before values had owners still runs, and a rotation binds it', async () => {
  await using t = await setup()
  const millrace = t.client([care], { encryption })
  const { id } = await millrace.enqueue(care, { name: 'Ann' }, { tenant: 'acme' })
  const name = { $encrypted: sealedBefore('Old', { place: ['payload', 'care', 'name'] }) }
  const sealed = () =>
    t.sql<{ owner: unknown }>("select payload #> '{name,$encrypted,owner}' as owner from millrace.job")
  await t.sql('update millrace.job set payload = $1', [JSON.stringify({ name })])
  expect(await sealed()).toEqual([{ owner: null }])
  expect(await millrace.encryptionKeys.rotate({ by: 'ann' })).toMatchObject({ rotated: { live: 1 }, unreadable: [] })
  expect(await sealed()).toEqual([{ owner: ['acme', null] }])
  expect(await millrace.encryptionKeys.rotate({ by: 'ann' })).toMatchObject({ rotated: { live: 0 } })
  const { id: older } = await millrace.enqueue(care, { name: 'Bob' })
  await t.sql('update millrace.job set payload = $1 where id = $2', [JSON.stringify({ name }), older])
  await millrace.work({ handlers: [handled] })
  for (const each of [id, older]) await jobEvent(millrace, 'job_completed', each)
  expect(await millrace.result(id, { contract: care })).toMatchObject({ result: { name: 'acme: Old' } })
  expect(await millrace.result(older, { contract: care })).toMatchObject({ result: { name: 'null: Old' } })
  // The limit has counted what each job costs by its opened payload.
  const spent = await t.sql<{ starts: [number, number][] }>('select starts from millrace.limit_rate')
  expect(spent.flatMap(({ starts }) => starts.map(([, cost]) => cost)).reduce((sum, cost) => sum + cost, 0)).toBe(6)
})
