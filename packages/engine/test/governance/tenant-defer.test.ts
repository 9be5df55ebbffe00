// What becomes of jobs beyond a tenant's number where the queue defers them.
import { defineJob, defineQueues } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ deferred: { tenantJobs: { max: 1, over: 'defer' } } })
const payload = z.object({ key: z.string() })
const key = ({ key }: { key: string }) => key
const common = { queue: queues.deferred, payload }
const plain = defineJob({ ...common, type: 'plain' })
const latest = defineJob({ ...common, type: 'latest', dedupe: { key, mode: 'latest' } })
const debounced = defineJob({ ...common, type: 'debounced', dedupe: { key, mode: 'debounce', wait: 0 } })
const ordered = defineJob({ ...common, type: 'ordered', order: { key } })
const limited = defineJob({ ...common, type: 'limited', keyLimit: { key, concurrency: 5 } })
const jobs = [plain, latest, debounced, ordered, limited]
const forX = { tenant: 'x' }

async function deferring() {
  const t = await setup()
  return {
    ...t,
    millrace: t.client(jobs),
    statuses: async () => {
      const rows = await t.sql<{ status: string }>('select status from millrace.job order by id')
      return rows.map(({ status }) => status)
    },
  }
}

describe('a tenant’s jobs beyond its number wait', () => {
  test.each([plain, latest, debounced])('also those of type $type', async (contract) => {
    await using t = await deferring()
    const first = await t.millrace.enqueue(contract, { key: 'a' }, forX)
    const second = await t.millrace.enqueue(contract, { key: 'b' }, forX)
    expect([first.status, second.status]).toEqual(['queued', 'deferred'])
    expect(await t.statuses()).toEqual(['pending', 'blocked'])
    await t.millrace.cancel(first.id, { by: 'ann' })
    expect((await t.millrace.job(second.id))?.status).toBe('pending')
  })

  test.each([latest, debounced])('and one of type $type that is replaced goes on waiting', async (contract) => {
    await using t = await deferring()
    for (const each of ['a', 'b']) await t.millrace.enqueue(contract, { key: each }, forX)
    expect(await t.millrace.enqueue(contract, { key: 'b' }, forX)).toMatchObject({ status: 'replaced' })
    expect(await t.statuses()).toEqual(['pending', 'blocked'])
  })

  test.each([ordered, limited])(
    'and the answer is not "deferred" where only a key of its own holds it: $type',
    async (contract) => {
      await using t = await deferring()
      for (const each of ['a', 'b'])
        expect(await t.millrace.enqueue(contract, { key: each }, forX)).toMatchObject({ status: 'queued' })
      expect(await t.statuses()).toEqual(['pending', 'pending'])
    },
  )

  test('whatever limit is set for the keys of the queue', async () => {
    await using t = await deferring()
    await t.millrace.keys.setLimit({ queue: 'deferred', concurrency: 3 }, { by: 'ann' })
    await t.millrace.enqueueMany(plain, [{ key: 'a' }, { key: 'b' }], forX)
    expect(await t.statuses()).toEqual(['pending', 'blocked'])
    const [second] = await t.millrace.jobs({ status: 'blocked' })
    const { reasons } = await t.millrace.explain(second?.id as string)
    expect(reasons.map(({ sentence }) => sentence)).toContainEqual(
      expect.stringMatching(/^1 of 1 places of tenant "x" are taken by jobs /),
    )
  })

  test('and not under a limit key that a payload could name', async () => {
    await using t = await deferring()
    await t.millrace.enqueue(limited, { key: 'jobs of the tenant' }, forX)
    await t.millrace.enqueue(plain, { key: 'a' }, forX)
    expect(await t.statuses()).toEqual(['pending', 'pending'])
    await expect(t.millrace.enqueue(limited, { key: '\u0001jobs of the tenant' }, forX)).rejects.toThrow(/U\+0001/)
  })
})
