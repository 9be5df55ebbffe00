import { defineJob, defineQueues, implement, KeyBusy, OnceBusy } from 'millrace'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, type Setup, setup } from '../support/setup.ts'

const queue = defineQueues({ work: {} }).work
const payload = z.object({ key: z.string() })
const key = (given: { key: string }) => given.key
const live = defineJob({ type: 'live', queue, payload, dedupe: { key } })
const windowed = defineJob({ type: 'windowed', queue, payload, dedupe: { key, mode: 'window', window: '1h' } })
const latest = defineJob({ type: 'latest', queue, payload, dedupe: { key, mode: 'latest' } })
const contracts = [live, windowed, latest]

async function begun(t: Setup): Promise<pg.PoolClient> {
  const client = await t.pool.connect()
  await client.query('begin')
  return client
}

const lockTimeout = async (tx: pg.ClientBase) => (await tx.query('show lock_timeout')).rows[0].lock_timeout

test('an enqueue in a transaction is told KeyBusy while another open transaction holds the key', async () => {
  await using t = await setup()
  const millrace = t.client(contracts)
  const holder = await begun(t)
  for (const contract of contracts) await millrace.enqueue(contract, { key: 'a' }, { tx: holder })
  // Side by side: each waits for two seconds.
  await Promise.all(
    contracts.map(async (contract) => {
      const tx = await begun(t)
      await tx.query(`set local lock_timeout = '1min'`)
      await tx.query('savepoint mine')
      await expect(millrace.enqueue(contract, { key: 'a' }, { tx })).rejects.toBeInstanceOf(KeyBusy)
      await tx.query('rollback to savepoint mine')
      expect(await lockTimeout(tx)).toBe('1min')
      await tx.query('rollback')
      tx.release()
    }),
  )
  await holder.query('rollback')
  holder.release()
})

test.each(['0', '50ms', '1500ms', '2min'])(
  'an enqueue leaves a lock_timeout of %s and no savepoint behind',
  async (own) => {
    await using t = await setup()
    const millrace = t.client(contracts)
    const tx = await begun(t)
    await tx.query(`set local lock_timeout = '${own}'`)
    for (const contract of contracts) {
      expect(await millrace.enqueue(contract, { key: 'a' }, { tx })).toMatchObject({ status: 'queued' })
      await millrace.enqueueMany(contract, [{ key: 'a' }, { key: 'b' }], { tx })
      expect(await lockTimeout(tx)).toBe(own)
    }
    await expect(tx.query('release savepoint millrace')).rejects.toThrow('does not exist')
    await tx.query('rollback')
    expect(await lockTimeout(tx)).toBe('0')
    tx.release()
  },
)

test('ctx.once in a transaction is told OnceBusy while another open transaction holds the key', async () => {
  await using t = await setup()
  const holder = await begun(t)
  const refused: unknown[] = []
  const plain = defineJob({ type: 'plain', queue, payload })
  const { millrace } = await t.working([
    implement(plain, (_, ctx) =>
      ctx.transaction(async () => {
        await ctx.once('gift', () => 1).catch((error: unknown) => refused.push(error))
        throw new Error('roll back')
      }),
    ),
  ])
  await holder.query(
    `insert into millrace.once_key (tenant, scope, key, state, job_id, run_id, claimed_at, expires_at)
     values ('', 'plain', 'gift', 'running', 1, gen_random_uuid(), now(), now() + interval '1 hour')`,
  )
  const { id } = await millrace.enqueue(plain, { key: 'a' }, { maxAttempts: 1 })
  await jobEvent(millrace, 'job_died', id)
  expect(refused).toEqual([expect.any(OnceBusy)])
  await holder.query('rollback')
  holder.release()
})
