// Whatever is wrong with the database, a program sees a MillraceError.
import { randomUUID } from 'node:crypto'
import {
  ConnectionLost,
  createMillrace,
  DatabaseConflict,
  defineJob,
  defineQueues,
  defineWorkflow,
  endWorker,
  implement,
  type Millrace,
  MillraceError,
  PermissionDenied,
  SchemaMissing,
  TransactionFailed,
} from 'millrace'
import pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { freshDatabase } from '../support/database.ts'
import { setup, silent } from '../support/setup.ts'

const mail = defineJob({ type: 'mail', queue: defineQueues({ mails: {} }).mails, payload: z.object({}) })
const flow = defineWorkflow('flow', {}).step('mail', mail, { payload: () => ({}) })
const by = 'ada'
const id = '1'

type Call = (millrace: Millrace) => unknown

/** Every call of a client but `close`. */
const calls: Record<string, Call> = {
  enqueue: (m) => m.enqueue(mail, {}),
  enqueueMany: (m) => m.enqueueMany(mail, [{}, {}], { tenant: 'acme' }),
  enqueueByType: (m) => m.enqueueByType('mail', {}, { dedupKey: 'a' }),
  cancel: (m) => m.cancel(id, { by }),
  fail: (m) => m.fail(id, { by, reason: 'a' }),
  prune: (m) => m.prune({ olderThan: '1d', by }),
  retry: (m) => m.retry(id, { by }),
  runNow: (m) => m.runNow(id, { by }),
  explain: (m) => m.explain(id),
  prioritise: (m) => m.prioritise(id, 1, { by }),
  job: (m) => m.job(id),
  jobs: (m) => m.jobs(),
  result: (m) => m.result(id, { timeout: '10ms' }),
  attempts: (m) => m.attempts(id),
  history: (m) => m.history(id),
  steps: (m) => m.steps(id),
  jobsByCorrelation: (m) => m.jobsByCorrelation('a'),
  correlationTrace: (m) => m.correlationTrace('a'),
  erase: (m) => m.erase({ tenant: 'acme', by, reason: 'asked for' } as never),
  queues: (m) => m.queues(),
  stats: (m) => m.stats(),
  fairness: (m) => m.fairness('mails'),
  tenantQueues: (m) => m.tenantQueues('acme'),
  vitals: (m) => m.vitals(),
  contracts: (m) => m.contracts(),
  seal: (m) => m.seal('a', { for: 'b' }),
  open: (m) => m.open('a', { for: 'b' }),
  isStale: (m) => m.isStale('a'),
  breaker: (m) => m.breaker('a', () => 1),
  tenantDb: (m) => m.tenantDb('acme', async () => {}),
  checkTenantPolicies: (m) => m.checkTenantPolicies(),
  work: (m) => m.work({ handlers: [implement(mail, async () => {})] }),
}

