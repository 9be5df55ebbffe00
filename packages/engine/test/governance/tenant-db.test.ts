import { once } from 'node:events'
import {
  cancel,
  defineJob,
  defineQueues,
  fixed,
  type Handler,
  implement,
  type JobContext,
  type Queryable,
  TenantIsolationViolation,
} from 'millrace'
import { drain, runJob } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, signal } from '../support/setup.ts'
import { tenants } from '../support/tenants.ts'

const queues = defineQueues({ default: {}, aside: {} })
const retry = { attempts: 3, backoff: fixed('10ms') }
const report = defineJob({ type: 'report', queue: queues.default, payload: z.object({}), retry })
const follow = defineJob({ type: 'follow', queue: queues.aside, payload: z.object({}) })
const forA = { tenant: 'a', createdBy: 'ann' }

async function working(handler: Handler<typeof report>) {
  const t = await tenants()
  const { millrace, worker } = await t.working([implement(report, handler), implement(follow, () => 'followed')])
  return {
    ...t,
    millrace,
    worker,
    async ended(options: { tenant?: string; createdBy?: string } = forA) {
      const { id } = await millrace.enqueue(report, {}, options)
      return { id, ...((await millrace.result(id)) as { status: string; result: unknown; error: string }) }
    },
  }
}

/** What the next one that gets the connection would find on it. */
const STATE = `select current_setting('role') as role, current_user = session_user as is_own,
  coalesce(current_setting('millrace.tenant', true), '') as tenant,
  coalesce(current_setting('millrace.acting_user', true), '') as acting_user, pg_backend_pid() as pid`
const CLEAN = { role: 'none', is_own: true, tenant: '', acting_user: '' }

