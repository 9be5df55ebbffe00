import { randomUUID } from 'node:crypto'
import {
  createMillrace,
  cron,
  defineBudget,
  defineJob,
  defineLimit,
  defineQueues,
  defineSchedule,
  defineService,
  defineWorkflow,
  implement,
  type JobContract,
  type Logger,
  type MillraceOptions,
} from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { Millrace } from '#src/millrace'
import { ringOf } from '../support/keys.ts'
import { type Setup, setup, silent } from '../support/setup.ts'

const printers = defineLimit('printers', { running: 2, rate: '50/minute' })
const ink = defineBudget('ink', { limit: 1_000, per: 'month', unit: 'ml' })
const post = defineService('post-office', { failures: 3 })
const queues = defineQueues({
  mail: { priority: 2, concurrency: 4, limits: [printers], sla: '5m', owner: { name: 'Post Room' }, color: 'salmon' },
  orgs: { tenant: 'required', critical: true, sla: '30s' },
})
const letter = defineJob({
  type: 'letter',
  queue: queues.mail,
  payload: z.object({ to: z.string(), copies: z.int().default(1) }),
  retry: { attempts: 3, giveUpAfter: '1h' },
  timeout: '30s',
  dedupe: { key: ({ to }) => to },
  budget: ink,
  services: [post, 'paper'],
  examples: [{ to: 'ann' }],
})
const bill = defineJob({
  type: 'bill',
  queue: queues.orgs,
  payload: z.object({ org: z.string(), card: z.object({ number: z.string() }), amount: z.bigint().optional() }),
  tenant: ({ org }) => org,
  order: { key: ({ org }) => org, onDead: 'stop' },
  sensitive: ['card'],
  examples: [{ org: 'acme', card: { number: '4111' } }],
})
const campaign = defineWorkflow('campaign', { input: z.object({ to: z.string() }) })
  .step('first', letter, { payload: ({ input }) => ({ to: input.to }) })
  .step('second', letter, { payload: ({ input }) => ({ to: `${input.to} again` }), after: 'first' })
const nightly = defineSchedule({ name: 'nightly', job: letter, when: cron('0 2 * * *'), payload: { to: 'all' } })

const plain = defineJob({ type: 'plain', queue: queues.mail, payload: z.object({}) })

const encryption = ringOf('a')

/** A worker of a program with these contracts. */
async function working(t: Setup, jobs: readonly JobContract[], options: Partial<MillraceOptions> = {}) {
  const millrace = t.client(jobs, options)
  const worker = await millrace.work({ handlers: jobs.map((job) => implement(job as typeof letter, () => {})) })
  return { millrace, worker }
}

/** Declares it with another number of attempts. */
const letterWith = (attempts: number) =>
  defineJob({ type: 'letter', queue: queues.mail, payload: z.object({ to: z.string() }), retry: { attempts } })

test('a worker publishes what its program declares', async () => {
  await using t = await setup()
  const client = t.client([])
  expect(await client.catalogue.list()).toEqual([])
  await working(t, [letter, bill], { workflows: [campaign], schedules: [nightly], version: '1.4.2', encryption })
  const entries = await client.catalogue.list()
  expect(entries.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'budget ink',
    'lane mail',
    'lane orgs',
    'limit printers',
    'queue mail',
    'queue orgs',
    'schedule nightly',
    'service paper',
    'service post-office',
    'type bill',
    'type letter',
    'workflow campaign',
  ])
  for (const entry of entries) expect(entry).toMatchObject({ version: '1.4.2', workers: 1, differing: [] })
  const document = async (...[kind, name]: Parameters<typeof client.catalogue.get>) =>
    (await client.catalogue.get(kind, name))?.document
  expect(await document('queue', 'mail')).toMatchObject({
    ...{ priority: 2, concurrency: 4, limits: ['printers'], isCritical: false, slaMs: 300_000 },
    ...{ title: null, owner: { name: 'Post Room' }, color: 'salmon', use: null, escalation: null },
  })
  expect(await document('queue', 'orgs')).toMatchObject({ tenant: 'required', isCritical: true, slaMs: 30_000 })
  expect(await document('limit', 'printers')).toMatchObject({ running: 2, rate: { jobs: 50, perMs: 60_000 } })
  expect(await document('budget', 'ink')).toMatchObject({ limit: 1_000, unit: 'ml', hasSource: false })
  expect(await document('service', 'post-office')).toEqual({ failures: 3, openForMs: 60_000, successes: 1 })
  expect(await document('lane', 'mail')).toEqual({ slots: 4, queues: { mail: 1 }, timeouts: expect.anything() })
  expect(await document('schedule', 'nightly')).toMatchObject({ type: 'letter', when: { expression: '0 2 * * *' } })
  expect(await document('workflow', 'campaign')).toMatchObject({
    schema: { required: ['to'] },
    steps: [
      { name: 'first', kind: 'jobs', type: 'letter', after: {} },
      { name: 'second', after: { first: 'fail' } },
    ],
  })
  expect(await client.catalogue.get('type', 'letters')).toBeUndefined()
})

