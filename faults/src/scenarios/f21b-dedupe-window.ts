// F21b: many callers enqueue under the same key with a dedupe window, alone, in bulk and in transactions that commit or
// roll back, while every job ends as soon as it is seen. A window has exactly one job, if anybody committed, and
// everybody gets its id.

import type { Producer } from '../harness/producer.ts'
import type { Answer, EnqueueOrder } from '../harness/producer-main.ts'
import { type Dice, diceFrom } from '../harness/random.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const keys: Record<Scale, number> = { short: 12, standard: 60, full: 400 }
const CALLERS = 30

export default defineScenario({
  name: 'f21b-dedupe-window',
  title: 'one job per dedupe window, with rollbacks, while its job ends',
  mutations: {
    'windows-ignored': 'windows with more than one job',
  },

  async body(options, findings) {
    await using world = await World.open(options)
    const dice = diceFrom(options.seed)
    const producers = [world.startProducer('producer-0'), world.startProducer('producer-1')]
    const tally = { queued: 0, duplicate: 0, failed: 0, wrongId: 0, many: 0, without: 0, wronglyThere: 0 }
    for (let i = 0; i < keys[options.scale]; i++) {
      const isHopeless = dice.next() < 0.2
      const orders = Array.from({ length: CALLERS }, (_, n) => orderFor(`key-${i}`, n, isHopeless, dice))
      const answers = await race(world, producers, orders)
      const windows = await world.query<{ id: string }>(
        `select job_id as id from millrace.dedup_window where dedup_key = $1`,
        [`key-${i}`],
      )
      const committed = answers.filter((_, n) => orders[n]?.how !== 'rollback').flat()
      const queued = committed.filter(({ status }) => status === 'queued').length
      tally.queued += queued
      tally.duplicate += committed.filter(({ status }) => status === 'duplicate').length
      tally.failed += committed.filter(({ status }) => status === 'failed').length
      tally.wrongId += committed.filter((each) => each.status !== 'failed' && each.id !== windows[0]?.id).length
      if (queued > 1) tally.many++
      if (committed.length > 0 && queued === 0) tally.without++
      if (isHopeless && windows.length > 0) tally.wronglyThere++
    }
    findings.equal('windows with more than one job', tally.many, 0)
    findings.equal('windows without a job although somebody committed', tally.without, 0)
    findings.equal('windows although nobody committed', tally.wronglyThere, 0)
    findings.equal('answers with the id of another job', tally.wrongId, 0)
    findings.equal('calls that failed because a key was taken', tally.failed, 0)
    findings.figures({ keys: keys[options.scale], queued: tally.queued, duplicate: tally.duplicate })
  },
})

/** All at once; meanwhile whatever job can be seen has ended and left nothing behind. */
async function race(
  world: World,
  producers: readonly Producer[],
  orders: readonly EnqueueOrder[],
): Promise<Answer[][]> {
  let isOver = false
  const reaper = (async () => {
    while (!isOver) await world.query('delete from millrace.job')
  })()
  try {
    return await Promise.all(orders.map((order, i) => (producers[i % producers.length] as Producer).order(order)))
  } finally {
    isOver = true
    await reaper
  }
}

function orderFor(key: string, n: number, isHopeless: boolean, dice: Dice): EnqueueOrder {
  const how = isHopeless ? 'rollback' : dice.pick(['each', 'many', 'commit', 'rollback'] as const)
  const tasks = Array.from({ length: how === 'many' ? 3 : 1 }, (_, i) => {
    return { n: `${key}/${n}.${i}`, does: 'plain' as const, key }
  })
  return { how, type: 'windowed', tasks, holdMs: dice.between(0, 15) }
}
