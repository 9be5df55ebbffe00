import { expect, test } from 'vitest'
import { killedVillage } from './support/kill-village.ts'
import { wrongEffects } from './support/whole-village.ts'

/** So many, and in all ten: a job that has seen three of its workers die is suspected, and ends. */
const ROUNDS = 5
const KILLS = 2

test('ten workers that are killed at random leave each effect once', { timeout: 900_000 }, async () => {
  for (let round = 0; round < ROUNDS; round++) {
    await using t = await killedVillage(KILLS)
    expect(await wrongEffects(t), `round ${round + 1}`).toEqual([])
  }
})