test('a job type has its rules, its examples and the JSON Schema of its payload', async () => {
  await using t = await setup()
  const { millrace } = await working(t, [letter, bill], { encryption })
  expect((await millrace.catalogue.get('type', 'letter'))?.document).toMatchObject({
    queue: 'mail',
    attempts: 3,
    giveUpAfterMs: 3_600_000,
    timeoutMs: 30_000,
    tenant: 'optional',
    dedupe: { mode: 'live' },
    order: null,
    budget: 'ink',
    services: ['post-office', 'paper'],
    examples: [{ to: 'ann' }],
    // What `enqueue` takes: what has a default may be left out.
    schema: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    schemaMissing: null,
  })
  expect((await millrace.catalogue.get('type', 'bill'))?.document).toMatchObject({
    tenant: 'payload',
    dedupe: null,
    order: { onDead: 'stop' },
    sensitive: ['card'],
    examples: [{ org: 'acme', card: '[redacted]' }],
    schema: null,
    schemaMissing: 'BigInt cannot be represented in JSON Schema',
  })
})

test('workers of one build share a program, and a client that does not work publishes nothing', async () => {
  await using t = await setup()
  const { millrace } = await working(t, [letter])
  await working(t, [letter])
  expect(await t.sql('select count(*)::int from millrace.catalogue_program')).toEqual([{ count: 1 }])
  expect(await millrace.catalogue.get('type', 'letter')).toMatchObject({ workers: 2, differing: [] })
  await createMillrace({ database: t.url, jobs: [bill], logger: silent }).close()
  expect(await millrace.catalogue.get('type', 'bill')).toBeUndefined()
})

test('the worker that was started last wins, also by a rollback, and the others are named', async () => {
  await using t = await setup()
  const old = await working(t, [letterWith(3)], { version: 'old' })
  const young = await working(t, [letterWith(7), bill], { version: 'new', encryption })
  const look = async () => await old.millrace.catalogue.get('type', 'letter')
  expect(await look()).toMatchObject({
    version: 'new',
    document: { attempts: 7 },
    workers: 2,
    differing: [{ id: old.worker.id, pid: process.pid, version: 'old' }],
  })
  // A program that does not declare something does not differ in it.
  expect(await old.millrace.catalogue.get('type', 'bill')).toMatchObject({ workers: 1, differing: [] })
  await working(t, [letterWith(3)], { version: 'old' })
  expect(await look()).toMatchObject({
    version: 'old',
    document: { attempts: 3 },
    workers: 3,
    differing: [{ id: young.worker.id, version: 'new' }],
  })
})

test('when the youngest worker is gone, what the living ones declare counts again', async () => {
  await using t = await setup()
  const { millrace } = await working(t, [letterWith(3)])
  const { worker } = await working(t, [letterWith(7)])
  await worker.stop()
  await new Housekeeper(Millrace.servicesOf(millrace)).tick()
  expect(await millrace.catalogue.get('type', 'letter')).toMatchObject({ document: { attempts: 3 }, differing: [] })
})

