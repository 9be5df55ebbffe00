// F21: fifty callers enqueue under the same key at once: alone, in bulk with duplicates inside, in transactions that
// commit and in transactions that roll back. At most one job may live per key, and one must if anybody committed.

import type { Producer } from '../harness/producer.ts'
import type { Answer, EnqueueOrder } from '../harness/producer-main.ts'
import { type Dice, diceFrom } from '../harness/random.ts'
import type { Task } from '../harness/tasks.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale } from '../scenario.ts'

const keys: Record<Scale, number> = { short: 12, standard: 60, full: 400 }
const CALLERS = 50
const BULK = 6

export default defineScenario({
  name: 'f21-dedupe-race',
  title: 'dedupe races with rollbacks, bulk with inner duplicates',
  mutations: {
    'conflict-is-an-error': 'calls that failed because a key was taken',
    'keys-forgotten': 'keys with more than one live job',
  },

  async body(options, findings) {
    await using world = await World.open(options)
    const dice = diceFrom(options.seed)
    const producers = [world.startProducer('producer-0'), world.startProducer('producer-1')]
    const tally: Tally = { queued: 0, duplicate: 0, failed: 0, wrongId: 0, without: 0, wronglyAlive: 0 }
    for (let i = 0; i < keys[options.scale]; i++) await race(world, producers, `key-${i}`, dice, tally)
    findings.equal(
      'keys with more than one live job',
      await world.count("select from millrace.job group by payload->>'key' having count(*) > 1"),
      0,
    )
    findings.equal('keys without a job although somebody committed', tally.without, 0)
    findings.equal('keys with a job although nobody committed', tally.wronglyAlive, 0)
    findings.equal('answers with the id of another job', tally.wrongId, 0)
    findings.equal('calls that failed because a key was taken', tally.failed, 0)
    await busyKey(world, producers, findings)
    findings.figures({ keys: keys[options.scale], queued: tally.queued, duplicate: tally.duplicate })
    if (options.mutation === undefined) await onlyKnown(world, findings)
  },
})

interface Tally {
  queued: number
  duplicate: number
  failed: number
  wrongId: number
  without: number
  wronglyAlive: number
}

async function race(
  world: World,
  producers: readonly Producer[],
  key: string,
  dice: Dice,
  tally: Tally,
): Promise<void> {
  const orders = Array.from({ length: CALLERS }, (_, i) => orderFor(`${key}/${i}`, key, dice))
  // Sometimes nobody commits: then nothing may live.
  const isHopeless = dice.next() < 0.2
  if (isHopeless) for (const order of orders) order.how = 'rollback'
  const answers = await Promise.all(
    orders.map((order, i) => (producers[i % producers.length] as Producer).order(order)),
  )
  const live = await world.query<{ id: string }>(`select id from millrace.job where payload->>'key' = $1`, [key])
  const committed = orders.flatMap((order, i) =>
    order.how === 'rollback' ? [] : keyed(order, answers[i] as Answer[], key),
  )
  for (const answer of committed) {
    if (answer.status === 'queued' || answer.status === 'duplicate') tally[answer.status]++
    else tally.failed++
    if (answer.status !== 'failed' && answer.id !== live[0]?.id) tally.wrongId++
  }
  if (isHopeless && live.length > 0) tally.wronglyAlive++
  if (!isHopeless && committed.length > 0 && live.length === 0) tally.without++
}

/** The answers for the tasks that carry the key; the others of a bulk have nothing to do with it. */
function keyed(order: EnqueueOrder, answers: readonly Answer[], key: string): Answer[] {
  return answers.filter((_, i) => order.tasks[i]?.key === key)
}

function orderFor(n: string, key: string, dice: Dice): EnqueueOrder {
  const how = dice.pick(['each', 'many', 'commit', 'rollback'] as const)
  const task = (i: number): Task => ({ n: `${n}.${i}`, does: 'plain', key })
  if (how !== 'many') return { how, tasks: [task(0)], holdMs: dice.between(0, 15) }
  // Every second one carries the key; the rest have keys of their own and must be written whatever happens to it.
  return {
    how,
    tasks: Array.from({ length: BULK }, (_, i) => (i % 2 === 0 ? task(i) : { ...task(i), key: `${n}.${i}` })),
  }
}

/** A key held by an open transaction is waited for, but not for ever: a typed refusal, and the rest is unharmed. */
async function busyKey(world: World, [first, second]: readonly Producer[], findings: Findings): Promise<void> {
  const held = first?.order({ how: 'commit', tasks: [{ n: 'busy-0', does: 'plain', key: 'busy' }], holdMs: 4_000 })
  const isWritten = async () =>
    (await world.count(
      `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
    )) > 0
  while (!(await isWritten())) await new Promise((resolve) => setTimeout(resolve, 20))
  const began = Date.now()
  const [answer] = (await second?.each([{ n: 'busy-1', does: 'plain', key: 'busy' }])) ?? []
  findings.equal(
    'a key held open: the other caller is told',
    answer?.status === 'failed' ? answer.code : answer?.status,
    'key_busy',
  )
  findings.atMost('a key held open: told within', Date.now() - began, 3_500, ' ms')
  await held
}

/** Nothing ran, so the jobs themselves are the history's end. */
async function onlyKnown(world: World, findings: Findings): Promise<void> {
  const live = await world.query<{ n: string }>(`select payload->>'n' as n from millrace.job`)
  const known = new Set(
    [...world.history.enqueues('acknowledged'), ...world.history.enqueues('unknown')].map(({ n }) => n),
  )
  findings.equal('live jobs that nobody was told of', live.filter(({ n }) => !known.has(n)).length, 0)
  findings.equal(
    'acknowledged jobs that do not live',
    [...known].filter((n) => !live.some((job) => job.n === n)).length,
    0,
  )
}
