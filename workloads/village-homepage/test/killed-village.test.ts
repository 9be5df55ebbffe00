import { expect, test } from 'vitest'
import { killedVillage } from './support/kill-village.ts'
import { wrongEffects } from './support/whole-village.ts'

test('a worker that is killed while it does one of everything leaves each effect once', {
  timeout: 120_000,
}, async () => {
  await using t = await killedVillage(1)
  expect(await wrongEffects(t)).toEqual([])
})
