// F2: a worker is frozen for three times its lease, and thawed while others run its jobs. Its handlers ignore their
// abort signals and go on: whatever they write must lose.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkHistory, drain } from '../harness/checker.ts'
import { percentile } from '../harness/percentile.ts'
import { type Producer, tasksOf } from '../harness/producer.ts'
import { LEASE, World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale } from '../scenario.ts'

const rounds: Record<Scale, number> = { short: 1, standard: 3, full: 10 }
/** As many heirs as tasks: a process runs at most one job whose last run ended in a crash. */
const TASKS = 4
const ABORT_WITHIN_MS = 1_000

export default defineScenario({
  name: 'f02-freeze',
  title: 'SIGSTOP for three times the lease, then SIGCONT',
  mutations: {
    'settle-ignores-run-id': 'settlements of the zombie that were accepted',
    'unfenced-settle': 'settlements of the zombie that were accepted',
  },

  async body(options, findings) {
    await using world = await World.open(options)
    const producer = world.startProducer('producer')
    const all: Round[] = []
    for (let round = 0; round < rounds[options.scale]; round++) {
      all.push(await freezeOnce(world, producer, `${round}`))
      options.note(`round ${round + 1} done`)
    }
    report(all, findings)
    await checkHistory(world, findings)
  },
})

interface Round {
  aborts: number[]
  acceptedWrites: number
  committedEffects: number
  heirsWrites: number
  firstTakenMs: number
}

async function freezeOnce(world: World, producer: Producer, round: string): Promise<Round> {
  const { history } = world
  const startedBy = (role: string) => history.runs('started').filter((fact) => fact.who.startsWith(`${role}-${round}`))
  const zombie = await world.startWorker({ label: `zombie-${round}` })
  await producer.each(tasksOf(`freeze-${round}`, TASKS, (i) => ({ does: i % 2 === 0 ? 'hold' : 'hold-transaction' })))
  await history.until('the zombie runs all tasks', 20_000, () => startedBy('zombie').length === TASKS)
  const labels = Array.from({ length: TASKS }, (_, i) => `heir-${round}-${i}`)
  const heirs = await Promise.all(labels.map((label) => world.startWorker({ label })))

  const frozen = new Set(startedBy('zombie').map(({ run }) => run))
  zombie.signal('SIGSTOP')
  const frozenAt = Date.now()
  await history.until('heirs run all tasks', 30_000, () => startedBy('heir').length === TASKS)
  await sleep(Math.max(0, frozenAt + 3 * LEASE.ttl - Date.now()))
  zombie.signal('SIGCONT')
  const thawedAt = Date.now()
  const aborted = () => history.runs('aborted').filter(({ run, who }) => who === zombie.label && frozen.has(run))
  await history.eventually(5_000, () => aborted().length === TASKS)
  await world.openGate(zombie.label)
  const over = () =>
    [...history.runs('ended'), ...history.runs('failed')].filter(
      ({ run, who }) => who === zombie.label && frozen.has(run),
    )
  await history.until('the zombie has done all it wanted', 20_000, () => over().length === TASKS)
  // Settlements are written behind the handlers' backs: whoever has left has written them.
  await zombie.terminate(5_000)

  // The heirs still hold: whatever is in the archive now, the zombie has put there.
  const acceptedWrites = await world.count(`select from millrace.job_archive where payload->>'n' like $1`, [
    `freeze-${round}-%`,
  ])
  for (const label of labels) await world.openGate(label)
  await drain(world, 30_000, 6_000)
  const result = {
    aborts: aborted().map(({ at }) => at - thawedAt),
    acceptedWrites,
    committedEffects: await world.count(
      `select from fault.effect where kind = 'transactional' and run_id = any($1::uuid[])`,
      [[...frozen]],
    ),
    heirsWrites: await world.count('select from millrace.job_archive where run_id = any($1::uuid[])', [
      startedBy('heir').map(({ run }) => run),
    ]),
    firstTakenMs: Math.min(...startedBy('heir').map(({ at }) => at - frozenAt)),
  }
  await Promise.all(heirs.map((heir) => heir.kill()))
  return result
}

function report(all: readonly Round[], findings: Findings): void {
  const sum = (of: (round: Round) => number) => all.reduce((total, round) => total + of(round), 0)
  const aborts = all.flatMap((round) => round.aborts)
  findings.equal(
    'settlements of the zombie that were accepted',
    sum((round) => round.acceptedWrites),
    0,
  )
  findings.equal(
    'transactions of the zombie that committed',
    sum((round) => round.committedEffects),
    0,
  )
  findings.equal(
    'every job was settled by an heir',
    sum((round) => round.heirsWrites),
    all.length * TASKS,
  )
  findings.equal('zombie runs told to stop', aborts.length, all.length * TASKS)
  findings.atMost('told after the thaw, at the latest', percentile(aborts, 1), ABORT_WITHIN_MS, ' ms')
  const firstTakenMs = Math.min(...all.map((round) => round.firstTakenMs))
  findings.check(
    'nothing was taken while the lease lasted',
    firstTakenMs > LEASE.ttl - LEASE.heartbeat,
    `${firstTakenMs} ms`,
  )
  findings.figures({ 'told p50 ms': percentile(aborts, 0.5), 'told max ms': percentile(aborts, 1), firstTakenMs })
}
