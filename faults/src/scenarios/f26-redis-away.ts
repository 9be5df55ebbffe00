// F26: tasks come through the spike buffer while Redis is frozen, killed and flushed, and movers and workers are killed.
// What was acknowledged runs once in effect, or is reported lost by name.
import { setTimeout as sleep } from 'node:timers/promises'
import { connectRedis, createLocks, LockLost, redisMigrations } from '@millrace/redis'
import { type RedisServer, startRedis } from '@millrace/redis/testing'
import { migrateProgram } from 'millrace'
import { checkHistory, drain } from '../harness/checker.ts'
import type { Child } from '../harness/child.ts'
import { databaseMutation } from '../harness/mutations.ts'
import { tasksOf } from '../harness/producer.ts'
import { type Dice, diceFrom } from '../harness/random.ts'
import { until } from '../harness/until.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale } from '../scenario.ts'

const sizes: Record<Scale, { tasks: number; faults: number }> = {
  short: { tasks: 400, faults: 6 },
  standard: { tasks: 3_000, faults: 30 },
  full: { tasks: 20_000, faults: 150 },
}
const PRODUCERS = 2
const MOVERS = 2
const FROZEN_MS = 500
const READY_MS = 30_000

export default defineScenario({
  name: 'f26-redis-away',
  title: 'Redis frozen, killed and flushed during a spike, movers and workers killed',
  mutations: {
    'entries-without-key': 'tasks that became more than one job',
    'fences-stand-still': 'an old holder of a forgotten lock is refused',
  },

  async body(options, findings) {
    const { tasks, faults } = sizes[options.scale]
    const dice = diceFrom(options.seed)
    await using world = await World.open(options)
    await migrateProgram(world.url, redisMigrations)
    const broken = databaseMutation(options.mutation)
    if (broken !== undefined) await world.query(broken)
    await using redis = await startRedis({ persistence: 'everysec' })
    await spike({ world, redis, dice, findings, tasks, faults })
    await forgottenLock(world, redis, findings)
  },
})

interface Spike {
  world: World
  redis: RedisServer
  dice: Dice
  findings: Findings
  tasks: number
  faults: number
}

async function spike({ world, redis, dice, findings, tasks, faults }: Spike): Promise<void> {
  const workers = await Promise.all(['worker-0', 'worker-1'].map((label) => world.startWorker({ label })))
  const movers = Array.from({ length: MOVERS }, (_, i) => startMover(world, redis, `mover-${i}`))
  const each = tasks / PRODUCERS
  for (let i = 0; i < PRODUCERS; i++)
    world.spawnBuffer(`producer-${i}`, {
      redisUrl: redis.url,
      tasks: tasksOf(`spike-${i}`, each, () => ({ does: 'transaction' })),
      pauseMs: 8,
    })
  await started(world, PRODUCERS + MOVERS)
  for (let fault = 0; fault < faults; fault++) {
    await sleep(dice.between(150, 450))
    if (fault % 2 === 0) await breakRedis(redis, movers, fault)
    else await killOne({ world, redis, dice }, fault % 4 === 1 ? movers : workers)
  }
  await until('the producers have told all their tasks', 120_000, () => fed(world) === PRODUCERS)
  await until('Redis holds no entry', READY_MS, () => isEmpty(redis))
  // Each producer looks once a second whether what it was promised is there.
  await until('nothing is promised any more', READY_MS, () => isSettled(world))
  findings.check('drains to the end', await drain(world, 120_000))
  await judged(world, findings)
}

const startMover = (world: World, redis: RedisServer, label: string): Child =>
  world.spawnBuffer(label, { redisUrl: redis.url, moves: true })

/** Frozen, killed, flushed: one after the other. */
async function breakRedis(redis: RedisServer, movers: readonly Child[], fault: number): Promise<void> {
  const kind = (fault / 2) % 3
  if (kind === 0) {
    redis.freeze()
    await sleep(FROZEN_MS)
    redis.thaw()
  } else if (kind === 1) await redis.restart()
  else {
    // While nothing is moved, so that there is something to lose.
    for (const mover of movers) mover.signal('SIGSTOP')
    await sleep(FROZEN_MS)
    await using connection = await connectRedis({ url: redis.url })
    await connection.run(['FLUSHALL'])
    for (const mover of movers) mover.signal('SIGCONT')
  }
}

async function killOne({ world, redis, dice }: Pick<Spike, 'world' | 'redis' | 'dice'>, all: Child[]): Promise<void> {
  const i = dice.between(0, all.length - 1)
  const victim = all[i] as Child
  await victim.kill()
  const { label } = victim
  all[i] = label.startsWith('mover') ? startMover(world, redis, label) : world.spawnWorker({ label })
}

async function judged(world: World, findings: Findings): Promise<void> {
  const lost = await world.query<{ entry_id: string }>('select entry_id from millrace_redis.buffer_lost')
  const isLost = new Set(lost.map(({ entry_id }) => entry_id))
  const named = new Set(
    world.history
      .enqueues('acknowledged')
      .filter(({ id }) => isLost.has(id ?? ''))
      .map(({ n }) => n),
  )
  const twice = await world.query<{ n: string }>(
    `select payload->>'n' as n from millrace.job_archive group by 1 having count(*) > 1`,
  )
  findings.equal('tasks that became more than one job', twice.length, 0)
  const done = await world.query<{ n: string }>(
    `select payload->>'n' as n from millrace.job_archive where status = 'completed'`,
  )
  const falseAlarms = done.filter(({ n }) => named.has(n))
  findings.equal('reported lost, and completed', falseAlarms.length, 0)
  const never = () => false
  await checkHistory(world, findings, never, (n) => named.has(n))
  findings.check('Redis has lost something, and it has a name', named.size > 0, named.size)
  findings.figures({ 'lost by name': named.size, 'written to PostgreSQL at once': written(world) })
}

/** Ids of jobs are numbers; those of entries are not. */
const written = (world: World): number =>
  world.history.enqueues('acknowledged').filter(({ id }) => /^\d+$/.test(id ?? '')).length

/** Redis forgets a lock, another process gets it, and the first one writes on. */
async function forgottenLock(world: World, redis: RedisServer, findings: Findings): Promise<void> {
  await using connection = await connectRedis({ url: redis.url })
  await using locks = createLocks({ redis: connection, database: world.url })
  const tx = await world.db.connect()
  try {
    await locks.run('rebuild', async (old) => {
      await connection.run(['FLUSHALL'])
      await locks.run('rebuild', async () => {})
      await tx.query('begin')
      const refused = await old.guard(tx).then(
        () => 'nothing',
        (error: unknown) => (error instanceof LockLost ? 'LockLost' : String(error)),
      )
      findings.equal('an old holder of a forgotten lock is refused', refused, 'LockLost')
      await tx.query('rollback')
    })
  } finally {
    tx.release()
  }
}

const started = (world: World, programs: number) =>
  until('the programs have started', READY_MS, () => world.history.events('buffer_started').length >= programs)

const fed = (world: World): number =>
  world.history.events('buffer_fed').filter(({ who }) => who.startsWith('producer')).length

async function isEmpty(redis: RedisServer): Promise<boolean> {
  await using connection = await connectRedis({ url: redis.url })
  if (connection.state.name !== 'ready') return false
  return (await connection.run<number>(['ZCARD', '{millrace:buffer:default}:active'])) === 0
}

async function isSettled(world: World): Promise<boolean> {
  const open = "select from millrace_redis.buffer_account where open > 0 and updated_at > now() - interval '5 seconds'"
  return (await world.count(open)) === 0
}