describe('ctx.tenantDb', () => {
  test('shows the rows of the job’s tenant and no others', async () => {
    await using t = await working((_, ctx) =>
      ctx.tenantDb(async (tx) => (await tx.query('select title from task')).rows),
    )
    expect(await t.ended({ tenant: 'a' })).toMatchObject({ result: [{ title: 'of a' }] })
    expect(await t.ended({ tenant: 'b' })).toMatchObject({ result: [{ title: 'of b' }] })
    expect(await t.ended({ tenant: 'nobody' })).toMatchObject({ result: [] })
  })

  test('tells policies the tenant and who enqueued the job, or whom the handler names', async () => {
    const settings = `select current_user as role, current_setting('millrace.tenant') as tenant,
      current_setting('millrace.acting_user') as acting_user`
    await using t = await working(async (_, ctx) => {
      const seen = async (options?: { actingUser: string }) =>
        ctx.tenantDb(async (tx) => (await tx.query(settings)).rows[0], options)
      return [await seen(), await seen({ actingUser: 'bob' })]
    })
    const role = t.role
    expect(await t.ended()).toMatchObject({
      result: [
        { role, tenant: 'a', acting_user: 'ann' },
        { role, tenant: 'a', acting_user: 'bob' },
      ],
    })
    expect(await t.ended({ tenant: 'a' })).toMatchObject({ result: [{ acting_user: '' }, {}] })
  })

  test('updates and deletes of foreign rows find nothing', async () => {
    await using t = await working((_, ctx) =>
      ctx.tenantDb(async (tx) => [
        (await tx.query(`update task set title = 'mine' returning id`)).rows,
        (await tx.query(`update task set title = 'mine' where id = 2 returning id`)).rows,
        (await tx.query('delete from task where id = 2 returning id')).rows,
      ]),
    )
    expect(await t.ended()).toMatchObject({ result: [[{ id: 1 }], [], []] })
    expect(await t.tasks()).toMatchObject([{ title: 'mine' }, { title: 'of b' }])
  })

  test.each([
    ['inserts a row of another tenant', `insert into task values (3, 'b', 'smuggled')`],
    ['moves its own row to another tenant', `update task set organization_id = 'b' where id = 1`],
  ])('a job that %s is refused for good, and audited', async (_, statement) => {
    await using t = await working((_, ctx) =>
      ctx.tenantDb(async (tx) => {
        await tx.query(`insert into task values (9, 'a', 'rolled back')`)
        await tx.query(statement)
      }),
    )
    const { id } = await t.millrace.enqueue(report, {}, forA)
    expect(await jobEvent(t.millrace, 'job_died', id)).toMatchObject({
      reason: 'unrecoverable',
      failure: {
        class: 'TenantIsolationViolation',
        message: expect.stringMatching(/another tenant into table "task"/),
      },
    })
    expect(await t.tasks()).toHaveLength(2)
    expect(await t.audit()).toEqual([
      {
        by: `job:${id}`,
        action: 'tenant.isolation_violation',
        target: 'table:task',
        tenant: 'a',
        details: { type: 'report', table: 'task', otherTenant: null, createdBy: 'ann' },
      },
    ])
  })

  test('naming another tenant is refused and audited before anything runs; naming one’s own is not', async () => {
    const errors: unknown[] = []
    await using t = await working(async (_, ctx) => {
      await ctx.tenantDb(async () => {}, { tenant: 'a' })
      await ctx.tenantDb(async () => errors.push('ran'), { tenant: 'b' }).catch((error) => errors.push(error))
    })
    const { id } = await t.ended()
    expect(errors).toEqual([expect.any(TenantIsolationViolation)])
    expect(errors[0]).toMatchObject({ jobId: id, type: 'report', tenant: 'a', otherTenant: 'b', table: null })
    expect(await t.audit()).toMatchObject([{ by: `job:${id}`, tenant: 'a', details: { otherTenant: 'b' } }])
  })

  test('a violation that the handler swallows is audited, and what it wrote beside it is not committed', async () => {
    await using t = await working((_, ctx) =>
      ctx.tenantDb(async (tx) => {
        await tx.query(`insert into task values (9, 'a', 'rolled back')`)
        await tx.query(`insert into task values (3, 'b', 'smuggled')`).catch(() => {})
      }),
    )
    const { id } = await t.millrace.enqueue(report, {}, forA)
    expect(await jobEvent(t.millrace, 'job_died', id)).toMatchObject({ failure: { class: 'TenantIsolationViolation' } })
    expect(await t.tasks()).toHaveLength(2)
    expect(await t.audit()).toHaveLength(1)
  })

  test('a violation that the handler catches behind a savepoint is audited, and the rest is not committed either', async () => {
    await using t = await working((_, ctx) =>
      ctx.tenantDb(async (tx) => {
        await tx.query(`update task set title = 'rolled back'`)
        await tx.query('savepoint before')
        await tx.query(`insert into task values (3, 'b', 'smuggled')`).catch(() => {})
        await tx.query('rollback to savepoint before')
        return (await tx.query('select id from task')).rows
      }),
    )
    expect(await t.ended()).toMatchObject({ status: 'dead', error: expect.stringMatching(/another tenant/) })
    expect(await t.tasks()).toMatchObject([{ title: 'of a' }, { title: 'of b' }])
    expect(await t.audit()).toHaveLength(1)
  })

  test('a missing grant is not a violation, and Millrace’s own tables are out of reach', async () => {
    await using t = await working((_, ctx) => ctx.tenantDb((tx) => tx.query('select * from millrace.job')))
    const { id } = await t.millrace.enqueue(report, {}, { ...forA, maxAttempts: 1 })
    expect(await jobEvent(t.millrace, 'job_died', id)).toMatchObject({
      reason: 'exhausted',
      failure: { message: expect.stringMatching(/permission denied for schema millrace/) },
    })
    expect(await t.audit()).toEqual([])
  })

  test('a job without a tenant is told so and not tried again', async () => {
    await using t = await working((_, ctx) => ctx.tenantDb(async () => {}))
    expect(await t.ended({})).toMatchObject({ status: 'dead', error: expect.stringMatching(/has no tenant/) })
  })

  test('without a role there is a clear error', async () => {
    await using t = await tenants()
    const handler = implement(report, (_, ctx) => ctx.tenantDb(async () => {}))
    const run = await runJob(handler, {}, { millrace: t.client([report]), tenant: 'a' })
    expect(run).toMatchObject({ failure: { message: expect.stringMatching(/createMillrace\(\{ tenantRole: /) } })
  })
})

describe('nothing leaks through the pool', () => {
  type Deed = (tx: Queryable, ctx: JobContext) => Promise<unknown>
  const aborted = ({ signal }: JobContext) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const deeds: [string, Deed][] = [
    ['a commit', async () => 'fine'],
    ['a rollback', () => Promise.reject(new TypeError('roll back'))],
    ['a failed statement', (tx) => tx.query('select 1 / 0')],
    ['a violation', (tx) => tx.query(`insert into task values (3, 'b', 'smuggled')`)],
    ['a statement of the engine that failed', (tx, ctx) => ctx.complete(tx, { tooLarge: 'x'.repeat(70_000) })],
    ['an abort', (_, ctx) => aborted(ctx)],
  ]

  test.each(deeds)('after %s the connection has neither role nor setting', async (how, deed) => {
    const inside = signal<{ pid: number; tenant: string; is_own: boolean }>()
    const look = defineJob({ type: 'look', queue: queues.default, payload: z.object({}) })
    await using t = await tenants()
    const { millrace } = await t.working([
      implement(report, (_, ctx) =>
        ctx.tenantDb(async (tx) => {
          inside.resolve((await tx.query(STATE)).rows[0] as never)
          return deed(tx, ctx)
        }),
      ),
      implement(look, (_, ctx) => ctx.transaction(async (tx) => (await tx.query(STATE)).rows[0])),
    ])
    const { id } = await millrace.enqueue(report, {}, { ...forA, maxAttempts: 1 })
    const { pid, ...seen } = await inside.promise
    expect(seen).toMatchObject({ tenant: 'a', is_own: false })
    if (how === 'an abort') await millrace.cancel(id, { by: 'ann' })
    await millrace.result(id)
    const next = await millrace.enqueue(look, {})
    expect(await millrace.result(next.id)).toMatchObject({ result: { ...CLEAN, pid } })
  })

  test('work that goes on after the end can do nothing more with its transaction', async () => {
    let kept: Queryable | undefined
    let unawaited: Promise<unknown> | undefined
    await using t = await working((_, ctx) =>
      ctx.tenantDb(async (tx) => {
        kept = tx
        const slow = tx.query('select pg_sleep(0.05)')
        unawaited = slow
          .then(() => tx.query(`insert into task values (9, 'a', 'late')`))
          .catch(({ message }) => message)
      }),
    )
    expect(await t.ended()).toMatchObject({ status: 'completed' })
    expect(await unawaited).toMatch(/is over/)
    await expect(kept?.query('select 1')).rejects.toThrow(/is over: await every query/)
    expect(await t.tasks()).toHaveLength(2)
  })

  test.each(['commit', 'rollback', 'BEGIN', 'reset role', 'set local role postgres', '  set session authorization x'])(
    'by accident nobody leaves it with %j',
    async (statement) => {
      await using t = await working((_, ctx) =>
        ctx.tenantDb((tx) => tx.query(statement).catch(({ message }) => ({ rows: [message] }))),
      )
      expect(await t.ended()).toMatchObject({ result: { rows: [expect.stringMatching(/owns its transaction/)] } })
    },
  )
})

describe('ctx.tenantDb and the job itself', () => {
  test('with { complete: true } effects and completion commit together, once', async () => {
    await using t = await working((_, ctx) =>
      ctx.tenantDb(
        async (tx) => {
          await tx.query(`update task set title = title || '!'`)
          if (ctx.attempt === 1) throw new Error('again')
          return { done: true }
        },
        { complete: true },
      ),
    )
    const { id } = await t.ended()
    expect(await t.millrace.job(id)).toMatchObject({ status: 'completed', result: { done: true }, attempt: 2 })
    expect(await t.tasks()).toMatchObject([{ title: 'of a!' }, { title: 'of b' }])
  })

  test('with { complete: true } an outcome is settled inside', async () => {
    await using t = await working((_, ctx) => ctx.tenantDb(async () => cancel('not needed'), { complete: true }))
    expect(await t.ended()).toMatchObject({ status: 'cancelled', reason: 'not needed' })
  })

  test('with { complete: true } everything is rolled back when another run has taken over', async () => {
    await using t = await working((_, ctx) =>
      ctx.tenantDb(
        async (tx) => {
          await tx.query(`update task set title = 'by a zombie'`)
          await t.sql(
            'update millrace.job set run_id = gen_random_uuid(), worker_id = gen_random_uuid() where id = $1',
            [ctx.jobId],
          )
        },
        { complete: true },
      ),
    )
    const { id } = await t.millrace.enqueue(report, {}, forA)
    await jobEvent(t.millrace, 'job_fence_lost', id)
    expect(await t.tasks()).toMatchObject([{ title: 'of a' }, { title: 'of b' }])
  })

  test('what it enqueues with its tx exists exactly if it commits, and its own rights stay the tenant’s', async () => {
    await using t = await working((_, ctx) =>
      ctx.tenantDb(async (tx) => {
        let isEnqueuing = true
        const enqueuing = (async () => {
          await t.millrace.enqueue(follow, {}, { tx, tenant: 'a', dedupKey: 'k' })
          for (let i = 0; i < 10; i++) await t.millrace.enqueue(follow, {}, { tx, tenant: 'a' })
          isEnqueuing = false
        })()
        // Side by side: nothing of the handler's may run while the role is the engine's.
        const seen = new Set<string>()
        while (isEnqueuing) {
          const { rows } = await tx.query('select current_user as role, count(*)::int from task')
          seen.add(JSON.stringify(rows))
        }
        await enqueuing
        if (ctx.attempt === 1) throw new Error('again')
        return [...seen].map((text) => JSON.parse(text))
      }),
    )
    expect(await t.ended()).toMatchObject({ result: [[{ role: t.role, count: 1 }]] })
    expect(await t.millrace.jobs({ type: 'follow' })).toHaveLength(11)
  })

  test('ctx.once and ctx.complete work inside', async () => {
    await using t = await working((_, ctx) =>
      ctx.tenantDb(async (tx) => {
        const titles = await ctx.once(
          'k',
          async () => (await tx.query(`update task set title = title || '!' returning title`)).rows,
        )
        await ctx.complete(tx, titles)
      }),
    )
    const results = [await t.ended(), await t.ended()]
    expect(results).toMatchObject(Array(2).fill({ result: [{ title: 'of a!' }] }))
    expect(await t.tasks()).toMatchObject([{ title: 'of a!' }, { title: 'of b' }])
  })

  test.each<[string, Handler<typeof report>]>([
    ['ctx.transaction inside ctx.tenantDb', (_, ctx) => ctx.tenantDb(() => ctx.transaction(async () => {}))],
    ['ctx.tenantDb inside ctx.transaction', (_, ctx) => ctx.transaction(() => ctx.tenantDb(async () => {}))],
  ])('%s is refused: it would be another transaction', async (_, handler) => {
    await using t = await working(handler)
    expect(await t.ended()).toMatchObject({ error: expect.stringMatching(/\{ complete: true \}/) })
  })

  test.each([false, true])('rolls back when it ends after the timeout (complete: %s)', async (complete) => {
    await using t = await tenants()
    const slow = defineJob({ type: 'slow', queue: queues.default, payload: z.object({}), timeout: '100ms' })
    const { millrace } = await t.working([
      implement(slow, (_, ctx) =>
        ctx.tenantDb(
          async (tx) => {
            await tx.query(`update task set title = 'late'`)
            if (!ctx.signal.aborted) await once(ctx.signal, 'abort')
          },
          { complete },
        ),
      ),
    ])
    const { id } = await millrace.enqueue(slow, {}, forA)
    expect(await jobEvent(millrace, 'job_retry_scheduled', id)).toMatchObject({ failure: { class: 'TimedOut' } })
    expect(await t.tasks()).toMatchObject([{ title: 'of a' }, { title: 'of b' }])
  })
})

describe('ctx.tenantDb elsewhere', () => {
  const rows = implement(report, (_, ctx) =>
    ctx.tenantDb(async (tx) => (await tx.query('select id from task')).rows, { complete: true }),
  )

  test('an inline run is under the role as well', async () => {
    await using t = await tenants()
    const millrace = t.client([report], { tenantRole: t.role })
    expect(await runJob(rows, {}, { millrace, tenant: 'b' })).toMatchObject({ result: [{ id: 2 }] })
    await millrace.enqueue(report, {}, { tenant: 'a' })
    expect(await drain(millrace, [rows])).toMatchObject([{ result: [{ id: 1 }] }])
  })

  test('an inline run audits and dies as a real one', async () => {
    await using t = await tenants()
    const smuggle = implement(report, (_, ctx) =>
      ctx.tenantDb((tx) => tx.query(`insert into task values (3, 'b', 'smuggled')`)),
    )
    const millrace = t.client([report], { tenantRole: t.role })
    expect(await runJob(smuggle, {}, { millrace, tenant: 'a' })).toMatchObject({ outcome: 'dead' })
    expect(await t.audit()).toHaveLength(1)
  })

  test('a run without a database refuses it clearly', async () => {
    await expect(runJob(rows, {}, { tenant: 'a' })).rejects.toThrow(/ctx\.tenantDb.*\{ millrace \}/)
  })

  const isolated = defineJob({ type: 'isolated', queue: queues.default, payload: z.looseObject({ does: z.string() }) })
  const module = new URL('../worker/fixtures/deeds.js', import.meta.url)

  test('an isolated handler reads under the role, completes inside, and is refused what is not its tenant’s', async () => {
    await using t = await tenants()
    const { millrace } = await t.working([implement(isolated, { isolation: 'process', module })])
    const read = await millrace.enqueue(isolated, { does: 'tenant-read' }, forA)
    expect(await millrace.result(read.id)).toMatchObject({ result: [{ title: 'of a' }] })
    const { id } = await millrace.enqueue(isolated, { does: 'tenant-smuggle' }, forA)
    expect(await jobEvent(millrace, 'job_died', id)).toMatchObject({
      reason: 'unrecoverable',
      failure: { class: 'TenantIsolationViolation' },
    })
    expect(await t.audit()).toMatchObject([{ by: `job:${id}`, target: 'table:task', tenant: 'a' }])
    expect(await t.tasks()).toHaveLength(2)
  })
})