/** Their arguments are few and alike, so each is tried with the same ones. */
const AREAS: Record<string, readonly unknown[]> = {
  deadLetters: [id, { by, note: 'a' }],
  budgets: ['a', { by }],
  catalogue: ['a'],
  tenants: ['acme', { by, reason: 'a' }],
  pauses: [{ queue: 'mails' }, { by }],
  limits: ['a', { by }],
  audit: [{}],
  breakers: ['a', { by }],
  encryptionKeys: [{ by }],
  keys: [{ type: 'mail', key: 'a' }, { by }],
  historySettings: ['mail', { by }],
  schedules: ['a', { by }],
  workflows: [id, { by }],
  workers: [randomUUID(), { by }],
  duties: ['a', { for: '1s' }],
  reports: [{}],
  search: ['status:dead'],
  escalations: [id, { by }],
  alerts: ['queue_depth', { by, reason: 'a', for: '1h' }],
  bulk: [id, { by }],
  tokens: ['a', { by }],
}
const OWN: Record<string, Call> = {
  'audit.from': (m) =>
    m.audit.from({ source: 'a', requestId: 'b' }, () => m.tenants.set('acme', { weight: 2 }, { by })),
  'bulk.preview': (m) => m.bulk.preview({ action: 'cancel', query: 'status:pending' }),
  'bulk.start': (m) => m.bulk.start({ action: 'cancel', query: 'status:pending' }, { by }),
  'search.timeline': (m) => m.search.timeline('status:dead', { from: new Date(0), to: new Date() } as never),
  'tokens.create': (m) => m.tokens.create({ name: 'a', role: 'viewer', by }),
  'tokens.verify': (m) => m.tokens.verify(`mr_${'a'.repeat(43)}`),
  'tokens.ensure': (m) => m.tokens.ensure(`mr_${'a'.repeat(43)}`, { name: 'a', role: 'viewer', by }),
  'deadLetters.prune': (m) => m.deadLetters.prune({ olderThan: '1d', by }),
  'deadLetters.note': (m) => m.deadLetters.note(id, 'a', { by }),
  'limits.set': (m) => m.limits.set('a', { concurrency: 1 } as never, { by }),
  'tenants.set': (m) => m.tenants.set('acme', { weight: 2 }, { by }),
  'tenants.limit': (m) => m.tenants.limit('acme', 'mails', { jobs: 1, over: 'reject' }, { by }),
  'tenants.setSlots': (m) => m.tenants.setSlots('acme', 'mails', { maxSlots: 1 }, { by }),
  'tenants.unsetSlots': (m) => m.tenants.unsetSlots('acme', 'mails', { by }),
  'tenants.unlimit': (m) => m.tenants.unlimit('acme', 'mails', { by }),
  'workflows.signal': (m) => m.workflows.signal(id, 'approval', undefined, { by }),
  'workflows.start': (m) => m.workflows.start(flow),
  'workflows.startChain': (m) => m.workflows.startChain([{ job: mail, payload: {} }]),
}

function methodsOf(object: object): string[] {
  return Object.getOwnPropertyNames(Object.getPrototypeOf(object)).filter((name) => name !== 'constructor')
}

function allCalls(millrace: Millrace): [string, Call][] {
  // `health` answers with a verdict whatever is wrong, and `close` never fails.
  expect(methodsOf(millrace).sort()).toEqual([...Object.keys(calls), 'close', 'health'].sort())
  const areas = Object.keys(millrace).filter((name) => name !== 'events')
  expect(areas.sort()).toEqual(Object.keys(AREAS).sort())
  const theirs = areas.flatMap((area) =>
    methodsOf(millrace[area as 'tenants']).map((method): [string, Call] => {
      const name = `${area}.${method}`
      const values = method === 'list' ? [{}] : (AREAS[area] as readonly unknown[])
      const call: Call = (m) =>
        (m[area as 'tenants'] as unknown as Record<string, (...v: unknown[]) => unknown>)[method]?.(...values)
      return [name, OWN[name] ?? call]
    }),
  )
  return [...Object.entries(calls), ...theirs]
}

/** Of each call what it threw; those that did not fail are left out. */
async function failures(millrace: Millrace): Promise<Map<string, unknown>> {
  const thrown = new Map<string, unknown>()
  for (const [name, call] of allCalls(millrace)) {
    await (async () => call(millrace))().catch((error: unknown) => thrown.set(name, error))
  }
  return thrown
}

const untyped = (thrown: Map<string, unknown>) => [...thrown].filter(([, error]) => !(error instanceof MillraceError))
const withClass = (thrown: Map<string, unknown>, kind: new (...values: never[]) => Error) =>
  [...thrown].filter(([, error]) => error instanceof kind).map(([name]) => name)

test('on a database that was not migrated every call throws a MillraceError that says so', async () => {
  await using t = await setup(freshDatabase({ migrated: false }))
  const thrown = await failures(t.client([mail], { workflows: [flow] }))
  expect(untyped(thrown)).toEqual([])
  expect(withClass(thrown, SchemaMissing).length).toBeGreaterThan(50)
  expect(String(thrown.get('job'))).toContain('Run `millrace migrate`')
})