test('what no living worker declares is marked, kept for 30 days and then forgotten', async () => {
  await using t = await setup()
  const { millrace } = await working(t, [letter])
  const { worker } = await working(t, [defineJob({ type: 'fax', queue: queues.mail, payload: z.object({}) })])
  await worker.stop()
  const keep = async (days: number) => {
    await t.sql(`update millrace.catalogue_entry set last_seen = now() - $1 * interval '1 day'`, [days])
    await new Housekeeper(Millrace.servicesOf(millrace)).tick()
  }
  await keep(29)
  expect(await millrace.catalogue.get('type', 'fax')).toMatchObject({ workers: 0, differing: [] })
  await keep(31)
  expect(await millrace.catalogue.get('type', 'fax')).toBeUndefined()
  expect(await millrace.catalogue.get('type', 'letter')).toMatchObject({ workers: 1 })
})

test('a program is forgotten with its last worker, and not before it has one', async () => {
  await using t = await setup()
  const { millrace, worker } = await working(t, [letter])
  const programs = async () => {
    await new Housekeeper(Millrace.servicesOf(millrace)).tick()
    const [row] = await t.sql<{ count: number }>('select count(*)::int from millrace.catalogue_program')
    return row?.count
  }
  await t.sql(
    `insert into millrace.catalogue_program select $1, version, document, first_seen, started_at
     from millrace.catalogue_program`,
    [randomUUID()],
  )
  expect(await programs()).toBe(2)
  await t.sql(`update millrace.catalogue_program set started_at = now() - interval '2 hours'`)
  expect(await programs()).toBe(1)
  await worker.stop()
  await t.sql(`update millrace.worker set ended_at = now() - interval '2 days'`)
  expect(await programs()).toBe(0)
  expect(await millrace.catalogue.get('type', 'letter')).toMatchObject({ workers: 0 })
})

test('without the code, breakers and explain know what the catalogue says', async () => {
  await using t = await setup()
  const { millrace, worker } = await working(t, [letter])
  await worker.stop()
  const client = t.client([])
  const { id } = await millrace.enqueue(letter, { to: 'ann' })
  const why = async () => (await client.explain(id)).reasons.map(({ sentence }) => sentence).join('\n')
  expect(await client.breakers.get('post-office')).toMatchObject({ settings: { failures: 3 }, types: ['letter'] })
  expect(await why()).not.toMatch(/post-office|printers/)
  await client.breakers.trip('post-office', { by: 'ann' })
  await client.limits.set('printers', { running: 0 }, { by: 'ann' })
  expect(await why()).toMatch(/post-office/)
  expect(await why()).toMatch(/^Limit "printers" lets 0 run at once/m)
})

test('a worker whose role has no rights on the catalogue warns, runs its jobs and keeps house', async () => {
  await using t = await setup()
  const role = `clerk_${randomUUID().replaceAll('-', '')}`
  await t.sql(`create role ${role} login password 'clerk'`)
  try {
    await t.sql(`grant usage on schema millrace to ${role}`)
    await t.sql(`grant select, insert, update, delete on all tables in schema millrace to ${role}`)
    await t.sql(`revoke all on millrace.catalogue_program, millrace.catalogue_entry from ${role}`)
    const url = new URL(t.url)
    url.username = role
    url.password = 'clerk'
    const warnings: string[] = []
    const logger: Logger = { ...silent, warn: (_, message) => void warnings.push(message) }
    await using clerk = createMillrace({ database: url.href, jobs: [plain], logger })
    await clerk.work({ handlers: [implement(plain, () => {})] })
    expect(warnings).toEqual(['the catalogue lacks this worker: its role has no rights on the tables'])
    const { id } = await clerk.enqueue(plain, {})
    expect(await clerk.result(id)).toMatchObject({ status: 'completed' })
    expect(await new Housekeeper(Millrace.servicesOf(clerk)).tick()).toMatchObject({ declarationsForgotten: 0 })
  } finally {
    await t.sql(`drop owned by ${role}`)
    await t.sql(`drop role ${role}`)
  }
})
