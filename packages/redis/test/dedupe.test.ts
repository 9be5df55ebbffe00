import { connectRedis, createDedupe } from '@millrace/redis'
import { expect, test } from 'vitest'
import { describeRedis, setup } from './support/setup.ts'

describeRedis('a dedupe key', () => {
  test('is first once, and other scopes do not know it', async () => {
    await using t = await setup()
    const events = createDedupe({ redis: t.redis, scope: 'events', window: '1h' })
    const others = createDedupe({ redis: t.redis, scope: 'others', window: '1h' })
    expect([await events.first('evt_1'), await events.first('evt_1'), await others.first('evt_1')]).toEqual([
      'first',
      'seen',
      'first',
    ])
    expect(await t.redis.run<string[]>(['KEYS', '*evt_1*'])).toEqual([])
  })

  test('asked and remembered apart, what was rolled back stays first', async () => {
    await using t = await setup()
    const events = createDedupe({ redis: t.redis, scope: 'events', window: '1h' })
    expect([await events.seen('a'), await events.seen('a')]).toEqual(['first', 'first'])
    expect(await events.remember('a')).toBe(true)
    expect(await events.seen('a')).toBe('seen')
  })

  test('is forgotten when its window is over', async () => {
    await using t = await setup()
    const events = createDedupe({ redis: t.redis, scope: 'events', window: '50ms' })
    await events.first('a')
    await expect.poll(() => events.seen('a')).toBe('first')
  })

  test('is unknown without Redis', async () => {
    const events = createDedupe({ redis: await connectRedis(), scope: 'events', window: '1h' })
    expect([await events.first('a'), await events.seen('a'), await events.remember('a')]).toEqual([
      'unknown',
      'unknown',
      false,
    ])
  })

  test('needs a usable scope and a window', async () => {
    const redis = await connectRedis()
    expect(() => createDedupe({ redis, scope: 'a b', window: '1h' })).toThrow(/scope "a b"/)
    expect(() => createDedupe({ redis, scope: 'a', window: 0 })).toThrow(/window above 0/)
  })
})
