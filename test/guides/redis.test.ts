import type { Redis, SpikeBuffer } from '@millrace/redis'
import { findRedis, startRedis } from '@millrace/redis/testing'
import type { Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

interface Buffering {
  millrace: Millrace
  redis: Redis
  buffer: SpikeBuffer
  viewed(shop: string, page: string): Promise<string>
  close(): Promise<void>
}

test.skipIf(findRedis() === undefined)('the program of the guide buffers, moves, locks and remembers', async () => {
  await using t = await setup()
  await using server = await startRedis()
  await using guide = await openDocument('docs/guides/redis.md')
  const env = { DATABASE_URL: t.url, REDIS_URL: server.url }
  const { buffer, viewed, close, redis } = await guide.load<Buffering>('buffer.ts', env)
  expect(await viewed('elm', '/')).toMatch(/^buffered as /)
  const { mover } = await guide.load<{ mover: { stop(): Promise<void> } }>('mover.ts', env)
  await expect
    .poll(() => t.sql('select tenant, type from millrace.job'))
    .toEqual([{ tenant: 'elm', type: 'view.count' }])
  await mover.stop()
  expect(await buffer.state()).toMatchObject({ entries: 0, lost: 0 })

  const { rebuild } = await guide.load<{ rebuild(shop: string): Promise<string> }>('rebuild.ts', env)
  expect(await rebuild('elm')).toBe('rebuilt')
  const { receive } = await guide.load<{
    receive(id: string, store: (id: string) => Promise<void>): Promise<string>
  }>('webhook.ts', env)
  const stored: string[] = []
  const store = async (id: string) => void stored.push(id)
  expect([await receive('evt_1', store), await receive('evt_1', store), stored]).toEqual(['stored', 'seen', ['evt_1']])

  await server.kill()
  await expect.poll(() => redis.state.name).toBe('down')
  expect(await viewed('elm', '/')).toBe('queued')
  await close()
})
