// millrace.tenantDb: a program outside of jobs works under a tenant's role.
import {
  defineJob,
  defineQueues,
  type Millrace,
  type Queryable,
  TenantIsolationViolation,
  Unrecoverable,
} from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { tenants } from '../support/tenants.ts'

const queues = defineQueues({ default: { tenantJobs: { max: 50, over: 'reject' } } })
const follow = defineJob({ type: 'follow', queue: queues.default, payload: z.object({}), dedupe: { key: () => 'k' } })

async function program() {
  const t = await tenants()
  return { ...t, millrace: t.client([follow], { tenantRole: t.role, maxConnections: 1 }) }
}

const titles = async (tx: Queryable) => (await tx.query('select title from task')).rows
const STATE = `select current_setting('role') as role, current_setting('millrace.tenant', true) as tenant,
  current_setting('millrace.acting_user', true) as acting_user, pg_backend_pid() as pid`

test('work outside of jobs sees and changes the rows of its tenant only, and the session is clean afterwards', async () => {
  await using t = await program()
  const { millrace } = t
  expect(await millrace.tenantDb('a', titles)).toEqual([{ title: 'of a' }])
  expect(await millrace.tenantDb('b', (tx) => tx.query(`update task set title = 'new'`).then(() => 'done'))).toBe(
    'done',
  )
  expect(await t.tasks()).toMatchObject([{ title: 'of a' }, { title: 'new' }])
  const seen = await millrace.tenantDb('a', async (tx) => (await tx.query(STATE)).rows[0], { actingUser: 'ann' })
  expect(seen).toMatchObject({ role: t.role, tenant: 'a', acting_user: 'ann' })
  const { pid } = seen as { pid: number }
  // One connection: the next work gets the same.
  const next = await millrace.tenantDb('b', async (tx) => (await tx.query(STATE)).rows[0])
  expect(next).toEqual({ role: t.role, tenant: 'b', acting_user: '', pid })
})

test('what it enqueues with its tx exists exactly if it commits, also beside others that do so at once', async () => {
  await using t = await program()
  const { millrace } = t
  const add = (tenant: string, fails = false) =>
    millrace.tenantDb(tenant, async (tx) => {
      const { id } = await millrace.enqueue(follow, {}, { tx, tenant })
      await tx.query(`update task set title = title || '!'`)
      if (fails) throw new TypeError('roll back')
      return id
    })
  await expect(add('a', true)).rejects.toThrow(TypeError)
  expect(await millrace.jobs()).toEqual([])
  const ids = await Promise.all([add('a'), add('b')])
  expect((await millrace.jobs()).map(({ id }) => id).sort()).toEqual([...ids].sort())
  expect(await t.tasks()).toMatchObject([{ title: 'of a!' }, { title: 'of b!' }])
})

const deeds: [string, (millrace: Millrace, tx: Queryable) => Promise<unknown>, object][] = [
  [
    'writes a row of another tenant',
    (_, tx) => tx.query(`insert into task values (3, 'b', 'smuggled')`),
    { table: 'task' },
  ],
  ['enqueues for another tenant', (m, tx) => m.enqueue(follow, {}, { tx, tenant: 'b' }), { otherTenant: 'b' }],
]

test.each(deeds)(
  'work that %s is refused, rolled back and audited, also if it catches the error',
  async (_, deed, facts) => {
    await using t = await program()
    const { millrace } = t
    const reach = (swallows: boolean) =>
      millrace.tenantDb(
        'a',
        async (tx) => {
          await tx.query(`update task set title = 'rolled back'`)
          await tx.query('savepoint before')
          const done = deed(millrace, tx)
          if (!swallows) return done
          await done.catch(() => {})
          return tx.query('rollback to savepoint before')
        },
        { actingUser: 'ann' },
      )
    for (const swallows of [false, true]) {
      const thrown = await reach(swallows).catch((error: unknown) => error)
      expect(thrown).toBeInstanceOf(TenantIsolationViolation)
      expect(thrown).toMatchObject({ jobId: null, type: null, tenant: 'a', ...facts })
      expect(String(thrown)).toContain('Work of millrace.tenantDb for tenant "a" ')
    }
    expect(await t.tasks()).toMatchObject([{ title: 'of a' }, { title: 'of b' }])
    expect(await millrace.jobs()).toEqual([])
    const entry = {
      by: 'ann',
      action: 'tenant.isolation_violation',
      tenant: 'a',
      details: expect.objectContaining(facts),
    }
    expect(await t.audit()).toMatchObject([entry, entry])
  },
)

test('work that leaves its transaction runs no further statement', async () => {
  await using t = await program()
  await expect(t.millrace.tenantDb('a', (tx) => tx.query('commit'))).rejects.toThrow(/tenantDb owns its transaction/)
  const leaving = t.millrace.tenantDb('a', async (tx) => {
    await tx.query('select 1; commit').catch(() => {})
    return tx.query('select * from task')
  })
  await expect(leaving).rejects.toBeInstanceOf(Unrecoverable)
  expect(await t.millrace.tenantDb('a', titles)).toEqual([{ title: 'of a' }])
})

test('a role that would protect nobody, a missing role and a missing tenant are refused', async () => {
  await using t = await program()
  const loose = t.client([follow], { tenantRole: await t.makeRole('bypassrls') })
  await expect(loose.tenantDb('a', titles)).rejects.toThrow(/cannot keep tenants apart: it bypasses row security/)
  await expect(t.client([follow]).tenantDb('a', titles)).rejects.toThrow(/createMillrace\(\{ tenantRole/)
  await expect(t.millrace.tenantDb('', titles)).rejects.toThrow(/without a tenant/)
  await expect(t.millrace.tenantDb('a', () => t.millrace.tenantDb('a', titles))).rejects.toThrow(/inside another/)
})

test('errors of the work stay as they are', async () => {
  await using t = await program()
  await expect(t.millrace.tenantDb('a', (tx) => tx.query('select 1 / 0'))).rejects.toMatchObject({ code: '22012' })
  await expect(
    t.millrace.tenantDb('a', () => {
      throw new RangeError('at once')
    }),
  ).rejects.toThrow(RangeError)
})
