// A password that is a function, as where tokens expire: it is asked at every connect, wherever that is made.
import { createMillrace, defineJob, defineQueues, endWorker, implement, migrationStatus } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { eventually, jobEvent, type Setup, setup, shortLease, silent } from '../support/setup.ts'

const queues = defineQueues({ here: {}, apart: {} })
const task = defineJob({ type: 'task', queue: queues.here, payload: z.object({}) })
const apart = defineJob({
  type: 'apart',
  queue: queues.apart,
  payload: z.object({ does: z.literal('transaction') }),
})
const handlers = [
  implement(task, () => {}),
  implement(apart, { isolation: 'process', module: new URL('./fixtures/deeds.js', import.meta.url) }),
]

/** A role whose password can be changed, and a database config that asks for it. */
async function rotating(t: Setup) {
  const url = new URL(t.url)
  const role = `rotating_${url.pathname.slice(1)}`.slice(0, 60)
  let password = 'first'
  await t.sql(`create role "${role}" superuser login password 'first'`)
  const { hostname: host, port } = url
  return {
    database: {
      host,
      port: Number(port),
      user: role,
      database: url.pathname.slice(1),
      password: async () => password,
    },
    /** From now on the old password is refused, and every connection that had it is cut. */
    async rotate(): Promise<Date> {
      password = 'second'
      await t.sql(`alter role "${role}" password 'second'`)
      await t.sql('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role])
      const [{ now }] = (await t.sql('select clock_timestamp() as now')) as [{ now: Date }]
      return now
    },
    async [Symbol.asyncDispose]() {
      await t.sql('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role])
      await t.sql(`reassign owned by "${role}" to current_user`)
      await t.sql(`drop role "${role}"`)
    },
  }
}

test('a password function is asked again by every connection: client, worker, pulse thread and isolated process', async () => {
  await using t = await setup()
  await t.sql('create table ledger (job text)')
  await using role = await rotating(t)
  const statuses = await migrationStatus(role.database)
  expect(statuses.every(({ state }) => state === 'applied')).toBe(true)
  const millrace = t.client([task, apart], { database: role.database })
  const worker = await millrace.work({ handlers, lease: { ...shortLease, ttl: '30s' } })

  const runBoth = async () => {
    for (const { id } of [await millrace.enqueue(task, {}), await millrace.enqueue(apart, { does: 'transaction' })]) {
      await jobEvent(millrace, 'job_completed', id)
      expect(await millrace.result(id, { timeout: '10s' })).toMatchObject({ status: 'completed' })
    }
  }
  await runBoth()
  const rotatedAt = await role.rotate()
  // The pulse thread writes the heartbeats, on a connection of its own.
  await eventually(async () => {
    const beats = await t.sql('select from millrace.worker where id = $1 and heartbeat_at > $2', [worker.id, rotatedAt])
    return beats.length === 1
  })
  await eventually(() =>
    millrace.queues().then(
      () => true,
      () => false,
    ),
  )
  await runBoth()
  expect(await endWorker(role.database, '00000000-0000-0000-0000-000000000000', { reason: 'never lived' })).toBe(false)
})

test('a password function that fails is told as a database that cannot be reached, and asked again', async () => {
  await using t = await setup()
  await using role = await rotating(t)
  let isBroken = true
  const password = async () => {
    if (isBroken) throw new Error('the token service is away')
    return role.database.password()
  }
  await using millrace = createMillrace({ database: { ...role.database, password }, jobs: [task], logger: silent })
  await expect(millrace.enqueue(task, {})).rejects.toMatchObject({
    code: 'database_unavailable',
    message: expect.stringContaining('the token service is away'),
  })
  isBroken = false
  await eventually(() =>
    millrace.enqueue(task, {}).then(
      ({ status }) => status === 'queued',
      () => false,
    ),
  )
})

test('a password function beside a connection string, which would hide it, is refused', () => {
  const database = { connectionString: 'postgres://app@db/app', password: () => 'x' }
  expect(() => createMillrace({ database, jobs: [] })).toThrow(/Give host, port, user and database instead/)
})