test('without rights on the schema every call throws a MillraceError that says so', async () => {
  await using t = await setup()
  const role = `stranger_${randomUUID().replaceAll('-', '')}`
  await t.sql(`create role ${role} login password 'x'`)
  const url = new URL(t.url)
  url.username = role
  url.password = 'x'
  const millrace = createMillrace({ database: url.href, jobs: [mail], workflows: [flow], logger: silent })
  const thrown = await failures(millrace)
  await millrace.close()
  await t.sql(`drop role ${role}`)
  expect(untyped(thrown)).toEqual([])
  expect(withClass(thrown, PermissionDenied).length).toBeGreaterThan(50)
})

test('without a server every call throws a MillraceError', async () => {
  const database = 'postgres://nobody@127.0.0.1:1/nowhere'
  const millrace = createMillrace({ database, jobs: [mail], workflows: [flow], logger: silent })
  expect(untyped(await failures(millrace))).toEqual([])
  await millrace.close()
})

test('a transaction whose connection is dead, or that has failed, is a TransactionFailed', async () => {
  await using t = await setup()
  const millrace = t.client([mail], { workflows: [flow] })
  const inTransaction: ((tx: pg.Client) => Promise<unknown>)[] = [
    (tx) => millrace.enqueue(mail, {}, { tx }),
    (tx) => millrace.enqueue(mail, {}, { tx, dedupKey: 'a', tenant: 'acme' }),
    (tx) => millrace.enqueueMany(mail, [{}, {}], { tx }),
    (tx) => millrace.workflows.start(flow, undefined, { tx }),
    (tx) => millrace.workflows.signal(id, 'approval', undefined, { by, tx }),
  ]
  for (const call of inTransaction) {
    const tx = new pg.Client(t.url)
    tx.on('error', () => {})
    await tx.connect()
    await tx.query('begin')
    await tx.query('select 1 / 0').catch(() => {})
    await expect(call(tx)).rejects.toBeInstanceOf(TransactionFailed)
    await tx.query('rollback; begin')
    const { rows } = await tx.query('select pg_backend_pid() as pid')
    await t.sql('select pg_terminate_backend($1)', [rows[0].pid])
    await expect(call(tx)).rejects.toBeInstanceOf(TransactionFailed)
    await expect(call(tx)).rejects.toBeInstanceOf(TransactionFailed)
    await tx.end().catch(() => {})
  }
})

test('a connection that breaks before the answer is a ConnectionLost', async () => {
  await using t = await setup()
  const millrace = t.client([mail])
  const locker = await t.pool.connect()
  await locker.query('begin; lock table millrace.job')
  const looking = millrace.jobs().catch((error: unknown) => error)
  const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  while ((await t.sql(waiting)).length === 0);
  await t.sql(`select pg_terminate_backend(pid) from (${waiting}) as blocked`)
  expect(await looking).toBeInstanceOf(ConnectionLost)
  await locker.query('rollback')
  locker.release()
})

test.each([
  ['a serialization failure', '40001'],
  ['a deadlock', '40P01'],
  ['a lock that was not free in time', '55P03'],
])('%s is a DatabaseConflict, not an outage', async (_, state) => {
  await using t = await setup()
  const millrace = t.client([mail])
  await t.sql(`create function public.conflict() returns trigger language plpgsql
    as $$ begin raise 'in the way' using errcode = '${state}'; end $$`)
  for (const table of ['job', 'audit_log'])
    await t.sql(
      `create trigger conflict before insert on millrace.${table} for each row execute function public.conflict()`,
    )
  for (const call of [() => millrace.enqueue(mail, {}), () => millrace.tenants.set('acme', {}, { by })]) {
    const error = await call().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(DatabaseConflict)
    expect(error).toMatchObject({ code: 'database_conflict', cause: { code: state } })
    expect((error as Error).message).toMatch(/in the way.*Nothing was changed.*try again/)
  }
})

test('endWorker on a database that was not migrated throws SchemaMissing', async () => {
  await using t = await setup(freshDatabase({ migrated: false }))
  await expect(endWorker(t.url, randomUUID(), { reason: 'gone' })).rejects.toBeInstanceOf(SchemaMissing)
})
