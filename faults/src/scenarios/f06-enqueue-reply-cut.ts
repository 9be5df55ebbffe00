// F6: the connection breaks while an enqueue is under way, before the server sees it or after it has committed. With a
// dedup key the caller tries again and gets the one job there is; without one it is told that nobody knows.
import { textsUnder } from '../harness/mutations.ts'
import { type Producer, tasksOf } from '../harness/producer.ts'
import type { Answer } from '../harness/producer-main.ts'
import type { CutRule, FaultProxy } from '../harness/proxy.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale } from '../scenario.ts'

const rounds: Record<Scale, number> = { short: 5, standard: 50, full: 500 }
const GROUP = 10
/** More than one statement takes: a list of this length is written in a transaction. */
const LONG_LIST = 2_100
const LONG_ROUNDS = 3

export default defineScenario({
  name: 'f06-enqueue-reply-cut',
  title: 'reply to an enqueue cut, with and without a dedup key',
  mutations: { 'keys-forgotten': 'keyed, after the commit: jobs per key' },

  async body(options, findings) {
    await using world = await World.open(options)
    const proxy = await world.proxy()
    const producer = world.startProducer('producer', proxy)
    const stage: Stage = { world, proxy, producer, findings, rounds: rounds[options.scale] }
    const { jobInsert, jobInsertOne, jobInsertKeyed } = textsUnder(options.mutation)
    const insert = ({ sql }: { sql: string }) => [jobInsert, jobInsertOne, jobInsertKeyed].includes(sql)
    const bulkCommit = ({ sql, transaction }: { sql: string; transaction: readonly string[] }) =>
      sql === 'commit' && transaction.includes(jobInsert)
    await keyed(stage, 'keyed, after the commit', { when: 'after', matches: insert })
    await keyed(stage, 'keyed, before the server saw it', { when: 'before', matches: insert })
    await unkeyed(stage, 'unkeyed, after the commit', { when: 'after', matches: insert }, GROUP)
    await unkeyed(stage, 'unkeyed, before the server saw it', { when: 'before', matches: insert }, 0)
    await many(stage, 'many, after the commit', { when: 'after', matches: insert }, GROUP)
    await many(stage, 'many, before the server saw it', { when: 'before', matches: insert }, 0)
    const few = { ...stage, rounds: LONG_ROUNDS, size: LONG_LIST }
    await many(few, 'a long list, after the commit', { when: 'after', matches: bulkCommit }, LONG_LIST)
    await many(few, 'a long list, before the commit', { when: 'before', matches: bulkCommit }, 0)
    await unreachable(stage)
  },
})

interface Stage {
  world: World
  proxy: FaultProxy
  producer: Producer
  findings: Findings
  rounds: number
}

const unknown = (answers: readonly Answer[]) =>
  answers.filter((answer) => answer.status === 'failed' && answer.code === 'enqueue_unknown').length

/** Cuts the next connection that asks what the rule says, once. */
function cutOnce(proxy: FaultProxy, rule: Pick<CutRule, 'when' | 'matches'>): void {
  const before = proxy.cuts.length
  proxy.rule = { when: rule.when, matches: (request) => proxy.cuts.length === before && rule.matches(request) }
}

async function keyed(
  { world, proxy, producer, findings, rounds: count }: Stage,
  name: string,
  rule: CutRule,
): Promise<void> {
  let told = 0
  let agreed = 0
  for (let round = 0; round < count; round++) {
    const key = `${name}-${round}`
    cutOnce(proxy, rule)
    told += unknown(await producer.each([{ n: key, does: 'plain', key }]))
    const [again] = await producer.each([{ n: key, does: 'plain', key }])
    const rows = await world.query<{ id: string }>('select id from millrace.job where dedup_key = $1', [key])
    if (again?.status !== 'failed' && rows[0]?.id === again?.id) agreed++
  }
  findings.equal(`${name}: told that nobody knows`, told, count)
  findings.equal(`${name}: the retry got the id of the job there is`, agreed, count)
  const jobs = await world.count(`select from millrace.job where payload->>'n' like $1`, [`${name}-%`])
  findings.equal(`${name}: jobs per key`, jobs / count, 1)
}

async function unkeyed(stage: Stage, name: string, rule: CutRule, written: number): Promise<void> {
  const { world, findings, rounds: count } = stage
  const told = await cutEach(stage, name, rule, { how: 'each', size: GROUP })
  const jobs = await world.count(`select from millrace.job where payload->>'n' like $1`, [`${name}-%`])
  // They share commits as they come: those of another commit than the one that was cut are simply written.
  findings.check(`${name}: told that nobody knows`, told >= count, `${told}, at least one a round`)
  findings.equal(`${name}: nothing was sent twice`, jobs, written === GROUP ? count * GROUP : count * GROUP - told)
}

/** A list is written as a whole or not at all. */
async function many(stage: Stage & { size?: number }, name: string, rule: CutRule, written: number): Promise<void> {
  const { world, findings, rounds: count, size = GROUP } = stage
  const told = await cutEach(stage, name, rule, { how: 'many', size })
  const jobs = await world.count(`select from millrace.job where payload->>'n' like $1`, [`${name}-%`])
  findings.equal(`${name}: told that nobody knows`, told, count * size)
  findings.equal(`${name}: nothing was sent twice`, jobs, count * written)
}

/** How many callers were told that nobody knows. */
async function cutEach(
  { proxy, producer, rounds: count }: Stage,
  name: string,
  rule: CutRule,
  { how, size }: { how: 'each' | 'many'; size: number },
): Promise<number> {
  let told = 0
  for (let round = 0; round < count; round++) {
    cutOnce(proxy, rule)
    told += unknown(await producer.order({ how, tasks: tasksOf(`${name}-${round}`, size, () => ({ does: 'plain' })) }))
  }
  return told
}

async function unreachable({ world, proxy, producer, findings }: Stage): Promise<void> {
  proxy.rule = undefined
  proxy.mode = 'reset'
  const answers = await producer.each(tasksOf('unreachable', 2, () => ({ does: 'plain' })))
  proxy.mode = 'pass'
  const refused = answers.filter(
    (answer) => answer.status === 'failed' && answer.code === 'database_unavailable',
  ).length
  const others = unknown(answers)
  findings.equal('out of reach: every caller is told', refused + others, 2)
  const jobs = await world.count(`select from millrace.job where payload->>'n' like 'unreachable%'`)
  findings.equal('out of reach: nothing was written', jobs, 0)
}
